"""What is a transaction over a taxonomy? Each user's terms as leaves with their paths, and how groups publish them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, Suppressed
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles


class Columns(NamedTuple):
    """The items of transaction t are item[start[t]:start[t + 1]], ascending, each with how often it was used.

    The path of item i, from the root to its leaf, is path[path_start[i]:path_start[i + 1]].
    """

    start: np.ndarray  # int64
    item: np.ndarray  # int32
    copies: np.ndarray  # int32
    path_start: np.ndarray  # int64
    path: np.ndarray  # int32: nodes of the taxonomy


@dataclass(frozen=True, eq=False)
class Transactions:
    """The users who have at least one term that the taxonomy knows, each a bag of its leaves."""

    user: np.ndarray  # int64: the row of each transaction in the profiles
    columns: Columns

    def __len__(self) -> int:
        return len(self.user)

    @cached_property
    def row(self) -> np.ndarray:
        """The transaction of each item."""
        return np.repeat(np.arange(len(self)), np.diff(self.columns.start))

    @cached_property
    def length(self) -> np.ndarray:
        """|t|: the number of items of each transaction, copies counted."""
        return np.bincount(self.row, weights=self.columns.copies, minlength=len(self)).astype(np.int64)


def transactions_of(profiles: Profiles, taxonomy: Taxonomy) -> Transactions:
    """Profiles as transactions; a term that is no leaf is left out, and a user with no other term too."""
    node = np.array([taxonomy.node.get(term, 0) for term in profiles.terms], dtype=np.int64)
    leaf = np.where(taxonomy.is_leaf[node], node, -1)  # 0 is the root, and no leaf
    known = np.unique(leaf[leaf >= 0])
    item_of_term = np.where(leaf >= 0, np.searchsorted(known, leaf), -1).astype(np.int32)
    item = item_of_term[profiles.counts.indices]
    is_known = item >= 0
    row_start = np.concatenate([[0], np.cumsum(is_known)])[profiles.counts.indptr]
    content = (profiles.counts.data[is_known].astype(np.int32), item[is_known], row_start)
    bags = csr_array(content, shape=(len(profiles), len(known)))
    bags.sum_duplicates()
    user = np.flatnonzero(np.diff(bags.indptr))
    start = np.concatenate([[0], bags.indptr[1:][user]]).astype(np.int64)
    item, count = bags.indices.astype(np.int32, copy=False), bags.data
    return Transactions(user, Columns(start, item, count, *_paths(taxonomy, known)))


def _paths(taxonomy: Taxonomy, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    start = np.concatenate([[0], np.cumsum(taxonomy.depth[leaves] + 1)]).astype(np.int64)
    path = np.empty(start[-1], dtype=np.int32)
    place, node = start[1:] - 1, leaves
    while len(node):
        path[place] = node
        below_root = node > 0
        place, node = place[below_root] - 1, taxonomy.parent[node[below_root]]
    return start, path


def publish_generalized(
    profiles: Profiles,
    transactions: Transactions,
    group: np.ndarray,
    copies: csr_array,
    taxonomy: Taxonomy,
    claim: Claim,
) -> Anonymized:
    """One profile per group: how many copies of each node of the taxonomy. `group` holds each transaction's.

    Suppressed is every occurrence that no published copy stands for (the N_s of Definition 3.2.3), and every
    occurrence of a term that the taxonomy does not know.
    """
    used = np.unique(copies.indices)
    labels = [taxonomy.labels[v].lower() if taxonomy.is_leaf[v] else taxonomy.labels[v] for v in used]
    length = np.asarray(copies.sum(axis=1)).ravel()
    kept = int((np.bincount(group, minlength=len(length)) * length).sum())
    suppressed = Suppressed(int(profiles.occurrences.sum()) - kept, len(profiles) - len(transactions))
    members = (transactions.user, group)
    weights = csr_array(copies[:, used], dtype=float)
    return publish(profiles.users, members, weights, labels, claim, suppressed, ~taxonomy.is_leaf[used])
