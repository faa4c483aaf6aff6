"""How are the documents of a data set read? The news articles of early 2017, Reuters of 1987, and the films.

Documents in files: the JSON lines of a user (id, title, text, url, date), and the tables of data sets.
"""

import ast
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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
    record = _json_record(line, where)
    title, text = _text(record, "title", where), _text(record, "text", where)
    if not title and not text:
        raise InputError(f"{where}: title and text are both empty; {_EXPECTED}")
    return Document(_id(record, where), title, text, _text(record, "url", where, ""), _text(record, "date", where, ""))


def _json_record(line: bytes, where: str) -> dict[str, Any]:
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


_NEWS_DATE = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})")
_REUTERS_DATE = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4})")
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
_SIGN_OFF = re.compile(r"(?:\breuters?\W*)+$", re.IGNORECASE)  # ends nearly every Reuters story, seven of them twice
_PARAGRAPH = re.compile(r"\n\s{2,}")
_TITLE_WORDS = 12


def read_news(folder: Path, progress: Progress) -> Iterator[Document]:
    """Subtitle and text are one text. Sixty articles have no title and get their first words as one."""
    for row in read_rows(folder / "NewsArticles.csv", progress):
        text = "\n".join(filter(None, (clean(row["subtitle"]), clean(row["text"]))))
        url = clean(row["article_source_link"])
        title = clean(row["title"]) or _first_words(text) or _words_of_link(url)
        yield Document(row["article_id"], title, text, url, _news_date(row["publish_date"]))


def _first_words(text: str) -> str:
    words = text.split()
    return " ".join(words[:_TITLE_WORDS]) + (" ..." if len(words) > _TITLE_WORDS else "")


def _words_of_link(url: str) -> str:
    """`.../2017/02/some-words.html` is called `some words`."""
    last = urlsplit(url).path.rstrip("/").rsplit("/", 1)[-1]
    return " ".join(re.findall(r"[^\W\d_]+", last.rsplit(".", 1)[0])) or url


def _news_date(given: str) -> str:
    found = _NEWS_DATE.search(given)
    return "" if found is None else f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}"


def read_reuters(folder: Path, progress: Progress) -> Iterator[Document]:
    """The stories that have both a title and a body; the others are one-line flashes."""
    paths = sorted(folder.glob("reuters-*.json"))
    for number, path in enumerate(paths):
        progress(number, len(paths), "reading reuters")
        for story in json.loads(path.read_text(encoding="utf-8")):
            if story.get("title") and story.get("body"):
                title = " ".join(clean(story["title"]).split())
                yield Document(story["id"], title, _body(story["body"]), "", _reuters_date(story["date"]))
    progress(len(paths), len(paths), "reading reuters")


def _body(given: str) -> str:
    """One line per paragraph: the wire's line ends fall in the middle of sentences."""
    text = clean(given)
    text = text[:-20] + _SIGN_OFF.sub("", text[-20:])
    return "\n".join(" ".join(paragraph.split()) for paragraph in _PARAGRAPH.split(text.rstrip()))


def _reuters_date(given: str) -> str:
    found = _REUTERS_DATE.search(given)
    if found is None or found[2] not in _MONTHS:
        return ""
    return f"{found[3]}-{_MONTHS.index(found[2]) + 1:02}-{int(found[1]):02}"


_PLACEHOLDER = re.compile(r"no (movie )?overview\b.{0,20}", re.IGNORECASE)  # stands where nobody wrote an overview
_NAME = re.compile(r"""'name': ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


@dataclass(frozen=True)
class FilmRecord:
    document: Document
    original_title: str
    votes: int
    genres: tuple[str, ...]


def read_films(folder: Path, progress: Progress) -> Iterator[Document]:
    """The films as documents: the overview is the text."""
    return (record.document for record in read_film_records(folder, progress))


def read_film_records(folder: Path, progress: Progress) -> Iterator[FilmRecord]:
    """The films that have an overview, each id once. Three records of the file are broken in two and left out."""
    seen: set[str] = set()
    for row in read_rows(folder / "movies_metadata.csv", progress):
        overview = clean(unescape(row["overview"]))
        if overview and row["id"] not in seen and not _PLACEHOLDER.fullmatch(overview):
            seen.add(row["id"])
            yield _film(row, overview)


def read_keywords(folder: Path, progress: Progress) -> dict[str, tuple[str, ...]]:
    """Film id to the keywords that people gave it."""
    return {row["id"]: _names(row["keywords"]) for row in read_rows(folder / "keywords.csv", progress)}


def _film(row: dict[str, str], overview: str) -> FilmRecord:
    imdb = row["imdb_id"]
    url = f"https://www.imdb.com/title/{imdb}/" if imdb else ""
    document = Document(row["id"], clean(unescape(row["title"])), overview, url, row["release_date"])
    votes = int(row["vote_count"]) if row["vote_count"].isdigit() else 0
    return FilmRecord(document, clean(row["original_title"]), votes, _names(row["genres"]))


def _names(given: str) -> tuple[str, ...]:
    """The names in a list that is written as Python: `[{'id': 35, 'name': 'Comedy'}]`."""
    written = (str(ast.literal_eval(name)) if "\\" in name else name[1:-1] for name in _NAME.findall(given))
    return tuple(filter(None, map(clean, written)))
