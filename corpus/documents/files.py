"""Documents in files: the JSON lines of a user (id, title, text, url, date), and the tables of data sets."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from shoal.corpus.documents.document import Document, clean
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress

_EXPECTED = 'expected {"id": ..., "title": ..., "text": ...} with text in each'
_PROGRESS_EVERY = 1000  # lines
LONGEST_LINE = 16 << 20  # bytes, of one document


def read_json_lines(path: Path, progress: Progress) -> Iterator[Document]:
    """The documents of a file, plain or .gz. Nothing in it is believed before it is checked."""
    line_of: dict[str, int] = {}
    for number, line in _lines(path, progress):
        document = _document(line, f"{path}, line {number}")
        if document.id in line_of:
            raise InputError(
                f"{path}, line {number}: the id {document.id!r} was on line {line_of[document.id]} already; "
                "give every document an id of its own"
            )
        line_of[document.id] = number
        yield document
    if not line_of:
        raise InputError(f"{path} holds no documents; expected one JSON object per line with id, title, text")


def _lines(path: Path, progress: Progress) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1."""
    from shoal.corpus.logs.files import refuse_bomb  # loads what reads logs, which documents alone do without

    try:
        size = path.stat().st_size
        with path.open("rb") as raw:
            file = gzip.open(raw) if path.suffix == ".gz" else raw
            unpacked = 0
            for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), start=1):
                unpacked += len(line)
                if len(line) > LONGEST_LINE:
                    raise InputError(f"{path}, line {number}: longer than {LONGEST_LINE >> 20} MB; split the document")
                if file is not raw:
                    refuse_bomb(path, unpacked, raw.tell())
                if number % _PROGRESS_EVERY == 1:
                    progress(min(raw.tell(), size), size, f"reading {path.name}")
                if line.strip():
                    yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is not a whole .gz file ({error}); copy or compress it again") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give a JSON-lines file") from error


def _document(line: bytes, where: str) -> Document:
    record = _record(line, where)
    title, text = _text(record, "title", where), _text(record, "text", where)
    if not title and not text:
        raise InputError(f"{where}: title and text are both empty; {_EXPECTED}")
    return Document(_id(record, where), title, text, _text(record, "url", where, ""), _text(record, "date", where, ""))


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({type(error).__name__}); {_EXPECTED}") from error
    if not isinstance(record, dict):
        raise InputError(f"{where}: a JSON {type(record).__name__}, not an object; {_EXPECTED}")
    return record


def _text(record: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = record.get(key)
    if value is None:
        value = default
    if not isinstance(value, str):
        state = f"is a {type(value).__name__}" if key in record else "is missing"
        raise InputError(f"{where}: {key!r} {state}; {_EXPECTED}")
    return clean(value)


def _id(record: dict[str, Any], where: str) -> str:
    """Numbers are taken as ids too. An id stands in tables, so it is one line of printable characters."""
    value = record.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{where}: 'id' is {value!r:.60}; expected text that is not empty, on one line")
    return value


def read_rows(path: Path, progress: Progress) -> Iterator[dict[str, str]]:
    """The rows of a comma-separated file, by column name. A row with a wrong number of values is left out."""
    size = path.stat().st_size
    with path.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        for number, values in enumerate(reader):
            if number % _PROGRESS_EVERY == 0:
                progress(min(raw.tell(), size), size, f"reading {path.name}")
            if len(values) == len(header):
                yield dict(zip(header, values, strict=True))
    progress(size, size, f"reading {path.name}")
