"""Are the top closed patterns exact, and Recall and sDist those of Liu & Wang's formulas?"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.evaluation.measures.patterns import OMEGA, distance, pattern_utility, top_closed_patterns
from tests.examples import examples


def all_closed(rows: list[list[int]], times: list[int]) -> list[tuple[tuple[int, ...], float]]:
    """By definition: every set of items, kept if no larger one occurs as often."""
    items = range(len(rows[0]))
    support = {
        s: float(sum(n for row, n in zip(rows, times, strict=True) if all(row[i] for i in s)))
        for size in range(1, len(rows[0]) + 1)
        for s in combinations(items, size)
    }
    closed = [s for s in support if support[s] and all(support[s] > support[t] for t in support if set(s) < set(t))]
    return sorted(((s, support[s]) for s in closed), key=lambda pair: (-pair[1], pair[0]))


@examples(150)
@given(
    rows=st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=8),
    n=st.integers(1, 12),
    data=st.data(),
)
def test_the_top_closed_patterns_are_those_of_the_definition(
    rows: list[list[int]], n: int, data: st.DataObject
) -> None:
    times = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    found = top_closed_patterns(csr_array(np.array(rows)), np.array(times), n)
    assert found == all_closed(rows, times)[:n]


def test_patterns_of_a_few_baskets() -> None:
    rows = csr_array(np.array([[1, 1, 0], [2, 1, 0], [1, 0, 0]]))
    assert top_closed_patterns(rows, np.ones(3), 10) == [((0,), 3.0), ((0, 1), 2.0)]


def test_nothing_has_no_patterns() -> None:
    assert top_closed_patterns(csr_array((0, 0)), np.ones(0), 5) == []
    assert top_closed_patterns(csr_array((3, 2)), np.ones(3), 5) == []


def test_recall_and_distance_by_hand(
    goods: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    profiles = profiles_of({"a": "wine boots", "b": "wine boots", "c": "wine"}, goods)  # wine 3, {wine, boots} 2
    same, _ = release_of([({"wine": 1}, ["a", "b", "c"])])
    utility = pattern_utility(profiles, same, goods.taxonomy)
    assert utility is not None
    assert (utility.recall, utility.sDist) == pytest.approx(((1 + 1) / 3, (0 + OMEGA) / 3))
    near, _ = release_of([({"vino": 1, "shoes": 1}, ["a", "b"]), ({"vino": 1}, ["c"])])
    utility = pattern_utility(profiles, near, goods.taxonomy)
    assert utility is not None
    assert (utility.recall, utility.sDist) == pytest.approx((0.0, (2 + 4) / 3))


def test_a_generalized_item_is_as_far_as_the_edges_up_to_it(
    goods: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    profiles = profiles_of({"a": "wine", "b": "wine"}, goods)
    general, _ = release_of([({"Edibles": 1}, ["a", "b"])])
    utility = pattern_utility(profiles, general, goods.taxonomy)
    assert utility is not None
    assert (utility.recall, utility.sDist) == (0.0, 2.0)


def test_items_too_far_apart_cost_as_much_as_both_alone() -> None:
    edges = {("a", "x"): 1.0, ("b", "x"): 2.0, ("b", "y"): 9.0}

    def between(i: str, j: str) -> float:
        return edges.get((i, j), np.inf)

    assert distance(("a", "b"), ("x", "y"), between) == 1 + 2 * OMEGA
    assert distance(("a", "b"), ("x",), between) == 1 + OMEGA
    assert distance(("a", "b"), (), between) == 2 * OMEGA


@pytest.mark.parametrize(("method", "recall", "sdist"), [("original", 1.0, 0.0), ("plain", 0.0, float(OMEGA))])
def test_the_controls_keep_every_pattern_and_none(method: str, recall: float, sdist: float) -> None:
    profiles = build_profiles(sample_log(), Knowledge().words)
    made = make_method(method, {}, Knowledge()).anonymize(profiles)
    utility = pattern_utility(profiles, made.release, Knowledge().taxonomy)
    assert utility is not None
    assert (utility.recall, utility.sDist) == pytest.approx((recall, sdist))


def test_users_without_terms_have_no_patterns_to_keep(
    goods: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    assert pattern_utility(profiles_of({"a": "unknown"}, goods), release_of([])[0], goods.taxonomy) is None
