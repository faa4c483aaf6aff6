"""Do pictures say what they should, in every form, and look apart also without colour?"""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest

from shoal.evaluation.report.plots import COLOURS, DASHES, SHAPES, Styles, curves, finished, svg, write_picture

DATA = [
    {"x": x, "y": y, "low": y - 0.1, "high": y + 0.1, "curve": curve, "step": x, "tell": f"{curve} at {x}"}
    for curve, ys in {"one": (0.1, 0.5), "two": (0.3, 0.2)}.items()
    for x, y in enumerate(ys)
]


@pytest.fixture(scope="module")
def picture() -> dict[str, Any]:
    styles = Styles(("zero", "one", "two"))
    return finished(curves(DATA, alt.X("x:Q"), alt.Y("y:Q"), styles, "method"), "Two curves", "below")


def test_a_picture_names_its_curves_its_title_and_every_mark(picture: dict[str, Any]) -> None:
    drawn = svg(picture)
    ElementTree.fromstring(drawn)
    for text in ("Two curves", "below", ">one<", ">two<", "one at 0", "two at 1"):
        assert text in drawn


def test_one_description_gives_both_files(picture: dict[str, Any], tmp_path: Path) -> None:
    text = write_picture(tmp_path, "p", picture)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.png", "p.svg"]
    assert (tmp_path / "p.svg").read_text() == text
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_is_the_same_each_time_it_is_drawn(picture: dict[str, Any]) -> None:
    assert svg(picture) == svg(picture)


def test_a_curve_keeps_its_style_whichever_others_are_drawn(picture: dict[str, Any]) -> None:
    drawn = svg(picture)
    assert COLOURS[1] in drawn
    assert COLOURS[2] in drawn
    assert COLOURS[0] not in drawn


def test_eight_methods_are_told_apart_by_their_marks_alone() -> None:
    assert len(set(SHAPES)) == 8
    assert len(set(DASHES)) == len(DASHES)
    assert len(set(COLOURS)) == len(COLOURS) >= 8
