"""Are frequent patterns still found? Recall and sDist of the top closed ones before and after (Liu & Wang, V-B)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.closed_patterns import top_closed_patterns
from shoal.evaluation.measures.occurrences import label_nodes, leaf_of
from shoal.evaluation.measures.release import MeasuredRelease

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
