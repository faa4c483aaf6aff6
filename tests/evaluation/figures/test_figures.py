"""Are the papers' figures drawn from the right settings and set-ups, and do the verdicts follow the numbers?"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.evaluation.figures import Figure, Panels, Part, Point, all_figures
from shoal.evaluation.figures.drawing import figure_blocks, panels_of
from shoal.evaluation.figures.running import (
    SETUPS,
    FigureResults,
    _interval,
    read_figures,
    setups,
    write_figures,
)
from shoal.evaluation.figures.verdicts import compared, difference, interval, more, sentence, trend, verdict
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


def drawn_of(figure: Figure, rows: list[Row]) -> dict[str, Any]:
    """The picture of a figure from such rows."""
    (block,) = [b for b in figure_blocks(results(rows), figure.timed) if isinstance(b, Picture) and b.name == figure.id]
    return block.description


def labels_of(figure: Figure) -> set[str]:
    return set(re.findall(r">([^<>]+)</text>", svg(drawn_of(figure, rows_of(figure)))))


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
    under = json.dumps(drawn_of(figure, rows_of(figure))["title"], ensure_ascii=False)
    assert figure.number in under
    assert "users of nowhere" in under  # the set-up stands in the picture, and so does the verdict
    assert verdict(parts) in under
    assert all(part.says.split()[0] in under for part in parts)


def test_axes_are_labelled_with_the_numbers_themselves() -> None:
    of_k = labels_of(FIGURES["thesis-6-1"])
    assert {"5", "7", "10", "15", "|D| = 1,000"} <= of_k
    assert not any("e+" in label for label in of_k)
    assert {"0.1", "0.2", "0.3", "0.4"} <= labels_of(FIGURES["zhu-xiong-4"])


def test_an_interval_that_reaches_below_nothing_has_a_place_on_a_logarithmic_axis() -> None:
    figure = FIGURES["thesis-6-5"]
    rows = [row | {"seconds": 2.0, "seconds_low": -1.0, "seconds_high": 5.0} for row in rows_of(figure)]
    described = json.dumps(drawn_of(figure, rows))
    assert '"low": 1.0, "high": 5.0' in described
    assert '"low": -1.0' not in described


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


def planted(x: tuple[float, ...], *panels: dict[str, tuple[float, ...]]) -> Panels:
    """Curves over x that are known without doubt."""
    return {
        f"panel {place}": {label: curve(*zip(x, ys, strict=True)) for label, ys in some.items()}
        for place, some in enumerate(panels)
    }


def blurred(panels: Panels) -> Panels:
    """The same points, of which nothing is known."""
    return {
        title: {label: [p._replace(low=-9 * p.y, high=9 * p.y) for p in points] for label, points in curves.items()}
        for title, curves in panels.items()
    }


def _srp(*gains: tuple[float, float], base: float) -> dict[str, tuple[float, ...]]:
    """Levels 1 and 5: what one category keeps at k = 2 and 5, and what five gain over it."""
    return {
        f"level {level}, {count}": (base + gain[0], base / 2 + gain[1])
        for level, of_five in zip((1, 5), gains, strict=True)
        for count, gain in (("5 categories", of_five), ("1 category", (0.0, 0.0)))
    }


# Of each figure: where its lines are measured, curves of which all of its claim is true, and curves of which none is.
PLANTED: dict[str, tuple[Panels, Panels]] = {
    "zhu-xiong-2": (
        planted((0.2, 0.4), {"linkability": (0.4, 0.7), "plain": (0.5, 0.5)}),
        planted((0.2, 0.4), {"linkability": (0.7, 0.4), "plain": (0.5, 0.5)}),
    ),
    "zhu-xiong-3": (planted((0, 3), {"linkability": (1, 2)}), planted((0, 3), {"linkability": (2, 1)})),
    "zhu-xiong-4": (planted((0.1, 0.4), {"linkability": (1, 2)}), planted((0.1, 0.4), {"linkability": (2, 1)})),
    "zhu-xiong-5": (planted((0.1, 0.4), {"linkability": (2, 1)}), planted((0.1, 0.4), {"linkability": (1, 2)})),
    "zhu-xiong-6": (planted((0.1, 0.4), {"the mean": (0.09, 0.35)}), planted((0.1, 0.4), {"the mean": (0.2, 0.6)})),
    "thesis-6-1": (
        planted(
            (5, 15),
            {"Clump1": (60, 90), "Clump2": (62, 91), "Partition": (100, 100)},
            {"Clump1": (70, 95), "Clump2": (71, 96), "Partition": (100, 100)},
        ),
        planted(
            (5, 15),
            {"Clump1": (130, 120), "Clump2": (150, 140), "Partition": (100, 100)},
            {"Clump1": (120, 110), "Clump2": (140, 130), "Partition": (100, 100)},
        ),
    ),
    "thesis-6-2": (
        planted((5, 15), {"Clump1": (3, 3), "Clump2": (1, 2), "Partition": (2, 1)}),
        planted((5, 15), {"Clump1": (1, 1), "Clump2": (3, 2), "Partition": (2, 3)}),
    ),
    "thesis-6-3": (
        planted((5, 15), {"Clump1": (1, 1), "Clump2": (3, 3), "Partition": (2, 2)}),
        planted((5, 15), {"Clump1": (3, 3), "Clump2": (1, 1), "Partition": (2, 2)}),
    ),
    "thesis-6-4": (planted((5, 10, 30), {"Clump1": (9, 7, 8)}), planted((5, 10, 30), {"Clump1": (9, 8, 7)})),
    "thesis-6-5": (
        planted((1e3, 1e4), {"Clump": (1, 10), "Partition": (0.5, 4)}),
        planted((1e3, 1e4), {"Clump": (1, 100), "Partition": (2, 200)}),
    ),
    "ssc-loss": (
        planted((2, 5), {"SSC": (1, 2), "LG(bag)": (2, 3)}),
        planted((2, 5), {"SSC": (2, 3), "LG(bag)": (1, 2)}),
    ),
    "affinity-5": (
        planted((2, 10), {"EQ": (1, 0.5), "AFF 0.9": (2, 2), "AFF 0.8": (3, 3)}),
        planted((2, 10), {"EQ": (1, 2), "AFF 0.9": (0.9, 0.9), "AFF 0.8": (0.8, 0.8)}),
    ),
    "affinity-6a": (
        planted((2, 10), {"EQ": (2, 1), "AFF 0.9": (3, 2), "AFF 0.8": (4, 3)}),
        planted((2, 10), {"EQ": (3, 4), "AFF 0.9": (2, 3), "AFF 0.8": (1, 2)}),
    ),
    "affinity-7": (
        planted((2, 10), {"EQ": (0.8, 0.9), "AFF 0.9": (0.4, 0.7), "WNGEN": (0.5, 0.5)}),
        planted((2, 10), {"EQ": (0.1, 0.1), "AFF 0.9": (0.9, 0.8), "WNGEN": (0.5, 0.7)}),
    ),
    "microaggregation-3": (
        planted((2, 5), _srp((0.0, 0.0), (0.05, 0.1), base=0.6)),
        planted((2, 5), _srp((-0.1, -0.05), (-0.1, -0.15), base=0.38)),
    ),
    "microaggregation-4": (
        planted((1, 5), {"5 categories": (3, 6), "1 category": (1, 2)}),
        planted((1, 5), {"5 categories": (1, 2), "1 category": (1, 2)}),
    ),
}
PLANTED |= {"ssc-distance": PLANTED["ssc-loss"], "ssc-recall": (PLANTED["ssc-loss"][1], PLANTED["ssc-loss"][0])}
PLANTED |= {"affinity-6b": PLANTED["affinity-6a"]}


@pytest.mark.parametrize("id", FIGURES)
def test_each_claim_is_seen_otherwise_or_not_to_be_told_as_its_curves_are(id: str) -> None:
    same, other = PLANTED[id]
    parts = FIGURES[id].parts
    assert verdict(parts(same)) == "We see the same"
    assert verdict(parts(other)) == "We see otherwise"
    assert verdict(parts(blurred(same))) == verdict(parts(blurred(other))) == "It cannot be told"


@pytest.mark.parametrize("id", FIGURES)
def test_a_claim_is_held_against_every_curve_that_it_names(id: str) -> None:
    """No curve can be left away without a part of the claim that cannot be told any more."""
    same = PLANTED[id][0]
    for label in next(iter(same.values())):
        less = {title: {name: curves[name] for name in curves if name != label} for title, curves in same.items()}
        assert None in [part.seen for part in FIGURES[id].parts(less)], label
        assert all(sentence(part) for part in FIGURES[id].parts(less))


def test_clump_that_loses_more_with_dropped_duplicates_is_not_the_same() -> None:
    """Figure 6.1 was once called the same by Clump1 alone."""
    panels = PLANTED["thesis-6-1"][0]
    worse = {title: curves | {"Clump2": curve((5, 110), (15, 120))} for title, curves in panels.items()}
    parts = FIGURES["thesis-6-1"].parts(worse)
    assert verdict(parts) == "Of 6 parts of the claim: 4 seen, 2 otherwise"
    assert [part.says for part in parts if part.seen is False] == [
        "Clump2 loses less than Partition",
        "Clump1 and Clump2 hardly differ, by 5 % at most",
    ]


def test_the_largest_linking_probability_is_told() -> None:
    parts = FIGURES["zhu-xiong-6"].parts({"": {"the mean": curve((0.4, 0.35)), "the largest": curve((0.4, 0.9))}})
    assert "the largest of all users is above it at 1 of 1" in parts[0].told


def test_a_difference_within_the_intervals_shows_nothing() -> None:
    def part(half: float) -> Part:
        panels = {"": {"a": curve((1, 2.0), (2, 3.0), half=half), "b": curve((1, 1.0), (2, 1.0))}}
        return compared(panels, "a", "above", "b", "a is above b")

    assert part(0.5).shown == (True, True)
    assert part(1.5).shown == (None, True)
    assert part(1.5).told == "at 1 of 2 points, within the intervals at 1 (a differs by +100 to +200 %)"
    panels = {"": {"a": curve((1, 2.0), (2, 1.0)), "b": curve((1, 1.0), (2, 2.0))}}
    assert "the other way at 1" in compared(panels, "a", "above", "b", "").told
    rising = {"": {"a": curve((1, 2.0), (2, 2.5), half=0.2)}}
    assert trend(rising, "a", "rises", "").shown == (True,)
    assert trend({"": {"a": curve((1, 2.0), (2, 2.5), half=0.3)}}, "a", "rises", "").shown == (None,)
    assert trend(rising, "a", "falls", "").shown == (False,)


@given(st.lists(st.tuples(st.floats(0.1, 9), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=2), st.data())
def test_what_is_said_of_intervals_is_true_of_all_values_in_them(
    ends: list[tuple[float, float, float]], data: st.DataObject
) -> None:
    a, b = (Point(0, low + wide * share, low, low + wide) for low, wide, share in ends)
    x, y = (data.draw(st.floats(point.low, point.high)) for point in (a, b))
    assert interval(a).is_below(interval(b)) in ((True, None) if x < y else (False, None) if x > y else (None,))
    for made, value in ((difference(a, b), x - y), (more(a, b), x / y - 1)):
        inside = -0.5 <= value <= 0.5
        near = abs(abs(value) - 0.5) < 1e-9
        assert near or made.within(-0.5, 0.5) in (inside, None)


def test_a_method_without_the_parameter_is_compared_everywhere() -> None:
    level = [Point(float("nan"), 1.0, 1.0, 1.0)]
    assert compared({"": {"a": curve((1, 2), (2, 3)), "b": level}}, "a", "above", "b", "").shown == (True, True)


def test_a_verdict_counts_the_parts() -> None:
    seen, unclear, otherwise, empty = (Part("", shown, "") for shown in ((True, True), (True, None), (None, False), ()))
    assert [part.seen for part in (seen, unclear, otherwise, empty)] == [True, None, False, None]
    told = [verdict(parts) for parts in ([seen, seen], [seen, unclear, otherwise], [unclear, empty], [otherwise])]
    assert told == [
        "We see the same", "Of 3 parts of the claim: 1 seen, 1 otherwise, 1 cannot be told", "It cannot be told",
        "We see otherwise",
    ]  # fmt: skip


def test_the_set_up_stands_beside_a_figure_and_others_are_left_out() -> None:
    blocks = figure_blocks(results(rows_of(FIGURES["thesis-6-2"])))
    assert [block.name for block in blocks if isinstance(block, Picture)] == ["thesis-6-2"]
    texts = [block.text for block in blocks if isinstance(block, Text)]
    assert any("duplicate items removed" in text and "1000 users of nowhere" in text for text in texts)
    assert (
        next(block for block in blocks if isinstance(block, Points))
        .texts[0]
        .startswith(("Seen: ", "Otherwise: ", "Cannot be told: "))
    )
    (densities,) = [block for block in blocks if isinstance(block, Table)]
    assert densities.rows[0] == ("|D| = 1,000", "0.28 %", "0.100 %")
    assert figure_blocks(None) == figure_blocks(results([])) == []


def test_what_was_measured_can_be_read_again(tmp_path: Path) -> None:
    costs = [
        {"setup": "ssc", "method": "ssc", "params": "k=2", "seconds": 1.5}
        | {f"seconds_{end}": 1.5 for end in ("low", "high")}
    ]
    found = replace(results(rows_of(FIGURES["zhu-xiong-4"])), costs=costs)
    write_figures(tmp_path, found)
    assert read_figures(tmp_path) == found
    write_figures(tmp_path, None)
    assert read_figures(tmp_path) is None


def test_an_interval_is_students() -> None:
    assert _interval([3.0]) == (3.0, 3.0)
    low, high = _interval([1.0, 2.0, 3.0])  # 4.303 * 1 / sqrt(3)
    assert (low, high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)


def test_growth_is_fitted_on_the_logarithms() -> None:
    rows = [{"method": "m", "params": "", "users": n, "seconds": 1e-3 * n**1.5} for n in (100, 200, 400)]
    assert exponents(rows)["m"] == pytest.approx(1.5)
    assert exponents(rows[:2]) == {}
