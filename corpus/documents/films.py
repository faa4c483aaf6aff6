"""What is known of each film? Its title, overview, year, genres and keywords, as the film data base has them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from shoal.corpus.documents.document import Document, clean
from shoal.corpus.documents.files import read_rows
from shoal.corpus.progress import Progress

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
            yield _record(row, overview)


def read_keywords(folder: Path, progress: Progress) -> dict[str, tuple[str, ...]]:
    """Film id to the keywords that people gave it."""
    return {row["id"]: _names(row["keywords"]) for row in read_rows(folder / "keywords.csv", progress)}


def _record(row: dict[str, str], overview: str) -> FilmRecord:
    imdb = row["imdb_id"]
    url = f"https://www.imdb.com/title/{imdb}/" if imdb else ""
    document = Document(row["id"], clean(unescape(row["title"])), overview, url, row["release_date"])
    votes = int(row["vote_count"]) if row["vote_count"].isdigit() else 0
    return FilmRecord(document, clean(row["original_title"]), votes, _names(row["genres"]))


def _names(given: str) -> tuple[str, ...]:
    """The names in a list that is written as Python: `[{'id': 35, 'name': 'Comedy'}]`."""
    written = (str(ast.literal_eval(name)) if "\\" in name else name[1:-1] for name in _NAME.findall(given))
    return tuple(filter(None, map(clean, written)))
