"""Does the answer to "which is best at which risk?" find what was planted, and nothing where nothing is?"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from shoal.evaluation.experiment.settings import make_setting
from shoal.evaluation.report.answer import sentence
from shoal.evaluation.run.matched_risk import (
    Curve,
    Point,
    answers,
    luck_of,
    nearer,
    nearer_settings,
    random_curve,
    verdict,
)
from shoal.evaluation.run.outcomes import Outcome
from shoal.evaluation.run.summary import comparisons_of
from shoal.evaluation.statistics import Estimate

PEOPLE, VICTIMS = 250, 500
GRID, OTHER_GRID = (2, 5, 10, 20, 50, 100), (3, 4, 7, 15, 30, 70, 200)
Truth = Callable[[float], float]  # the true AP@10 at a risk


def concave(risk: float) -> float:
    """What grouping keeps: little at no risk, all at full risk."""
    return float(0.35 + 0.6 * np.interp(np.log(risk), [np.log(0.004), 0.0], [0.0, 1.0]) ** 0.8)


def poor(risk: float) -> float:
    return concave(risk) - 0.25 * (risk < 0.5)


class World:
    """People whose scores of any two settings go together, as those of one person do."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.person = self.rng.normal(0, 0.15, PEOPLE)

    def outcome(self, method: str, values: dict[str, object], risk: float, ap10: float) -> Outcome:
        """A setting of a true risk, which is measured by attacks on some people."""
        scores = np.clip(ap10 + self.person + self.rng.normal(0, 0.1, PEOPLE), 0, 1)
        share = min(1.0, 2 * risk)  # whoever is found is so in a group
        found = share * (self.rng.random(VICTIMS) < risk / share)
        setting = make_setting(method, values)
        measured = {"linkage5": float(found.mean())}
        return Outcome(
            setting, {"ap10": scores}, measured, {"linkage5": found}, np.arange(VICTIMS), np.ones(VICTIMS), 0, 0, 0
        )

    def method(self, method: str, truth: Truth, grid: tuple[int, ...], riskier: float = 1.0) -> list[Outcome]:
        """A method at several k, with a risk of about 1/k."""
        risks = {k: min(1.0, riskier * self.rng.uniform(0.85, 0.95) / k) for k in grid}
        return [self.outcome(method, {"k": k}, risk, truth(risk)) for k, risk in risks.items()]

    def controls(self, everyone: float = 0.35, plain: float = 0.3) -> list[Outcome]:
        own = self.outcome("original", {}, 0.99, 1.0)
        free = [self.outcome("everyone", {}, 1 / PEOPLE, everyone), self.outcome("plain", {}, 1 / PEOPLE, plain)]
        return [own, *free, *self.method("random", poor, GRID)]


def leading(outcomes: list[Outcome], risk: float = 0.05) -> list[str]:
    return next(list(row["leading"]) for row in answers(outcomes, PEOPLE) if row["risk"] == risk)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_better_by_construction_is_called_best(seed: int) -> None:
    world = World(seed)
    better = world.method("clump", lambda risk: concave(risk) + 0.1, GRID)
    rows = answers([*better, *world.method("partition", concave, OTHER_GRID), *world.controls()], PEOPLE)
    assert [(row["verdict"], row["leading"]) for row in rows] == [("best", ["clump"])] * 3
    assert "`clump` serves people best" in sentence(rows[1])


def test_a_method_that_is_only_riskier_at_the_same_k_is_not_better() -> None:
    """Its settings keep more, and give more away: at equal risk it is the same."""
    world = World(1)
    riskier, same_k = world.method("clump", concave, GRID, riskier=2.0), world.method("partition", concave, GRID)
    assert riskier[1].ap10 > same_k[1].ap10 + 0.03
    assert set(leading([*riskier, *same_k, *world.controls()])) == {"clump", "partition"}


def test_what_is_worse_at_equal_risk_is_behind_though_its_numbers_are_higher() -> None:
    """It keeps more at every k, because it gives four times as much away."""
    world = World(2)
    worse = world.method("clump", lambda risk: concave(risk) - 0.1, GRID, riskier=4.0)
    better = world.method("partition", concave, GRID)
    assert worse[3].ap10 > better[3].ap10 + 0.02
    for row in answers([*worse, *better, *world.controls(0.1, 0.1)], PEOPLE)[1:]:
        assert (row["verdict"], row["leading"]) == ("best", ["partition"])
        assert next(one["p_holm"] for one in row["candidates"] if one["name"] == "clump") < 0.05


def test_a_sweep_of_180_settings_finds_that_the_own_profile_differs_from_none_and_who_from_everyone() -> None:
    """By clicks: 0.137 against 0.307. Of the settings, the first ninety serve better than everyone's average."""
    world = World(9)
    swept = [world.outcome("clump", {"k": k}, 0.9 / k, 0.32 if k < 92 else 0.2) for k in range(2, 182)]
    controls = [
        world.outcome("original", {}, 0.99, 0.137), world.outcome("plain", {}, 1 / PEOPLE, 0.307),
        world.outcome("everyone", {}, 1 / PEOPLE, 0.2), world.outcome("random", {"k": 5}, 0.18, 0.25),
        world.outcome("linkability", {"p": 0.2}, 0.15, 0.28),
    ]  # fmt: skip
    found = comparisons_of([*controls, *swept], [*controls, *swept], "", 0)
    family = [row for row in found if row["p_holm"] is not None]
    assert len(family) > 500
    own = next(row for row in family if (row["method"], row["against"]) == ("original", "plain"))
    assert own["p_holm"] < 0.001
    assert own["difference"] < 0
    differ = {row["params"] for row in family if (row["method"], row["against"]) == ("clump", "everyone")
              and row["p_holm"] < 0.05}  # fmt: skip
    assert differ == {f"k={k}" for k in range(2, 92)}


@pytest.mark.parametrize("seed", range(5))
def test_what_is_worse_than_everyones_average_is_not_called_best(seed: int) -> None:
    world = World(seed)
    rows = answers([*world.method("clump", lambda risk: 0.45, GRID), *world.controls(everyone=0.5)], PEOPLE)
    assert {row["verdict"] for row in rows} == {"no method"}
    assert "no method is better than everyone's average" in sentence(rows[1])


def test_what_is_no_better_than_random_groups_is_told_so() -> None:
    world = World(3)
    rows = answers([*world.method("clump", poor, GRID), *world.controls(everyone=0.1, plain=0.1)], PEOPLE)
    assert rows[2]["verdict"] == "no better than random"
    assert "better than groups made at random" in sentence(rows[2])
    assert "; `clump` cannot be told from it." in sentence(rows[2])


@pytest.fixture
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test is as true with fewer flips, and its interval is not looked at."""
    monkeypatch.setattr("shoal.evaluation.statistics.FLIPS", 999)
    monkeypatch.setattr("shoal.evaluation.statistics.RESAMPLES", 20)


@pytest.mark.usefixtures("fewer_draws")
def test_where_nothing_differs_the_answer_is_a_tie_in_94_of_100_runs() -> None:
    """Four methods of equal worth at every risk, measured at other settings each."""
    runs, wrong = 100, 0
    grids = {"clump": GRID, "partition": OTHER_GRID, "microaggregation": (2, 6, 15, 40, 120), "ssc": GRID}
    for seed in range(runs):
        world = World(1000 + seed)
        made = [outcome for name, grid in grids.items() for outcome in world.method(name, concave, grid)]
        rows = answers([*made, *world.controls(0.1, 0.1)], PEOPLE)
        wrong += any({*row["leading"], *row["perhaps"]} != {*grids} for row in rows)
    assert wrong <= 0.06 * runs


@pytest.mark.usefixtures("fewer_draws")
def test_two_grids_over_the_same_people_do_not_contradict_each_other() -> None:
    """Clump is a little better in truth: either grid says so or says tie, never the contrary."""
    told = {"clump": 0, "partition": 0, "tie": 0}
    for seed in range(15):
        for clump, partition in ((GRID, OTHER_GRID), (OTHER_GRID, GRID)):
            world = World(seed)
            better = world.method("clump", lambda risk: concave(risk) + 0.03, clump)
            lead = leading([*better, *world.method("partition", concave, partition), *world.controls()])
            told["tie" if len(lead) > 1 else lead[0]] += 1
    assert told["partition"] == 0
    assert told["clump"] > 0


def test_a_method_that_was_not_measured_near_a_risk_may_be_as_good_and_is_not_guessed() -> None:
    world = World(5)
    far = world.method("clump", lambda risk: concave(risk) + 0.1, (3, 100))
    made = answers([*far, *world.method("partition", concave, GRID), *world.controls()], PEOPLE)
    row = next(row for row in made if row["risk"] == 0.05)
    assert (row["leading"], row["perhaps"]) == (["partition"], ["clump"])
    assert row["verdict"] == "undecided"
    assert "**`partition` and `clump` cannot be told apart** by the settings that were measured near it" in sentence(
        row
    )


def test_a_method_that_does_better_with_less_risk_is_best_wherever_its_next_setting_lies() -> None:
    world = World(6)
    safe = world.method("ssc", lambda risk: 0.9, (20, 50))
    row = answers([*safe, *world.method("partition", concave, GRID), *world.controls()], PEOPLE)[2]
    assert (row["risk"], row["verdict"], row["leading"]) == (0.1, "best", ["ssc"])
    assert "`ssc` serves people best**: AP@10 at least 0.8" in sentence(row)


def test_a_method_that_does_worse_with_more_risk_is_behind_wherever_its_next_setting_lies() -> None:
    world = World(6)
    risky = world.method("ssc", lambda risk: 0.2, (2, 3))
    row = answers([*risky, *world.method("partition", concave, GRID), *world.controls()], PEOPLE)[1]
    assert (row["leading"], row["perhaps"]) == (["partition"], [])


def point(risk: float, score: float) -> Point:
    return Point(risk, Estimate(np.full(3, score)), (f"at {risk:g}",), np.array([-0.5, 0.5]))


def test_between_two_settings_people_get_a_mean_of_both() -> None:
    curve = Curve("a", (point(0.02, 0.4), point(0.08, 0.8)))
    middle = curve.at(0.04)
    assert middle.estimate.people == pytest.approx(np.full(3, 0.6))
    assert middle.settings == ("at 0.02", "at 0.08")
    assert middle.is_near
    # Linear in the risk it would be a third of the way, and linear in its inverse two thirds.
    assert (middle.estimate.below, middle.estimate.above) == pytest.approx((0.4 / 6, 0.4 / 6))


def test_at_a_setting_its_neighbours_leave_nothing_open() -> None:
    curve = Curve("a", (point(0.02, 0.4), point(0.04, 0.7), point(0.08, 0.8)))
    there = curve.at(0.04)
    assert (there.estimate.mean, there.estimate.below, there.estimate.above) == (pytest.approx(0.7), 0, 0)


def test_outside_of_what_was_measured_one_end_is_open() -> None:
    curve = Curve("a", (point(0.02, 0.4), point(0.08, 0.8)))
    safer, riskier = curve.at(0.01), curve.at(0.5)
    assert (safer.estimate.mean, safer.estimate.below, safer.estimate.above) == (pytest.approx(0.4), np.inf, 0)
    assert (riskier.estimate.mean, riskier.estimate.below, riskier.estimate.above) == (pytest.approx(0.8), 0, np.inf)
    assert not safer.is_near
    assert not riskier.is_near
    whole = Curve("a", curve.points, is_whole=True).at(0.5)
    assert whole.is_near
    assert whole.estimate.above == 0


def test_a_risk_that_was_measured_too_high_makes_a_method_look_too_poor_by_the_slope() -> None:
    """0.4 of AP@10 for a factor of four in the risk, so that a tenth of luck in it is 0.4 / log 4 / 10."""
    curve = Curve("a", (point(0.02, 0.4), point(0.08, 0.8)))
    assert curve.at(0.04).estimate.victims == pytest.approx(np.array([0.5, -0.5]) * 0.4 / np.log(4))
    same = curve.at(0.04, luck=np.array([-0.5, 0.5]))
    assert same.estimate.victims == pytest.approx(np.zeros(2))


def test_luck_is_what_each_attack_moved_and_together_nothing() -> None:
    outcome = World(8).method("clump", concave, (5,))[0]
    luck = luck_of(outcome)
    assert luck.mean() == pytest.approx(0)
    without = np.delete(outcome.of_victims["linkage5"], 0).mean()
    moved = np.log(outcome.measures["linkage5"] / without)
    assert luck[0] / VICTIMS == pytest.approx(moved, rel=0.05)


def test_less_than_one_persons_worth_of_risk_is_not_more_risk() -> None:
    curve = Curve("a", (point(0.0505, 0.8),))
    assert curve.at(0.05, 1 / 1000).is_near
    assert not curve.at(0.05, 1 / 10_000).is_near


def test_random_groups_are_compared_at_the_measured_risk_and_not_at_the_same_k() -> None:
    curve = random_curve(World(7).controls())
    assert curve is not None
    made, nearly_one = curve.at(0.06), curve.at(0.9)
    assert made.risk == pytest.approx(0.06)
    assert all(name.startswith("random k=") for name in made.settings)
    assert "original" in nearly_one.settings
    assert random_curve([]) is None


def test_a_control_among_the_leading_decides_the_verdict() -> None:
    assert verdict(["clump"]) == "best"
    assert verdict(["clump", "ssc"]) == "tie"
    assert verdict(["clump", "random"]) == "no better than random"
    assert verdict(["clump", "random", "plain"]) == "no method"
    assert verdict(["clump"], ["ssc"]) == "undecided"


def asked(outcomes: list[Outcome]) -> list[str]:
    return [str(setting) for setting in nearer_settings(outcomes, PEOPLE)]


def test_what_was_measured_far_from_a_risk_is_measured_nearer() -> None:
    world = World(5)
    others = [*world.method("partition", concave, GRID), *world.controls()]
    better = lambda risk: concave(risk) + 0.1  # noqa: E731
    assert asked([*world.method("clump", better, (3, 100)), *others]) == ["clump k=17"]
    assert "clump k=9" in asked([*world.method("clump", better, (2, 3)), *others])
    assert asked([*world.method("clump", better, GRID), *others]) == []
    behind = world.method("clump", lambda risk: 0.1, (3, 100))
    assert asked([*behind, *others]) == []


def test_settings_that_do_not_go_together_are_passed_over() -> None:
    world = World(5)
    tried = [world.outcome("common", {"k": k, "t": 15}, 0.9 / k, concave(0.9 / k)) for k in (20, 40)]
    assert str(nearer(tried, 0.2)) == "common k=17 t=15"  # a third of k=20 is less than t
    assert nearer([world.outcome("common", {"k": 15, "t": 15}, 0.06, 0.5)], 0.2) is None


def test_nothing_is_tried_twice() -> None:
    world = World(5)
    far, tried = world.method("clump", concave, (3, 100)), world.method("clump", concave, (17,))[0]
    others = [*world.method("partition", concave, GRID), *world.controls()]
    failed = replace(tried, scores={}, measures={}, of_victims={}, failure="too few users")
    assert asked([*far, failed, *others]) == []
