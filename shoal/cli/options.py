"""What commands share: which log, knowledge, instance and database; progress bars, JSON and the one table."""

import argparse
import json
import os
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.dictionary import DICTIONARIES
from shoal.corpus.logs import Rejected, load_log, log_format
from shoal.corpus.logs.columns import ROLES
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog, counted
from shoal.webapp.core.settings import Settings, default_instance

DATABASE = "SHOAL_DATABASE"
_REASONS = 3  # why rows were rejected, the most frequent ones
CORPUS = "a data set's name, a JSON-lines file or ir_datasets:ID"
LOG = (
    "a data set's name, ir_datasets:ID, or files, a folder or a pattern: as AOL's, CSV, Parquet, JSON lines, .gz, .zst"
)


def add_log_options(parser: argparse.ArgumentParser, *, required: bool = True, help: str = "") -> None:
    parser.add_argument("--log", required=required, help=help or LOG)
    parser.add_argument("--strict", action="store_true", help="stop at the first row that cannot be read")
    parser.add_argument(
        "--columns", metavar="ROLE=NAME,...", help="names of the log's columns where its heading does not tell them: "
        f"{', '.join(ROLES)}; or their numbers"
    )  # fmt: skip
    parser.add_argument("--encoding", help="of a log that is not in UTF-8, for example cp1252")


def add_knowledge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--taxonomy", type=Path, help="a file of child<TAB>parent lines instead of WordNet")
    parser.add_argument(
        "--directory", type=Path, help="a topic directory: DMOZ content.rdf or path<TAB>title<TAB>description lines"
    )
    parser.add_argument(
        "--sensitive", type=Path, help="a file of terms that are private: a term or a label of the taxonomy per line"
    )
    parser.add_argument("--dictionary", choices=DICTIONARIES, default="", help="which tokens count as terms")


def add_instance_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", type=Path, help="the folder of accounts, runs and releases")
    parser.add_argument(
        "--database", default="", metavar="URL|@FILE",
        help="a database other than SQLite in that folder; one with a password in a file that you alone can read, or "
        f"in the environment as {DATABASE}",
    )  # fmt: skip


def instance_settings(options: argparse.Namespace, **more: Any) -> Settings:
    return Settings(
        instance=options.instance or default_instance(), database_url=database_address(options.database), **more
    )


def database_address(given: str) -> str:
    """Where the database is. A password on the command line would stand in the list of all processes."""
    if not given:
        return os.environ.get(DATABASE, "")
    if given.startswith("@"):
        return _kept_address(Path(given[1:]))
    if urlsplit(given).password is not None:
        raise InputError(
            f"--database holds a password, which everybody on this machine could see: write the address into a file of "
            f"your own and give --database @FILE, or set {DATABASE}"
        )
    return given


def _kept_address(path: Path) -> str:
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InputError(f"{path} can be read by others: run `chmod 600 {path}`")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: give --database @FILE with the address in it") from error


def whole_number(option: str, least: int) -> Callable[[str], int]:
    """What reads an option that is a whole number; another is refused by the option's name, on one line."""

    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise InputError(f"{option} {text}: expected a whole number from {least} on")
        return int(text)

    return read


def knowledge_of(options: argparse.Namespace) -> Knowledge:
    known = Knowledge(
        options.taxonomy,
        dictionary_name=options.dictionary,
        directory_file=options.directory,
        sensitive_file=options.sensitive,
    )
    if options.taxonomy:
        _ = known.taxonomy  # a bad file is refused before any work is done
    if options.directory:
        _ = known.directory
    if options.sensitive:
        _ = known.sensitive
    return known


def log_of(options: argparse.Namespace, progress: Progress) -> tuple[QueryLog, Rejected]:
    format = log_format(options.columns or "", options.encoding or "")
    return load_log(options.log, format=format, strict=options.strict, progress=progress)


def tell_read(rejected: Rejected, path: Path) -> None:
    """Say how the log was understood, and write the rows that could not be read into a file."""
    print(f"log: {rejected.understood}", file=sys.stderr)
    if rejected.damaged:
        print(
            f"{rejected.damaged:,} bytes are not UTF-8; if it is {rejected.encoding}, as it looks, "
            f"give --encoding {rejected.encoding}",
            file=sys.stderr,
        )
    if len(rejected):
        rejected.write(path)
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in list(rejected.reasons().items())[:_REASONS])
        print(f"{counted(len(rejected), 'row')} could not be read, see {path} ({reasons})", file=sys.stderr)


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
