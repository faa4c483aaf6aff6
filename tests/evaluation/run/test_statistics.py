"""Do the statistics say what they should on numbers whose answer is known?"""

import numpy as np
import pytest
from scipy import stats

from shoal.evaluation.run.statistics import compare, holm, intervals, losers, sign_flip_test


def test_the_interval_is_that_of_scipys_bootstrap() -> None:
    values = np.random.default_rng(3).beta(2, 3, size=300)
    ours = intervals(values[None, :])[0]
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.003)


def test_the_interval_of_equal_values_is_a_point() -> None:
    assert intervals(np.full((2, 20), 0.5)) == pytest.approx(np.full((2, 2), 0.5))


def test_the_sign_flip_test_agrees_with_scipys_permutation_test() -> None:
    rng = np.random.default_rng(0)
    differences = np.stack([rng.normal(0.1, 1, 60), rng.normal(0.3, 1, 60), rng.normal(0.0, 1, 60)])
    theirs = [
        stats.permutation_test(
            (row,), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(5)
        ).pvalue
        for row in differences
    ]
    assert sign_flip_test(differences) == pytest.approx(theirs, abs=0.02)


def test_no_difference_at_all_has_p_one() -> None:
    same = np.linspace(0, 1, 30)
    paired = compare([same], [same])[0]
    assert (paired.p, paired.wins, paired.ties, paired.losses) == (1, 0, 30, 0)


def test_holm_multiplies_the_smallest_by_all_the_next_by_one_less() -> None:
    assert holm(np.array([0.03, 0.01, 0.04])) == pytest.approx([0.06, 0.03, 0.06])
    assert holm(np.array([])).tolist() == []


def test_wins_ties_and_losses_are_counted_per_user() -> None:
    paired = compare([np.array([1.0, 0.5, 0.0, 0.9])], [np.array([0.5, 0.5, 0.5, 0.5])])[0]
    assert (paired.wins, paired.ties, paired.losses) == (2, 1, 1)
    assert paired.difference == pytest.approx(0.1)


def test_those_with_small_profiles_are_the_first_quarter() -> None:
    found = losers(np.array([0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4]), np.array([9, 1, 8, 2, 7, 3, 6, 4]))
    assert found.quarters == pytest.approx((0.15, 0.35, 0.65, 0.85))
    assert found.largest == (2, 4, 7, 9)
    assert found.worst_tenth == pytest.approx(0.1)
