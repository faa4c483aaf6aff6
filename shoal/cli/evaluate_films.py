"""How are the films measured from the command line? shoal evaluate --films."""

import argparse
from pathlib import Path

from shoal.cli.printing import bar, print_json, print_table
from shoal.corpus.errors import InputError
from shoal.evaluation.experiment.settings import parse_methods
from shoal.evaluation.films.experiment import DEFAULT_SEEDS, FilmResults, run_films, write_films
from shoal.evaluation.films.film_report import film_blocks, headline
from shoal.evaluation.report.blocks import Picture, plain
from shoal.evaluation.report.html import to_html
from shoal.evaluation.report.markdown import to_markdown
from shoal.evaluation.report.plots import write_picture
from shoal.evaluation.report.report_files import rewrite_report
from shoal.evaluation.run.results import write_whole

SHOWN = ("design", "method", "params", "people", "ap10", "ap10_low", "ap10_high", "help_kept", "linkage5")
_OF_LOGS = (
    "corpus", "log", "config", "risk", "figures", "queries", "victims", "measures", "engine", "taxonomy", "directory",
    "dictionary",
)  # fmt: skip


def run_evaluate_films(options: argparse.Namespace, seeds: tuple[int, ...]) -> int:
    for name in _OF_LOGS:
        if getattr(options, name) not in (None, ""):
            raise InputError(f"--films and --{name} do not go together: --films has its own data, queries and people")
    settings = parse_methods(options.methods) if options.methods is not None else ()
    with bar() as progress:
        results = run_films(options.out, settings, seeds or DEFAULT_SEEDS, options.jobs, progress)
    write_films(options.out, results)
    write_film_pages(options.out, results)
    rewrite_report(options.out)
    if options.json:
        print_json({"data": results.data, "rows": results.rows, "comparisons": results.comparisons})
    else:
        print_table([[_shown(row.get(name)) for name in SHOWN] for row in results.rows], SHOWN)
        print(f"\n{plain(headline(results))}")
        print(f"written to {options.out}: films.csv, films.json, films.html, films.md")
    return 1 if results.failures else 0


def _shown(value: object) -> object:
    return "" if value is None else value


def write_film_pages(folder: Path, results: FilmResults) -> None:
    """films.html and films.md: the section of the report as a page of its own."""
    blocks = film_blocks(results)
    pictures = {b.name: write_picture(folder, b.name, b.description) for b in blocks if isinstance(b, Picture)}
    title = "What people liked later: films"
    write_whole(folder / "films.html", to_html(title, blocks, pictures))
    write_whole(folder / "films.md", to_markdown(title, blocks))
