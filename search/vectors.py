"""What is each document about, and what is a profile in the same space? Sparse tf-idf vectors, saved as arrays."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.searches import Search
from shoal.corpus.tokens import STOP_WORDS, HashKey
from shoal.search.analysis import Analysis
from shoal.search.lexicon import Lexicon

_ARRAYS = ("data", "indices", "indptr")


class Vectors(ABC):
    """Documents x word forms, float32, each row of length 1 (or empty); read a part at a time, wherever they lie."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of word forms."""

    @abstractmethod
    def rows(self, documents: np.ndarray) -> sp.csr_matrix:
        """The vectors of some documents, by position."""

    @abstractmethod
    def columns(self, words: Iterable[str]) -> Mapping[str, int]:
        """The column of each of these words that the corpus holds, spelled as its form or not; maybe of others."""

    @abstractmethod
    def held(self, nouns: bool = False) -> Iterator[tuple[str, int]]:
        """Every word that the corpus holds, and its column; of WordNet's nouns all, where others are not needed."""

    @abstractmethod
    def names(self, columns: Sequence[int] | np.ndarray) -> list[str]:
        """The form of each column."""

    @abstractmethod
    def spellings(self, columns: np.ndarray) -> Iterator[tuple[str, int]]:
        """The words that the corpus holds of these forms, and the column of each."""

    @abstractmethod
    def holding(self, columns: np.ndarray) -> np.ndarray:
        """The number of documents that hold each form."""

    def search(self, query: str, documents: np.ndarray) -> Search:
        """A search that found these documents, as a method sees it."""
        return Search(query, documents, self)


@dataclass(frozen=True, eq=False)
class DocumentVectors(Vectors):
    """Vectors in mapped files.

    `vocabulary` gives the column of every word the corpus holds, whether it is spelled as the form or not.
    """

    matrix: sp.csr_matrix
    vocabulary: dict[str, int]
    terms: list[str]  # the form of each column

    def __len__(self) -> int:
        return self.matrix.shape[0]

    @property
    def width(self) -> int:
        return self.matrix.shape[1]

    def rows(self, documents: np.ndarray) -> sp.csr_matrix:
        return self.matrix[documents]

    def columns(self, words: Iterable[str]) -> Mapping[str, int]:
        return self.vocabulary  # it lies here: nothing is looked up ahead

    def held(self, nouns: bool = False) -> Iterator[tuple[str, int]]:
        return iter(self.vocabulary.items())

    def names(self, columns: Sequence[int] | np.ndarray) -> list[str]:
        return [self.terms[column] for column in columns]

    def spellings(self, columns: np.ndarray) -> Iterator[tuple[str, int]]:
        wanted = np.zeros(self.width, dtype=bool)
        wanted[columns] = True
        return ((word, column) for word, column in self.vocabulary.items() if wanted[column])

    def holding(self, columns: np.ndarray) -> np.ndarray:
        return np.bincount(self.matrix.indices, minlength=self.width)[columns]


def make_vectors(analysis: Analysis) -> sp.csr_matrix:
    """Term frequency times inverse document frequency, stop words left out, rows scaled to length 1."""
    counts = count_forms(analysis)
    return weigh(counts, np.bincount(counts.indices, minlength=counts.shape[1]), len(analysis))


def count_forms(analysis: Analysis) -> sp.csr_matrix:
    """How often each document holds each form, stop words left out."""
    combined, lexicon = analysis.combined(), analysis.lexicon
    stopped = np.array([form in STOP_WORDS for form in lexicon.forms], dtype=bool)
    keep = ~stopped[combined.ids]
    rows, columns = combined.documents()[keep], combined.ids[keep]
    ones = np.ones(len(rows), dtype=np.float32)
    counts = sp.csr_matrix((ones, (rows, columns)), shape=(len(analysis), len(lexicon.forms)))
    counts.sum_duplicates()
    return counts


def weigh(counts: sp.csr_matrix, holding: np.ndarray, documents: int) -> sp.csr_matrix:
    """The vectors of some documents, by how many of all documents hold each form."""
    # Imported here because it takes most of a second, and who only searches needs none of it.
    from sklearn.feature_extraction.text import TfidfTransformer

    if not counts.nnz:
        return counts
    transformer = TfidfTransformer()
    # What it learns from all documents at once; in 32 bits, as it learns it.
    transformer.idf_ = np.log(np.float32(documents + 1) / (holding + 1).astype(np.float32)) + np.float32(1)
    return transformer.transform(counts).astype(np.float32)


def save_vectors(matrix: sp.csr_matrix, folder: Path) -> None:
    folder.mkdir()
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(matrix, name))
    np.save(folder / "shape.npy", matrix.shape)


def load_vectors(folder: Path, lexicon: Lexicon) -> DocumentVectors:
    """The saved vectors, mapped: only the rows that are asked for are read."""
    arrays = tuple(np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS)
    shape = tuple(int(n) for n in np.load(folder / "shape.npy"))
    matrix = sp.csr_matrix(arrays, shape=shape, copy=False)
    vocabulary = {word: column for word, column in lexicon.ids.items() if word not in STOP_WORDS}
    return DocumentVectors(matrix, vocabulary, lexicon.forms)


def profile_space(
    labels: Sequence[str],
    generalized: Sequence[bool] | np.ndarray,
    vectors: Vectors,
    knowledge: Knowledge,
    key: HashKey | None = None,
) -> sp.csr_matrix:
    """The matrix labels x word forms that puts profiles into the space of the documents: `profiles @ it`.

    A term counts for its form; with a key, where labels are hashed, the documents' words are hashed as well. A
    generalized label's weight is shared equally among its leaves that the corpus holds.
    """
    pairs = zip(labels, generalized, strict=True)
    leaves = [knowledge.stands_for(label) if is_general else [label] for label, is_general in pairs]
    column = _columns(chain.from_iterable(leaves), vectors, key)
    columns: list[int] = []
    indptr = [0]
    for below in leaves:
        columns += [at for leaf in below if (at := column.get(leaf)) is not None]
        indptr.append(len(columns))
    counts = np.diff(indptr)
    shares = np.repeat(1.0 / np.maximum(counts, 1), counts)
    indices = np.array(columns, dtype=np.int32)
    space = sp.csr_matrix((shares, indices, indptr), shape=(len(labels), vectors.width))
    space.sum_duplicates()
    return space


def _columns(leaves: Iterable[str], vectors: Vectors, key: HashKey | None) -> Mapping[str, int]:
    """The columns of the leaves; of hashed ones, by hashing every word of the corpus."""
    if key is None:
        return vectors.columns(leaves)
    wanted = set(leaves)
    return {name: column for word, column in vectors.held() if (name := key.hashed(word)) in wanted}


def own_profiles(profiles: Profiles, vectors: Vectors) -> sp.csr_array:
    """The original profiles of users, in the space of the documents."""
    space = profile_space(profiles.terms, [False] * len(profiles.terms), vectors, Knowledge())
    return sp.csr_array(profiles.counts @ space)
