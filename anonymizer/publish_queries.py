"""How do released queries become a release? One pseudonym per user with something left, and what is left of them."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, ReleasedQueries, Suppressed
from shoal.anonymizer.distinct_queries import DistinctQueries, only_columns
from shoal.anonymizer.publish import publish
from shoal.corpus.columns import spread
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.querylog import QueryLog


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
