"""What is each document about, and what is a profile in the same space? Sparse tf-idf vectors, saved as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from shoal.corpus.keyed_hash import HashKey
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.searches import Search
from shoal.corpus.tokens import STOP_WORDS
from shoal.search.analysis import Analysis
from shoal.search.lexicon import Lexicon

_ARRAYS = ("data", "indices", "indptr")


@dataclass(frozen=True, eq=False)
class DocumentVectors:
    """Documents x word forms, float32, each row of length 1 (or empty).

    `vocabulary` gives the column of every word the corpus holds, whether it is spelled as the form or not.
    """

    matrix: sp.csr_matrix
    vocabulary: dict[str, int]
    terms: list[str]  # the form of each column

    def __len__(self) -> int:
        return self.matrix.shape[0]

    def search(self, query: str, documents: np.ndarray) -> Search:
        """A search that found these documents, as a method sees it."""
        return Search(query, documents, self.matrix, self.terms, self.vocabulary)


def make_vectors(analysis: Analysis) -> sp.csr_matrix:
    """Term frequency times inverse document frequency, stop words left out, rows scaled to length 1."""
    # Imported here because it takes most of a second, and who only searches needs none of it.
    from sklearn.feature_extraction.text import TfidfTransformer

    combined, lexicon = analysis.combined(), analysis.lexicon
    stopped = np.array([form in STOP_WORDS for form in lexicon.forms], dtype=bool)
    keep = ~stopped[combined.ids]
    rows, columns = combined.documents()[keep], combined.ids[keep]
    ones = np.ones(len(rows), dtype=np.float32)
    counts = sp.csr_matrix((ones, (rows, columns)), shape=(len(analysis), len(lexicon.forms)))
    counts.sum_duplicates()
    if not counts.nnz:
        return counts
    return TfidfTransformer().fit_transform(counts).astype(np.float32)


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
    vectors: DocumentVectors,
    knowledge: Knowledge,
    key: HashKey | None = None,
) -> sp.csr_matrix:
    """The matrix labels x word forms that puts profiles into the space of the documents: `profiles @ it`.

    A term counts for its form; with a key, where labels are hashed, the documents' words are hashed as well. A
    generalized label's weight is shared equally among its leaves that the corpus holds.
    """
    column = vectors.vocabulary
    if key is not None:
        column = {key.hashed(word): place for word, place in column.items()}
    columns, counts = [], np.zeros(len(labels), dtype=np.int64)
    for i, (label, is_general) in enumerate(zip(labels, generalized, strict=True)):
        leaves = knowledge.stands_for(label) if is_general else [label]
        found = [column[leaf] for leaf in leaves if leaf in column]
        columns.append(np.array(found, dtype=np.int32))
        counts[i] = len(found)
    shares = np.repeat(1.0 / np.maximum(counts, 1), counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.concatenate([*columns, np.zeros(0, dtype=np.int32)])
    space = sp.csr_matrix((shares, indices, indptr), shape=(len(labels), vectors.matrix.shape[1]))
    space.sum_duplicates()
    return space


def own_profiles(profiles: Profiles, vectors: DocumentVectors) -> sp.csr_array:
    """The original profiles of users, in the space of the documents."""
    space = profile_space(profiles.terms, [False] * len(profiles.terms), vectors, Knowledge())
    return sp.csr_array(profiles.counts @ space)
