"""110,000 real web queries, which have no users: read, and lent to simulated users who might have typed them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from shoal.corpus.documents.document import clean
from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.people.simulated.people import CLASSES
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.fetch import bring
from shoal.corpus.tokens import tokenize, tokenize_column

_SHARE = 0.3  # of the own queries of a topic and length, at most


@dataclass(frozen=True)
class Borrowed:
    """Web queries with a word of the corpus: what they are about, and that word."""

    text: pl.Series
    topic: np.ndarray
    length_class: np.ndarray
    word: np.ndarray


def load_web_queries(progress: Progress = silent) -> list[str]:
    """The queries in the order of their files, repetitions kept."""
    paths = sorted(bring("web-queries", progress).glob("topics.*.txt"))
    return [query for path in paths for query in _queries(path)]


def _queries(path: Path) -> list[str]:
    """A line is `number:query`, or `number:priority:query` in the file of 2009."""
    lines = _decoded(path.read_bytes()).splitlines()
    numbered = (line.split(":", 2 if "20001" in path.name else 1) for line in lines)
    return [" ".join(clean(parts[-1]).split()) for parts in numbered]


def _decoded(data: bytes) -> str:
    """A few lines are Latin-1 in files that are otherwise UTF-8."""
    lines = data.split(b"\n")
    return "\n".join(_decoded_line(line) for line in lines)


def _decoded_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def borrow(web_queries: list[str], passages: Passages) -> Borrowed:
    """The distinct web queries that fit a topic, by the summed salience of their words there."""
    texts = pl.Series("query", [" ".join(tokenize(query)) for query in web_queries], dtype=pl.String)
    texts = texts.unique(maintain_order=True)
    tokens = tokenize_column(texts)
    number = pl.DataFrame({"word": passages.words, "number": np.arange(len(passages.words))})
    known = pl.DataFrame({"word": tokens.vocabulary}, schema={"word": pl.String})
    codes = known.join(number, on="word", how="left", maintain_order="left")["number"].fill_null(-1).to_numpy()
    word = codes[tokens.ids] if len(tokens.ids) else np.empty(0, dtype=np.int64)
    row = np.repeat(np.arange(len(texts)), np.diff(tokens.start))[word >= 0]
    word = word[word >= 0]
    score = np.zeros((len(texts), passages.topics), dtype=np.float32)
    np.add.at(score, row, passages.salience.T[word].astype(np.float32))
    rows = np.unique(row)
    topic = score.argmax(axis=1)
    best = _most_telling(row, word, passages.salience[topic[row], word], len(texts))
    length_class = np.minimum(np.diff(tokens.start), CLASSES) - 1
    return Borrowed(texts.gather(rows), topic[rows], length_class[rows], best[rows])


def lend(borrowed: Borrowed, topic: np.ndarray, length_class: int) -> tuple[np.ndarray, np.ndarray]:
    """Which own queries of this length become which web queries: pairs of (row, web query) of one topic."""
    rows, queries = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for number in np.unique(topic):
        mine = np.flatnonzero(topic == number)
        theirs = np.flatnonzero((borrowed.topic == number) & (borrowed.length_class == length_class))
        many = min(int(_SHARE * len(mine)), len(theirs))
        if many:
            rows.append(mine[np.linspace(0, len(mine) - 1, many).astype(np.int64)])
            queries.append(theirs[:many])
    return np.concatenate(rows), np.concatenate(queries)


def _most_telling(row: np.ndarray, word: np.ndarray, salience: np.ndarray, queries: int) -> np.ndarray:
    """The word of each query with the largest salience."""
    best = np.zeros(queries, dtype=np.int64)
    order = np.argsort(salience, kind="stable")
    best[row[order]] = word[order]  # the largest comes last and stays
    return best
