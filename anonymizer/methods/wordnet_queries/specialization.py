"""How special can the concept of a query be? Clusters of single queries, split top-down along the taxonomy."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.corpus.columns import starts
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.progress import Progress

ROOT = 0
_REPORT_EVERY = 200  # nodes


@dataclass(frozen=True, eq=False)
class Cluster:
    """Queries at a node, with all their leaves below it: rows of (query, leaf), sorted by both."""

    node: int
    query: np.ndarray
    leaf: np.ndarray


@dataclass(frozen=True, eq=False)
class Specializer:
    """Splits clusters as long as every published one keeps k users. Queries are rows of `askers`."""

    taxonomy: Taxonomy
    askers: csr_array  # queries x users
    occurrences: np.ndarray
    k: int

    def concepts(self, query: np.ndarray, leaf: np.ndarray, progress: Progress) -> np.ndarray:
        """The node that each query is generalized to; the root for those that no cluster of k users takes."""
        concept = np.full(self.askers.shape[0], ROOT, dtype=np.int64)
        pending = [Cluster(ROOT, query, leaf)]
        visited = 0
        while pending:
            cluster = pending.pop()
            concept[cluster.query] = cluster.node
            pending.extend(self._split(cluster))
            visited += 1
            if visited % _REPORT_EVERY == 1:
                progress(min(cluster.node, len(self.taxonomy)), len(self.taxonomy), "specializing queries")
        progress(len(self.taxonomy), len(self.taxonomy), "specializing queries")
        return concept

    def _split(self, cluster: Cluster) -> list[Cluster]:
        """The clusters at children that hold; those of the queries they leave out stay where they are.

        Like He & Naughton's, the leftover of a split takes queries from the clusters that can spare them, those
        that lose least first, until k users share it; where that fails the cluster is not split. The root is not
        published, so it needs no users.
        """
        children = self._children(cluster.node)
        if len(children) == 0:
            return []
        query, child = self._choose_children(cluster, children)
        goes = self._users(child, query, len(children))[child] >= self.k
        if cluster.node != ROOT and not goes.all() and goes.any():
            goes = self._fill_leftover(cluster.node, query, child, children, goes)
        return self._clusters(cluster, query[goes], child[goes], children)

    def _children(self, node: int) -> np.ndarray:
        children, v = [], node + 1
        while v < self.taxonomy.end[node]:
            children.append(v)
            v = int(self.taxonomy.end[v])
        return np.array(children, dtype=np.int64)

    @cached_property
    def _last(self) -> np.ndarray:
        """The last group in which each user was counted; its last place holds how many groups there were so far."""
        return np.zeros(self.askers.shape[1] + 1, dtype=np.int64)

    def _users(self, group: np.ndarray, query: np.ndarray, groups: int) -> np.ndarray:
        """The distinct users of each group of queries."""
        order = np.argsort(group, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups))])
        return _count_users(start, query[order], self.askers.indptr, self.askers.indices, self._last)

    def loss(self, nodes: np.ndarray) -> np.ndarray:
        """The leaves that NCP (Equation 6) charges for a node: none for a leaf."""
        leaves = self.taxonomy.leaves[nodes]
        return np.where(leaves == 1, 0, leaves)

    def _choose_children(self, cluster: Cluster, children: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each query, once, and the child it would go to: of those above a term of it, the one that gains most.

        The gain of a child is what all the queries of the cluster with a term below it would stop losing. A child
        that cannot have k users even with all of them comes after those that can.
        """
        child = np.searchsorted(children, cluster.leaf, side="right") - 1
        once = starts(cluster.query, child)
        query, child = cluster.query[once], child[once]
        held = np.bincount(child, weights=self.occurrences[query], minlength=len(children))
        gain = held * (self.loss(np.array([cluster.node])) - self.loss(children))
        rank = np.empty(len(children), dtype=np.int64)
        hopeless = self._users(child, query, len(children)) < self.k
        rank[np.lexsort((np.arange(len(children)), -gain, hopeless))] = np.arange(len(children))
        order = np.lexsort((rank[child], query))
        query, child = query[order], child[order]
        first = starts(query)
        return query[first], child[first]

    def _fill_leftover(
        self, node: int, query: np.ndarray, child: np.ndarray, children: np.ndarray, goes: np.ndarray
    ) -> np.ndarray:
        """Which queries go down, once the leftover has k users; none if it cannot get them."""
        if self._users(goes.astype(np.int64), query, 2)[0] >= self.k:
            return goes
        lost = self.occurrences[query] * (self.loss(np.array([node]))[0] - self.loss(children)[child])
        order = np.lexsort((query, lost))
        keys, times = self._who_asked_below(query[goes], child[goes])
        stays = ~goes
        enough = _take_from_spare(
            query, child, order[goes[order]], stays, self.askers.indptr, self.askers.indices, keys, times,
            self.askers.shape[1], self.k,
        )  # fmt: skip
        return ~stays if enough else np.zeros(len(query), dtype=bool)

    def _who_asked_below(self, query: np.ndarray, child: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many queries of each child each user asked, as sorted keys child * users + user, and numbers."""
        part = csr_array(self.askers[query])
        key = np.repeat(child, np.diff(part.indptr)) * self.askers.shape[1] + part.indices
        return np.unique(key, return_counts=True)

    def _clusters(self, cluster: Cluster, query: np.ndarray, child: np.ndarray, children: np.ndarray) -> list[Cluster]:
        """Clusters of the queries that go down, each with those of its leaves that are below its child."""
        place = np.searchsorted(query, cluster.query)
        known = place < len(query)
        known[known] = query[place[known]] == cluster.query[known]
        own = np.full(len(known), -1, dtype=np.int64)
        own[known] = child[place[known]]
        below = np.searchsorted(children, cluster.leaf, side="right") - 1
        kept = np.flatnonzero(own == below)
        kept = kept[np.argsort(own[kept], kind="stable")]
        cuts = np.flatnonzero(np.diff(own[kept])) + 1
        return [
            Cluster(int(children[own[rows[0]]]), cluster.query[rows], cluster.leaf[rows])
            for rows in np.split(kept, cuts)
            if len(rows)
        ]


@njit(cache=True)
def _count_users(
    start: np.ndarray, query: np.ndarray, user_start: np.ndarray, user: np.ndarray, last: np.ndarray
) -> np.ndarray:
    users = np.zeros(len(start) - 1, dtype=np.int64)
    for group in range(len(start) - 1):
        last[-1] += 1
        for q in query[start[group] : start[group + 1]]:
            for u in user[user_start[q] : user_start[q + 1]]:
                if last[u] != last[-1]:
                    last[u] = last[-1]
                    users[group] += 1
    return users


@njit(cache=True)
def _take_from_spare(
    query: np.ndarray, child: np.ndarray, order: np.ndarray, stays: np.ndarray,
    user_start: np.ndarray, user: np.ndarray, keys: np.ndarray, times: np.ndarray, all_users: int, k: int,
) -> bool:  # fmt: skip
    """Mark in `stays`, in this order, queries that bring the leftover a user and leave their child k of its own."""
    users = np.zeros(child.max() + 1, dtype=np.int64)
    for key in keys:
        users[key // all_users] += 1
    there = np.zeros(all_users, dtype=np.bool_)
    for i in range(len(query)):
        if stays[i]:
            there[user[user_start[query[i]] : user_start[query[i] + 1]]] = True
    found = there.sum()
    for i in order:
        if found >= k:
            break
        asked_by = user[user_start[query[i]] : user_start[query[i] + 1]]
        new, alone = 0, 0
        for u in asked_by:
            new += not there[u]
        if new == 0:
            continue
        for u in asked_by:
            alone += times[np.searchsorted(keys, child[i] * all_users + u)] == 1
        if users[child[i]] - alone < k:
            continue
        stays[i] = True
        users[child[i]] -= alone
        found += new
        for u in asked_by:
            there[u] = True
            times[np.searchsorted(keys, child[i] * all_users + u)] -= 1
    return found >= k
