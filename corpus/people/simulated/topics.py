"""What can a person be interested in? The content words of the documents, and topics: clusters by spherical k-means."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import sparse

from shoal.corpus.columns import distinct
from shoal.corpus.documents import Documents
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.corpus.tokens import STOP_WORDS, tokenize_column

# A word in more than a fifth of the documents tells no interest; one in a single document no other user shares.
_COMMON = 0.2
_RARE = 2
# Users of a larger corpus read an even sample of it: that bounds the memory, and nobody reads more.
_READ = 50_000
_FEW = 20
_MOST_TOPICS = 64
_DOCUMENTS_PER_TOPIC = 40
_ROUNDS = 12


@dataclass(frozen=True)
class Text:
    """The content words of the documents: document i holds word[start[i]:start[i + 1]] of the vocabulary."""

    vocabulary: pl.Series
    documents: np.ndarray  # int64: which document of the corpus each one is
    start: np.ndarray  # int64
    word: np.ndarray  # int32


def content_words(documents: Documents) -> Text:
    """The text without stop words, numbers, very short, very common and singular words."""
    chosen = np.unique(np.linspace(0, len(documents) - 1, min(len(documents), _READ)).astype(np.int64))
    title, text = (pl.Series(column).fill_null("").gather(chosen) for column in (documents.titles, documents.texts))
    tokens = tokenize_column(title + " " + text)
    owner = np.repeat(np.arange(len(chosen), dtype=np.int64), np.diff(tokens.start))
    vocabulary = pl.Series("word", tokens.vocabulary, dtype=pl.String)
    typed = _typed(vocabulary) & _telling(owner, tokens.ids, len(vocabulary), len(chosen))
    kept = typed[tokens.ids]
    if not kept.any():
        raise InputError("no content words in the documents; expected running text; give a larger corpus")
    number = np.cumsum(typed) - 1
    start = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=len(chosen)))]).astype(np.int64)
    return Text(vocabulary.filter(pl.Series(typed)), chosen, start, number[tokens.ids[kept]].astype(np.int32))


def _typed(vocabulary: pl.Series) -> np.ndarray:
    """Words of letters only, three at least, that are no stop words."""
    letters = vocabulary.str.contains(r"^\p{L}{3,24}$")
    return (letters & ~vocabulary.is_in(sorted(STOP_WORDS))).to_numpy()


def _telling(owner: np.ndarray, word: np.ndarray, words: int, documents: int) -> np.ndarray:
    """Words in neither too few nor too many documents; in a corpus of a few documents every word counts."""
    pairs = distinct(owner * words + word)
    frequency = np.bincount(pairs % words, minlength=words)
    if documents < _FEW:
        return frequency > 0
    return (frequency >= _RARE) & (frequency <= max(_RARE, _COMMON * documents))


def topic_of_documents(text: Text, progress: Progress) -> np.ndarray:
    """The topic of each document, numbered from the largest topic down. The same corpus gives the same topics."""
    vectors = _tf_idf(text)
    topics = int(np.clip(vectors.shape[0] // _DOCUMENTS_PER_TOPIC, 1, _MOST_TOPICS))
    centres = _spread_out(vectors, topics, np.random.default_rng(0))
    for round_number in range(_ROUNDS):
        progress(round_number, _ROUNDS, "topics")
        nearest = np.argmax(vectors @ centres.T, axis=1)
        centres = _centres(vectors, nearest, centres)
    progress(_ROUNDS, _ROUNDS, "topics")
    return _from_large_to_small(np.argmax(vectors @ centres.T, axis=1))


def counts(text: Text) -> sparse.csr_matrix:
    """How often each word occurs in each document."""
    shape = (len(text.start) - 1, len(text.vocabulary))
    # A copy: adding up repetitions sorts the words of each document in place.
    matrix = sparse.csr_matrix((np.ones(len(text.word), np.float32), text.word.copy(), text.start), shape=shape)
    matrix.sum_duplicates()
    return matrix


def members(group: np.ndarray, groups: int) -> sparse.csr_matrix:
    """The matrix that sums the rows of each group."""
    columns = np.arange(len(group))
    return sparse.csr_matrix((np.ones(len(group), np.float32), (group, columns)), shape=(groups, len(group)))


def _tf_idf(text: Text) -> sparse.csr_matrix:
    matrix = counts(text)
    frequency = np.bincount(matrix.indices, minlength=matrix.shape[1])
    idf = np.log(matrix.shape[0] / np.maximum(frequency, 1)) + 1e-3
    matrix.data = (np.log1p(matrix.data) * idf[matrix.indices]).astype(np.float32)
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return sparse.csr_matrix(sparse.diags(scale) @ matrix, dtype=np.float32)


def _spread_out(vectors: sparse.csr_matrix, topics: int, rng: np.random.Generator) -> np.ndarray:
    """First centres far from one another: each drawn by its squared distance from those before (k-means++)."""
    chosen = [int(np.argmax(np.diff(vectors.indptr)))]
    distance = np.full(vectors.shape[0], np.inf)
    while len(chosen) < topics:
        similarity = (vectors @ vectors[chosen[-1]].T).toarray().ravel()
        distance = np.minimum(distance, np.maximum(0, 2 - 2 * similarity))
        distance[chosen[-1]] = 0
        total = distance.sum()
        if total <= 0:
            break
        chosen.append(int(np.searchsorted(np.cumsum(distance), rng.random() * total)))
    return vectors[chosen].toarray()


def _centres(vectors: sparse.csr_matrix, nearest: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The normalized sum of each topic's documents; a topic that lost all of them keeps its centre."""
    total = (members(nearest, len(before)) @ vectors).toarray()
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0, total / np.maximum(length, 1e-12), before)


def _from_large_to_small(topic: np.ndarray) -> np.ndarray:
    sizes = np.bincount(topic)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[topic]
