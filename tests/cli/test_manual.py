"""Are the manual's pages made from what is declared? Pictures of the food example, commands, links, inline code."""

from pathlib import Path

import numpy as np
import pytest

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.publish import publish_centroids
from shoal.cli import COMMANDS, make_parser
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from shoal.manual import commands_page, links_within, parsers, without_inline_code
from shoal.manual.blend import DISHES, blend_picture
from shoal.manual.example import PEOPLE, Example, food_log, run_example
from shoal.manual.methods import essay, method_page
from shoal.manual.picture import describe, picture
from shoal.notebook import anonymize


class Alone(ProfileMethod):
    """Guarantee: none."""

    info = MethodInfo(
        id="alone",
        title="Each for themselves",
        paper="Nobody, 2026",
        unit="user",
        family="none",
        protects="Nothing at all, of nobody.",
        does_not_protect="Everything that anybody did.",
    )

    def claim(self) -> Claim:
        return Claim("none")

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        return publish_centroids(profiles, np.arange(len(profiles)), self.claim())


def test_the_picture_shows_what_the_thesis_prints_of_clump() -> None:
    example = run_example("clump")
    assert example.fates() == {"typed": 5, "generalized": 8, "gone": 0}
    assert (example.fate("Ann", "beef"), example.fate("Ann", "orange")) == ("typed", "generalized")
    drawn = picture(example)
    assert drawn.count('class="mn-link"') == len(PEOPLE)
    assert all(f">{word}<" in drawn for words in PEOPLE.values() for word in words)
    assert drawn.count("mn-generalized") == 8 + 3  # of people, and published: Food, Food and Fruit


def test_where_nothing_is_published_the_picture_says_so() -> None:
    assert "nothing is published of anybody" in picture(run_example("plain"))
    assert "No profile of anybody" in describe(run_example("plain"))
    assert "the catalogue, nobody" in picture(run_example("murmur"))


def test_a_method_of_somebody_else_has_its_page(tmp_path: Path) -> None:
    method = Alone()
    page = method_page(Example(method, anonymize(food_log(), method)), tmp_path)
    for said in (method.info.title, method.info.paper, method.info.protects, method.info.does_not_protect):
        assert said in page
    assert "Not measured yet" in page
    refused = method_page(Example(method, None, "too many people"), tmp_path)
    assert "makes no release: too many people" in refused


def test_what_is_written_of_a_method_stands_below_its_declaration(tmp_path: Path) -> None:
    (tmp_path / "common.md").write_text("# `common`: shared\n\nIt shares.\n\n## How\nSo.\n")
    assert essay(tmp_path / "common.md") == "## In detail\n\nIt shares.\n\n### How\nSo.\n"
    assert essay(tmp_path / "nothing.md") == ""


def test_the_blend_ranks_by_all_three_parts() -> None:
    drawn = blend_picture(run_example("common"))
    assert drawn.index("beef with chicken") < drawn.index("chicken soup") < drawn.index("cheese and butter")
    assert drawn.count("<rect") == 3 + 3 * len(DISHES)


def test_the_page_of_the_commands_lists_every_option() -> None:
    page = commands_page()
    assert [name for name in COMMANDS if f"## `shoal {name}`" not in page] == []
    for parser in parsers(make_parser()).values():
        for option in (name for action in parser._actions for name in action.option_strings):
            assert f"`{option}`" in page or option in ("-h", "--help")


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("../CONTRIBUTING.md", "made/contributing.md"),
        ("docs/methods.md", "made/methods/index.md"),
        ("docs/common.md", "made/methods/common.md"),
        ("releases.md#what-it-costs", "releases.md#what-it-costs"),
        ("https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_links_of_the_repository_lead_to_pages_of_the_site(link: str, to: str) -> None:
    assert links_within(f"see [this]({link}).", "") == f"see [this]({to})."


def test_inline_code_becomes_files_that_pages_share(tmp_path: Path) -> None:
    (tmp_path / "_static").mkdir()
    (tmp_path / "deep").mkdir()
    page = '<style>b{}</style><script>let a</script><svg style="display: none;"></svg><script src="x.js"></script>'
    for name in ("a.html", "deep/b.html"):
        (tmp_path / name).write_text(page)
    without_inline_code(tmp_path)
    written = {path.suffix: path for path in (tmp_path / "_static").iterdir()}
    assert {ending: path.read_text() for ending, path in written.items()} == {".css": "b{}\n", ".js": "let a\n"}
    deep = (tmp_path / "deep" / "b.html").read_text()
    assert f'src="../_static/{written[".js"].name}"' in deep
    assert "style=" not in deep
    assert 'src="x.js"' in deep
