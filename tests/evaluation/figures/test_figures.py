"""Are the papers' figures drawn from the right settings and set-ups, and do the verdicts follow the numbers?"""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.figures import Figure, Part, Point, all_figures
from shoal.evaluation.figures.drawing import figure_blocks, panels_of, picture
from shoal.evaluation.figures.running import FigureResults, _interval, read_figures, write_figures
from shoal.evaluation.figures.setups import (
    SETUPS,
    People,
    as_typed,
    density,
    distinct_terms,
    first_terms,
    setups,
)
from shoal.evaluation.figures.verdicts import compared, trend, verdict
from shoal.evaluation.report.blocks import Picture, Points, Table, Text
from shoal.evaluation.report.plots import svg
from shoal.evaluation.run.growth import exponents

FIGURES = {figure.id: figure for figure in all_figures()}
SETUP = {setup.id: setup for setup in SETUPS}
Row = dict[str, Any]


def results(rows: list[Row]) -> FigureResults:
    """Rows as they would have been measured; what is timed stands among the costs, too."""
    told = [
        {"id": s.id, "title": s.title, "paper": s.paper, "users": s.users, "density": 0.001,
         "told": f"{s.users} users of nowhere"} for s in SETUPS
    ]  # fmt: skip
    return FigureResults(told, rows, rows)


def rows_of(figure: Figure) -> list[Row]:
    """A row for each set-up and setting of a figure, its columns filled with falling numbers."""
    columns = {line.column for line in figure.lines}
    return [
        {"setup": setup, "method": s.method, "params": s.params, **dict.fromkeys(columns, 1 / (step + 2))}
        for setup in figure.setups
        for step, s in enumerate(figure.settings)
    ]


def curve(*points: tuple[float, float], half: float = 0.0) -> list[Point]:
    return [Point(x, y, y - half, y + half) for x, y in points]


def test_all_figures_of_the_papers_are_there() -> None:
    assert list(FIGURES) == [
        *(f"zhu-xiong-{i}" for i in range(2, 7)), *(f"thesis-6-{i}" for i in range(1, 6)),
        "ssc-loss", "ssc-recall", "ssc-distance", "affinity-5", "affinity-6a", "affinity-6b", "affinity-7",
        "microaggregation-3", "microaggregation-4",
    ]  # fmt: skip
    assert {id for figure in FIGURES.values() for id in figure.setups} == {setup.id for setup in setups()}


@pytest.mark.parametrize("id", FIGURES)
def test_the_settings_of_a_figure_draw_all_its_lines_and_every_part_of_its_claim_is_told(id: str) -> None:
    figure = FIGURES[id]
    panels = panels_of(figure, results(rows_of(figure)))
    for curves in panels.values():
        assert list(curves) == [line.label for line in figure.lines]
    parts = figure.parts(panels)
    assert all(part.shown and part.told for part in parts)
    assert verdict(parts).startswith(("We see", "We do not see"))
    drawn = svg(picture(figure, panels, results([]).setups[:1]))
    assert figure.number in drawn
    assert "users of nowhere" in drawn  # the set-up stands in the picture


def test_axes_are_labelled_with_the_numbers_themselves() -> None:
    figure = FIGURES["thesis-6-1"]
    drawn = svg(picture(figure, panels_of(figure, results(rows_of(figure))), []))
    labels = re.findall(r">([^<>]+)</text>", drawn)
    assert {"5", "7", "10", "15", "|D| = 1,000"} <= set(labels)
    assert not any("e+" in label for label in labels)
    figure = FIGURES["zhu-xiong-4"]
    drawn = svg(picture(figure, panels_of(figure, results(rows_of(figure))), []))
    assert {"0.1", "0.2", "0.3", "0.4"} <= set(re.findall(r">([^<>]+)</text>", drawn))


def test_rows_of_other_parameters_or_set_ups_are_not_mixed_in() -> None:
    here = {"setup": "thesis-10000", "method": "clump"}
    rows = [
        here | {"params": "k=5", "ggd": 1.0, "ggd_low": 0.5, "ggd_high": 1.5},
        here | {"params": "k=5 r=30", "ggd": 2.0},
        here | {"params": "k=5 duplicates=drop", "ggd": 3.0},
        here | {"params": "k=7", "ggd": 4.0},
        here | {"setup": "thesis-1000", "params": "k=7", "ggd": 9.0},
        here | {"setup": "ssc", "params": "k=10", "ggd": 8.0},
        {"setup": "thesis-10000", "method": "partition", "params": "k=7", "ggd": 5.0},
    ]
    assert panels_of(FIGURES["thesis-6-1"], results(rows)) == {
        "|D| = 1,000": {"Clump1": curve((7, 9.0))},
        "|D| = 10,000": {
            "Clump1": [Point(5, 1.0, 0.5, 1.5), *curve((7, 4.0))], "Clump2": curve((5, 3.0)),
            "Partition": curve((7, 5.0)),
        },
    }  # fmt: skip
    assert panels_of(FIGURES["thesis-6-4"], results(rows))["|D| = 10,000"]["Clump1"][1] == Point(30, 2.0, 2.0, 2.0)


def test_time_is_drawn_over_the_sizes_of_the_set_ups() -> None:
    figure = FIGURES["thesis-6-5"]
    curves = panels_of(figure, results(rows_of(figure)))[""]
    assert [point.x for point in curves["Clump"]] == [1_000, 10_000, 53_058]
    linear = {"Clump": curve((1e3, 1), (1e4, 10)), "Partition": curve((1e3, 0.5), (1e4, 4))}
    assert verdict(figure.parts({"": linear})) == "We see the same"
    slow = linear | {"Clump": curve((1e3, 1), (1e4, 100))}
    assert verdict(figure.parts({"": slow})) == "We see a part of it: 1 of 2"


def test_a_claim_is_held_against_every_curve_that_it_names() -> None:
    figure = FIGURES["thesis-6-1"]
    one, partition = curve((5, 60), (15, 90)), curve((5, 100), (15, 100))
    same = {"Clump1": one, "Clump2": curve((5, 62), (15, 91)), "Partition": partition}
    larger = {"Clump1": curve((5, 70), (15, 95)), "Clump2": curve((5, 71), (15, 96)), "Partition": partition}
    assert verdict(figure.parts({"small": same, "large": larger})) == "We see the same"
    worse = same | {"Clump2": curve((5, 110), (15, 120))}
    told = {part.says: all(part.shown) for part in figure.parts({"small": worse, "large": larger})}
    assert told["Clump1 loses less than Partition"]
    assert not told["Clump2 loses less than Partition"]
    assert not told["Clump1 and Clump2 hardly differ"]
    assert verdict(figure.parts({"small": worse, "large": larger})).startswith("We see a part of it: 4 of 6")


def test_the_bound_is_kept_in_the_mean_and_the_largest_is_told() -> None:
    figure = FIGURES["zhu-xiong-6"]
    parts = figure.parts({"": {"the mean": curve((0.4, 0.35)), "the largest": curve((0.4, 0.9))}})
    assert verdict(parts) == "We see the same"
    assert "the largest of all users is above it at 1 of 1" in parts[0].told
    assert verdict(figure.parts({"": {"the mean": curve((0.4, 0.2))}})) == "We see a part of it: 1 of 2"
    assert verdict(figure.parts({"": {"the mean": curve((0.4, 0.45))}})) == "We see a part of it: 1 of 2"


def test_a_difference_within_the_intervals_shows_nothing() -> None:
    def part(half: float) -> Part:
        panels = {"": {"a": curve((1, 2.0), (2, 3.0), half=half), "b": curve((1, 1.0), (2, 1.0))}}
        return compared(panels, "a", "above", "b", "a is above b")

    assert part(0.5).shown == (True, True)
    assert part(1.5).shown == (False, True)
    assert part(1.5).told == "at 1 of 2 points, within the intervals at 1 (a differs by +100 to +200 %)"
    panels = {"": {"a": curve((1, 2.0), (2, 1.0)), "b": curve((1, 1.0), (2, 2.0))}}
    assert "the other way at 1" in compared(panels, "a", "above", "b", "").told
    rising = {"": {"a": curve((1, 2.0), (2, 2.5), half=0.2)}}
    assert trend(rising, "a", "rises", "").shown == (True,)
    assert trend({"": {"a": curve((1, 2.0), (2, 2.5), half=0.3)}}, "a", "rises", "").shown == (False,)
    assert trend(rising, "a", "falls", "").shown == (False,)


def test_a_method_without_the_parameter_is_compared_everywhere() -> None:
    level = [Point(float("nan"), 1.0, 1.0, 1.0)]
    assert compared({"": {"a": curve((1, 2), (2, 3)), "b": level}}, "a", "above", "b", "").shown == (True, True)


def test_a_verdict_counts_the_parts() -> None:
    seen, half, none, empty = (Part("", shown, "") for shown in ((True, True), (True, False), (False,), ()))
    told = [verdict(parts) for parts in ([seen, empty], [seen, half], [half], [none, none], [empty])]
    assert told == [
        "We see the same", "We see a part of it: 1 of 2", "We see a part of it: 0 of 1", "We do not see this",
        "Too few settings to tell",
    ]  # fmt: skip


def test_the_set_up_stands_beside_a_figure_and_others_are_left_out() -> None:
    blocks = figure_blocks(results(rows_of(FIGURES["thesis-6-2"])))
    assert [block.name for block in blocks if isinstance(block, Picture)] == ["thesis-6-2"]
    texts = [block.text for block in blocks if isinstance(block, Text)]
    assert any("duplicate items removed" in text and "1000 users of nowhere" in text for text in texts)
    assert next(block for block in blocks if isinstance(block, Points)).texts[0].startswith(("Seen: ", "Not seen: "))
    (densities,) = [block for block in blocks if isinstance(block, Table)]
    assert densities.rows[0] == ("|D| = 1,000", "0.28 %", "0.100 %")
    assert figure_blocks(None) == figure_blocks(results([])) == []


def test_what_was_measured_can_be_read_again(tmp_path: Path) -> None:
    costs = [{"setup": "ssc", "method": "ssc", "params": "k=2", "seconds": 1.5}]
    found = replace(results(rows_of(FIGURES["zhu-xiong-4"])), costs=costs)
    write_figures(tmp_path, found)
    assert read_figures(tmp_path) == found
    write_figures(tmp_path, None)
    assert read_figures(tmp_path) is None


def test_an_interval_is_students() -> None:
    assert _interval([3.0]) == (3.0, 3.0)
    low, high = _interval([1.0, 2.0, 3.0])  # 4.303 * 1 / sqrt(3)
    assert (low, high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)


def people(*rows: tuple[str, str]) -> People:
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    return People(log, Knowledge(), "people")


def typed(log: QueryLog) -> list[str]:
    return log.queries.gather(log.query).to_list()


SOME = people(
    ("ann", "wine wine"), ("ann", "beer"), ("bob", "zzyzxq"), ("cem", "bread wine"), ("dee", "tea"), ("dee", "tea wine")
)  # fmt: skip


def test_duplicate_items_are_removed_and_each_draw_has_other_users() -> None:
    draws = list(distinct_terms(SOME, replace(SETUP["thesis-1000"], users=1, draws=2)))
    assert [draw.log.users.to_list() for draw in draws] == [["ann"], ["cem"]]  # bob has no term
    profiles = build_profiles(draws[0].log, Knowledge().words)
    assert profiles.of(0) == {"beer": 1, "wine": 1}
    assert density(draws[0].log, Knowledge()) == pytest.approx(2 / int(Knowledge().taxonomy.leaves[0]))
    assert typed(next(as_typed(SOME, replace(SETUP["ssc"], users=3))).log) == [
        "wine wine", "beer", "bread wine", "tea", "tea wine",
    ]  # fmt: skip
    with pytest.raises(InputError, match="needs 9 users with a profile, there are 3"):
        next(as_typed(SOME, replace(SETUP["ssc"], title="it", users=9)))


def test_the_first_terms_have_weight_one_and_what_comes_later_is_the_test() -> None:
    crowd = people(
        ("ann", "wine"), ("ann", "beer wine"), ("ann", "tea"), ("ann", "milk"),
        ("bob", "wine beer"), ("cem", "bread butter"), ("cem", "bread"), ("dee", "egg"),
    )  # fmt: skip
    (draw,) = first_terms(crowd, replace(SETUP["zhu-xiong"], users=9), terms=2)
    assert draw.later is not None
    assert draw.log.users.to_list() == draw.later.users.to_list() == ["ann", "cem"]  # bob asked nothing later
    profiles = build_profiles(draw.log, Knowledge().words)
    assert [profiles.of(user) for user in range(2)] == [{"beer": 1, "wine": 1}, {"bread": 1, "butter": 1}]
    assert typed(draw.later) == ["tea", "milk", "bread"]
    assert np.diff(draw.later.start).tolist() == [2, 1]


def test_the_command_draws_the_figures_of_its_set_ups(
    corpus_file: Path, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = (
        replace(SETUP["zhu-xiong"], users=9, make=partial(first_terms, terms=3), seeds=(0, 1)),
        replace(SETUP["thesis-1000"], users=16, draws=2),
    )
    monkeypatch.setattr("shoal.evaluation.figures.setups.SETUPS", small)
    monkeypatch.setattr("shoal.evaluation.figures.running.PEOPLE", 1)
    given = ["--corpus", str(corpus_file), "--log", str(log_file), "--methods", "random:k=2", "--measures", "ap10"]
    assert main(["evaluate", *given, "--figures", "--jobs", "1", "--out", str(tmp_path)]) == 0
    found = read_figures(tmp_path)
    assert found is not None
    assert {row["setup"] for row in found.rows} == {"zhu-xiong", "thesis-1000"}
    report = (tmp_path / "report.md").read_text()
    assert "9 users of" in report
    assert "Figure 6.1" in report
    assert (tmp_path / "thesis-6-1.png").exists()
    assert "ap10_low" in next(row for row in found.rows if row["method"] == "linkability")


def test_growth_is_fitted_on_the_logarithms() -> None:
    rows = [{"method": "m", "params": "", "users": n, "seconds": 1e-3 * n**1.5} for n in (100, 200, 400)]
    assert exponents(rows)["m"] == pytest.approx(1.5)
    assert exponents(rows[:2]) == {}
