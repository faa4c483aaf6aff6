"""shoal evaluate: precision against privacy of every method; --films on real people and films."""

import argparse
import sys
from pathlib import Path
from typing import Any

from shoal.cli.options import choose_cluster, tell_read
from shoal.cli.tables import print_json, print_table
from shoal.corpus.errors import InputError
from shoal.corpus.progress import bar
from shoal.evaluation.experiment import DEFAULT_CORPUS, read_experiment
from shoal.evaluation.experiment.settings import parse_methods
from shoal.evaluation.films.experiment import DEFAULT_SEEDS, FilmResults, run_films, write_films
from shoal.evaluation.films.film_report import film_blocks, headline
from shoal.evaluation.measures.base import Column, CostMeasure
from shoal.evaluation.measures.registry import columns as all_columns
from shoal.evaluation.measures.registry import columns_of
from shoal.evaluation.report.answer import sentence
from shoal.evaluation.report.blocks import plain
from shoal.evaluation.report.html import to_html
from shoal.evaluation.report.plots import write_pictures
from shoal.evaluation.report.report_files import rewrite_report
from shoal.evaluation.report.text import to_markdown
from shoal.evaluation.run.results import Results, columns_in, told, write_whole
from shoal.experiments import evaluate


def run(options: argparse.Namespace) -> int:
    choose_cluster(options)
    if options.films:
        return run_evaluate_films(options, tuple(_given(options).get("seeds", ())))
    given = _given(options)
    if options.out.exists() and not options.out.is_dir():
        raise InputError(f"{options.out} is a file: name a folder by --out")
    with bar() as progress:
        table = evaluate(
            given.pop("corpus", DEFAULT_CORPUS),
            given.pop("log", None),
            given.pop("methods", None),
            risk=options.risk,
            trec=options.trec,
            figures=options.figures or "",
            growth=True,
            jobs=options.jobs,
            folder=options.out,
            progress=progress,
            **given,
        )
    table.save(options.out, timings=options.timings)
    tell_read(table.rejected, options.out / "rejected.tsv")
    results = table.results
    if options.json:
        print_json(told(results))
    else:
        _print_results(results, options)
    return 1 if results.failures else 0


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """What the file declares, and over it what the options say."""
    given = read_experiment(options.config) if options.config else {}
    for name in (
        "corpus",
        "log",
        "methods",
        "columns",
        "encoding",
        "queries",
        "victims",
        "engine",
        "taxonomy",
        "directory",
        "sensitive",
        "dictionary",
    ):
        value = getattr(options, name)
        if value is not None and (name, value) != ("dictionary", ""):  # which is its default
            given[name] = str(value) if isinstance(value, Path) else value
    if options.strict:
        given["strict"] = True
    if options.measures is not None:
        given["measures"] = [name.strip() for name in options.measures.split(",")]
    if options.seeds is not None:
        given["seeds"] = [_whole(seed) for seed in options.seeds.split(",")]
    return given


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise InputError(f"--seed {text}: expected whole numbers from 0, with commas between")
    return int(text)


def _is_shown(column: Column) -> bool:
    return column.is_headline and column.is_main


def _print_results(results: Results, options: argparse.Namespace) -> None:
    data, costs = results.data, results.costs
    print(
        f"{data['evaluated_users']} of {data['users']} users, {data['evaluated_queries']} test queries "
        f"({data['queries_with_too_few_candidates']} left out for want of candidates)"
    )
    names = ("method", "params", *(name for name, column in all_columns().items() if _is_shown(column)))
    columns = [name for name in columns_in(results.rows) if name in names]
    rows = [[row.get(name, "") for name in columns] for row in results.rows]
    timed = [*columns_of(CostMeasure), "cell_seconds"]
    print_table(
        [[*row, *(cost[name] for name in timed)] for row, cost in zip(rows, costs, strict=True)], [*columns, *timed]
    )
    for answer in results.answers:
        print(f"\n{plain(sentence(answer))}")
    if results.target:
        print("\nthe setting of each method that meets the risk and keeps most precision:")
        columns = list(dict.fromkeys(name for row in results.target for name in row))
        print_table([[row.get(name, "") for name in columns] for row in results.target], columns)
    for failure in results.failures:
        print(f"{failure['method']} {failure['params']} gave nothing: {failure['reason']}", file=sys.stderr)
    more = (", target.csv" if results.target else "") + (", trec/" if options.trec else "")
    files = f"report.html, results.csv, results.json, comparisons.csv, people.npz, timings.csv{more}"
    print(f"written to {options.out}: {files}")


SHOWN = ("design", "method", "params", "people", "ap10", "ap10_low", "ap10_high", "help_kept", "linkage5")
_OF_LOGS = (
    *("corpus", "log", "columns", "encoding", "config", "risk", "trec", "figures", "queries", "victims", "measures"),
    *("engine", "url", "taxonomy", "directory", "sensitive", "dictionary"),
)


def run_evaluate_films(options: argparse.Namespace, seeds: tuple[int, ...]) -> int:
    for name in _OF_LOGS:
        if getattr(options, name) not in (None, "", False):
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
    title = "What people liked later: films"
    write_whole(folder / "films.html", to_html(title, blocks, write_pictures(folder, blocks)))
    write_whole(folder / "films.md", to_markdown(title, blocks))
