"""What does an experiment leave to be read? A page, a text, a table for LaTeX, and the pictures as files."""

from collections.abc import Sequence
from pathlib import Path

from evaluation.plots import Styles, write_picture
from evaluation.report.blocks import Block, Heading, Picture, Text
from evaluation.report.cost import write_cost
from evaluation.report.html import to_html
from evaluation.report.latex import to_latex
from evaluation.report.markdown import to_markdown
from evaluation.report.points import Curve, curves_of, is_control
from evaluation.report.story import answer, simulated
from evaluation.report.tables import how_to_read, tables
from evaluation.report.tradeoff import tradeoff
from evaluation.results import Results, write_whole

_PICTURES = (
    ("precision-risk", "ap10", "linkage5", "How much precision at which risk of being found?"),
    ("kept-risk", "kept", "linkage5", "How much of what is personal is kept at which risk of being found?"),
    ("precision-inference", "ap10", "inference5", "How much precision at which risk of being seen through?"),
    ("clicks-risk", "ap10_clicks", "linkage5", "How well are clicked documents ranked at which risk of being found?"),
)


def write_report(folder: Path, results: Results) -> list[str]:
    """report.html, report.md, table.tex and the pictures; the names of the files.

    All but the cost page say the same in every run with one seed: times, which differ, stand on a page of their own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    blocks = report_blocks(results)
    title = _title(results)
    pictures = {b.name: write_picture(folder, b.name, b.description) for b in blocks if isinstance(b, Picture)}
    write_whole(folder / "report.html", to_html(title, blocks, pictures))
    write_whole(folder / "report.md", to_markdown(title, blocks))
    write_whole(folder / "table.tex", to_latex(results, title))
    return ["report.html", "report.md", "table.tex", *write_cost(folder, results)]


def report_blocks(results: Results) -> list[Block]:
    """All that the report says, in its order."""
    made = curves_of(results.rows)
    styles = Styles(tuple(curve.name for curve in made if not is_control(curve.rows[0])))
    return [
        *answer(results), *how_to_read(), *_tradeoffs(results, made, styles), *tables(results),
        Heading("Cost", 2), Text("What each setting costs in time and memory is on the page [cost.html](cost.html)."),
    ]  # fmt: skip


def _tradeoffs(results: Results, made: Sequence[Curve], styles: Styles) -> list[Block]:
    blocks: list[Block] = []
    for name, precision, risk, title in _PICTURES:
        drawn = tradeoff(results.rows, made, styles, precision, risk, title)
        if drawn is not None:
            blocks.append(Picture(name, drawn, _caption(results, precision, risk)))
    return [Heading("Precision against risk", 2), *blocks] if blocks else []


def _caption(results: Results, precision: str, risk: str) -> str:
    who = "simulated users" if simulated(results) else "users"
    return (
        f"`{precision}` against `{risk}`, {results.data['evaluated_users']} {who}. Up and to the left is better. Each "
        "mark is a setting, each line a method from its least to its most private setting."
    )


def _title(results: Results) -> str:
    who = "simulated users" if simulated(results) else "users"
    return f"Precision against privacy: {results.experiment['corpus']}, {results.data['users']} {who}"
