"""Which sets of items occur together most often? The top closed frequent patterns (Han et al. 2002), exactly.

A pattern is closed if no larger one occurs in the same transactions. Extensions that preserve the prefix (LCM's) make
every closed pattern once, each from one that occurs more often; so taking the most frequent first ends after n of them.
"""

import heapq
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.sparse import csc_array, csr_array

Pattern = tuple[int, ...]  # items, ascending
LONGEST = 20  # items: a longer pattern is a whole profile that a few have in common


@dataclass(frozen=True, eq=False)
class _Table:
    """The items that may be in a top pattern. Items of the same transactions make one row: none comes without all."""

    items: list[Pattern]
    holds: np.ndarray  # rows x transactions
    times: np.ndarray  # how often each transaction counts
    least: float  # what is rarer is in no top pattern; 0 where every item is here


@dataclass(frozen=True, order=True)
class _Found:
    """A closed pattern. The order is that of the results: the most frequent first, then the smaller items."""

    less: float  # minus its support
    items: Pattern
    rows: Pattern
    core: int  # the row whose addition made it: only later ones extend it
    where: bytes  # the transactions that hold it


def top_closed_patterns(
    transactions: csr_array, times: np.ndarray, n: int, longest: int = LONGEST
) -> list[tuple[Pattern, float]]:
    """The n most frequent closed patterns of 1 to `longest` items and their supports, smaller items first among equals.

    Transactions x items; an item is there where its weight is positive. `times` says how often a transaction counts.
    """
    singles = n
    while True:
        table = _candidates(transactions, times, singles)
        found = _top(table, n, longest)
        if len(found) == n or table.least == 0:
            return [(pattern.items, -pattern.less) for pattern in found]
        singles *= 4  # some of them are in long patterns only


def _top(table: _Table, n: int, longest: int) -> list[_Found]:
    queue = [_closed(table, np.ones(len(table.times), dtype=bool), -1)] if table.times.sum() > 0 else []
    found: list[_Found] = []
    while queue and len(found) < n:
        pattern = heapq.heappop(queue)
        if len(pattern.items) > longest:
            continue  # and so is all that extends it
        if pattern.items:
            found.append(pattern)
        for extension in _extensions(table, pattern):
            heapq.heappush(queue, extension)
    return found


def _closed(table: _Table, where: np.ndarray, core: int) -> _Found:
    """All that these transactions have in common."""
    rows = np.flatnonzero(table.holds[:, where].all(axis=1)).tolist()
    items = tuple(sorted(chain.from_iterable(table.items[row] for row in rows)))
    return _Found(-float(table.times[where].sum()), items, tuple(rows), core, where.tobytes())


def _extensions(table: _Table, pattern: _Found) -> list[_Found]:
    """The closures of the pattern and a later row that add nothing before that row."""
    where = np.frombuffer(pattern.where, dtype=bool)
    inside = set(pattern.rows)
    support = (table.holds & where) @ table.times
    frequent = np.flatnonzero((support > 0) & (support >= table.least))
    found = []
    for row in frequent[frequent > pattern.core].tolist():
        if row not in inside:
            extension = _closed(table, table.holds[row] & where, row)
            if inside.issuperset(other for other in extension.rows if other < row):
                found.append(extension)
    return found


def _candidates(transactions: csr_array, times: np.ndarray, n: int) -> _Table:
    """Items no rarer than the n-th distinct single one: each of those is, closed, a pattern just as frequent."""
    columns = csc_array(transactions)
    columns.eliminate_zeros()
    columns.sort_indices()
    support = columns.astype(bool).T @ times.astype(float)
    together: dict[bytes, list[int]] = {}
    least = 0.0
    for item in np.lexsort((np.arange(len(support)), -support)).tolist():
        if support[item] <= 0 or support[item] < least:
            break
        part = columns.indices[columns.indptr[item] : columns.indptr[item + 1]]
        together.setdefault(part.tobytes(), []).append(item)
        if len(together) == n:
            least = float(support[item])
    else:
        least = 0.0
    items = sorted(tuple(sorted(same)) for same in together.values())
    holds = columns[:, [same[0] for same in items]].toarray().T > 0
    return _Table(items, holds.reshape(len(items), len(times)), times.astype(float), least)
