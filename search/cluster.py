"""What of an index lies in a cluster? Documents, vectors and words, read as they are asked for; the last ones are kept.

Nothing here grows with the corpus: what is kept is bounded, and everything else is asked for again.
"""

import base64
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from shoal.corpus.documents import Document
from shoal.corpus.tokens import STOP_WORDS
from shoal.search.analysis import LONGEST_WORD
from shoal.search.document_store import Store
from shoal.search.lexicon import WordForms
from shoal.search.spelling import FAR_COMMONER, LONGEST, SHORTEST, Spelling, can_be_corrected, reach_of
from shoal.search.vectors import Vectors

KEPT_CHARACTERS = 32_000_000  # of documents
KEPT_WEIGHTS = 4_000_000  # of vectors
KEPT_WORDS = 50_000
AT_ONCE = 1_000  # things asked for in one request
_WEIGHT = np.dtype([("column", "<i4"), ("value", "<f4")])

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Lookup(Protocol):
    """The two questions that a cluster answers of an index."""

    def get(self, index: str, ids: Sequence[str], fields: Sequence[str]) -> list[dict[str, Any] | None]:
        """These fields of the records with these ids; None where there is no such record."""

    def pages(
        self, index: str, query: dict[str, Any], order: list[Any], fields: Sequence[str], size: int
    ) -> Iterator[list[dict[str, Any]]]:
        """The hits of a query in this order, which leaves no ties, so many at a time."""


class Recent(Generic[Key, Value]):
    """What was looked up last, up to a bound on the sum of what each weighs. Threads may share it."""

    def __init__(self, most: int, weigh: Callable[[Value], int] = lambda value: 1) -> None:
        self._most, self._weigh = most, weigh
        self._held: OrderedDict[Key, Value] = OrderedDict()
        self._weight, self._lock = 0, Lock()

    def add(self, found: Mapping[Key, Value]) -> None:
        with self._lock:
            for key, value in found.items():
                if key not in self._held:
                    self._held[key] = value
                    self._weight += self._weigh(value)
            while self._weight > self._most and len(self._held) > 1:
                self._weight -= self._weigh(self._held.popitem(last=False)[1])

    def get(self, keys: Iterable[Key], look_up: Callable[[list[Key]], Mapping[Key, Value]]) -> dict[Key, Value]:
        """What is kept, and the rest by as few questions as fit; a key that is nowhere is left out."""
        wanted, found = list(dict.fromkeys(keys)), {}
        with self._lock:
            for key in wanted:
                if key in self._held:
                    self._held.move_to_end(key)
                    found[key] = self._held[key]
        missing = [key for key in wanted if key not in found]
        for begin in range(0, len(missing), AT_ONCE):
            more = look_up(missing[begin : begin + AT_ONCE])
            self.add(more)
            found.update(more)
        return found


def pack(columns: np.ndarray, values: np.ndarray) -> str:
    """A vector as text, for a field that nothing looks into."""
    pairs = np.empty(len(columns), dtype=_WEIGHT)
    pairs["column"], pairs["value"] = columns, values
    return base64.b64encode(pairs.tobytes()).decode()


def unpack(packed: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed), dtype=_WEIGHT)


class ClusterDocuments(Store):
    """Documents by position, which is their id in the cluster."""

    def __init__(self, lookup: Lookup, index: str, documents: int) -> None:
        self._lookup, self._index, self._documents = lookup, index, documents
        self._recent: Recent[int, Document] = Recent(KEPT_CHARACTERS, lambda d: 500 + len(d.title) + len(d.text))

    def __len__(self) -> int:
        return self._documents

    def __getitem__(self, i: int) -> Document:
        if not 0 <= i < self._documents:
            raise IndexError(i)
        return self._recent.get([int(i)], self._look_up)[int(i)]

    def __iter__(self) -> Iterator[Document]:
        fields = [f"kept.{name}" for name in ("id", "title", "text", "url", "date")]
        for page in self._lookup.pages(self._index, {"match_all": {}}, [{"position": "asc"}], fields, AT_ONCE):
            yield from (document_of(hit["_source"]["kept"]) for hit in page)

    def keep(self, found: Mapping[int, Document]) -> None:
        """Candidates bring their documents with them."""
        self._recent.add(found)

    def _look_up(self, positions: list[int]) -> dict[int, Document]:
        fields = [f"kept.{name}" for name in ("id", "title", "text", "url", "date")]
        records = self._lookup.get(self._index, [str(i) for i in positions], fields)
        return {i: document_of(_there(record)["kept"]) for i, record in zip(positions, records, strict=True)}


def document_of(kept: Mapping[str, str]) -> Document:
    return Document(kept["id"], kept["title"], kept["text"], kept["url"], kept["date"])


def _there(record: dict[str, Any] | None) -> dict[str, Any]:
    assert record is not None, "the position of every document is an id"
    return record


class ClusterWords(WordForms, Spelling):
    """The words of the corpus: a record for each, and one for the number of each form."""

    def __init__(self, lookup: Lookup, index: str, least: int) -> None:
        self._lookup, self._index, self._least = lookup, index, least
        self._words: Recent[str, dict[str, Any]] = Recent(KEPT_WORDS)
        self._numbers: Recent[int, dict[str, Any]] = Recent(KEPT_WORDS)

    def words(self, words: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What is known of each of these words or forms: `number` and `form`, `spellings` and `df`."""
        found = self._words.get((word for word in words if len(word) <= LONGEST_WORD), self._look_up)
        return {word: record for word, record in found.items() if record}

    def _look_up(self, words: list[str]) -> dict[str, dict[str, Any]]:
        """A word that the corpus does not hold is kept too, as nothing."""
        records = self._lookup.get(self._index, words, ["kept", "df"])
        return {
            word: {**record["kept"], "df": record["df"]} if record else {}
            for word, record in zip(words, records, strict=True)
        }

    def forms(self, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """What is known of the form of each number: `form`, `spellings` and the documents `holding` it."""
        return self._numbers.get(numbers, self._look_up_forms)

    def _look_up_forms(self, numbers: list[int]) -> dict[int, dict[str, Any]]:
        records = self._lookup.get(self._index, [form_id(number) for number in numbers], ["kept"])
        return {number: _there(record)["kept"] for number, record in zip(numbers, records, strict=True)}

    def held(self, nouns: bool) -> Iterator[tuple[str, int]]:
        query = {"bool": {"filter": [{"exists": {"field": "word"}}, *([{"term": {"noun": True}}] if nouns else [])]}}
        for page in self._lookup.pages(self._index, query, [{"word": "asc"}], ["word", "kept.number"], 10 * AT_ONCE):
            yield from ((hit["_source"]["word"], hit["_source"]["kept"]["number"]) for hit in page)

    def known(self, words: Iterable[str]) -> dict[str, str]:
        return {word: record["form"] for word, record in self.words(words).items()}

    def spellings(self, form: str) -> list[str]:
        return self.words([form])[form]["spellings"]

    def commonest(self, most: int) -> Iterator[str]:
        query, order = {"range": {"df": {"gt": 0, "lte": most}}}, [{"df": "desc"}, {"word": "asc"}]
        for page in self._lookup.pages(self._index, query, order, ["word"], AT_ONCE):
            yield from (hit["_source"]["word"] for hit in page)

    def nearest(self, word: str) -> str | None:
        if not can_be_corrected(word):
            return None
        record = self.words([word]).get(word)
        known = record["df"] if record else 0
        for distance in range(1, reach_of(word, known) + 1):
            if (near := self._near(word, distance, max(self._least, FAR_COMMONER * known + 1))) is not None:
                return near
        return None

    def _near(self, word: str, distance: int, least: int) -> str | None:
        """The commonest word within a distance, of those that so many documents hold."""
        # The rewrite looks at every near word; the others stop at some tens, which are not the commonest.
        near = {"fuzzy": {"word": {"value": word, "fuzziness": distance, "rewrite": "constant_score"}}}
        held = {"range": {"df": {"gte": least}}}
        fits = {"range": {"letters": {"gte": SHORTEST, "lte": LONGEST}}}
        query, order = {"bool": {"filter": [near, held, fits]}}, [{"df": "desc"}, {"word": "asc"}]
        page = next(self._lookup.pages(self._index, query, order, ["word"], 1), [])
        return page[0]["_source"]["word"] if page else None


def form_id(number: int) -> str:
    """The id of a form's record; no word begins so."""
    return f"#{number}"


class ClusterVectors(Vectors):
    """Vectors that candidates bring with them, or that are asked for by position."""

    def __init__(self, lookup: Lookup, index: str, documents: int, words: ClusterWords, width: int) -> None:
        self._lookup, self._index, self._documents, self._words, self._width = lookup, index, documents, words, width
        self._recent: Recent[int, np.ndarray] = Recent(KEPT_WEIGHTS, len)

    def __len__(self) -> int:
        return self._documents

    @property
    def width(self) -> int:
        return self._width

    def keep(self, found: Mapping[int, np.ndarray]) -> None:
        self._recent.add(found)

    def rows(self, documents: np.ndarray) -> sp.csr_matrix:
        positions = [int(i) for i in documents]
        found = self._recent.get(positions, self._look_up)
        parts = [found[i] for i in positions]
        start = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
        pairs = np.concatenate(parts) if parts else np.empty(0, dtype=_WEIGHT)
        return sp.csr_matrix((pairs["value"], pairs["column"], start), shape=(len(parts), self._width))

    def _look_up(self, positions: list[int]) -> dict[int, np.ndarray]:
        records = self._lookup.get(self._index, [str(i) for i in positions], ["kept.vector"])
        return {i: unpack(_there(record)["kept"]["vector"]) for i, record in zip(positions, records, strict=True)}

    def columns(self, words: Iterable[str]) -> Mapping[str, int]:
        found = self._words.words(word for word in words if word not in STOP_WORDS)
        return {word: record["number"] for word, record in found.items()}

    def held(self, nouns: bool = False) -> Iterator[tuple[str, int]]:
        return ((word, column) for word, column in self._words.held(nouns) if word not in STOP_WORDS)

    def names(self, columns: Sequence[int] | np.ndarray) -> list[str]:
        numbers = [int(column) for column in columns]
        found = self._words.forms(numbers)
        return [found[number]["form"] for number in numbers]

    def spellings(self, columns: np.ndarray) -> Iterator[tuple[str, int]]:
        for number, record in self._words.forms(int(column) for column in columns).items():
            spelled = dict.fromkeys([*record["spellings"], record["form"]])
            yield from ((word, number) for word in spelled if word not in STOP_WORDS)

    def holding(self, columns: np.ndarray) -> np.ndarray:
        numbers = [int(column) for column in columns]
        found = self._words.forms(numbers)
        return np.array([found[number]["holding"] for number in numbers], dtype=np.int64)
