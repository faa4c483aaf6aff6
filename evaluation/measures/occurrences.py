"""What became of each occurrence of a term? Which published label it stands under, for every user of any release.

A published weight w stands for w occurrences of every user who has that profile. They are, in this order:
1. occurrences of the very term that is published;
2. of terms below a generalized label (or in a bag a|b|c), the labels that lose least first;
3. of terms that a published term replaces, up to epsilon edges away (Liu & Wang's matched terms), the nearest first.
What stands under nothing is suppressed. A user with several profiles has the sum of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Taxonomy, bag_members, is_bag
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

NEAR = 4  # edges: the epsilon of a release that says none
_USERS_AT_ONCE = 1000
_ROWS_AT_ONCE = 20_000_000  # that are held before those that say the same are added up
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Standing:
    """Rows (published entry, term, amount): so many occurrences of the term stand under that entry."""

    occurrences: float  # of all users of the log, those with no profile too
    entry: np.ndarray  # positions in the data of the release's weights: a label of a profile; int64
    label: np.ndarray  # the label of that entry
    term: np.ndarray  # columns of the profiles
    amount: np.ndarray
    replaced: np.ndarray  # bool: by the third rule, so that the published term is another one

    def lost(self, loss: np.ndarray, replaced_too: bool = False) -> float:
        """The sum of losses: `loss` of each row, and 1 for what is suppressed.

        What is only replaced by another term counts as suppressed, unless it is counted, too.
        """
        counted = self.amount if replaced_too else np.where(self.replaced, 0.0, self.amount)
        return max(0.0, self.occurrences - float((counted * (1 - loss)).sum()))


def stand(
    release: Release,
    assignment: Assignment,
    profiles: Profiles,
    knowledge: Knowledge,
    progress: Progress = silent,
    epsilon: int = NEAR,
) -> Standing:
    """The standing of every occurrence of every user."""
    held = profiles_held(assignment, profiles, len(release))
    users = np.flatnonzero(np.diff(held.indptr))
    users = users[np.argsort(held.indices[held.indptr[users]], kind="stable")]  # neighbours share a profile
    given: list[Any] = [*_whole(held)[:2], *_whole(profiles.counts), *_whole(release.weights)]
    given += [*_labels(release, profiles, knowledge.taxonomy, epsilon), epsilon]
    room = given[7].copy()  # of each entry, which is as it was after each user
    rows = _Rows(len(profiles.terms))
    for low in range(0, len(users), _USERS_AT_ONCE):
        progress(low, len(users), "comparing with what is published")
        rows.add(*_match(users[low : low + _USERS_AT_ONCE], room, *given))
    entry, term, amount, replaced = rows.taken()
    return Standing(
        float(profiles.occurrences.sum()), entry, release.weights.indices[entry], term, amount, replaced
    )  # fmt: skip


class _Rows:
    """Rows (entry, term, amount, replaced) as they come. Of a profile that many share, most say the same."""

    def __init__(self, terms: int) -> None:
        self._terms, self._held, self._most = terms, 0, _ROWS_AT_ONCE
        self._columns: list[list[np.ndarray]] = [[], [], [], []]

    def add(self, entry: np.ndarray, term: np.ndarray, amount: np.ndarray, replaced: np.ndarray) -> None:
        self._hold(entry.astype(np.int64), term.astype(np.int32), amount, replaced > 0)
        if self._held > self._most:
            self._hold(*self._added_up(*self.taken()))
            self._most = max(_ROWS_AT_ONCE, 2 * self._held)

    def taken(self) -> list[np.ndarray]:
        """All rows, which are no longer held here: each column is let go of before the next is put together."""
        none = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0, np.bool_))
        self._held = 0
        found = []
        for parts, start in zip(self._columns, none, strict=True):
            found.append(np.concatenate([start, *parts]))
            parts.clear()
        return found

    def _hold(self, *columns: np.ndarray) -> None:
        self._held += len(columns[0])
        for parts, column in zip(self._columns, columns, strict=True):
            parts.append(column)

    def _added_up(
        self, entry: np.ndarray, term: np.ndarray, amount: np.ndarray, replaced: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        key = (entry * self._terms + term) * 2 + replaced
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        pair = key[first] >> 1
        same = (pair // self._terms, (pair % self._terms).astype(np.int32))
        return *same, np.add.reduceat(amount[order], first), (key[first] & 1).astype(bool)


def profiles_held(assignment: Assignment, profiles: Profiles, published: int) -> csr_array:
    """Users of the profiles x published profiles, 1 where a user has one."""
    row = assignment.rows_for(profiles.users)
    pairs = (np.ones(len(assignment.user)), (row, assignment.profile))
    return csr_array(pairs, shape=(len(profiles), published))


def leaves_of(release: Release, taxonomy: Taxonomy) -> np.ndarray:
    """How many terms each label stands for: the leaves below a node, the members of a bag, 1 for a term."""
    leaves = np.ones(len(release.labels), dtype=np.int64)
    for i, members in release.bags.items():
        leaves[i] = len(members)
    for i, label in release.nodes.items():
        leaves[i] = taxonomy.leaves[node_of(label, taxonomy)]
    return leaves


def _whole(matrix: csr_array) -> list[np.ndarray]:
    return [matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64)]


def _labels(release: Release, profiles: Profiles, taxonomy: Taxonomy, epsilon: int) -> list[np.ndarray]:
    """What the matching must know of labels and terms, in the order in which it takes them."""
    plain = {release.labels[i]: i for i in np.flatnonzero(~release.generalized).tolist()}
    label_of = np.array([plain.get(term, -1) for term in profiles.terms], dtype=np.int64)
    leaf = np.array([leaf_of(term, taxonomy) for term in profiles.terms], dtype=np.int64)
    published = np.array([leaf_of(label, taxonomy) for label in plain], dtype=np.int64)
    near_start, near, edges = near_terms(leaf, published, taxonomy, epsilon)
    near = np.array(list(plain.values()), dtype=np.int64)[near]
    loss = leaves_of(release, taxonomy).astype(np.float64)
    return [
        *_generalized_entries(release, loss), loss, _inner_nodes(release, taxonomy), label_of, leaf,
        taxonomy.end.astype(np.int64), *_bags(release, profiles), near_start, near, edges,
    ]  # fmt: skip


def _generalized_entries(release: Release, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The generalized entries of each profile, those that lose least first: start and positions."""
    weights = release.weights
    row = np.repeat(np.arange(len(release)), np.diff(weights.indptr))
    entry = np.flatnonzero(release.generalized[weights.indices])
    entry = entry[np.lexsort((loss[weights.indices[entry]], row[entry]))]
    return np.searchsorted(row[entry], np.arange(len(release) + 1)).astype(np.int64), entry.astype(np.int64)


def _inner_nodes(release: Release, taxonomy: Taxonomy) -> np.ndarray:
    """The node of each generalized label, -1 for terms and bags."""
    node = np.full(len(release.labels), -1, dtype=np.int64)
    for i, label in release.nodes.items():
        node[i] = node_of(label, taxonomy)
    return node


def _bags(release: Release, profiles: Profiles) -> tuple[np.ndarray, np.ndarray]:
    """The terms of each label that is a bag: start and columns of the profiles."""
    number = {term: t for t, term in enumerate(profiles.terms)}
    bags = [release.bags.get(i, []) for i in range(len(release.labels))]
    known = [[number[term] for term in bag if term in number] for bag in bags]
    start = np.concatenate([[0], np.cumsum([len(bag) for bag in known])]).astype(np.int64)
    return start, np.array([t for bag in known for t in bag], dtype=np.int64)


def near_terms(
    terms: np.ndarray, others: np.ndarray, taxonomy: Taxonomy, epsilon: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of `terms`, the positions in `others` of other leaves up to epsilon edges away, the nearest first.

    Both are leaves, -1 where the taxonomy does not know the term. Gives start (one more than terms), position, edges.
    """
    found = [
        _nodes_above(terms, taxonomy, up).join(_nodes_above(others, taxonomy, down), on="node")
        .with_columns(edges=pl.lit(up + down, dtype=pl.Int64))
        for up in range(1, epsilon)  # two leaves are two edges apart at least
        for down in range(1, epsilon - up + 1)
    ]  # fmt: skip
    if not found:
        return np.zeros(len(terms) + 1, dtype=np.int64), *np.empty((2, 0), dtype=np.int64)
    pairs = pl.concat(found).filter(pl.col("leaf") != pl.col("leaf_right"))
    pairs = pairs.group_by("place", "place_right").agg(pl.col("edges").min()).sort("place", "edges", "place_right")
    start = np.searchsorted(pairs["place"].to_numpy(), np.arange(len(terms) + 1)).astype(np.int64)
    return start, pairs["place_right"].to_numpy().astype(np.int64), pairs["edges"].to_numpy()


def _nodes_above(leaves: np.ndarray, taxonomy: Taxonomy, steps: int) -> pl.DataFrame:
    """The node so many steps above each leaf, where there is one."""
    node = leaves.copy()
    for _ in range(steps):
        node = np.where(node >= 0, taxonomy.parent[node], -1)
    place = np.flatnonzero(node >= 0)
    columns = {"place": place, "leaf": leaves[place], "node": node[place].astype(np.int64)}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))


@njit(cache=True)
def _match(
    users: np.ndarray, room: np.ndarray,
    held_start: np.ndarray, held: np.ndarray,  # the profiles of each user
    own_start: np.ndarray, own_term: np.ndarray, own_count: np.ndarray,
    entry_start: np.ndarray, entry_label: np.ndarray, weight: np.ndarray,
    general_start: np.ndarray, general: np.ndarray,  # generalized entries of each profile, those that lose least first
    loss: np.ndarray, node: np.ndarray,  # of each label; node is -1 for a term and for a bag
    label_of: np.ndarray, leaf: np.ndarray,  # of each term
    end: np.ndarray,
    bag_start: np.ndarray, bag: np.ndarray,  # the terms of each label that is a bag
    near_start: np.ndarray, near: np.ndarray, edges: np.ndarray, farthest: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Rows (entry, term, amount, replaced) by the three rules above."""
    here = np.full(len(loss), -1, dtype=np.int64)  # the entry of each label in the profile at hand
    place = np.full(len(leaf), -1, dtype=np.int64)  # where the user at hand has each term
    rows = np.empty((4, 1024))
    n, hand = 0, -1
    for u in users:
        a, b = own_start[u], own_start[u + 1]
        left = own_count[a:b].copy()
        for j in range(b - a):
            place[own_term[a + j]] = j
        mine = held[held_start[u] : held_start[u + 1]]
        first = n
        for p in mine:  # rule 1
            hand = _take_in_hand(p, hand, here, entry_start, entry_label)
            for j in range(b - a):
                label = label_of[own_term[a + j]]
                if label >= 0 and here[label] >= 0:
                    rows, n = _stand(rows, n, here[label], own_term[a + j], j, left, room, 0)
        for e in _generalized(mine, general_start, general, entry_label, loss):  # rule 2
            label = entry_label[e]
            if node[label] >= 0:
                for j in range(b - a):
                    if room[e] > _LEAST and node[label] <= leaf[own_term[a + j]] < end[node[label]]:
                        rows, n = _stand(rows, n, e, own_term[a + j], j, left, room, 0)
            else:
                for t in bag[bag_start[label] : bag_start[label + 1]]:
                    if place[t] >= 0:
                        rows, n = _stand(rows, n, e, t, place[t], left, room, 0)
        for far in range(1, farthest + 1):  # rule 3
            for p in mine:
                hand = _take_in_hand(p, hand, here, entry_start, entry_label)
                for j in range(b - a):
                    t = own_term[a + j]
                    for i in range(near_start[t], near_start[t + 1]):
                        if left[j] <= _LEAST or edges[i] > far:
                            break
                        if edges[i] == far and here[near[i]] >= 0:
                            rows, n = _stand(rows, n, here[near[i]], t, j, left, room, 1)
        for row in range(first, n):
            room[int(rows[0, row])] = weight[int(rows[0, row])]
        for j in range(b - a):
            place[own_term[a + j]] = -1
    return rows[0, :n].copy(), rows[1, :n].copy(), rows[2, :n].copy(), rows[3, :n].copy()


@njit(cache=True)
def _take_in_hand(p: int, hand: int, here: np.ndarray, entry_start: np.ndarray, entry_label: np.ndarray) -> int:
    """Let `here` know the entries of profile p instead of those of profile `hand`."""
    if p != hand:
        if hand >= 0:
            here[entry_label[entry_start[hand] : entry_start[hand + 1]]] = -1
        for e in range(entry_start[p], entry_start[p + 1]):
            here[entry_label[e]] = e
    return p


@njit(cache=True)
def _generalized(
    mine: np.ndarray, start: np.ndarray, general: np.ndarray, label: np.ndarray, loss: np.ndarray
) -> np.ndarray:
    """The generalized entries of all these profiles, those that lose least first."""
    if len(mine) == 1:
        return general[start[mine[0]] : start[mine[0] + 1]]
    total = 0
    for p in mine:
        total += start[p + 1] - start[p]
    found = np.empty(total, dtype=np.int64)
    n = 0
    for p in mine:
        for i in range(start[p], start[p + 1]):
            found[n] = general[i]
            n += 1
    return found[np.argsort(loss[label[found]], kind="mergesort")]


@njit(cache=True)
def _stand(
    rows: np.ndarray, n: int, entry: int, term: int, j: int, left: np.ndarray, room: np.ndarray, replaced: int
) -> tuple[np.ndarray, int]:
    """Let as many occurrences as there are, and as there is room for, stand under an entry."""
    amount = min(left[j], room[entry])
    if amount <= _LEAST:
        return rows, n
    left[j] -= amount
    room[entry] -= amount
    if n == rows.shape[1]:
        longer = np.empty((4, 2 * n))
        for row in range(4):  # part by part: to compile a copy of slices takes a second
            for i in range(n):
                longer[row, i] = rows[row, i]
        rows = longer
    rows[0, n], rows[1, n], rows[2, n], rows[3, n] = entry, term, amount, replaced
    return rows, n + 1


# Where in the taxonomy a published label is: a term is a leaf, a generalized label a node, a bag what is above it.


def node_of(label: str, taxonomy: Taxonomy) -> int:
    """The node of a generalized label."""
    node = taxonomy.node.get(label.lower())
    if node is None:
        raise InputError(f"{label!r} is not in the taxonomy: give the taxonomy that the release was made with")
    return node


def leaf_of(term: str, taxonomy: Taxonomy) -> int:
    """The leaf of a term, -1 where the taxonomy does not know it."""
    leaf = taxonomy.leaf(term)
    return -1 if leaf is None else leaf


def label_nodes(release: Release, taxonomy: Taxonomy) -> np.ndarray:
    """The node of each label: a term's leaf, -1 for a term unknown, and for a bag the lowest node above its members."""
    pairs = zip(release.labels, release.generalized.tolist(), strict=True)
    return np.array([_place(label, general, taxonomy) for label, general in pairs], dtype=np.int64)


def _place(label: str, general: bool, taxonomy: Taxonomy) -> int:
    if not general:
        return leaf_of(label, taxonomy)
    return _above(bag_members(label), taxonomy) if is_bag(label) else node_of(label, taxonomy)


def _above(terms: list[str], taxonomy: Taxonomy) -> int:
    leaves = [leaf for term in terms if (leaf := taxonomy.leaf(term)) is not None]
    node = leaves[0] if leaves else -1
    while node >= 0 and not node <= min(leaves) <= max(leaves) < taxonomy.end[node]:
        node = int(taxonomy.parent[node])
    return node
