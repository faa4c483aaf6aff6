"""Are the papers' figures drawn from the right settings, and do the sentences follow the numbers?"""

from typing import Any

import pytest

from shoal.evaluation.figures import all_figures, figure_settings
from shoal.evaluation.figures.drawing import figure_blocks, picture, points_of
from shoal.evaluation.figures.verdicts import compared, trend, verdict
from shoal.evaluation.report.blocks import Picture, Text
from shoal.evaluation.report.plots import svg
from shoal.evaluation.run.growth import exponents

FIGURES = {figure.id: figure for figure in all_figures()}


def rows_of(id: str) -> list[dict[str, Any]]:
    """A row for each setting of a figure, its columns filled with falling numbers."""
    figure = FIGURES[id]
    columns = {line.column for line in figure.lines}
    return [
        {"method": s.method, "params": s.params, **dict.fromkeys(columns, 1 / (step + 2))}
        for step, s in enumerate(figure.settings)
    ]


def test_all_figures_of_the_papers_are_there() -> None:
    assert list(FIGURES) == [
        *(f"zhu-xiong-{i}" for i in range(2, 7)), *(f"thesis-6-{i}" for i in range(1, 5)),
        "affinity-5", "affinity-6a", "affinity-6b", "affinity-7", "microaggregation-3",
    ]  # fmt: skip
    assert len(figure_settings(list(FIGURES.values()))) < 70


@pytest.mark.parametrize("id", FIGURES)
def test_the_settings_of_a_figure_draw_all_its_lines(id: str) -> None:
    figure = FIGURES[id]
    seen = points_of(figure, rows_of(id))
    assert list(seen) == [line.label for line in figure.lines]
    told = figure.see(seen)
    assert told.startswith(("**We see", "**We do not see"))
    drawn = svg(picture(figure, seen))
    assert figure.number in drawn


def test_rows_with_other_parameters_are_not_mixed_in() -> None:
    rows = [
        {"method": "clump", "params": "k=5", "ggd": 1.0},
        {"method": "clump", "params": "k=5 r=30", "ggd": 2.0},
        {"method": "clump", "params": "k=5 duplicates=drop", "ggd": 3.0},
        {"method": "clump", "params": "k=7", "ggd": 4.0},
        {"method": "partition", "params": "k=7", "ggd": 5.0},
    ]
    seen = points_of(FIGURES["thesis-6-1"], rows)
    assert seen == {"Clump1": [(5, 1.0), (7, 4.0)], "Clump2": [(5, 3.0)], "Partition": [(7, 5.0)]}
    assert points_of(FIGURES["thesis-6-4"], rows) == {"Clump1": [(10, 1.0), (30, 2.0)]}


def test_figures_without_settings_are_named_and_left_out() -> None:
    blocks = figure_blocks(rows_of("zhu-xiong-4"))
    names = [block.name for block in blocks if isinstance(block, Picture)]
    assert names == ["zhu-xiong-4"]
    introduction = next(block.text for block in blocks if isinstance(block, Text))
    assert "Milani Fard 2010, Figure 6.1" in introduction
    assert figure_blocks([]) == []


def test_the_paper_is_held_against_what_we_see() -> None:
    figure = FIGURES["zhu-xiong-4"]
    assert "We see the same" in figure.see({"linkability": [(0.1, 0.2), (0.4, 0.5)]})
    assert "We do not see this" in figure.see({"linkability": [(0.1, 0.5), (0.4, 0.2)]})
    bound = FIGURES["zhu-xiong-6"]
    assert "We see the same" in bound.see({"the mean": [(0.4, 0.3)], "the largest": [(0.4, 0.39)]})
    assert "the largest exceeds it" in bound.see({"the mean": [(0.4, 0.3)], "the largest": [(0.4, 0.9)]})


def test_sentences_follow_the_points() -> None:
    assert trend([(1, 1.0), (2, 2.0)]) == "rises"
    assert trend([(1, 2.0), (2, 1.0)]) == "falls"
    assert trend([(1, 1.0), (2, 3.0), (3, 2.0)]) == "rises on the whole, not at every step"
    assert trend([(1, 1.0), (2, 1.001)]) == "stays the same"
    seen = {"a": [(1.0, 2.0), (2.0, 1.0), (3.0, 1.0)], "b": [(1.0, 1.0), (2.0, 2.0)]}
    assert compared(seen, "a", "b") == "a is above at 1 and below at 1 of 2 points, compared with b"
    told = [verdict(checks, "x")[2:].split("*")[0] for checks in ([True], [True, False], [False], [])]
    assert told[:3] == ["We see the same", "We see a part of it", "We do not see this"]
    assert told[3].startswith("Too few")


def test_growth_is_fitted_on_the_logarithms() -> None:
    rows = [{"method": "m", "params": "", "users": n, "seconds": 1e-3 * n**1.5} for n in (100, 200, 400)]
    assert exponents(rows)["m"] == pytest.approx(1.5)
    assert exponents(rows[:2]) == {}
