"""Is each published profile a centroid log of its k members? Its size and its terms must come from their queries."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.parameters import AT_LEAST_TWO
from shoal.corpus.profiles import query_term_counts


@dataclass(frozen=True, eq=False)
class _Asked:
    """What the members of each profile asked, a row per user and distinct query that holds a term."""

    profile: np.ndarray
    user: np.ndarray  # numbers of the log
    times: np.ndarray
    row: np.ndarray  # per term in a query: the row here, the term, and how often the query holds it
    term: np.ndarray
    count: np.ndarray
    length: np.ndarray  # terms of each row's query, repetitions counted


def verify_user_k_anonymity(claim: Claim, evidence: Evidence) -> Verdict:
    """At least k users per profile, and every profile a log of their mean size that their queries can make up."""
    release, k = evidence.release, int(claim.values["k"])
    for name, users in zip(release.pseudonyms, release.users.tolist(), strict=True):
        if users < k:
            return broken(f"{name} is shared by {users} users, fewer than k={k}")
    terms, query_terms = query_term_counts(evidence.log, evidence.knowledge.words)
    published = _published(evidence, terms)
    if isinstance(published, Verdict):
        return published
    asked = _asked_by_members(evidence, query_terms)
    # A query is in the log of a profile only if all its terms are.
    missing = asked.count > _looked_up(published, asked.profile[asked.row], asked.term)
    fits = np.bincount(asked.row[missing], minlength=len(asked.user)) == 0
    for check in (_members_contribute, _terms_are_asked, _sizes_are_the_mean):
        verdict = check(evidence, terms, published, asked, fits)
        if not verdict.holds:
            return verdict
    return HOLDS


def _published(evidence: Evidence, terms: list[str]) -> csr_array | Verdict:
    """Profiles x terms of the log. Labels must be plain terms of it, weights whole numbers."""
    release = evidence.release
    column = {term: t for t, term in enumerate(terms)}
    for label, general in zip(release.labels, release.generalized.tolist(), strict=True):
        if general or label not in column:
            return broken(f"{label!r} is published, but no user of the log used that term")
    weights = release.weights.tocoo()
    strange = np.flatnonzero((weights.data < 1) | (weights.data != np.round(weights.data)))
    if len(strange):
        at = strange[0]
        who, what = release.pseudonyms[weights.row[at]], release.labels[weights.col[at]]
        return broken(f"{who} publishes {what!r} {weights.data[at]:g} times: a log holds whole queries")
    columns = np.array([column[label] for label in release.labels], dtype=np.int64)[weights.col]
    matrix = csr_array((weights.data.astype(np.int64), (weights.row, columns)), shape=(len(release), len(terms)))
    matrix.sum_duplicates()
    return matrix


def _asked_by_members(evidence: Evidence, query_terms: csr_array) -> _Asked:
    log, assignment = evidence.log, evidence.assignment
    profile_of = np.full(len(log.users), -1, dtype=np.int64)
    profile_of[assignment.rows_for(log.users)] = assignment.profile
    held = np.diff(query_terms.indptr)
    counts_here = (profile_of[log.user] >= 0) & (held[log.query] > 0)
    events = pl.DataFrame({"user": log.user[counts_here], "query": log.query[counts_here]})
    rows = events.group_by("user", "query").len().sort("user", "query")
    user, query = rows["user"].to_numpy(), rows["query"].to_numpy()
    row = np.repeat(np.arange(len(query)), held[query])
    first = np.cumsum(held[query]) - held[query]
    place = query_terms.indptr[query[row]] + np.arange(len(row)) - first[row]
    count = query_terms.data[place].astype(np.int64)
    length = np.bincount(row, weights=count, minlength=len(query)).astype(np.int64)
    times = rows["len"].to_numpy().astype(np.int64)
    return _Asked(profile_of[user], user, times, row, query_terms.indices[place], count, length)


def _looked_up(published: csr_array, profile: np.ndarray, term: np.ndarray) -> np.ndarray:
    """How often each of these profiles publishes each of these terms."""
    keys, values = _keys(published), published.data
    wanted = profile.astype(np.int64) * published.shape[1] + term
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where(keys[place] == wanted, values[place], 0) if len(keys) else np.zeros(len(wanted), dtype=np.int64)


def _keys(published: csr_array) -> np.ndarray:
    profile = np.repeat(np.arange(published.shape[0], dtype=np.int64), np.diff(published.indptr))
    return profile * published.shape[1] + published.indices


def _log_sizes(evidence: Evidence, asked: _Asked) -> tuple[np.ndarray, np.ndarray]:
    """|Q| of each user of the log, and the number of members of the profile of each (at least 1)."""
    size = np.bincount(asked.user, weights=asked.times, minlength=len(evidence.log.users)).astype(np.int64)
    members = np.ones(len(size), dtype=np.int64)
    members[asked.user] = evidence.release.users[asked.profile]
    return size, members


def _members_contribute(
    evidence: Evidence, terms: list[str], published: csr_array, asked: _Asked, fits: np.ndarray
) -> Verdict:
    """Equation 3: of each member, |Q| / members queries (rounded down) are in the log."""
    size, members = _log_sizes(evidence, asked)
    possible = np.bincount(asked.user, weights=asked.times * fits, minlength=len(size)).astype(np.int64)
    short = np.flatnonzero(possible < size // members)
    if len(short) == 0:
        return HOLDS
    user = int(short[0])
    name = evidence.release.pseudonyms[asked.profile[asked.user == user][0]]
    return broken(
        f"{name} holds at least {size[user] // members[user]} queries of each like user "
        f"{evidence.log.users[user]!r}, but only {possible[user]} of theirs could be in it"
    )


def _terms_are_asked(
    evidence: Evidence, terms: list[str], published: csr_array, asked: _Asked, fits: np.ndarray
) -> Verdict:
    """No term is published more often than the members' queries that fit hold it, within their quotas."""
    size, members = _log_sizes(evidence, asked)
    quota = -(-size // members)
    most = np.where(fits, np.minimum(asked.times, quota[asked.user]), 0)
    keys = _keys(published)
    if len(keys) == 0:
        return HOLDS
    wanted = asked.profile[asked.row] * published.shape[1] + asked.term
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    same = keys[place] == wanted
    supply = np.bincount(place[same], weights=(most[asked.row] * asked.count)[same], minlength=len(keys))
    excess = np.flatnonzero(published.data > supply)
    if len(excess) == 0:
        return HOLDS
    profile, term = divmod(int(keys[excess[0]]), published.shape[1])
    return broken(
        f"{evidence.release.pseudonyms[profile]} publishes {terms[term]!r} {published.data[excess[0]]} times, "
        f"but the queries of its members give it at most {int(supply[excess[0]])} times"
    )


def _sizes_are_the_mean(
    evidence: Evidence, terms: list[str], published: csr_array, asked: _Asked, fits: np.ndarray
) -> Verdict:
    """The number of published terms is one that as many queries as the members asked on average can hold."""
    profiles = len(evidence.release)
    size = np.bincount(asked.profile, weights=asked.times, minlength=profiles)
    mean = np.floor(size / np.maximum(evidence.release.users, 1) + 0.5).astype(np.int64)
    held = np.asarray(published.sum(axis=1)).ravel()
    least = _terms_of(mean, asked, fits, np.lexsort((asked.length, asked.profile)))
    most = _terms_of(mean, asked, fits, np.lexsort((-asked.length, asked.profile)))
    possible = np.bincount(asked.profile, weights=asked.times * fits, minlength=profiles)
    wrong = np.flatnonzero((held < least) | (held > most) | (mean < 1) | (possible < mean))
    if len(wrong) == 0:
        return HOLDS
    row = int(wrong[0])
    return broken(
        f"{evidence.release.pseudonyms[row]} publishes {held[row]} terms, but its members asked {mean[row]} queries on "
        f"average, and as many of the {int(possible[row])} that fit hold {least[row]} to {most[row]} terms"
    )


def _terms_of(mean: np.ndarray, asked: _Asked, fits: np.ndarray, order: np.ndarray) -> np.ndarray:
    """How many terms the first `mean` fitting queries of each profile hold, in this order."""
    profile, times = asked.profile[order], (asked.times * fits)[order]
    before = np.cumsum(times) - times
    start = np.searchsorted(profile, np.arange(len(mean)))
    first = before[np.minimum(start, max(len(before) - 1, 0))] if len(before) else np.zeros(len(mean), dtype=np.int64)
    taken = np.clip(mean[profile] - (before - first[profile]), 0, times)
    return np.bincount(profile, weights=taken * asked.length[order], minlength=len(mean)).astype(np.int64)


VERIFIERS = (
    Verifier(
        "user-k-anonymity",
        "user",
        verify_user_k_anonymity,
        lambda values: (
            f"Every published profile is the centroid log of at least {values['k']} users, all of whom share it."
        ),
        {"k": AT_LEAST_TWO},
    ),
)
