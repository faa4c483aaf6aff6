"""What is a cut of the taxonomy? A node above each term, the same for all users: who holds it, what it costs (NCP).

A cut is full-subtree generalization: where a term is generalized to a node, so is every other term below that node.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim
from shoal.anonymizer.parameters import AT_LEAST_TWO, SET_SIZES, Parameter
from shoal.anonymizer.transactions import Columns, Transactions, publish_generalized
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles

# The place of the lowest bit of a word w: LOWEST[((w & -w) * DE_BRUIJN) >> 58].
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
LOWEST = np.zeros(64, dtype=np.int64)
LOWEST[[(int(DE_BRUIJN) << place) % 2**64 >> 58 for place in range(64)]] = np.arange(64)


# What k^m-anonymity is for, and the attacker of the thesis's Example 2.6.1, whom it does not stop.
PROTECTS = "Who of k users has which profile, from somebody who knows up to m terms that a user typed."
DOES_NOT_PROTECT = (
    "Somebody who also knows a term that a user did not type passes over the profiles that have it, and of k users who "
    "share what is known may be left with one; nor somebody who knows more than m terms. How often a term was typed "
    "would break the promise, so every item is published once."
)


def sharing_profiles(default: int = 5) -> Parameter[int]:
    """The parameter k of k^m-anonymity."""
    return Parameter(default, AT_LEAST_TWO, "in how many profiles any m items of a profile are, at least", "higher")


def known_items(default: int = 2) -> Parameter[int | str]:
    """The parameter m of k^m-anonymity."""
    return Parameter(default, SET_SIZES, "how many items of a profile an attacker may know", "higher")


class Nodes(NamedTuple):
    """The nodes at or above the items of a log, in the tree's order: the items below v are first[v]:last[v]."""

    node: np.ndarray  # int64: their numbers in the taxonomy
    parent: np.ndarray  # int64: positions here, -1 at the root
    first: np.ndarray  # int64
    last: np.ndarray  # int64
    penalty: np.ndarray  # int64: NCP times the leaves of the taxonomy: 0 for one leaf, else the leaves below
    occurrences: np.ndarray  # int64: how often users hold an item below
    users: np.ndarray  # int64: how many do
    label: np.ndarray  # int64: the place of its label in the order of labels


def nodes_above(transactions: Transactions, taxonomy: Taxonomy) -> Nodes:
    columns = transactions.columns
    node = np.unique(columns.path).astype(np.int64)
    leaf = _leaves(columns)
    first, last = np.searchsorted(leaf, node), np.searchsorted(leaf, taxonomy.end[node])
    before = np.concatenate([[0], np.cumsum(np.bincount(columns.item, minlength=len(leaf)))])
    leaves, labels = taxonomy.leaves[node], [taxonomy.labels[v].lower() for v in node.tolist()]
    label = np.empty(len(node), dtype=np.int64)
    label[pl.Series(labels, dtype=pl.String).arg_sort().to_numpy()] = np.arange(len(node))
    parent = np.searchsorted(node, taxonomy.parent[node])
    parent[:1] = -1
    nodes = Nodes(
        node,
        parent,
        first,
        last,
        np.where(leaves > 1, leaves, 0),
        before[last] - before[first],
        np.zeros(len(node), dtype=np.int64),
        label,
    )
    _count_users(columns, nodes, places_of_items(columns, nodes))
    return nodes


def _leaves(columns: Columns) -> np.ndarray:
    """The leaf of the taxonomy that each item is: where its path ends."""
    return columns.path[columns.path_start[1:] - 1]


def places_of_items(columns: Columns, nodes: Nodes) -> np.ndarray:
    """The node that each item is."""
    return np.searchsorted(nodes.node, _leaves(columns))


def most_known(m: int | str, nodes: Nodes) -> int:
    """How many items an attacker may know: with `any`, as many as there are nodes."""
    return len(nodes.node) if isinstance(m, str) else m


@njit(cache=True)
def _count_users(columns: Columns, nodes: Nodes, leaf: np.ndarray) -> None:
    """Each transaction counts once at every node above its items: an item, up to what is above the one before too."""
    for t in range(len(columns.start) - 1):
        before = -1
        for x in range(columns.start[t], columns.start[t + 1]):
            v = leaf[columns.item[x]]
            while v >= 0 and nodes.first[v] > before:
                nodes.users[v] += 1
                v = nodes.parent[v]
            before = columns.item[x]


@njit(cache=True)
def holders(columns: Columns, nodes: Nodes, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The transactions that hold each node at or above a cut, as bits: the row of each node (or -1), and the rows.

    `at` holds the node of the cut above each item.
    """
    row = np.full(len(nodes.parent), -1, dtype=np.int64)
    rows = 0
    for i in range(len(at)):
        v = at[i]
        while v >= 0 and row[v] < 0:
            row[v] = rows
            rows, v = rows + 1, nodes.parent[v]
    bits = np.zeros((rows, (len(columns.start) + 62) // 64), dtype=np.uint64)
    for t in range(len(columns.start) - 1):
        before = -1
        for x in range(columns.start[t], columns.start[t + 1]):
            v = at[columns.item[x]]
            while v >= 0 and nodes.first[v] > before:
                bits[row[v], t // 64] |= np.uint64(1) << np.uint64(t % 64)
                v = nodes.parent[v]
            before = columns.item[x]
    return row, bits


@njit(cache=True)
def highest(some: np.ndarray, nodes: Nodes) -> np.ndarray:
    """Those of some nodes that are below no other, each once."""
    kept, many = np.empty(len(some), dtype=np.int64), 0
    for i in range(len(some)):
        covered = False
        for j in range(len(some)):
            v, w = some[j], some[i]  # of a chain above the same items, the upper one comes first in the tree
            is_above = v <= w and nodes.first[v] <= nodes.first[w] and nodes.last[w] <= nodes.last[v]
            covered = covered or (is_above and (v < w or j < i))
        if not covered:
            kept[many] = some[i]
            many += 1
    return kept[:many]


@njit(cache=True)
def are_held(some: np.ndarray, k: int, nodes: Nodes, row: np.ndarray, bits: np.ndarray) -> bool:
    """Whether at least k transactions hold all of some nodes."""
    if len(some) == 1:
        return bool(nodes.users[some[0]] >= k)
    found = 0
    for word in range(bits.shape[1]):
        both = bits[row[some[0]], word]
        for i in range(1, len(some)):
            both &= bits[row[some[i]], word]
        while both != 0:
            both &= both - np.uint64(1)
            found += 1
            if found >= k:
                return True
    return False


def publish_cut(
    profiles: Profiles,
    transactions: Transactions,
    node_of_item: np.ndarray,
    taxonomy: Taxonomy,
    claim: Claim,
) -> Anonymized:
    """Each user's items under a cut, each once, under a pseudonym per user; an item at -1 is left out everywhere."""
    node = node_of_item[transactions.columns.item]
    ones, kept = np.ones(len(node), dtype=np.int64), node >= 0
    copies = csr_array((ones[kept], (transactions.row[kept], node[kept])), shape=(len(transactions), len(taxonomy)))
    copies.sum_duplicates()
    copies.data[:] = 1
    some = np.flatnonzero(np.diff(copies.indptr))
    members = Transactions(transactions.user[some], transactions.columns)
    return publish_generalized(profiles, members, np.arange(len(some)), csr_array(copies[some]), taxonomy, claim)
