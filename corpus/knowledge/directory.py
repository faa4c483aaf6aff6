"""Which topics is a term about? Ranked category paths of terms, and users counted by category at each level.

How is a topic directory read (content.rdf, or path<TAB>title<TAB>description lines), and found in by BM25?
"""

import codecs
import gzip
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol
from xml.parsers import expat

import numpy as np
import polars as pl
from scipy.sparse import csc_array, csr_array

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Dictionary
from shoal.corpus.profiles import term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.tokens import tokenize_column

if TYPE_CHECKING:
    from shoal.corpus.profiles import Profiles

CategoryPath = tuple[str, ...]  # from the most general category down; the root that holds everything is no category


class TopicDirectory(Protocol):
    """What the Open Directory Project is to Erola et al. (2011), section 2.2: a term gives ranked categories."""

    def categories(self, term: str) -> list[CategoryPath]:
        """The categories of a term, the best first; none for a term that the directory does not know."""
        ...


@dataclass(frozen=True, eq=False)
class SenseDirectory:
    """WordNet (or a taxonomy file) as a directory: the ranked senses of a term, each with its path from the top."""

    senses: Callable[[str], np.ndarray]
    hypernym: np.ndarray  # the sense above each sense, -1 at the top
    names: Sequence[str]
    _paths: dict[int, CategoryPath] = field(default_factory=dict, repr=False)

    def categories(self, term: str) -> list[CategoryPath]:
        paths = (self._path(sense) for sense in self.senses(term).tolist())
        return [path for path in paths if path]

    def _path(self, sense: int) -> CategoryPath:
        """All below the root: like the ODP's Top, the root holds every term and so tells nobody apart."""
        if sense not in self._paths:
            upwards = []
            node = sense
            while self.hypernym[node] >= 0:
                upwards.append(self.names[node])
                node = int(self.hypernym[node])
            self._paths[sense] = tuple(reversed(upwards))
        return self._paths[sense]


@dataclass(frozen=True, eq=False)
class LevelCategories:
    """The categories that some terms have at one level: entry (t, c) is 1 where term t has category c."""

    names: list[CategoryPath]
    of_terms: csr_array  # terms x categories


def term_categories(
    terms: Sequence[str],
    directory: TopicDirectory,
    levels: int,
    categories: int,
    progress: Progress = silent,
) -> list[LevelCategories]:
    """For each level, the categories there of each term: those of its `categories` best paths, cut at the level.

    A path that ends above a level gives nothing there; two paths that are still one at a level count once.
    """
    number: list[dict[CategoryPath, int]] = [{} for _ in range(levels)]
    entries: list[tuple[list[int], list[int]]] = [([], []) for _ in range(levels)]
    for t, term in enumerate(terms):
        if t % 2000 == 0:
            progress(t, len(terms), "looking up topics")
        best = directory.categories(term)[:categories]
        for level, ((rows, columns), seen) in enumerate(zip(entries, number, strict=True), start=1):
            for category in dict.fromkeys(path[:level] for path in best if len(path) >= level):
                rows.append(t)
                columns.append(seen.setdefault(category, len(seen)))
    return [
        LevelCategories(list(seen), _ones(rows, columns, (len(terms), len(seen))))
        for (rows, columns), seen in zip(entries, number, strict=True)
    ]


def classification_matrices(
    profiles: "Profiles", directory: TopicDirectory, levels: int, categories: int, progress: Progress = silent
) -> list[csr_array]:
    """Algorithm 1 of Erola et al.: for each level l, how often each user's terms fall in each category, users x C_l."""
    found = term_categories(profiles.terms, directory, levels, categories, progress)
    return [csr_array(profiles.counts @ level.of_terms) for level in found]


def _ones(rows: list[int], columns: list[int], shape: tuple[int, int]) -> csr_array:
    return csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)


K1, B = 1.2, 0.75  # the usual constants of BM25


@dataclass(frozen=True, eq=False)
class SearchedDirectory:
    """Categories x terms: how well the entries of a category match a term, all its entries together.

    The ODP showed the categories with the most matching entries first; the sum of their scores does so too.
    """

    paths: list[CategoryPath]  # sorted
    terms: list[str]
    scores: csc_array

    @cached_property
    def _number(self) -> dict[str, int]:
        return {term: i for i, term in enumerate(self.terms)}

    def categories(self, term: str) -> list[CategoryPath]:
        """The categories with an entry that holds the term, the best first; equal ones in the order of their names."""
        column = self._number.get(term)
        if column is None:
            return []
        part = slice(self.scores.indptr[column], self.scores.indptr[column + 1])
        found, score = self.scores.indices[part], self.scores.data[part]
        return [self.paths[c] for c in found[np.lexsort((found, -score))]]


def search_in(entries: pl.DataFrame, words: Dictionary) -> SearchedDirectory:
    """A directory over entries (columns path, title, description); its texts are read as queries are."""
    terms, counts = term_counts(tokenize_column(entries["title"] + " " + entries["description"]), words)
    names = entries["path"].unique().sort()
    codes = entries["path"].replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
    scores = bm25(counts)
    holds = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(names), len(codes)))
    by_term = csc_array(holds @ scores)
    by_term.sort_indices()
    return SearchedDirectory([tuple(path.split("/")) for path in names.to_list()], terms, by_term)


def bm25(counts: csr_array) -> csr_array:
    """The score of every term in every text: idf * tf (K1 + 1) / (tf + K1 (1 - B + B length / mean length))."""
    texts = counts.shape[0]
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((texts - having + 0.5) / (having + 0.5))
    length = np.asarray(counts.sum(axis=1), dtype=float).ravel()
    fullness = K1 * (1 - B + B * length / max(length.mean(), 1e-12))
    tf = counts.data.astype(float)
    row = np.repeat(np.arange(texts), np.diff(counts.indptr))
    data = idf[counts.indices] * tf * (K1 + 1) / (tf + fullness[row])
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


COLUMNS = ("path", "title", "description")
EXPECTED = "a DMOZ content.rdf dump or a text file of path<TAB>title<TAB>description lines"
CHUNK = 1 << 20
LONGEST_LINE = 16 << 20
LONGEST_TEXT = 4000  # characters kept of one title, description or path: a hostile file must not fill the memory
_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32)])  # old dumps hold them, XML forbids them

Entry = tuple[str, str, str]


def read_directory(path: str | Path, words: Dictionary, progress: Progress = silent) -> SearchedDirectory:
    """The directory in a file, searched by BM25; a term is what the dictionary `words` says."""
    path = Path(path)
    with _opened(path) as (file, raw):
        table = _table(_entries(file, raw, path, progress))
    if not len(table):
        raise InputError(f"{path.name} holds no entry: expected {EXPECTED}")
    return search_in(table, words)


def directory_digest(path: str | Path) -> str:
    """A sha-256 of what the file holds, the same however it was packed."""
    sha = hashlib.sha256()
    with _opened(Path(path)) as (file, _):
        while chunk := file.read(CHUNK):
            sha.update(chunk)
    return sha.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes] | gzip.GzipFile, IO[bytes]]]:
    """The file to be read, unpacked, and the file as it lies there, to tell how far one is."""
    if not path.is_file():
        raise InputError(f"no topic directory at {path}: give {EXPECTED}")
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            yield gzip.GzipFile(fileobj=raw) if packed else raw, raw
    except (gzip.BadGzipFile, EOFError, OSError) as error:
        raise InputError(f"{path.name} cannot be read ({error}): is it whole?") from error


def _table(entries: Iterator[Entry]) -> pl.DataFrame:
    """The entries as columns, made block by block: all of DMOZ as Python strings would take ten times the memory."""
    schema = dict.fromkeys(COLUMNS, pl.String)
    blocks = [pl.DataFrame(schema=schema)]
    while block := list(islice(entries, 100_000)):
        blocks.append(pl.DataFrame(block, schema=schema, orient="row"))
    return pl.concat(blocks)


def _entries(file: IO[bytes] | gzip.GzipFile, raw: IO[bytes], path: Path, progress: Progress) -> Iterator[Entry]:
    size = path.stat().st_size
    chunks = iter(lambda: file.read(CHUNK), b"")
    first = next(chunks, b"")
    is_xml = first.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
    read = _rdf_entries if is_xml else _line_entries

    def counted() -> Iterator[bytes]:
        yield first
        for chunk in chunks:
            progress(raw.tell(), size, "reading the topic directory")
            yield chunk

    return read(counted(), path.name)


def _line_entries(chunks: Iterator[bytes], name: str) -> Iterator[Entry]:
    for number, line in enumerate(_lines(chunks, name), start=1):
        fields = [field.strip() for field in line.split("\t")]
        if not line.strip() or (number == 1 and tuple(fields) == COLUMNS):
            continue
        if len(fields) != 3 or not category_path(fields[0]):
            raise InputError(f"{name}, line {number}: expected path<TAB>title<TAB>description, got {line[:60]!r}")
        yield category_path(fields[0]), fields[1][:LONGEST_TEXT], fields[2][:LONGEST_TEXT]


def _lines(chunks: Iterator[bytes], name: str) -> Iterator[str]:
    rest = b""
    try:
        for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\n")
            if len(rest) > LONGEST_LINE:
                raise InputError(f"{name} holds a line of more than {LONGEST_LINE} bytes: expected {EXPECTED}")
            for line in whole:
                yield line.decode("utf-8-sig").rstrip("\r")
        if rest:
            yield rest.decode("utf-8-sig").rstrip("\r")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is no text in UTF-8: expected {EXPECTED}") from error


def category_path(text: str) -> str:
    """Top/Sports/Soccer as Sports/Soccer: the ODP's Top holds everything and is no category."""
    names = [name.strip() for name in text[:LONGEST_TEXT].split("/")]
    names = [name for name in names if name]
    return "/".join(names[1:] if names[:1] == ["Top"] else names)


class _Pages:
    """Collects the ExternalPage elements of a content.rdf dump while expat walks through it."""

    FIELDS = {"topic": 0, "d:Title": 1, "d:Description": 2}

    def __init__(self, name: str) -> None:
        self.name = name
        self.done: list[Entry] = []
        self._page: list[str] | None = None
        self._field = -1
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        # A dump declares no entities. One that does could make a few bytes into gigabytes, or read other files.
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *declaration: object) -> None:
        raise InputError(f"{self.name} holds a document type declaration, which no directory needs: remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "ExternalPage":
            self._page = ["", "", ""]
        self._field = self.FIELDS.get(tag, -1)

    def _text(self, text: str) -> None:
        if self._page is not None and self._field >= 0 and len(self._page[self._field]) < LONGEST_TEXT:
            self._page[self._field] += text[:LONGEST_TEXT]

    def _end(self, tag: str) -> None:
        self._field = -1
        if tag == "ExternalPage" and self._page is not None:
            topic, title, description = self._page
            if path := category_path(topic.strip()):
                self.done.append((path, title.strip(), description.strip()))
            self._page = None


def _rdf_entries(chunks: Iterator[bytes], name: str) -> Iterator[Entry]:
    pages = _Pages(name)
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")  # dumps are known to hold broken bytes
    try:
        for chunk in chunks:
            pages.parser.Parse(decoder.decode(chunk).translate(_CONTROLS).encode(), False)
            yield from pages.done
            pages.done.clear()
        pages.parser.Parse(decoder.decode(b"", True).encode(), True)
        yield from pages.done
    except expat.ExpatError as error:
        raise InputError(f"{name} is no whole content.rdf dump ({error}): expected {EXPECTED}") from error
