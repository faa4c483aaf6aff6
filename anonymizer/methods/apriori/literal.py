"""How does Apriori anonymization go, step by step? Algorithm 2.3 of the thesis in plain sets, every choice tried.

A tree is the one of the literal Clump; a transaction is a set of its leaves; a cut is the node of each leaf. NCP is a
whole number: times the leaves of the root.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from shoal.anonymizer.methods.clump.literal import Tree

Cut = dict[int, int]


@dataclass(frozen=True, eq=False)
class Log:
    """Transactions over a tree, whose nodes have labels."""

    tree: Tree
    labels: Sequence[str]
    transactions: Sequence[frozenset[int]]

    def path(self, v: int) -> list[int]:
        """The node and all above it."""
        return [v, *self.path(int(self.tree.parent[v]))] if v else [0]

    @cached_property
    def holding(self) -> list[frozenset[int]]:
        """The nodes at or above the items of each transaction."""
        return [frozenset(v for x in t for v in self.path(x)) for t in self.transactions]

    def users(self, nodes: frozenset[int]) -> int:
        """How many transactions have an item at or below each of some nodes."""
        return sum(nodes <= held for held in self.holding)

    def under(self, cut: Cut, transaction: frozenset[int]) -> frozenset[int]:
        """A transaction under a cut; a leaf that the cut does not name is left out."""
        return frozenset(cut[x] for x in transaction if x in cut)

    @cached_property
    def penalty(self) -> list[int]:
        """NCP of each node: its leaves, and nothing for one leaf."""
        return [leaves_less_one + 1 if leaves_less_one else 0 for leaves_less_one in self.tree.LM]

    def loss(self, cut: Cut) -> int:
        """NCP of a cut over all occurrences of items."""
        return sum(self.penalty[cut[x]] for t in self.transactions for x in t if x in cut)

    def sets_under_k(self, cut: Cut, size: int, k: int) -> set[frozenset[int]]:
        """Sets of so many items that some transaction has under a cut, and fewer than k have."""
        some = {frozenset(items) for t in self.transactions for items in combinations(self.under(cut, t), size)}
        return {items for items in some if self.users(items) < k}


def apriori(log: Log, k: int, m: int) -> Cut:
    """AA: the cut that is left when no set of up to m items is under k."""
    cut = {x: x for t in log.transactions for x in t}
    nodes = sorted(range(len(log.labels)), key=lambda v: (-log.users(frozenset({v})), log.labels[v].lower()))
    place = {v: i for i, v in enumerate(nodes)}
    for size in range(1, m + 1):
        while found := log.sets_under_k(cut, size, k):
            first = min(sorted(place[v] for v in items) for items in found)
            cut = _repaired(log, cut, [nodes[i] for i in first], k)
    return cut


def _repaired(log: Log, cut: Cut, items: Sequence[int], k: int) -> Cut:
    """DA for one set: by the cheapest of all rules with which k users hold it, the first by label of equal ones."""
    ways = [rules for rules in product(*map(log.path, items)) if log.users(_highest(log, rules)) >= k]
    made = ((_ruled(log, cut, rules), [log.labels[v].lower() for v in rules]) for rules in ways)
    return min(made, key=lambda way: (log.loss(way[0]), way[1]))[0]


def _highest(log: Log, rules: Sequence[int]) -> frozenset[int]:
    """The rules that are below no other."""
    return frozenset(v for v in rules if not set(log.path(v)[1:]) & set(rules))


def _ruled(log: Log, cut: Cut, rules: Sequence[int]) -> Cut:
    """Each leaf at the highest rule above it, or where it is; what is above has the smaller number."""
    return {x: min([*(v for v in log.path(x) if v in rules), node]) for x, node in cut.items()}
