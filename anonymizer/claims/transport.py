"""Can what is there be shared out as it must be? Transport problems with bounds, many at once, by a maximum flow."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

FEASIBLE = -1


@dataclass(frozen=True, eq=False)
class Transport:
    """Givers, takers and edges between them, in parts that share no edge. All columns hold whole numbers.

    Each taker takes exactly what it needs, each giver gives from its `least` to its `most`, each edge carries from its
    `low` to its `high`.
    """

    giver_part: np.ndarray
    least: np.ndarray
    most: np.ndarray
    taker_part: np.ndarray
    needs: np.ndarray
    giver: np.ndarray  # of each edge
    taker: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def impossible_part(self) -> int:
        """A part that has no solution, or FEASIBLE."""
        rest = self
        for forced in (Transport._lower_bounds, Transport._only_ways):
            if (found := rest._out_of_bounds()) != FEASIBLE:
                return found
            rest = rest._carrying(forced(rest))
        found = rest._out_of_bounds()
        return found if found != FEASIBLE else rest._unmet_by_a_flow()

    def _lower_bounds(self) -> np.ndarray:
        return self.low

    def _only_ways(self) -> np.ndarray:
        """All that a taker needs, on its edge, where it has one only."""
        open = self.high > 0
        ways = np.bincount(self.taker[open], minlength=len(self.needs))
        return np.where(open & (ways[self.taker] == 1), self.needs[self.taker], 0)

    def _out_of_bounds(self) -> int:
        for part, wrong in (
            (self.giver_part[self.giver], self.low > self.high),
            (self.giver_part, self.least > self.most),
            (self.taker_part, (self.needs < 0) | (self.needs > _sums(self.taker, self.high, len(self.needs)))),
        ):
            if wrong.any():
                return int(part[wrong.argmax()])
        return FEASIBLE

    def _carrying(self, amount: np.ndarray) -> "Transport":
        """What is left to do when each edge carries this much already."""
        given = _sums(self.giver, amount, len(self.least))
        return replace(
            self,
            least=np.maximum(self.least - given, 0),
            most=self.most - given,
            needs=self.needs - _sums(self.taker, amount, len(self.needs)),
            low=np.zeros_like(self.low),
            high=self.high - amount,
        )

    def _unmet_by_a_flow(self) -> int:
        """Two ways lead to a giver: one as wide as its least, and one as wide as the rest of its part's needs.

        Both together are what the part needs, so that a flow which meets all needs fills the first ones, too.
        """
        parts = 1 + max(self.giver_part.max(initial=-1), self.taker_part.max(initial=-1))
        spare = _sums(self.taker_part, self.needs, parts) - _sums(self.giver_part, self.least, parts)
        if (spare < 0).any():
            return int((spare < 0).argmax())
        source, sink, of_part = 0, 1, np.arange(2, 2 + parts)
        of_giver = 2 + parts + np.arange(len(self.least))
        of_taker = 2 + parts + len(of_giver) + np.arange(len(self.needs))
        edges = [
            (np.full(len(of_giver), source), of_giver, self.least),
            (np.full(parts, source), of_part, spare),
            (of_part[self.giver_part], of_giver, self.most - self.least),
            (of_giver[self.giver], of_taker[self.taker], self.high),
            (of_taker, np.full(len(of_taker), sink), self.needs),
        ]
        tail, head, wide = (np.concatenate(column) for column in zip(*edges, strict=True))
        used = wide > 0
        shape = (2 + parts + len(of_giver) + len(of_taker),) * 2
        capacity = csr_array((wide[used].astype(np.int32), (tail[used], head[used])), shape=shape)
        from scipy.sparse.csgraph import maximum_flow  # loads half of scipy: no start waits for it

        found = maximum_flow(capacity, source, sink)
        if found.flow_value == self.needs.sum():
            return FEASIBLE
        arrived = csr_array(found.flow)[[sink]].toarray()[0, of_taker]  # backwards: what comes in counts below zero
        return int(self.taker_part[(-arrived < self.needs).argmax()])


def _sums(group: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    return np.bincount(group, weights=values, minlength=groups).astype(np.int64)
