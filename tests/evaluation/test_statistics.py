"""Do the statistics say what they should on numbers whose answer is known?"""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from shoal.evaluation.statistics import (
    Estimate,
    compare,
    estimate_intervals,
    flip_tail,
    holm,
    intervals,
    losers,
    resampled_means,
    sign_flip_test,
)


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
    paired = compare([Estimate(same - same)])[0]
    assert (paired.p, paired.wins, paired.ties, paired.losses) == (1, 0, 30, 0)


def test_holm_multiplies_the_smallest_by_all_the_next_by_one_less() -> None:
    assert holm(np.array([0.03, 0.01, 0.04])) == pytest.approx([0.06, 0.03, 0.06])
    assert holm(np.array([])).tolist() == []


def test_wins_ties_and_losses_are_counted_per_user() -> None:
    paired = compare([Estimate(np.array([1.0, 0.5, 0.0, 0.9]) - 0.5)])[0]
    assert (paired.wins, paired.ties, paired.losses) == (2, 1, 1)
    assert paired.difference == pytest.approx(0.1)


def test_those_with_small_profiles_are_the_first_quarter() -> None:
    found = losers(np.array([0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4]), np.array([9, 1, 8, 2, 7, 3, 6, 4]))
    assert found.quarters == pytest.approx((0.15, 0.35, 0.65, 0.85))
    assert found.largest == (2, 4, 7, 9)
    assert found.worst_tenth == pytest.approx(0.1)


@pytest.mark.parametrize(("people", "shift"), [(12, 0.5), (15, 0.9), (16, 1.2)])
def test_the_tail_is_that_of_all_flips(people: int, shift: float) -> None:
    differences = np.random.default_rng(people).normal(shift, 1, people)
    signs = np.array(list(product([-1, 1], repeat=people)))
    exact = (np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9).mean()
    assert flip_tail(differences[None, :])[0] == pytest.approx(exact, rel=0.3)


def test_people_who_all_differ_the_same_way_are_one_of_all_flips_and_its_mirror_image() -> None:
    assert flip_tail(np.full((1, 20), 0.1))[0] == pytest.approx(2.0**-19)
    assert flip_tail(np.zeros((1, 20)))[0] == 1


def test_a_clear_difference_stays_clear_in_a_family_of_five_hundred() -> None:
    """10,000 flips alone could not show less than 500/10,000."""
    rng = np.random.default_rng(4)
    none = [Estimate(rng.normal(0.5, 0.1, 270) - rng.normal(0.5, 0.1, 270)) for _ in range(500)]
    own = Estimate(rng.normal(0.137, 0.2, 270) - rng.normal(0.307, 0.3, 270))
    found = compare([*none, own])
    assert found[-1].p_holm is not None
    assert found[-1].p_holm < 0.001
    assert sum(paired.p_holm is not None and paired.p_holm < 0.05 for paired in found[:-1]) <= 1


def test_pairs_outside_the_family_are_not_tested_and_correct_nobody() -> None:
    rng = np.random.default_rng(5)
    pairs = [Estimate(rng.normal(0.2, 1, 80)) for _ in range(4)]
    alone, among = compare(pairs[:1])[0], compare(pairs, tested=[True, False, False, False])
    assert (among[0].p, among[0].p_holm) == (alone.p, alone.p_holm)
    assert {(paired.p, paired.p_holm) for paired in among[1:]} == {(None, None)}
    assert among[1].low < among[1].difference < among[1].high


def test_what_was_measured_twice_weighs_twice() -> None:
    sums, times = np.array([[2.0, 0.0, 1.0] * 50]), np.array([2.0, 1.0, 1.0] * 50)
    drawn = resampled_means(sums, times)
    assert drawn.mean() == pytest.approx(0.75, abs=0.01)
    assert drawn.min() >= 0
    assert drawn.max() <= 1


def test_the_luck_of_attacks_widens_an_interval_as_its_variance_says() -> None:
    rng = np.random.default_rng(6)
    people, victims = rng.normal(0.3, 1, 400), rng.normal(0, 3, 900)
    victims -= victims.mean()
    low, high = estimate_intervals([Estimate(people, victims)])[0]
    spread = np.sqrt(people.var() / 400 + victims.var() / 900)
    assert (high - low) / (2 * 1.96) == pytest.approx(spread, rel=0.06)
    assert (low + high) / 2 == pytest.approx(people.mean(), abs=0.01)
    assert estimate_intervals([Estimate(people)])[0] == pytest.approx(intervals(people[None, :])[0])


def test_a_difference_that_the_unknown_may_have_made_is_none() -> None:
    people = np.random.default_rng(7).normal(0.1, 0.2, 300)
    sure, open_below, open_above = (
        compare([one])[0] for one in (Estimate(people), Estimate(people, below=0.1), Estimate(people, above=0.1))
    )
    assert sure.p is not None
    assert sure.p < 1e-6
    assert sure.p == open_above.p
    assert open_below.p is not None
    assert open_below.p > 0.2
    assert open_below.low == pytest.approx(sure.low - 0.1)
    assert open_above.high == pytest.approx(sure.high + 0.1)


def test_what_is_open_of_two_is_open_of_their_difference() -> None:
    one, other = Estimate(np.ones(3), below=0.1, above=0.2), Estimate(np.zeros(3), np.ones(2), below=0.3, above=0.4)
    both = one - other
    assert (both.mean, both.below, both.above) == pytest.approx((1.0, 0.5, 0.5))
    assert both.victims.tolist() == [-1.0, -1.0]


def test_an_attack_on_half_of_the_people_is_as_uncertain_beside_one_on_all_of_them() -> None:
    rng = np.random.default_rng(3)
    people, luck = rng.normal(size=200), rng.normal(scale=3, size=100)
    few = Estimate(people, luck - luck.mean())
    all_but_sure = Estimate(np.zeros(200), np.zeros(200))
    alone, beside = (compare([one])[0] for one in (few, few - all_but_sure))
    assert (beside.low, beside.high) == pytest.approx((alone.low, alone.high), rel=0.1)
