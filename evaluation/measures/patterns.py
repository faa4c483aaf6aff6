"""Are frequent patterns still found? Recall and sDist of the top closed ones before and after (Liu & Wang, V-B).

Which sets of items occur together most often? The top closed frequent patterns (Han et al. 2002), exactly.

A pattern is closed if no larger one occurs in the same transactions. Extensions that preserve the prefix (LCM's) make
every closed pattern once, each from one that occurs more often; so taking the most frequent first ends after n of them.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

import numpy as np
from scipy.sparse import csc_array, csr_array

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.occurrences import label_nodes, leaf_of
from shoal.evaluation.measures.release import MeasuredRelease

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


TOP = 100
EPSILON = 4  # edges: terms farther apart are irrelevant to each other
OMEGA = 5  # what an item without a partner adds to a distance

Items = tuple[str, ...]


@dataclass(frozen=True)
class PatternUtility:
    recall: float  # 1: every pattern is still there
    sDist: float  # 0: every pattern is still there, OMEGA: nothing like any of them is


def pattern_utility(profiles: Profiles, release: Release, taxonomy: Taxonomy, n: int = TOP) -> PatternUtility | None:
    """The patterns of users' profiles against those of what is published for them; None if users have no terms."""
    published = top_closed_patterns(release.weights, release.users, n)
    OFCPs = _of_profiles(profiles, n)
    # The empty pattern is frequent in any data, so nothing is farther away than it.
    AFCPs: list[Items] = [(), *(tuple(release.labels[i] for i in items) for items, _ in published)]
    length = sum(len(pattern) for pattern in OFCPs)
    if length == 0:
        return None
    edges = _Edges(taxonomy, _nodes(OFCPs, AFCPs, release, taxonomy))
    kept = sum(max(len({*pattern} & {*other}) for other in AFCPs) for pattern in OFCPs)
    return PatternUtility(kept / length, sum(_nearest(pattern, AFCPs, edges) for pattern in OFCPs) / length)


@lru_cache(maxsize=4)  # of many releases of one log, one after the other
def _of_profiles(profiles: Profiles, n: int) -> list[Items]:
    found = top_closed_patterns(profiles.counts, np.ones(len(profiles)), n)
    return [tuple(profiles.terms[i] for i in items) for items, _ in found]


class _Edges:
    """The number of edges between two items, if it is at most EPSILON."""

    def __init__(self, taxonomy: Taxonomy, node: dict[str, int]) -> None:
        above = {item: taxonomy.path(v)[: EPSILON + 1] for item, v in node.items()}
        self.up = {item: {v: steps for steps, v in enumerate(path)} for item, path in above.items()}
        self._known: dict[tuple[str, str], float] = {}

    def between(self, a: str, b: str) -> float:
        if (a, b) not in self._known:
            self._known[a, b] = self._count(a, b)
        return self._known[a, b]

    def _count(self, a: str, b: str) -> float:
        if a == b:
            return 0.0
        up, other = self.up.get(a, {}), self.up.get(b, {})
        return min((steps + other[v] for v, steps in up.items() if v in other), default=np.inf)


def _nodes(OFCPs: Sequence[Items], AFCPs: Sequence[Items], release: Release, taxonomy: Taxonomy) -> dict[str, int]:
    of_label = dict(zip(release.labels, label_nodes(release, taxonomy).tolist(), strict=True))
    node = {term: leaf_of(term, taxonomy) for pattern in OFCPs for term in pattern}
    node |= {label: of_label[label] for pattern in AFCPs for label in pattern}
    return {item: v for item, v in node.items() if v >= 0}


def _nearest(pattern: Items, AFCPs: Sequence[Items], edges: _Edges) -> float:
    best = 0.0 if pattern in AFCPs else np.inf
    for other in AFCPs:
        if abs(len(pattern) - len(other)) * OMEGA < best:
            best = min(best, distance(pattern, other, edges.between))
    return best


def distance(pattern: Items, other: Items, between: Callable[[str, str], float]) -> float:
    """The least over matchings of the matched distances and OMEGA for each item left over, on both sides."""
    edges = np.array([[between(a, b) for b in other] for a in pattern]).reshape(len(pattern), len(other))
    cost = np.where(edges <= EPSILON, edges, 2 * OMEGA)  # as much as leaving both alone
    if min(cost.shape) == 1:  # nothing to choose between but one partner
        return float(cost.min() + OMEGA * abs(len(pattern) - len(other)))
    from scipy.optimize import linear_sum_assignment  # takes 0.3 s to load: every start would wait for it

    matched = linear_sum_assignment(cost)
    return float(cost[matched].sum() + OMEGA * abs(len(pattern) - len(other)))


def _patterns(measured: MeasuredRelease) -> PatternUtility | None:
    measured.progress(0, 2, "looking for patterns")
    return pattern_utility(measured.profiles, measured.release, measured.knowledge.taxonomy)


def _recall(measured: MeasuredRelease) -> float | None:
    return found.recall if (found := measured.once(_patterns)) else None


def _distance(measured: MeasuredRelease) -> float | None:
    return found.sDist if (found := measured.once(_patterns)) else None


recall = ReleaseMeasure(
    name="recall",
    title="Pattern recall",
    says="The share of the most frequent patterns that are still there; 1 is all of them.",
    formula=f"over the top {TOP} closed frequent patterns of the original profiles, the items that the nearest "
    "published pattern has too, divided by their items",
    heading="utility",
    better="higher",
    low=0,
    high=1,
    paper="Liu & Wang 2010, V-B",
    compute=_recall,
)
semantic_distance = ReleaseMeasure(
    name="sDist",
    title="Pattern distance",
    says="How far published patterns are from the original ones; 0 is the same.",
    formula=f"over the top {TOP} closed frequent patterns, the least sum of edges between matched items and "
    f"{OMEGA} for each item without a partner, divided by their items",
    heading="utility",
    better="lower",
    low=0,
    high=OMEGA,
    paper="Liu & Wang 2010, V-B",
    compute=_distance,
)
