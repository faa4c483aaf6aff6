"""What does an experiment leave to be read? A page, a text, a table for LaTeX, and the pictures as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.corpus.errors import InputError
from shoal.evaluation.figures.drawing import figure_blocks
from shoal.evaluation.figures.running import FigureResults, read_figures, write_figures
from shoal.evaluation.films.experiment import FilmResults, read_films
from shoal.evaluation.films.film_report import film_blocks
from shoal.evaluation.measures.registry import columns
from shoal.evaluation.report.answer import answer, simulated
from shoal.evaluation.report.blocks import Block, Heading, Picture, Table, Text, listed
from shoal.evaluation.report.cost import write_cost
from shoal.evaluation.report.html import NARROW, to_html
from shoal.evaluation.report.plots import narrowed, svg, write_pictures
from shoal.evaluation.report.points import in_order
from shoal.evaluation.report.tables import families, how_to_read, tables
from shoal.evaluation.report.text import to_latex, to_markdown
from shoal.evaluation.report.tradeoff import tradeoff
from shoal.evaluation.run.results import Results, Row, bibtex, csv_text, read_growth, read_results, write_whole

_PICTURES = (
    ("precision-risk", "ap10", "linkage5", "How much precision at which risk of being found?"),
    ("kept-risk", "kept", "linkage5", "How much of what is personal is kept at which risk of being found?"),
    ("precision-inference", "ap10", "inference5", "How much precision at which risk of being seen through?"),
    ("clicks-risk", "ap10_clicks", "linkage5", "How well are clicked documents ranked at which risk of being found?"),
)


def write_report(
    folder: Path, results: Results, figures: FigureResults | None = None, growth: Sequence[Row] = ()
) -> list[str]:
    """report.html, report.md, table.tex and the pictures; the names of the files.

    `figures` is what was measured in the papers' set-ups; `growth` are times of parts of the log.

    All but the cost page say the same in every run with one seed: times, which differ, stand on a page of their own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    blocks = report_blocks(results, figures, read_films(folder))
    title = _title(results)
    write_figures(folder, figures)
    if growth:
        write_whole(folder / "growth.csv", csv_text(growth, list(growth[0])))
    pictures = write_pictures(folder, blocks)
    narrow = {block.name: narrowed(block.description) for block in blocks if isinstance(block, Picture)}
    pictures |= {f"{name}{NARROW}": svg(one) for name, one in narrow.items() if one is not None}
    write_whole(folder / "report.html", to_html(title, blocks, pictures))
    write_whole(folder / "report.md", to_markdown(title, blocks))
    write_whole(folder / "table.tex", to_latex(results, title))
    return [
        "report.html",
        "report.md",
        "table.tex",
        *write_cost(folder, results, growth, figures),
    ]


def rewrite_report(folder: Path) -> None:
    """The report of what the folder holds, if it holds results: to be called when something was added."""
    if (folder / "results.json").exists():
        write_report(folder, read_results(folder), read_figures(folder), read_growth(folder))


def report_blocks(
    results: Results, figures: FigureResults | None = None, films: FilmResults | None = None
) -> list[Block]:
    """All that the report says, in its order."""
    drawn = _tradeoffs(results)
    return [
        *answer(results, drawn[:1]), *families(results), *how_to_read(results),
        *_more_pictures(drawn[1:]), *_films(films), *tables(results), *figure_blocks(figures),
        Heading("Cost", 2), Text("What each setting costs in time and memory is on the page [cost.html](cost.html)."),
        *_origin(results.provenance),
    ]  # fmt: skip


def _origin(made: dict[str, Any]) -> list[Block]:
    """Where the numbers come from, and how to cite them."""
    seeds = listed([str(seed) for seed in made["seeds"]])
    return [
        Heading("Where this comes from", 2),
        Text(f"Shoal {made['version']}, seed{'s' if len(made['seeds']) > 1 else ''} {seeds}, by the command"),
        Text(made["command"], "code"),
        Table(("of", "sha-256"), tuple(made["digests"].items()), "Digests of what the numbers depend on"),
        Text("To cite it, beside the papers of the methods:"),
        Text(bibtex(made), "code"),
    ]


def _films(films: FilmResults | None) -> list[Block]:
    """What real people liked later, where it was measured."""
    if films is not None:
        return film_blocks(films)
    told = "Whether a profile helps real people to find what they like later is measured by `shoal evaluate --films`."
    return [Text(told, "aside")]


def _more_pictures(drawn: Sequence[Picture]) -> list[Block]:
    return [Heading("Precision against risk, measured otherwise", 2), *drawn] if drawn else []


def picture_of(name: str, rows: Sequence[Row], users: int) -> dict[str, Any] | None:
    """One of the pictures of precision against risk, of some rows of results; None where no method has both."""
    found = {one: rest for one, *rest in _PICTURES}
    if name not in found:
        raise InputError(f"there is no picture {name!r}: choose one of {', '.join(found)}")
    precision, risk, title = found[name]
    return tradeoff(rows, precision, risk, title, tolerance=1 / max(1, users))


def _tradeoffs(results: Results) -> list[Picture]:
    pictures: list[Picture] = []
    for name, precision, risk, _ in _PICTURES:
        drawn = picture_of(name, in_order([*results.rows, *results.besides]), results.data["users"])
        if drawn is not None:
            pictures.append(Picture(name, drawn, _caption(results, precision, risk)))
    return pictures


def _caption(results: Results, precision: str, risk: str) -> str:
    who = "simulated users" if simulated(results) else "users"
    axes = [columns()[name].short for name in (precision, risk)]
    return (
        f"{axes[0]} against {axes[1]}, {results.data['evaluated_users']} {who}. Up and to the left is better. Each "
        "mark is a setting, each line a method from its least to its most private setting."
    )


def _title(results: Results) -> str:
    who = "simulated users" if simulated(results) else "users"
    return f"Precision against privacy: {results.experiment['corpus']}, {results.data['users']} {who}"
