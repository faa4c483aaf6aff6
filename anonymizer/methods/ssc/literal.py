"""How would one cluster vocabularies to the letter? Liu & Wang 2010: every distance by a full, dense matching.

Written from the paper's Figures 3 and 4 and section IV-B; it shares no code with the method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.optimize import linear_sum_assignment

from shoal.corpus.progress import Progress, silent

Bag = tuple[str, ...]
PRIME = 2**31 - 1


@dataclass(frozen=True)
class LiteralSSC:
    """The tree as child -> parent, the terms, and the settings. Inside, a term is its place in the list of terms."""

    parent: Mapping[str, str]
    terms: Sequence[str]
    k: int
    epsilon: int = 4
    omega: Fraction = Fraction(5)
    seeding: str = "farthest"
    model: int = 2
    progress: Progress = silent

    def clusters(self, vocabularies: Sequence[Sequence[str]], user: Sequence[int]) -> list[tuple[list[int], list[Bag]]]:
        """Members in the order in which they came, and the bags of the centre."""
        found = self._algorithm_1([self.numbers(t) for t in vocabularies], user)
        return [(C, self.bags(centre)) for C, centre in found]

    def _algorithm_1(self, T: list[np.ndarray], user: Sequence[int]) -> list[tuple[list[int], np.ndarray]]:
        left = [t for t in range(len(T)) if len(T[t])]
        total = len(left)
        CL: list[tuple[list[int], np.ndarray]] = []
        while len({user[t] for t in left}) >= self.k:
            seed = left[0]
            if self.seeding == "farthest" and CL:
                seed = max(left, key=lambda t: (self.distance(T[t], CL[-1][1]), -t))
            C, centre = [seed], T[seed].reshape(-1, 1)
            left.remove(seed)
            while len(C) < self.k:
                self.progress(total - len(left), total, "matching all pairs")
                others = [t for t in left if user[t] not in {user[c] for c in C}]
                r = min(others, key=lambda t: (self.distance(T[t], centre), t))
                left.remove(r)
                C.append(r)
                centre = self.match(T[r], centre)
            CL.append((C, centre))
        for t in left:
            c = min(range(len(CL)), key=lambda c: (self.distance(T[t], CL[c][1]), c))
            CL[c] = ([*CL[c][0], t], self.match(T[t], CL[c][1]))
        return CL

    def distance(self, t: np.ndarray, centre: np.ndarray) -> int:
        """Definition 4. Model 1: what is matched. Model 2: that, and omega for each occurrence that is not."""
        cost = self.cost(t, centre)
        rows, columns = linear_sum_assignment(cost)
        if self.model == 1:
            return int(sum(c for c in cost[rows, columns] if c < self.nothing(t, centre)))
        alone = (len(t) - len(rows)) + (len(centre) - len(rows)) * centre.shape[1]
        return int(cost[rows, columns].sum()) + alone * self.omega.numerator

    def match(self, t: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """gt_(l+1) from gt_l; of several matchings of the same cost, the one of the least preferences."""
        cost = self.cost(t, centre)
        useful = cost < self.nothing(t, centre)
        scaled = cost * (2**24 * (min(cost.shape) + 1))
        for i, b in np.argwhere(useful):
            scaled[i, b] += self.preference([*centre[b].tolist(), int(t[i])])
        pairs = [(i, b) for i, b in zip(*linear_sum_assignment(scaled), strict=True) if useful[i, b]]
        bags = [[*centre[b].tolist(), int(t[i])] for i, b in pairs]
        return np.array(sorted(bags), dtype=np.int64).reshape(len(bags), centre.shape[1] + 1)

    def cost(self, t: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """Terms x bags: the sum of distances, or what it costs to match both with nil if that is less (Figure 3).

        A matching of the smaller side with the larger under these costs is a perfect matching of the padded graph.
        """
        apart = self.distances[t[:, None, None], centre[None, :, :]]
        unit = 1 if self.model == 1 else self.omega.denominator
        total = unit * apart.sum(axis=2, dtype=np.int64)
        nothing = self.nothing(t, centre)
        return np.where((apart > self.epsilon).any(axis=2), nothing, np.minimum(total, nothing))

    def nothing(self, t: np.ndarray, centre: np.ndarray) -> int:
        """A term and a bag left unmatched: nil is omega from the term and from each term in the bag.

        In model 1, which matches as many as it can, it is more than all pairs that could be matched instead.
        """
        if self.model == 1:
            return len(t) * centre.shape[1] * self.epsilon + 1
        return (centre.shape[1] + 1) * self.omega.numerator

    @cached_property
    def distances(self) -> np.ndarray:
        """Edges between any two terms: the two ways up to the root, without what they share."""
        paths = [self.path(term) for term in self.terms]
        node = {label: v for v, label in enumerate(sorted({label for path in paths for label in path}))}
        down = np.full((len(paths), max((len(path) for path in paths), default=1)), -1)
        for i, path in enumerate(paths):
            down[i, : len(path)] = [node[label] for label in reversed(path)]
        depth = (down >= 0).sum(axis=1)
        shared = [np.cumprod((down == row) & (row >= 0), axis=1).sum(axis=1) for row in down]
        table = [depth + depth[i] - 2 * common for i, common in enumerate(shared)]
        return np.array(table, dtype=np.int16).reshape(len(paths), len(paths))

    def path(self, node: str) -> list[str]:
        nodes = [node]
        while nodes[-1] in self.parent:
            nodes.append(self.parent[nodes[-1]])
        return nodes

    def preference(self, bag: Sequence[int]) -> int:
        key = 0
        for term in bag:
            key = (key * 1000003 + term + 1) % PRIME
        return pow(key, 3, PRIME) % 2**24

    @cached_property
    def place(self) -> dict[str, int]:
        return {term: i for i, term in enumerate(self.terms)}

    def numbers(self, terms: Sequence[str]) -> np.ndarray:
        return np.array([self.place[term] for term in terms], dtype=np.int64)

    def bags(self, centre: np.ndarray) -> list[Bag]:
        return sorted(tuple(self.terms[i] for i in bag) for bag in centre)

    def between(self, i: str, j: str) -> int:
        return int(self.distances[self.place[i], self.place[j]])
