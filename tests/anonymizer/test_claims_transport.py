"""Does the flow find a way to share out exactly where there is one?"""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.claims.transport import FEASIBLE, Transport
from tests.examples import examples

BOUNDS = st.tuples(st.integers(0, 2), st.integers(0, 3))
Problem = tuple[list[tuple[int, int]], list[int], dict[tuple[int, int], tuple[int, int]]]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    givers = draw(st.lists(BOUNDS.map(lambda b: (b[0], b[0] + b[1])), min_size=1, max_size=3))
    needs = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    pairs = st.tuples(st.integers(0, len(givers) - 1), st.integers(0, len(needs) - 1))
    return givers, needs, draw(st.dictionaries(pairs, BOUNDS, max_size=6))


def is_possible(problem: Problem) -> bool:
    """By trying all amounts on all edges."""
    givers, needs, edges = problem
    for amounts in product(*(range(low, high + 1) for low, high in edges.values())):
        carried = list(zip(edges, amounts, strict=True))
        given_away = [sum(a for (g, _), a in carried if g == giver) for giver in range(len(givers))]
        taken = [sum(a for (_, t), a in carried if t == taker) for taker in range(len(needs))]
        if taken == needs and all(low <= a <= high for a, (low, high) in zip(given_away, givers, strict=True)):
            return True
    return False


def together(some: list[Problem]) -> Transport:
    """Several problems as the parts of one."""
    columns: list[list[int]] = [[] for _ in range(9)]
    for part, (givers, needs, edges) in enumerate(some):
        first_giver, first_taker = len(columns[0]), len(columns[3])
        for low, high in givers:
            for column, value in zip(columns[:3], (part, low, high), strict=True):
                column.append(value)
        columns[3] += [part] * len(needs)
        columns[4] += needs
        for (giver, taker), (low, high) in edges.items():
            for column, value in zip(columns[5:], (first_giver + giver, first_taker + taker, low, high), strict=True):
                column.append(value)
    return Transport(*(np.array(column, dtype=np.int64) for column in columns))


@examples(500)
@given(problem=problems())
def test_one_problem_is_possible_exactly_if_some_amounts_solve_it(problem: Problem) -> None:
    assert (together([problem]).impossible_part() == FEASIBLE) == is_possible(problem)


@examples(200)
@given(some=st.lists(problems(), min_size=2, max_size=5))
def test_of_several_an_impossible_one_is_named(some: list[Problem]) -> None:
    wrong = [part for part, problem in enumerate(some) if not is_possible(problem)]
    found = together(some).impossible_part()
    assert found in wrong if wrong else found == FEASIBLE


def test_nothing_to_share_out_is_possible() -> None:
    assert together([]).impossible_part() == FEASIBLE
