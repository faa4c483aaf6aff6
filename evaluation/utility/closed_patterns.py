"""Which sets of items occur together most often? The top closed frequent patterns (Han et al. 2002), exactly.

A pattern is closed if no larger one occurs in the same transactions. Extensions that preserve the prefix (LCM's) make
every closed pattern once, each from one that occurs more often; so taking the most frequent first ends after n of them.
"""

import heapq
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

Pattern = tuple[int, ...]  # items, ascending


@dataclass(frozen=True, eq=False)
class _Table:
    """The items that may be in a top pattern: items x transactions, and how often each transaction counts."""

    item: np.ndarray
    holds: np.ndarray
    times: np.ndarray
    least: float  # what is rarer is in no top pattern

    def closure(self, where: np.ndarray) -> np.ndarray:
        """The items that all these transactions hold."""
        return np.asarray(self.holds[:, where].all(axis=1))


def top_closed_patterns(transactions: csr_array, times: np.ndarray, n: int) -> list[tuple[Pattern, float]]:
    """The n most frequent closed patterns of at least one item and their supports, smaller items first among equals.

    Transactions x items; an item is there where its weight is positive. `times` says how often a transaction counts.
    """
    table = _candidates(transactions, times, n)
    everywhere = np.ones(len(times), dtype=bool)
    queue = [_queued(table, everywhere, -1)] if len(table.item) and times.sum() > 0 else []
    found: list[tuple[Pattern, float]] = []
    while queue and len(found) < n:
        less, pattern, core, where = heapq.heappop(queue)
        if pattern:
            found.append((tuple(int(table.item[i]) for i in pattern), -less))
        for extension in _extensions(table, pattern, core, np.frombuffer(where, dtype=bool)):
            heapq.heappush(queue, extension)
    return found


_Queued = tuple[float, Pattern, int, bytes]


def _queued(table: _Table, where: np.ndarray, core: int) -> _Queued:
    pattern = tuple(np.flatnonzero(table.closure(where)).tolist())
    return -float(table.times[where].sum()), pattern, core, where.tobytes()


def _extensions(table: _Table, pattern: Pattern, core: int, where: np.ndarray) -> list[_Queued]:
    """The closures of the pattern and a later item that add nothing before that item."""
    inside = set(pattern)
    later = [i for i in range(core + 1, len(table.item)) if i not in inside]
    support = (table.holds[later] & where) @ table.times
    found = []
    for i, times in zip(later, support.tolist(), strict=True):
        if times >= table.least:
            extension = _queued(table, table.holds[i] & where, i)
            if set(extension[1][: np.searchsorted(extension[1], i)]) <= inside:
                found.append(extension)
    return found


def _candidates(transactions: csr_array, times: np.ndarray, n: int) -> _Table:
    """Items no rarer than the n-th distinct single one: each of those is, closed, a pattern just as frequent."""
    columns = csc_array(transactions)
    columns.eliminate_zeros()
    support = np.zeros(columns.shape[1])
    np.add.at(support, np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr)), times[columns.indices])
    order = np.lexsort((np.arange(len(support)), -support))
    seen: set[bytes] = set()
    least = 0.0
    for item in order.tolist():
        seen.add(np.sort(columns.indices[columns.indptr[item] : columns.indptr[item + 1]]).tobytes())
        if len(seen) >= n:
            least = support[item]
            break
    least = max(least, float(support[support > 0].min(initial=np.inf)))
    item = np.flatnonzero(support >= least)
    return _Table(item, columns[:, item].toarray().T > 0, times.astype(float), least)
