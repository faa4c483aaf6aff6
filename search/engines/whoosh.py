"""How does Whoosh find candidates? The default engine: pure Python, one folder, up to some 50,000 documents.

Whoosh 2.7.4 keeps the schema, the segment and the dictionary of terms. Its own posting lists are pickled tuples,
decoded and scored one posting at a time (hundreds of milliseconds for a common word), so they are written by a
codec of ours, as arrays that are mapped into memory and scored at once. A codec is Whoosh's own extension point.
"""

import io
import mmap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from shoal.corpus.progress import Progress, silent
from shoal.search.analysis import Analysis, Occurrences
from shoal.search.document_store import DocumentStore
from shoal.search.engines.base import K1, Candidates, Engine, first, norms
from shoal.search.lexicon import Lexicon
from shoal.search.query import ALL, FIELDS, TEXT, TITLE, Clause
from shoal.search.spelling import Speller

with warnings.catch_warnings():
    # Whoosh 2.7.4 is older than the warnings of newer Pythons about its source.
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    from whoosh.analysis import SpaceSeparatedTokenizer
    from whoosh.codec.whoosh3 import W3Codec, W3FieldWriter, W3TermInfo
    from whoosh.fields import TEXT as WHOOSH_TEXT
    from whoosh.fields import Schema
    from whoosh.filedb.filestore import FileStorage, RamStorage
    from whoosh.filedb.structfile import BufferFile
    from whoosh.index import TOC
    from whoosh.matching import ListMatcher
    from whoosh.query import Or, Term
    from whoosh.reading import IndexReader

INDEX_NAME = "SHOAL"
_INT = np.dtype("<i4")


@dataclass(frozen=True)
class Postings:
    """The documents that hold one form, how often, and where: ascending, positions document after document."""

    documents: np.ndarray
    frequencies: np.ndarray
    positions: np.ndarray


class PostingsMatcher(ListMatcher):
    """What Whoosh iterates over, with the arrays themselves for those who score all at once."""

    def __init__(self, postings: Postings, **kwargs: Any) -> None:
        super().__init__(postings.documents, weights=postings.frequencies, **kwargs)
        self.postings = postings


class ArrayFieldWriter(W3FieldWriter):
    """Writes a term's whole posting list as three arrays; the dictionary entry is Whoosh's."""

    def add_term(self, text: bytes, postings: Postings, statistics: Sequence[int]) -> None:
        occurrences, most, shortest, longest, first_document, last_document = statistics
        info = W3TermInfo(
            weight=occurrences,
            df=len(postings.documents),
            minlength=shortest,
            maxlength=longest,
            maxweight=most,
            minid=first_document,
            maxid=last_document,
        )
        offset = self._postfile.tell()
        for array in (postings.documents, postings.frequencies, postings.positions):
            self._postfile.write(array.tobytes())
        info.set_extent(offset, _INT.itemsize * (2 * len(postings.documents) + occurrences))
        self._tindex.add(self._fieldid.to_bytes(2, "big") + text, info.to_bytes())


class ArrayCodec(W3Codec):
    """Whoosh's third codec with posting lists as arrays."""

    def field_writer(self, storage: Any, segment: Any) -> ArrayFieldWriter:
        return ArrayFieldWriter(self, storage, segment)

    def postings_reader(
        self, dbfile: Any, terminfo: Any, format_: Any, term: Any = None, scorer: Any = None
    ) -> PostingsMatcher:
        offset, (length,) = terminfo.extent()
        numbers = np.frombuffer(dbfile.get(offset, length), dtype=_INT)
        found = terminfo.doc_frequency()
        postings = Postings(numbers[:found], numbers[found : 2 * found], numbers[2 * found :])
        return PostingsMatcher(postings, format=format_, scorer=scorer, term=term, terminfo=terminfo)


class _Mapped(io.RawIOBase):
    """A place in mapped memory that is read from as a file is."""

    def __init__(self, memory: memoryview) -> None:
        self._memory, self._at = memory, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._memory[self._at : self._at + len(buffer)]
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._memory)}[whence]
        self._at = max(start + offset, 0)
        return self._at


class MappedFile(BufferFile):
    """A file of Whoosh's over mapped memory. Whoosh's own copies the whole of it, once for each reader."""

    def __init__(self, memory: memoryview, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(b"", name, **kwargs)
        self._buf = memory
        self.file = io.BufferedReader(_Mapped(memory))

    def subset(self, position: int, length: int, name: str | None = None) -> "MappedFile":
        return MappedFile(self._buf[position : position + length], name or self._name)


class MappedStorage(RamStorage):
    """The files of an index, mapped when it is opened: a reader keeps them even when a new index replaces them."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.stat().st_size:
                with path.open("rb") as file:
                    self.files[path.name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def open_file(self, name: str, **kwargs: Any) -> MappedFile:
        if name not in self.files:
            raise NameError(name)  # what Whoosh expects
        return MappedFile(memoryview(self.files[name]), name, **kwargs)


def build(analysis: Analysis, folder: Path, progress: Progress = silent) -> None:
    """Write the index of all three fields into an empty folder."""
    schema = Schema(**{field: WHOOSH_TEXT(phrase=False, stored=False) for field in FIELDS})
    columns = {ALL: analysis.combined(), TITLE: analysis.title, TEXT: analysis.text}
    storage, codec = FileStorage(str(folder)), ArrayCodec()
    segment = codec.new_segment(storage, INDEX_NAME)
    segment.set_doc_count(len(analysis))
    _write_lengths(codec.per_document_writer(storage, segment), schema, columns, len(analysis))
    # Whoosh's writers leave their files open when they are dropped.
    with closing(codec.field_writer(storage, segment)) as writer:
        for i, field in enumerate(FIELDS):
            np.save(folder / f"{field}_lengths.npy", columns[field].lengths)
            writer.start_field(field, schema[field])
            for done, (form, postings, statistics) in enumerate(_inverted(columns[field])):
                if done % 1_000 == 0:
                    forms = len(analysis.lexicon.forms)
                    progress(i * forms + done, len(FIELDS) * forms, "indexing with whoosh")
                writer.add_term(analysis.lexicon.forms[form].encode(), postings, statistics)
            writer.finish_field()
    TOC(schema, [segment], 1).write(storage, INDEX_NAME)


def _write_lengths(writer: Any, schema: Any, columns: dict[str, Occurrences], documents: int) -> None:
    lengths = {field: columns[field].lengths.tolist() for field in FIELDS}
    for i in range(documents):
        writer.start_doc(i)
        for field in FIELDS:
            writer.add_field(field, schema[field], None, lengths[field][i])
        writer.finish_doc()
    writer.close()


def _inverted(column: Occurrences) -> Iterator[tuple[int, Postings, list[int]]]:
    """Each form that occurs, in order, with its postings and the statistics of its dictionary entry."""
    # Reading order is kept within a form, so documents and positions come out ascending.
    order = np.argsort(column.ids, kind="stable")
    forms, documents = column.ids[order], column.documents()[order]
    positions = column.positions[order].astype(_INT)
    changes = (np.diff(forms, prepend=-1) != 0) | (np.diff(documents, prepend=-1) != 0)
    pair = np.flatnonzero(changes)  # where a form's occurrences in another document begin
    held, frequencies = documents[pair].astype(_INT), np.diff(pair, append=len(forms)).astype(_INT)
    term = np.flatnonzero(np.diff(forms[pair], prepend=-1))  # where the pairs of another form begin
    bounds = [*term.tolist(), len(pair)]
    where = np.append(pair, len(forms))[bounds].tolist()
    statistics = _statistics(held, frequencies, column.lengths[held], term)
    for i, form in enumerate(forms[pair][term].tolist()):
        pairs = slice(bounds[i], bounds[i + 1])
        yield form, Postings(held[pairs], frequencies[pairs], positions[where[i] : where[i + 1]]), statistics[i]


def _statistics(held: np.ndarray, frequencies: np.ndarray, lengths: np.ndarray, term: np.ndarray) -> list[list[int]]:
    """Per form: occurrences, most in one document, shortest and longest document, first and last document."""
    if not len(term):
        return []
    columns = (
        np.add.reduceat(frequencies, term, dtype=np.int64),
        np.maximum.reduceat(frequencies, term),
        np.minimum.reduceat(lengths, term),
        np.maximum.reduceat(lengths, term),
        held[term],
        held[np.append(term[1:], len(held)) - 1],
    )
    return np.stack(columns, axis=1).tolist()


class WhooshEngine(Engine):
    """BM25 over Whoosh's dictionary. Whoosh's readers cannot be shared: each is lent to one thread at a time."""

    def __init__(self, folder: Path, lexicon: Lexicon, store: DocumentStore) -> None:
        super().__init__(lexicon, store, Speller(lexicon))
        storage = MappedStorage(folder)
        self._index = storage.open_index(indexname=INDEX_NAME)
        self._idle: SimpleQueue[IndexReader] = SimpleQueue()
        lengths = {field: np.load(folder / f"{field}_lengths.npy") for field in FIELDS}
        self._norms = {field: norms(held, held.mean()) for field, held in lengths.items()}

    @contextmanager
    def _reader(self) -> Iterator[IndexReader]:
        """An opened reader, for the time of one look-up; there are never more than threads that asked at once."""
        try:
            reader = self._idle.get_nowait()
        except Empty:
            reader = self._index.reader()
        yield reader
        self._idle.put(reader)

    def _postings(self, field: str, form: str) -> Postings | None:
        with self._reader() as reader:
            if (field, form) not in reader:
                return None
            return reader.postings(field, form).postings

    def _best(self, wanted: tuple[Clause, ...], excluded: tuple[Clause, ...], limit: int) -> Candidates:
        total = np.zeros(len(self.store))
        for clause in wanted:
            documents, scores = self._score(clause)
            total[documents] += scores
        for clause in excluded:
            total[self._score(clause)[0]] = 0
        found = np.flatnonzero(total)
        return first(found, total[found], limit)

    def _part(self, clause: Clause, document: int) -> float:
        documents, scores = self._score(clause)
        at = int(np.searchsorted(documents, document))
        return float(scores[at]) if at < len(documents) and documents[at] == document else 0.0

    def _score(self, clause: Clause) -> tuple[np.ndarray, np.ndarray]:
        """The documents that hold a clause, ascending, and the BM25 of its words in each."""
        lists = {form: self._postings(clause.field, form) for form in clause.words}
        postings = {form: found for form, found in lists.items() if found is not None}
        if len(postings) < len(lists):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        documents = _phrase([postings[form] for form in clause.words])
        return documents, sum(
            (self._bm25(clause.field, found, documents) for found in postings.values()), np.zeros(len(documents))
        )

    def _bm25(self, field: str, postings: Postings, documents: np.ndarray) -> np.ndarray:
        at = np.searchsorted(postings.documents, documents)
        tf = postings.frequencies[at].astype(np.float64)
        n, held = len(self.store), len(postings.documents)
        idf = np.log(1 + (n - held + 0.5) / (held + 0.5))
        return idf * tf * (K1 + 1) / (tf + self._norms[field][documents])

    def close(self) -> None:
        """Nothing is held but mapped memory, which goes with the engine."""


def _phrase(lists: list[Postings]) -> np.ndarray:
    """The documents that hold the forms one after the other."""
    documents = lists[0].documents
    for postings in lists[1:]:
        documents = documents[np.isin(documents, postings.documents, assume_unique=True)]
    if len(lists) == 1 or not len(documents):
        return documents
    begins = _places(lists[0], documents, 0)
    for offset, postings in enumerate(lists[1:], start=1):
        begins = begins[np.isin(begins, _places(postings, documents, offset), assume_unique=True)]
    return np.unique(begins >> 32)


def _places(postings: Postings, documents: np.ndarray, offset: int) -> np.ndarray:
    """Where the phrase would begin, as one number per place (document, position - offset), ascending."""
    keep = np.isin(postings.documents, documents, assume_unique=True)
    frequencies = np.where(keep, postings.frequencies, 0)
    inside = np.repeat(keep, postings.frequencies)
    document = np.repeat(postings.documents.astype(np.int64), frequencies)
    position = postings.positions[inside].astype(np.int64) - offset
    return (document[position >= 0] << 32) | position[position >= 0]


def stock(texts: Iterable[str], folder: Path) -> Callable[[Sequence[str], int], list[int]]:
    """Whoosh as it comes, with its own codec and its own BM25F: what ours is held against (`shoal bench search`)."""
    words = WHOOSH_TEXT(analyzer=SpaceSeparatedTokenizer(), phrase=False)
    index = FileStorage(str(folder)).create_index(Schema(words=words), indexname="stock")
    writer = index.writer(limitmb=256)
    for text in texts:
        writer.add_document(words=text)
    writer.commit()
    searcher = index.searcher()

    def best(forms: Sequence[str], limit: int) -> list[int]:
        found = searcher.search(Or([Term("words", form) for form in forms]), limit=limit)
        return [hit.docnum for hit in found]

    return best
