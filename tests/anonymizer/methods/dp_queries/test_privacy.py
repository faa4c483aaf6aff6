"""Is a user hidden in noise as epsilon and delta say? Thousands of runs on logs that differ by one user."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, ReleasedQueries
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.claims.private_counts import least_count, most_noise
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import log_of
from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.anonymizer.methods.dp_average import DpAverage
from shoal.anonymizer.methods.dp_queries import DpQueries
from shoal.anonymizer.noisy_counts import NoisyCounts, counted_users, noisy_counts
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.progress import silent
from shoal.corpus.querylog import QueryLog
from tests.examples import examples

KNOWLEDGE = Knowledge(dictionary_name="any")
RUNS = 10_000
ERROR = 1e-12  # the probability with which one estimate is further off than its bound
EPSILON, DELTA, PER_USER = 1.0, 1e-3, 2
OTHERS = [(f"user{i}", query) for i in range(40) for query in ("red wine", "news")]
WITHOUT, WITH = log_of(OTHERS), log_of([*OTHERS, ("ann", "red wine"), ("ann", "news")])


def runs(log_: QueryLog, mechanism: NoisyCounts) -> np.ndarray:
    """Runs x queries: the published count in each run, 0 where a query is not published."""
    queries = distinct_queries(log_)
    count = counted_users(queries.asked, PER_USER, seed=0)
    table = np.zeros((RUNS, 2), dtype=np.int64)
    place, noisy = mechanism.release(np.tile(count, RUNS), silent)
    table[place // len(count), place % len(count)] = noisy
    return table


EVENTS: list[Callable[[np.ndarray], np.ndarray]] = [
    *[lambda table, t=t: table[:, 0] >= t for t in range(36, 47)],
    *[lambda table, t=t: table.sum(axis=1) >= t for t in range(74, 92, 2)],
    *[lambda table, t=t: table.sum(axis=1) < t for t in range(74, 92, 2)],
    *[lambda table, t=t: table.min(axis=1) >= t for t in range(36, 47)],
    *[lambda table, t=t: table.max(axis=1) < t for t in range(36, 47)],
]


def excess(first: np.ndarray, second: np.ndarray) -> float:
    """By how much some event is surely likelier in one log than epsilon and delta allow; 0 or below where none is."""
    return max(
        _least(event(one)) - exp(EPSILON) * _most(event(other)) - DELTA
        for event in EVENTS
        for one, other in ((first, second), (second, first))
    )


def _off(happened: np.ndarray) -> float:
    """The empirical Bernstein bound (Maurer and Pontil 2009)."""
    rounds = log(2 / ERROR)
    return float(np.sqrt(2 * happened.var(ddof=1) * rounds / RUNS)) + 7 * rounds / (3 * (RUNS - 1))


def _least(happened: np.ndarray) -> float:
    return float(happened.mean()) - _off(happened)


def _most(happened: np.ndarray) -> float:
    return float(happened.mean()) + _off(happened)


def test_no_event_is_likelier_than_the_claim_allows_and_half_the_noise_is_caught() -> None:
    mechanism = noisy_counts(EPSILON, DELTA, PER_USER)
    assert excess(runs(WITHOUT, mechanism), runs(WITH, mechanism)) <= 0
    half = replace(mechanism, scale=mechanism.scale / 2)
    assert excess(runs(WITHOUT, half), runs(WITH, half)) > 0


def shown(mechanism: NoisyCounts) -> np.ndarray:
    """Of each run, whether a query that one user alone asked is published."""
    passed = np.zeros(RUNS)
    passed[mechanism.release(np.ones(RUNS, dtype=np.int64), silent)[0]] = 1
    return passed


def test_what_one_user_alone_asked_is_published_with_probability_delta_at_most_and_a_low_threshold_is_caught() -> None:
    """OpenDP's own map leaves out what is at its threshold, which it publishes (opendp#2922)."""
    delta = 0.05
    mechanism = noisy_counts(1.0, delta, 1)
    chance = exp(-(mechanism.threshold - 1)) / (1 + exp(-1))
    assert chance <= delta < chance * exp(1)
    assert abs(shown(mechanism).mean() - chance) <= _off(shown(mechanism))
    low = shown(replace(mechanism, threshold=mechanism.threshold - 2))
    assert _least(low) > delta


@pytest.mark.parametrize("per_user", [1, 3, 20, 1000])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1])
def test_the_verifier_computes_the_threshold_of_the_mechanism_by_itself(
    per_user: int, epsilon: float, delta: float
) -> None:
    made = noisy_counts(epsilon, delta, per_user)
    values = {"epsilon": epsilon, "delta": delta, "per_user": per_user}
    least = least_count(values)
    assert least <= made.threshold <= 1.001 * least, "OpenDP rounds its delta up, which shows at the smallest ones"
    assert made.threshold == least or delta < 1e-5
    assert made.scale == pytest.approx(per_user / epsilon, rel=1e-12)


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=1, max_size=8), st.integers(1, 4), st.integers(0, 9))
@examples(90)
def test_nobody_counts_for_more_than_the_cap_nor_twice(held: list[list[int]], per_user: int, seed: int) -> None:
    table = np.zeros((len(held), 6), dtype=np.int32)
    for row, columns in enumerate(held):
        table[row, columns] = 3
    count = counted_users(csr_array(table), per_user, seed)
    assert count.sum() == sum(min(per_user, len(set(columns))) for columns in held)
    assert (count <= (table > 0).sum(axis=0)).all()


LOG = log_of([(f"user{i}", query) for i in range(60) for query in ("red wine", f"car {i}")])
SMALL = {"epsilon": 4.0, "delta": 0.01, "per_user": 2}


def verdict(made: Anonymized) -> Verdict:
    evidence = Evidence(made.release, made.assignment, made.suppressed, LOG, KNOWLEDGE)
    found = verify(made.claim, evidence)
    assert found.holds == is_true(made.claim, evidence)
    return found


def with_rows(made: Anonymized, query: str, count: int) -> Anonymized:
    """With one published query, and the profile of it."""
    rows = ReleasedQueries(np.zeros(1, dtype=np.int32), pl.Series([query]), np.array([count]), np.array([count]))
    terms = query.split()
    weights = csr_array(np.full((1, len(terms)), float(count)))
    release = replace(made.release, labels=terms, generalized=np.zeros(len(terms), dtype=bool), weights=weights)
    return replace(made, release=replace(release, queries=rows))


def test_what_everybody_asks_is_published_for_all_and_verified() -> None:
    made = DpQueries(KNOWLEDGE, **SMALL).run(LOG)
    assert made.release.queries is not None
    assert "red wine" in made.release.queries.query.to_list()
    assert made.release.users.tolist() == [60]
    assert set(made.assignment.profile.tolist()) == {0}
    assert verdict(made).holds
    assert "cannot be" in verdict(made).sentence


@pytest.mark.parametrize(
    ("query", "count", "said"),
    [
        ("car 7", least_count(SMALL) - 1, "below the threshold"),
        ("car 7", 2 + most_noise(SMALL), "noise is less"),
        ("zzyzxq", 60, "of no user"),
    ],
)
def test_broken_query_counts_are_refused(query: str, count: int, said: str) -> None:
    made = DpQueries(KNOWLEDGE, **SMALL).run(LOG)
    assert verdict(with_rows(made, "red wine", 60)).holds
    assert said in verdict(with_rows(made, query, count)).counterexample


def test_broken_term_counts_are_refused() -> None:
    made = DpAverage(KNOWLEDGE, **SMALL).run(LOG)
    assert verdict(made).holds

    def of(label: str, weight: float) -> str:
        release = replace(made.release, labels=[label], generalized=np.zeros(1, bool), weights=csr_array([[weight]]))
        return verdict(replace(made, release=release)).counterexample

    assert of("wine", 60.0) == ""
    assert "no whole number" in of("wine", 60.5)
    assert "below the threshold" in of("7", least_count(SMALL) - 1.0)
    assert "noise is less" in of("wine", 61.0 + most_noise(SMALL))
