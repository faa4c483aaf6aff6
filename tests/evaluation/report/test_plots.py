"""Do pictures say what they should, in every form, and look apart also without colour?"""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest
from jsonschema import ValidationError

from shoal.anonymizer.registry import methods
from shoal.evaluation.report.plots import axis, curves, finished, svg, write_picture
from shoal.evaluation.report.styles import COLOURS, METHODS, SHAPES, Styles, style_of
from shoal.evaluation.run.outcomes import CONTROLS

DATA = [
    {"x": x, "y": y, "low": y - 0.1, "high": y + 0.1, "curve": curve, "step": x, "tell": f"{curve} at {x}"}
    for curve, ys in {"one": (0.1, 0.5), "two": (0.3, 0.2)}.items()
    for x, y in enumerate(ys)
]


@pytest.fixture(scope="module")
def picture() -> dict[str, Any]:
    styles = Styles(("zero", "one", "two"), is_method=False)
    return finished(curves(DATA, alt.X("x:Q"), alt.Y("y:Q"), styles, "method"), "Two curves", "below")


def test_a_picture_names_its_curves_its_title_and_every_mark(picture: dict[str, Any]) -> None:
    drawn = svg(picture)
    ElementTree.fromstring(drawn)
    for text in ("Two curves", "below", ">one<", ">two<", "one at 0", "two at 1"):
        assert text in drawn


def test_a_description_is_what_vega_lite_allows(picture: dict[str, Any]) -> None:
    assert isinstance(alt.Chart.from_dict(picture), alt.LayerChart)
    with pytest.raises(ValidationError):
        alt.Chart.from_dict(picture | {"padding": "much"})


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


def test_every_method_has_a_look_of_its_own_for_good_and_a_mark_that_print_tells_apart() -> None:
    ours = [method for method in methods() if method not in CONTROLS]
    assert set(ours) <= METHODS.keys()
    assert len({style.shape for style in METHODS.values()}) == len(METHODS) >= 12
    assert len({style.colour for style in METHODS.values()}) >= 10
    assert (style_of("clump").colour, style_of("clump").shape) == ("#E69F00", "square")


def test_a_method_looks_the_same_whichever_others_are_drawn() -> None:
    alone, among = Styles(("clump",)), Styles(("ssc", "partition", "clump", "clump r=5"))
    assert alone.style("clump") == among.style("clump") == style_of("clump")
    variant = among.style("clump r=5")
    assert (variant.colour, variant.shape) == (style_of("clump").colour, style_of("clump").shape)
    assert variant.dash != style_of("clump").dash


def test_a_method_of_another_package_has_a_look_by_its_name_and_no_mark_of_ours() -> None:
    guests = [style_of(f"guest-{i}") for i in range(50)]
    assert guests == [style_of(f"guest-{i}") for i in range(50)]
    assert not {guest.shape for guest in guests} & {style.shape for style in METHODS.values()}
    assert len(set(guests)) > 20


def lightness(colour: str) -> float:
    """As a printer without colours would show it."""
    return sum(w * int(colour[i : i + 2], 16) for w, i in ((0.2126, 1), (0.7152, 3), (0.0722, 5))) / 255


def test_colours_are_dark_enough_to_be_seen_on_paper() -> None:
    assert all(lightness(colour) < 0.75 for colour in COLOURS)
    assert len(set(SHAPES.values())) == len(SHAPES) >= 16


def test_ticks_are_plain_numbers() -> None:
    data = [{"x": x, "y": y, "curve": "clump", "step": x, "tell": ""} for x, y in ((0.001, 20_000), (0.1, 40_000))]
    x = alt.X("x:Q", axis=axis(), scale=alt.Scale(type="log"))
    drawn = svg(finished(curves(data, x, alt.Y("y:Q", axis=axis()), Styles(("clump",))), "Ticks"))
    assert ">0.001<" in drawn
    assert ">40,000<" in drawn
