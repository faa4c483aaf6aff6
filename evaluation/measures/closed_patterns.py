"""Which sets of items occur together most often? The top closed frequent patterns (Han et al. 2002), exactly.

A pattern is closed if no larger one occurs in the same transactions. Extensions that preserve the prefix (LCM's) make
every closed pattern once, each from one that occurs more often; so taking the most frequent first ends after n of them.
"""

import heapq
from dataclasses import dataclass, field
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
    where: np.ndarray = field(compare=False)  # the transactions that hold it: few numbers where few do


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
    queue = [_closed(table, table.holds, np.arange(len(table.times)), -1)] if table.times.sum() > 0 else []
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


def _closed(table: _Table, holds: np.ndarray, where: np.ndarray, core: int) -> _Found:
    """All that these transactions have in common; `holds` are rows x these."""
    rows = np.flatnonzero(holds.all(axis=1)).tolist()
    items = tuple(sorted(chain.from_iterable(table.items[row] for row in rows)))
    return _Found(-float(table.times[where].sum()), items, tuple(rows), core, where)


def _extensions(table: _Table, pattern: _Found) -> list[_Found]:
    """The closures of the pattern and a later row that add nothing before that row."""
    inside = set(pattern.rows)
    holds = table.holds[:, pattern.where]
    support = _supports(holds, table.times[pattern.where])
    frequent = np.flatnonzero((support > 0) & (support >= table.least))
    found = []
    for row in frequent[frequent > pattern.core].tolist():
        if row not in inside:
            here = holds[row]
            extension = _closed(table, holds[:, here], pattern.where[here], row)
            if inside.issuperset(other for other in extension.rows if other < row):
                found.append(extension)
    return found


def _supports(holds: np.ndarray, times: np.ndarray) -> np.ndarray:
    """How often each row is there; one at a time, since a product would first make numbers of all flags."""
    return np.array([times[row].sum() for row in holds])


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
    holds = np.zeros((len(items), len(times)), dtype=bool)
    for row, same in enumerate(items):
        here = slice(*columns.indptr[same[0] : same[0] + 2])
        holds[row, columns.indices[here]] = columns.data[here] > 0
    return _Table(items, holds, times.astype(float), least)
