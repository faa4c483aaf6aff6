"""What commands share: which log, taxonomy, directory and dictionary; progress bars, JSON and the one table."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.dictionary import DICTIONARIES
from shoal.corpus.logs import load_log
from shoal.corpus.logs.aol import Rejected
from shoal.corpus.progress import Progress, TerminalBar
from shoal.corpus.querylog import QueryLog


def add_log_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log", required=True, help="a file in the AOL format (.gz too), or a data set's name")
    parser.add_argument("--strict", action="store_true", help="stop at the first row that cannot be read")


def add_knowledge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--taxonomy", type=Path, help="a file of child<TAB>parent lines instead of WordNet")
    parser.add_argument(
        "--directory", type=Path, help="a topic directory: DMOZ content.rdf or path<TAB>title<TAB>description lines"
    )
    parser.add_argument("--dictionary", choices=DICTIONARIES, default="", help="which tokens count as terms")


def whole_number(option: str, least: int) -> Callable[[str], int]:
    """What reads an option that is a whole number; another is refused by the option's name, on one line."""

    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise InputError(f"{option} {text}: expected a whole number from {least} on")
        return int(text)

    return read


def knowledge_of(options: argparse.Namespace) -> Knowledge:
    known = Knowledge(options.taxonomy, dictionary_name=options.dictionary, directory_file=options.directory)
    if options.taxonomy:
        _ = known.taxonomy  # a bad file is refused before any work is done
    if options.directory:
        _ = known.directory
    return known


def log_of(options: argparse.Namespace, progress: Progress) -> tuple[QueryLog, Rejected]:
    return load_log(options.log, strict=options.strict, progress=progress)


def tell_rejected(rejected: Rejected, path: Path) -> None:
    """Write the rows that could not be read into a file, and say so."""
    if len(rejected):
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


def markdown_table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> str:
    """The same for the documents."""
    lines = [" | ".join(str(cell).replace("|", "\\|") for cell in line) for line in (header, *rows)]
    return "\n".join([f"| {lines[0]} |", "|" + "---|" * len(header), *(f"| {line} |" for line in lines[1:])])


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
