"""How do groups, or released queries, become a release? In an order, and with names, that tell nothing of the users."""

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Catalogue, Claim, Release, ReleasedQueries, Suppressed
from shoal.anonymizer.distinct_queries import DistinctQueries, only_columns
from shoal.corpus.columns import spread
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, query_term_counts
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Blend

FEWEST_USERS = 20  # of a term in everyone's average: the whole average would publish words of one person


def publish(
    users: pl.Series,
    members: tuple[np.ndarray, np.ndarray],
    weights: csr_array,
    labels: list[str],
    claim: Claim,
    suppressed: Suppressed,
    generalized: np.ndarray | None = None,
    queries: ReleasedQueries | None = None,
) -> Anonymized:
    """A release of one profile per row of `weights`; `members` are pairs (user, row) as two columns.

    Labels that no profile uses are dropped, and rows are sorted by a hash of their content, so that neither the
    vocabulary nor the order of pseudonyms says anything about the log that the profiles do not say.
    """
    used = np.flatnonzero(np.bincount(weights.indices[weights.data != 0], minlength=len(labels)))
    weights = csr_array(weights[:, used])
    weights.eliminate_zeros()
    weights.sort_indices()
    user, row = members
    sharing = np.bincount(row, minlength=weights.shape[0]).astype(np.int64)
    order = _content_order(weights, sharing, queries)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    mask = np.zeros(len(labels), dtype=bool) if generalized is None else generalized
    release = Release(
        pseudonyms=pseudonyms(len(order)),
        users=sharing[order],
        labels=[labels[t] for t in used],
        generalized=mask[used],
        weights=csr_array(weights[order]),
        queries=None if queries is None else _renamed(queries, place),
    )
    assignment = Assignment(users, user.astype(np.int32), place[row].astype(np.int32))
    return Anonymized(release, assignment, claim, suppressed)


def publish_centroids(
    profiles: Profiles, group: np.ndarray, claim: Claim, union: bool = False, holders: int = 1
) -> Anonymized:
    """One profile per group of users: the mean (or the sum) of its members' original profiles.

    `group` holds each user's group from 0, or -1 for a user who takes no part. A term that fewer members than `holders`
    used is left out.
    """
    users = np.flatnonzero(group >= 0)
    sizes = np.bincount(group[users])
    ones = np.ones(len(users), dtype=np.int64)
    members = csr_array((ones, (group[users], users)), shape=(len(sizes), len(profiles)))
    sums = csr_array(members @ profiles.counts)
    if holders > 1:
        sums = csr_array(sums.multiply(members @ profiles.counts.sign() >= holders))
    # whole sums, divided once: a mean has the same digits in whatever order its members are added up
    share = np.repeat(np.ones_like(sizes) if union else sizes, np.diff(sums.indptr))
    weights = csr_array((sums.data / share, sums.indices, sums.indptr), shape=sums.shape)
    suppressed = Suppressed(int(profiles.occurrences.sum() - sums.data.sum()), int((group < 0).sum()))
    return publish(profiles.users, (users, group[users]), weights, profiles.terms, claim, suppressed)


def publish_own_sets(profiles: Profiles, kept: np.ndarray, claim: Claim) -> Anonymized:
    """A row per user: the terms of theirs that are kept, each once; who has none left has no row."""
    return publish_sets(profiles, only_columns(profiles.counts, kept).sign(), profiles.terms, claim)


def publish_sets(
    profiles: Profiles, sets: csr_array, labels: list[str], claim: Claim, generalized: np.ndarray | None = None
) -> Anonymized:
    """A row per user: the labels that stand for their terms, each once; who has none has no row."""
    users = np.flatnonzero(np.diff(sets.indptr))
    suppressed = Suppressed(int(profiles.occurrences.sum()) - sets.nnz, len(profiles) - len(users))
    members, weights = (users, np.arange(len(users))), csr_array(sets[users]).astype(float)
    return publish(profiles.users, members, weights, labels, claim, suppressed, generalized)


def catalogue_of(profiles: Profiles, k: int) -> Catalogue:
    """The terms that at least k users hold, and everyone's mean of each."""
    holders = np.bincount(profiles.counts.indices, minlength=len(profiles.terms))
    typed = np.asarray(profiles.counts.sum(axis=0)).ravel()
    kept = np.flatnonzero(holders >= k)
    users = max(1, int(np.count_nonzero(profiles.size)))
    return Catalogue([profiles.terms[t] for t in kept], holders[kept], typed[kept] / users)


def with_average(made: Anonymized, profiles: Profiles, blend: Blend) -> Anonymized:
    """A release with what its profiles weigh, and with everyone's average, which ranks beside them."""
    catalogue = made.release.catalogue or catalogue_of(profiles, FEWEST_USERS)
    return replace(made, release=replace(made.release, catalogue=catalogue), blend=blend)


def pseudonyms(count: int) -> list[str]:
    width = max(4, len(str(count)))
    return [f"p{i:0{width}d}" for i in range(1, count + 1)]


def _content_order(weights: csr_array, sharing: np.ndarray, queries: ReleasedQueries | None) -> np.ndarray:
    keys = np.empty(weights.shape[0], dtype="S32")
    for row in range(weights.shape[0]):
        part = slice(weights.indptr[row], weights.indptr[row + 1])
        content = weights.indices[part].astype(np.int64).tobytes() + weights.data[part].astype(np.float64).tobytes()
        keys[row] = blake2b(content + sharing[row].tobytes(), digest_size=16).digest()
    if queries is not None:
        _tell_apart(keys, queries)
    return np.argsort(keys, kind="stable")


def _tell_apart(keys: np.ndarray, queries: ReleasedQueries) -> None:
    """Lengthen equal keys by what the queries of those rows hash to, so that their order does not follow the log's."""
    _, kind, count = np.unique(keys, return_inverse=True, return_counts=True)
    some = np.flatnonzero((count[kind] > 1)[queries.pseudonym])
    columns = {"row": queries.pseudonym[some], "query": queries.query.gather(some)}
    table = pl.DataFrame({**columns, "count": queries.count[some], "degree": queries.degree[some]})
    for (row,), part in table.sort("query").group_by("row", maintain_order=True):
        content = repr(part.drop("row").rows()).encode()
        keys[row] = keys[row].ljust(16, b"\0") + blake2b(content, digest_size=16).digest()


def _renamed(queries: ReleasedQueries, place: np.ndarray) -> ReleasedQueries:
    new = place[queries.pseudonym]
    order = np.lexsort((queries.query.rank("dense").to_numpy(), new))
    return ReleasedQueries(
        new[order].astype(np.int32), queries.query.gather(order), queries.count[order], queries.degree[order]
    )


@dataclass(frozen=True, eq=False)
class PublicForms:
    """What may be published: strings, the anonymity degree of each, and the profile labels that each one gives."""

    texts: pl.Series
    degree: np.ndarray
    profile: csr_array  # texts x labels
    labels: list[str]
    generalized: np.ndarray | None = None


def publish_unchanged(
    log: QueryLog, queries: DistinctQueries, degree: np.ndarray, k: int, claim: Claim, knowledge: Knowledge
) -> Anonymized:
    """Publish, as they are, the queries whose anonymity degree is at least k."""
    labels, terms = query_term_counts(log, knowledge.words)
    forms = PublicForms(queries.texts, degree, csr_array(terms[queries.source]), labels)
    return publish_forms(log, only_columns(queries.asked, degree >= k), forms, claim)


def publish_forms(log: QueryLog, released: csr_array, forms: PublicForms, claim: Claim) -> Anonymized:
    """Publish the forms that each user (row of `released`) asked, so many times; who has none has no pseudonym."""
    users = np.flatnonzero(np.diff(released.indptr))
    users = users[_order_by_content(released, users, forms.texts)]
    part = csr_array(released[users])
    rows = np.repeat(np.arange(len(users), dtype=np.int32), np.diff(part.indptr))
    queries = ReleasedQueries(
        rows, forms.texts.gather(part.indices), part.data.astype(np.int64), forms.degree[part.indices].astype(np.int64)
    )
    weights = csr_array(part @ forms.profile).astype(float)
    suppressed = Suppressed(len(log) - int(part.data.sum()), len(log.users) - len(users))
    members = (users, np.arange(len(users)))
    return publish(log.users, members, weights, forms.labels, claim, suppressed, forms.generalized, queries)


def _order_by_content(released: csr_array, users: np.ndarray, texts: pl.Series) -> np.ndarray:
    """An order of these users by a hash of what they publish: users with equal profiles keep no order of the log."""
    used = np.flatnonzero(np.bincount(released.indices, minlength=len(texts)))
    rank = np.zeros(len(texts), dtype=np.uint64)
    if len(used) and len(users):
        rank[used] = texts.gather(used).rank("dense").to_numpy()
        mixed = spread(spread(rank[released.indices]) + released.data.astype(np.uint64))
        return np.argsort(np.add.reduceat(mixed, released.indptr[users]), kind="stable")
    return np.arange(len(users))
