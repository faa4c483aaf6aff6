"""Is a pseudonym of one user and one topic? Each user's queries are put into topics anew, and held against profiles."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_left_out, verify_nothing_generalized, verify_rows_of_one
from shoal.anonymizer.parameters import whole_number
from shoal.corpus.profiles import query_term_counts

Rows = tuple[np.ndarray, csr_array]  # the user of each profile, and profiles x words


def verify_topics(claim: Claim, evidence: Evidence) -> Verdict:
    """The profiles of a user are the user's queries, one for each topic; nobody is left out, nothing is suppressed."""
    release = evidence.release
    for verdict in (
        verify_nothing_generalized(release),
        verify_rows_of_one(release),
        verify_left_out(0, "were left out", evidence),
    ):
        if not verdict.holds:
            return verdict
    words = {label: i for i, label in enumerate(release.labels)}
    asked = _asked(int(claim.values["topics"]), evidence, words)
    published = _published(evidence, len(words))
    user = _other(published, asked, len(evidence.log.users))
    return HOLDS if user is None else _broken_by(user, published, asked, evidence)


def _broken_by(user: int, published: Rows, asked: Rows, evidence: Evidence) -> Verdict:
    said, own = (int((of == user).sum()) for of, _ in (published, asked))
    rows = evidence.assignment.profile[published[0] == user]
    name = evidence.release.pseudonyms[int(rows[0])] if len(rows) else "nothing"
    return broken(
        f"a user has {said} pseudonyms ({name} first), but asked about {own} topics, or other profiles than these "
        "pseudonyms have"
    )


def _published(evidence: Evidence, words: int) -> Rows:
    assignment, weights = evidence.assignment, evidence.release.weights[evidence.assignment.profile]
    cells = (weights.data, weights.indices, weights.indptr)
    return assignment.rows_for(evidence.log.users), csr_array(cells, shape=(weights.shape[0], words))


def _asked(depth: int, evidence: Evidence, words: dict[str, int]) -> Rows:
    """The terms of each user's queries of each topic. `words` gets those that are not published."""
    log = evidence.log
    terms, held = query_term_counts(log, evidence.knowledge.words)
    topic = _topics(depth, evidence, terms, held)
    events = np.flatnonzero(np.diff(held.indptr)[log.query])
    several = int(topic.max(initial=0)) + 1
    key = log.user[events].astype(np.int64) * several + topic[log.query[events]]
    distinct, row = np.unique(key, return_inverse=True)
    times = (np.ones(len(events)), (row, log.query[events]))
    counts = csr_array(csr_array(times, shape=(len(distinct), len(log.queries))) @ held)
    column = np.array([words.setdefault(term, len(words)) for term in terms], dtype=np.int64)
    cells = (counts.data, column[counts.indices], counts.indptr)
    return distinct // several, csr_array(cells, shape=(len(distinct), len(words)))


def _topics(depth: int, evidence: Evidence, terms: list[str], held: csr_array) -> np.ndarray:
    """The number of the topic that most terms of a query have, the first by name among equals; 0 where none has one."""
    paths = [next(iter(evidence.knowledge.directory.categories(term)), ())[:depth] for term in terms]
    number = {path: i for i, path in enumerate(sorted({(), *map(tuple, paths)}))}
    of_term = np.array([number[tuple(path)] for path in paths], dtype=np.int64)
    query = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    votes = pl.DataFrame({"query": query, "topic": of_term[held.indices], "times": held.data}).filter(
        pl.col("topic") > 0
    )
    most = votes.group_by("query", "topic").sum().sort("query", "times", "topic", descending=[False, True, False])
    first = most.unique("query", keep="first", maintain_order=True)
    topic = np.zeros(held.shape[0], dtype=np.int64)
    topic[first["query"].to_numpy()] = first["topic"].to_numpy()
    return topic


def _other(published: Rows, asked: Rows, users: int) -> int | None:
    """A user whose published profiles are not those of what was asked, in whatever order they are; None for nobody."""
    said, own = (np.bincount(of, minlength=users) for of, _ in (published, asked))
    if (said != own).any():
        return int((said != own).argmax())
    width = asked[1].shape[1]
    one, other = (_ordered(of, rows, width) for of, rows in (published, asked))
    wrong = np.flatnonzero(np.diff(csr_array(one - other).indptr))
    return int(np.sort(asked[0])[wrong[0]]) if len(wrong) else None


def _ordered(user: np.ndarray, rows: csr_array, width: int) -> csr_array:
    """The profiles of each user in an order that depends on nothing but what they hold."""
    wide = csr_array((rows.data.astype(float), rows.indices, rows.indptr), shape=(rows.shape[0], width))
    wide.sort_indices()
    return csr_array(wide[np.lexsort((wide @ np.random.default_rng(0).random(width), user))])


VERIFIERS = (
    Verifier(
        "one-topic-per-pseudonym",
        "session",
        verify_topics,
        lambda values: (
            "Each pseudonym is of one user and one topic, as narrow as the directory is at level "
            f"{values['topics']}, and is all that the user asked about it."
        ),
        {"topics": whole_number(1, 20)},
        by_topic=True,
    ),
)
