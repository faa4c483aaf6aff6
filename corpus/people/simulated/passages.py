"""Where in the documents of a topic does a person's query come from? Words in a row, the telling ones first."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.corpus.documents import Documents
from shoal.corpus.people.simulated.topics import Text, content_words, counts, members, topic_of_documents
from shoal.corpus.progress import Progress

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
