"""How is a log made from the command line? shoal simulate, and the options and printers that all commands share."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpus.calibration import calibration, calibration_lines
from corpus.documents import load_documents
from corpus.errors import InputError
from corpus.knowledge import Knowledge
from corpus.logfile import Rejected, read_log
from corpus.logs import load_log
from corpus.profiles import DICTIONARIES
from corpus.progress import Progress, TerminalBar
from corpus.querylog import QueryLog
from corpus.simulation import simulate_log, write_log
from corpus.webqueries import load_web_queries

Commands = Any  # argparse has no public name for what add_subparsers returns


def add_commands(commands: Commands) -> None:
    parser = commands.add_parser("simulate", help="a log of simulated users, and the table of its calibration")
    parser.add_argument("--users", type=int, required=True, help="how many simulated users")
    parser.add_argument("--out", type=Path, required=True, help="the log file to write, in the AOL format")
    parser.add_argument("--corpus", "--data", default="news", help="a data set's name or a JSON-lines file (news)")
    parser.add_argument("--web-queries", action="store_true", help="let them sound like 110,000 real web queries")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_simulate)


def run_simulate(options: argparse.Namespace) -> None:
    if not options.out.parent.is_dir():
        raise InputError(f"no folder {options.out.parent} to write {options.out.name} in: make it first")
    with bar() as progress:
        documents = load_documents(options.corpus, progress)
        web_queries = load_web_queries(progress) if options.web_queries else None
        log = simulate_log(documents, options.users, options.seed, progress, web_queries)
        write_log(log, options.out, progress)
        rows = calibration(read_log(options.out, progress=progress)[0])
    if options.json:
        print_json([{"statistic": r.statistic, "aol": r.aol, "ours": r.ours, "difference": r.difference} for r in rows])
        return
    print(f"{len(log)} queries of {options.users} simulated users over {documents.name}, in {options.out}")
    print("\n".join(calibration_lines(rows)))


def add_log_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log", required=True, help="a file in the AOL format (.gz too), or a data set's name")
    parser.add_argument("--strict", action="store_true", help="stop at the first row that cannot be read")


def add_knowledge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--taxonomy", type=Path, help="a file of child<TAB>parent lines instead of WordNet")
    parser.add_argument(
        "--directory", type=Path, help="a topic directory: DMOZ content.rdf or path<TAB>title<TAB>description lines"
    )
    parser.add_argument("--dictionary", choices=DICTIONARIES, default="", help="which tokens count as terms")


def knowledge_of(options: argparse.Namespace) -> Knowledge:
    known = Knowledge(options.taxonomy, dictionary_name=options.dictionary, directory_file=options.directory)
    if options.taxonomy:
        _ = known.taxonomy  # a bad file is refused before any work is done
    if options.directory:
        _ = known.directory
    return known


def log_of(options: argparse.Namespace, progress: Progress) -> tuple[QueryLog, Rejected]:
    return load_log(options.log, strict=options.strict, progress=progress)


def tell_rejected(rejected: Rejected, beside: Path) -> None:
    """Write the rows that could not be read beside the output, and say so."""
    if len(rejected):
        path = beside / "rejected.tsv"
        rejected.write(path)
        print(f"{len(rejected)} rows could not be read; they are in {path} with their reasons", file=sys.stderr)


@contextmanager
def bar() -> Iterator[TerminalBar]:
    progress = TerminalBar()
    try:
        yield progress
    finally:
        progress.close()


def print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))


def print_table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> None:
    """The one table printer: columns as wide as they need, numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(header), *cells]) for i in range(len(header))]
    right = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    for line in [list(header), ["-" * width for width in widths], *cells]:
        parts = [text.rjust(w) if r else text.ljust(w) for text, w, r in zip(line, widths, right, strict=True)]
        print("  ".join(parts).rstrip())


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
