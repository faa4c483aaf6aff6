"""Which topics do the documents have (spherical k-means), and which words in a row of them may a query be?"""

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


_SETTLED = 5.0  # documents of a topic that must hold a word before it counts half
_COMMONPLACE = 0.4  # log of the lift up to which a word tells nothing
_NEVER_ZERO = 0.01


@dataclass(frozen=True)
class Passages:
    """The content words of the corpus, one position each, the documents of a topic side by side.

    Topic number `topics` is the whole corpus: what everybody searches for.
    """

    words: pl.Series
    letters: np.ndarray  # length of each word
    word: np.ndarray  # int32 per position
    document: np.ndarray  # int32 per position, a row of the corpus
    low: np.ndarray  # per topic, the first position
    high: np.ndarray  # per topic, one past the last position
    weight: np.ndarray  # the sum of the weights before each position, and in total
    document_low: np.ndarray  # per document of the corpus; -1 where nobody reads it
    document_high: np.ndarray
    document_topic: np.ndarray
    salience: np.ndarray  # topics x words

    @property
    def topics(self) -> int:
        return len(self.low) - 1

    def draw(self, low: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A position between low and high for each row, by weight."""
        aim = self.weight[low] + rng.random(len(low)) * (self.weight[high] - self.weight[low])
        return np.clip(np.searchsorted(self.weight, aim, side="right") - 1, low, high - 1)


def read_passages(documents: Documents, progress: Progress) -> Passages:
    """The passages of a corpus; the same for every seed."""
    text = content_words(documents)
    topic = topic_of_documents(text, progress)
    held = np.diff(text.start)
    order = np.argsort(topic, kind="stable")
    position = _concatenated(text.start[order], held[order])
    word = text.word[position]
    by_topic = np.repeat(topic[order], held[order])
    low, high = _ranges(by_topic, int(topic.max()) + 1)
    salience = _salience(text, topic)
    return Passages(
        words=text.vocabulary,
        letters=text.vocabulary.str.len_chars().to_numpy(),
        word=word,
        document=np.repeat(text.documents[order], held[order]).astype(np.int32),
        low=low,
        high=high,
        weight=np.concatenate([[0.0], np.cumsum(salience[by_topic, word], dtype=np.float64)]),
        salience=salience,
        **_ranges_of_documents(len(documents), text, order, topic),
    )


def _ranges(by_topic: np.ndarray, topics: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last position of each topic that has any; then of the whole corpus."""
    edges = np.searchsorted(by_topic, np.arange(topics + 1))
    low, high = edges[:-1], edges[1:]
    return np.append(low, 0), np.append(high, len(by_topic))


def _ranges_of_documents(size: int, text: Text, order: np.ndarray, topic: np.ndarray) -> dict[str, np.ndarray]:
    edges = np.concatenate([[0], np.cumsum(np.diff(text.start)[order])])
    columns = {name: np.full(size, -1) for name in ("document_low", "document_high", "document_topic")}
    rows = text.documents[order]
    columns["document_low"][rows], columns["document_high"][rows] = edges[:-1], edges[1:]
    columns["document_topic"][rows] = topic[order]
    return columns


def _salience(text: Text, topic: np.ndarray) -> np.ndarray:
    """How telling each word is in each topic: the log of its lift, less for words in few documents of the topic."""
    matrix, sums = counts(text), members(topic, int(topic.max()) + 1)
    often = (sums @ matrix).toarray()
    holding = (sums @ matrix.sign()).toarray()
    share = often / np.maximum(often.sum(axis=1, keepdims=True), 1)
    lift = share / np.maximum(often.sum(axis=0) / often.sum(), 1e-12)
    telling = np.maximum(np.log(np.maximum(lift, 1e-12)) - _COMMONPLACE, _NEVER_ZERO)
    return telling * holding / (holding + _SETTLED)


def _concatenated(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The ranges start[i] to start[i] + length[i], one behind the other."""
    before = np.concatenate([[0], np.cumsum(length)[:-1]])
    return np.arange(length.sum()) + np.repeat(start - before, length)
