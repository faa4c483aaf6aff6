"""Can a person read the report without help, and is what it says what was measured?"""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import altair as alt
import pytest

from shoal.cli import main
from shoal.evaluation.measures.registry import columns
from shoal.evaluation.report.answer import answer, sentence
from shoal.evaluation.report.as_served import served
from shoal.evaluation.report.blocks import Block, Picture, Points, Table, Text, listed, number, percent
from shoal.evaluation.report.points import best_at, curves_of, front, is_control, name_of
from shoal.evaluation.report.report_files import report_blocks, rewrite_report, write_report
from shoal.evaluation.report.tables import families
from shoal.evaluation.report.text import escaped
from shoal.evaluation.run.results import Results, Row, columns_in, read_growth, read_results

METHODS = "plain;original;everyone;random:k=2,3;linkability:p=1,0.4;clump:k=2,3"


@pytest.fixture(scope="module")
def folder(corpus_file: Path, log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    given = ["evaluate", "--corpus", str(corpus_file), "--log", str(log_file), "--out", str(out), "--jobs", "1"]
    assert main([*given, "--methods", METHODS]) == 0
    return out


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return read_results(folder)


@pytest.fixture(scope="module")
def blocks(results: Results) -> list[Block]:
    return report_blocks(results)


class Page(HTMLParser):
    """The words of a page, its open tags, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.loads, self.open = "", [], []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)
        if tag in ("script", "link", "img", "iframe", "object", "use", "image"):
            self.loads += [value for name, value in attributes if name in ("src", "href", "xlink:href", "data")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open and "script" not in self.open:
            self.words += data


def test_an_evaluation_leaves_a_page_a_text_a_table_and_pictures(folder: Path) -> None:
    for name in ("report.html", "report.md", "table.tex", "cost.html"):
        assert (folder / name).stat().st_size > 500
    for name in ("precision-risk", "kept-risk", "precision-inference", "clicks-risk"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / f"{name}.svg").read_text().startswith("<svg")


def test_the_page_holds_all_it_needs(folder: Path) -> None:
    page = Page((folder / "report.html").read_text())
    assert page.open == []
    assert page.loads == []
    assert "url(http" not in (folder / "report.html").read_text()
    for word in ("The answer", "linkability", "original", "everyone", "random", "clicked", "does not protect"):
        assert word in page.words


def test_the_report_tells_how_people_are_served_and_where_that_is_worse_than_the_engine(results: Results) -> None:
    sentence, table = served(results)
    assert isinstance(sentence, Text)
    assert isinstance(table, Table)
    plain = next(row for row in [*results.rows, *results.besides] if row["method"] == "plain")
    assert f"AP@10 {plain['ap10_served']:.3f}, from which `kept_served` is counted" in sentence.text
    assert {line[0] for line in table.rows} == {name_of(r) for r in results.rows if not is_control(r)} | {"plain"}
    for value, told in (
        (0.01, f"(0.010) serve worse than the engine alone ({plain['ap10']:.3f})"),
        (0.99, "none serves"),
    ):
        rows = [row if is_control(row) else row | {"ap10_served": value} for row in results.rows]
        found = served(replace(results, rows=rows))[0]
        assert isinstance(found, Text)
        assert told in found.text
    assert served(replace(results, rows=[{**row, "ap10_served": None} for row in results.rows], besides=[])) == []


def test_the_answer_names_the_best_and_its_numbers(results: Results) -> None:
    lead = next(block.text for block in answer(results) if isinstance(block, Text) and block.kind == "lead")
    told = next(row for row in results.answers if row["risk"] == 0.05)
    assert lead == sentence(told)
    # Five terms single out a cook in so small a group, so that no setting of a method is near one in twenty.
    assert told["verdict"] == "undecided"
    assert told["leading"] == ["plain"]
    assert "`plain`" in lead
    assert f"{told['candidates'][0]['ap10']:.3f}" in lead


def test_only_simulated_users_are_called_so(results: Results, blocks: list[Block]) -> None:
    def told(blocks: list[Block]) -> str:
        return " ".join(block.text for block in blocks if isinstance(block, Text))

    assert results.data["people"] == "real"
    assert "imulated" not in told(blocks)
    simulated = told(report_blocks(replace(results, data={**results.data, "people": "simulated"})))
    assert "**Simulated users.**" in simulated
    assert "about a quarter of what the simulation promises at 5 % risk" in simulated


def test_the_sentence_comes_first_then_the_picture_then_the_table(blocks: list[Block]) -> None:
    first = [type(block).__name__ for block in blocks]
    assert first[:5] == ["Heading", "Text", "Picture", "Table", "Points"]


def test_every_number_of_the_page_is_defined_on_it(folder: Path, results: Results) -> None:
    text = (folder / "report.md").read_text()
    for name in columns_in(results.rows):
        if name in columns():
            measure = columns()[name].measure
            assert measure.told(measure.formula).replace("|", "\\|") in text


def test_the_report_says_whether_the_own_profile_differs_from_none_and_who_from_everyone(results: Results) -> None:
    told = " ".join(text for block in answer(results) if isinstance(block, Points) for text in block.texts)
    assert "The own profile differs from none: +0." in told
    assert "p < 0.001 after correction" in told
    assert "Against everyone's average, better: `linkability` p=1" in told


def test_a_phone_has_pictures_of_its_own_and_tables_row_by_row(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert page.count('<div class="narrow"><svg') == page.count('<div class="full"><svg') >= 3
    assert '<table class="short">' in page
    assert 'data-of="people found"' in page


def test_every_setting_stands_in_the_tables_and_in_latex(folder: Path, results: Results, blocks: list[Block]) -> None:
    shown = [block for block in blocks if isinstance(block, Table)]
    names = {(row[0], row[1]) for table in shown for row in table.rows if len(row) > 1}
    assert {(row["method"], row["params"]) for row in results.rows} <= names
    text = (folder / "table.tex").read_text()
    assert text.count(r"\\") == len(results.rows) + 1
    assert text.count("{") == text.count("}")


def test_pictures_mark_intervals_controls_and_each_setting(results: Results, folder: Path, blocks: list[Block]) -> None:
    drawn = (folder / "precision-risk.svg").read_text()
    for row in results.rows:
        name = f"{row['method']} {row['params']}".strip()
        assert f"{name}: ap10 {row['ap10']:.3f}" in drawn
    pictures = [block for block in blocks if isinstance(block, Picture)]
    assert [picture.name for picture in pictures][:3] == ["precision-risk", "kept-risk", "precision-inference"]
    assert all(isinstance(alt.Chart.from_dict(picture.description), alt.LayerChart) for picture in pictures)


def test_the_report_of_the_same_results_is_the_same(folder: Path, results: Results, tmp_path: Path) -> None:
    write_report(tmp_path, results)
    for name in ("report.html", "report.md", "table.tex", "precision-risk.svg", "precision-risk.png"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longest, and some tests only read."""
    for name in ("plots.write_picture", "report_files.svg"):
        monkeypatch.setattr(f"shoal.evaluation.report.{name}", lambda *_: "<svg></svg>")


def test_hostile_names_stay_text(results: Results, tmp_path: Path, undrawn: None) -> None:
    hostile = "<script>alert(1)</script>_&%"
    write_report(tmp_path, replace(results, experiment={**results.experiment, "log": hostile, "corpus": hostile}))
    assert "<script>alert" not in (tmp_path / "report.html").read_text()
    caption = next(line for line in (tmp_path / "table.tex").read_text().split("\n") if line.startswith(r"\caption"))
    assert re.search(r"[^\\][_&%]", caption) is None


def test_the_settings_that_meet_a_risk_are_told_where_one_was_asked_for(results: Results) -> None:
    sought = replace(results, target=[{"method": "clump", "params": "k=3", "meets": "linkage5<=0.1", "ap10": 0.5}])
    tables = [block for block in answer(sought) if isinstance(block, Table) and block.header[0] == "method"]
    assert tables[0].rows == (("clump", "k=3", "linkage5<=0.1", 0.5),)


def test_results_without_attacks_or_methods_still_make_a_report(
    results: Results, tmp_path: Path, undrawn: None
) -> None:
    bare = [{name: row[name] for name in ("method", "params", "ap10", "kept")} for row in results.rows]
    for rows in (bare, bare[:1]):
        write_report(tmp_path, replace(results, rows=rows, answers=[], comparisons=[], losers=[], costs=[]))
        assert "precision cannot be set against risk" in (tmp_path / "report.md").read_text()


def test_the_growth_of_time_is_measured_and_drawn(
    corpus_file: Path, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.evaluation.run.growth.FEWEST_USERS", 20)
    given = ["evaluate", "--corpus", str(corpus_file), "--log", str(log_file), "--out", str(tmp_path), "--jobs", "1"]
    assert main([*given, "--methods", "plain;linkability:p=1;clump:k=2", "--measures", "ap10,linkage5"]) == 0
    rows = read_growth(tmp_path)
    assert {row["method"] for row in rows} == {"linkability", "clump"}
    assert [row["users"] for row in rows if row["method"] == "linkability"] == [3, 6, 12, 24]
    page = Page((tmp_path / "cost.html").read_text())
    assert "Growth with the users" in page.words
    assert (tmp_path / "cost-users.png").exists()
    before = (tmp_path / "cost.html").read_bytes()
    rewrite_report(tmp_path)
    assert (tmp_path / "cost.html").read_bytes() == before


def row(method: str, params: str, ap10: float, linkage5: float) -> Row:
    return {"method": method, "params": params, "ap10": ap10, "linkage5": linkage5}


def test_the_front_holds_what_nothing_beats() -> None:
    rows = [row("a", "k=1", 0.9, 0.5), row("a", "k=2", 0.5, 0.1), row("b", "k=1", 0.5, 0.2), row("c", "", 0.4, 0.1)]
    assert [(r["method"], r["params"]) for r in front(rows, "ap10", "linkage5")] == [("a", "k=2"), ("a", "k=1")]
    assert best_at(rows, "ap10", "linkage5", 0.2) == rows[1]
    assert best_at(rows, "ap10", "linkage5", 0.01) is None


def test_the_front_has_no_room_for_less_than_one_persons_worth_of_risk() -> None:
    rows = [row("partition", "", 0.2, 0.0099), row("everyone", "", 0.5, 0.01), row("clump", "", 0.7, 0.1)]
    assert [r["method"] for r in front(rows, "ap10", "linkage5")] == ["partition", "everyone", "clump"]
    assert [r["method"] for r in front(rows, "ap10", "linkage5", 1 / 1000)] == ["everyone", "clump"]


def test_curves_follow_one_parameter_and_are_told_apart_by_the_others() -> None:
    rows = [row("a", f"k={k} r={r}", 0.5, 0.5) for k in (1, 2) for r in (5, 6)] + [row("b", "k=1", 1, 1)]
    assert [(curve.name, len(curve.rows)) for curve in curves_of(rows)] == [("a r=5", 2), ("a r=6", 2), ("b", 1)]


def test_numbers_are_written_for_people() -> None:
    assert [number(x) for x in (1234, 0.12345, 0.0012, 2.0)] == ["1,234", "0.123", "0.0012", "2"]
    assert [percent(x) for x in (0.5, 0.012, 0)] == ["50 %", "1.2 %", "0 %"]
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert escaped("a_b & 5 %") == r"a\_b \& 5 \%"


def test_each_family_that_was_measured_has_one_sentence_of_what_it_costs_and_protects(results: Results) -> None:
    told = next(block for block in families(results) if isinstance(block, Points)).texts
    assert [text.split("**")[1] for text in told] == ["group", "generalize", "device"]
    of_clump = next(text for text in told if "`clump`" in text)
    kept = [row["ap10"] for row in [*results.rows, *results.besides] if row["method"] == "clump"]
    assert f"AP@10 {min(kept):.2f}" in of_clump
    assert f"{max(kept):.2f}" in of_clump
    assert "`original`" not in "".join(told), "nothing is done to it, so that it is of no family"
    assert families(replace(results, rows=[], besides=[])) == []


def test_hashed_terms_are_told_of_and_are_no_answer(results: Results) -> None:
    own = next(row for row in results.rows if row["method"] == "original")
    hashed = {**own, "method": "token-hashing", "params": "", "linkage5": 0.01, "inverted_occurrences": 0.1}
    rows = [*results.rows, hashed]
    points = next(block for block in answer(replace(results, rows=rows)) if isinstance(block, Points)).texts
    told = next(text for text in points if "`token-hashing`" in text)
    assert "a lower bound" in told
    assert "1.0 % found" in told
    assert "token-hashing" not in {row["method"] for row in front(rows, "ap10", "linkage5")}
