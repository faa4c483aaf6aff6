"""How would one cluster vocabularies to the letter? Liu & Wang 2010: every distance by a full, dense matching.

Written from the paper's Figures 3 and 4 and section IV-B, in strings and lists; it shares no code with the method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.optimize import linear_sum_assignment

from corpus.progress import Progress, silent

Bag = tuple[str, ...]
PRIME = 2**31 - 1


@dataclass(frozen=True)
class LiteralSSC:
    """The tree as child -> parent, and the settings. `number` ranks terms, to choose between equal matchings."""

    parent: Mapping[str, str]
    number: Mapping[str, int]
    k: int
    epsilon: int = 4
    omega: Fraction = Fraction(5)
    seeding: str = "farthest"
    progress: Progress = silent
    known: dict[tuple[str, str], int] = field(default_factory=dict)  # distances already counted

    def clusters(self, T: Sequence[Sequence[str]], user: Sequence[int]) -> list[tuple[list[int], list[Bag]]]:
        """Algorithm 1: members in the order in which they came, and the bags of the centre."""
        left = [t for t in range(len(T)) if T[t]]
        total = len(left)
        CL: list[tuple[list[int], list[Bag]]] = []
        while len({user[t] for t in left}) >= self.k:
            seed = left[0]
            if self.seeding == "farthest" and CL:
                seed = max(left, key=lambda t: (self.distance(T[t], CL[-1][1], len(CL[-1][0])), -t))
            C = [seed]
            centre: list[Bag] = [(term,) for term in sorted(T[seed])]
            left.remove(seed)
            for size in range(1, self.k):
                self.progress(total - len(left), total, "matching all pairs")
                others = [t for t in left if user[t] not in {user[c] for c in C}]
                r = min(others, key=lambda t: (self.distance(T[t], centre, size), t))
                left.remove(r)
                C.append(r)
                centre = self.match(T[r], centre, size)
            CL.append((C, centre))
        for t in left:
            c = min(range(len(CL)), key=lambda c: (self.distance(T[t], CL[c][1], len(CL[c][0])), c))
            CL[c] = ([*CL[c][0], t], self.match(T[t], CL[c][1], len(CL[c][0])))
        return CL

    def distance(self, t: Sequence[str], centre: Sequence[Bag], size: int) -> int:
        """Definition 4 by the second model: a perfect matching of both sides, padded with nil terms."""
        cost = self.padded(t, centre, size)
        return round(cost[linear_sum_assignment(cost)].sum())

    def match(self, t: Sequence[str], centre: Sequence[Bag], size: int) -> list[Bag]:
        """gt_(l+1) from gt_l; of several matchings of the same cost, the one of the least preferences."""
        cost = self.padded(t, centre, size)
        scale = 2**24 * (min(len(t), len(centre)) + 1)
        preferences = np.array([[self.preference((*bag, term)) for bag in centre] for term in t])
        cost *= scale
        if preferences.size:
            cost[: len(t), : len(centre)] += preferences
        rows, columns = linear_sum_assignment(cost)
        pairs = [(i, b) for i, b in zip(rows, columns, strict=True) if i < len(t) and b < len(centre)]
        return sorted((*centre[b], t[i]) for i, b in pairs)

    def padded(self, t: Sequence[str], centre: Sequence[Bag], size: int) -> np.ndarray:
        """Figure 3, with whole numbers: terms and |centre| nils against bags and |t| nils."""
        n, m = len(t), len(centre)
        cost = np.zeros((n + m, m + n))
        cost[:n, m:] = self.omega.numerator
        cost[n:, :m] = self.omega.numerator * size  # nil is omega from each of the terms in a bag
        for i, term in enumerate(t):
            for b, bag in enumerate(centre):
                cost[i, b] = self.hyper_distance(term, bag)
        return cost

    def hyper_distance(self, term: str, bag: Bag) -> int:
        """The sum of the distances to the terms in the bag; too much for any matching if one is irrelevant."""
        distances = [self.between(term, other) for other in bag]
        if max(distances) > self.epsilon:
            return 4 * (len(bag) + 1) * self.omega.numerator
        return self.omega.denominator * sum(distances)

    def between(self, i: str, j: str) -> int:
        """Edges on the way from i to j."""
        if (i, j) not in self.known:
            up, down = self.path(i), self.path(j)
            shared = len(set(up) & set(down))
            self.known[i, j] = len(up) + len(down) - 2 * shared
        return self.known[i, j]

    def path(self, node: str) -> list[str]:
        nodes = [node]
        while nodes[-1] in self.parent:
            nodes.append(self.parent[nodes[-1]])
        return nodes

    def preference(self, bag: Bag) -> int:
        key = 0
        for term in bag:
            key = (key * 1000003 + self.number[term] + 1) % PRIME
        return pow(key, 3, PRIME) % 2**24
