"""How does HgHs anonymize? From the root down, one cut for all users, with a few items left out where that costs less.

J. Liu and K. Wang, Anonymizing Transaction Data by Integrating Suppression and Generalization, 2010 ([44] of A. Milani
Fard's thesis), as section 2.7 of the thesis tells it: heuristic generalization with heuristic suppression.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import types
from numba.typed import Dict

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.cuts import (
    DOES_NOT_PROTECT,
    PROTECTS,
    Nodes,
    holders,
    known_items,
    most_known,
    nodes_above,
    places_of_items,
    publish_cut,
    sharing_profiles,
)
from shoal.anonymizer.methods.hghs.suppression import (
    Search,
    Threats,
    cost,
    costs_below,
    no_threats,
    suppress,
    threats_below,
)
from shoal.anonymizer.transactions import Transactions, transactions_of
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

CUTS_PER_BLOCK = 50  # tried between two calls of progress


class HgHs(ProfileMethod):
    """Guarantee: any m published items of a profile are in at least k profiles."""

    info = MethodInfo(
        id="hghs",
        title="One cut for all with items left out, so that k users share any m items",
        paper=(
            "J. Liu and K. Wang (2010), Anonymizing Transaction Data by Integrating Suppression and Generalization, "
            "and A. Milani Fard (2010), section 2.7"
        ),
        unit="user",
        family="generalize",
        protects=PROTECTS,
        does_not_protect=DOES_NOT_PROTECT,
        cluster="what is generalized is so for all users alike, and blocks would have cuts of their own",
    )
    k = sharing_profiles()
    m = known_items()

    def claim(self) -> Claim:
        return Claim("km-anonymity", {"k": self.k, "m": self.m, "suppressed": "items"})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        taxonomy = self.knowledge.taxonomy
        transactions = transactions_of(profiles, taxonomy)
        self.need_users(len(transactions), self.k)
        nodes = nodes_above(transactions, taxonomy)
        cut, gone = self.cut(transactions, nodes, taxonomy, progress)
        node_of_item = np.full(len(transactions.columns.path_start) - 1, -1)
        for v in np.setdiff1d(cut, gone).tolist():
            node_of_item[nodes.first[v] : nodes.last[v]] = nodes.node[v]
        return publish_cut(profiles, transactions, node_of_item, taxonomy, self.claim())

    def cut(
        self, transactions: Transactions, nodes: Nodes, taxonomy: Taxonomy, progress: Progress
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut and SS: the nodes of the cut, and those of them that are left out."""
        columns = transactions.columns
        row, bits = holders(columns, nodes, places_of_items(columns, nodes))
        scratch = np.zeros(len(nodes.node), dtype=np.int64)
        first, below_start, below = _children(nodes, taxonomy)
        m, penalty = most_known(self.m, nodes), int(taxonomy.leaves[0])
        sharing = Dict.empty(types.int64, types.int64)
        search = Search(self.k, m, nodes, row, bits, below_start, below, scratch, penalty, sharing)
        return _greedy_cut(first, search, progress)


def _children(nodes: Nodes, taxonomy: Taxonomy) -> tuple[int, np.ndarray, np.ndarray]:
    """The first cut's node, and what each node becomes: where they start, and its children.

    A node with a single child stands for the same terms, so the child is taken for it.
    """
    single = np.bincount(taxonomy.parent[1:], minlength=len(taxonomy))[nodes.node] == 1
    lowest = np.arange(len(nodes.node))
    while single[lowest].any():
        lowest = np.where(single[lowest], lowest + 1, lowest)  # in the tree's order, a child follows its parent
    order = np.argsort(nodes.parent[1:], kind="stable")
    start = np.searchsorted(nodes.parent[1:][order], np.arange(len(nodes.node) + 1))
    return int(lowest[0]), start, lowest[1:][order]


def _greedy_cut(first: int, search: Search, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """The outer loop: the cheapest of the cuts one node below, while it costs less; and the items it leaves out."""
    cut, threats, children = np.array([first]), no_threats(), np.diff(search.below_start)
    gone = suppress(threats, search)
    least = cost(cut, gone, search)
    for step in range(len(children)):
        inner = cut[children[cut] > 0]
        tried = _tried(inner, cut, threats, least, search, partial(progress, step, len(children), "trying cuts"))
        if not len(tried) or tried.min() >= least:
            break
        best = inner[np.lexsort((search.nodes.label[inner], tried))[0]]
        threats, least = threats_below(best, cut, threats, search), tried.min()
        cut = np.concatenate([cut[cut != best], search.below[search.below_start[best] : search.below_start[best + 1]]])
        gone = suppress(threats, search)
    return cut, gone


def _tried(
    inner: np.ndarray, cut: np.ndarray, threats: Threats, least: int, search: Search, tell: Callable[[], None]
) -> np.ndarray:
    """The cost of each cut in which one of some nodes became its children."""
    costs = []
    for begin in range(0, len(inner), CUTS_PER_BLOCK):
        tell()
        costs.append(costs_below(inner[begin : begin + CUTS_PER_BLOCK], cut, threats, least, search))
    return np.concatenate([np.empty(0, dtype=np.int64), *costs])
