"""How does HgHs go, step by step? Section 2.7 of the thesis in plain sets: every cut below, every set of its items.

A log is the one of the literal Apriori. Costs are whole numbers: times the leaves of the root.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from shoal.anonymizer.methods.apriori.literal import Log


@dataclass(frozen=True)
class Solution:
    """A cut, the items of it that are left out (the suppression scenario SS), and what both cost."""

    cut: frozenset[int]
    left_out: frozenset[int]
    cost: int

    def published(self, log: Log, transaction: frozenset[int]) -> frozenset[int]:
        return frozenset(v for x in transaction for v in log.path(x) if v in self.cut - self.left_out)


def hghs(log: Log, k: int, m: int) -> Solution:
    """The outer loop, top-down: the cheapest cut one node below, by label of equal ones, while it costs less."""
    best = _solved(log, frozenset({_lowest(log, 0)}), k, m)
    while True:
        inner = sorted((v for v in best.cut if log.tree.children[v]), key=lambda v: log.labels[v].lower())
        below = [_solved(log, best.cut - {v} | {_lowest(log, w) for w in log.tree.children[v]}, k, m) for v in inner]
        cheapest = min(below, key=lambda solution: solution.cost, default=best)
        if cheapest.cost >= best.cost:
            return best
        best = cheapest


def _lowest(log: Log, v: int) -> int:
    """A node with a single child stands for the same leaves: its child is taken."""
    return _lowest(log, log.tree.children[v][0]) if len(log.tree.children[v]) == 1 else v


def _solved(log: Log, cut: frozenset[int], k: int, m: int) -> Solution:
    """The inner loop: items are left out, greedily, until no threat is left."""
    threats, left_out = _threats(log, cut, k, m), set[int]()
    while alive := [threat for threat in threats if not threat & left_out]:
        items = frozenset[int]().union(*alive)
        left_out.add(max(items, key=lambda v: (_worth(log, v, alive), log.labels[v].lower())))
    total = sum(log.penalty[v] * occurrences(log, v) for v in cut - left_out)
    total += sum((log.tree.LM[0] + 1) * occurrences(log, v) for v in left_out)
    return Solution(cut, frozenset(left_out), total)


def _threats(log: Log, cut: frozenset[int], k: int, m: int) -> list[frozenset[int]]:
    """The smallest sets of up to m items of a cut that somebody holds but fewer than k do."""
    found: list[frozenset[int]] = []
    held = [cut & nodes for nodes in log.holding]
    for size in range(1, min(m, max(map(len, held))) + 1):
        some = {frozenset(items) for items_held in held for items in combinations(items_held, size)}
        found += [items for items in some if log.users(items) < k and not any(smaller < items for smaller in found)]
    return found


def _worth(log: Log, v: int, threats: Iterable[frozenset[int]]) -> Fraction:
    """How many threats end for each occurrence that is lost."""
    return Fraction(sum(v in threat for threat in threats), occurrences(log, v))


def occurrences(log: Log, v: int) -> int:
    return sum(v in log.path(x) for t in log.transactions for x in t)
