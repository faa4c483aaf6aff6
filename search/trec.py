"""How do searches meet TREC? Topics in (title topics, or topic and query by a tab), rankings out as the lines of a run.

Programs that score runs sort each topic by score again, some by scores of 32 bits, and break ties by the document's
name. So written scores fall from rank to rank by at least a millionth.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import counted
from shoal.corpus.searches import Chooser
from shoal.search.index import Index
from shoal.search.personal import CANDIDATES, Average, search

_TOP = re.compile(r"<top>(.*?)(?:</top>|(?=<top>)|\Z)", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(num|title)>\s*(?:number:|topic:)?\s*([^<]*)", re.IGNORECASE)
_STEP = 1e-6
_ASKED = "asked"  # the name of the ranking by the profile
Ranker = tuple[csr_array | Chooser, Average | None]  # a profile, and what ranks beside it


def field(name: str) -> str:
    """A name as one field of a line: blanks would end it. Clicks in logs spell documents the same way."""
    return "_".join(name.split()) or "_"


def falling(scores: np.ndarray) -> np.ndarray:
    """Scores, best first, lowered where a score is not below the one before."""
    steps = np.arange(len(scores)) * _STEP
    return np.minimum.accumulate(np.round(scores, 6) + steps) - steps


@dataclass(frozen=True, eq=False, repr=False)
class TrecRun:
    """The ranking of every topic, by document."""

    topics: tuple[str, ...]
    documents: tuple[tuple[str, ...], ...]  # of each topic, the best first
    scores: tuple[np.ndarray, ...]
    name: str = "shoal"

    def __len__(self) -> int:
        return sum(map(len, self.documents))

    def __repr__(self) -> str:
        return f"TrecRun({self.name}: {counted(len(self), 'result')} of {counted(len(self.topics), 'topic')})"

    def _repr_html_(self) -> str:
        return str(self.frame().head(10)._repr_html_())

    def frame(self) -> pl.DataFrame:
        """A row per result: qid, docno, rank (from 1) and score."""
        counts = [len(documents) for documents in self.documents]
        return pl.DataFrame(
            {
                "qid": np.repeat(np.array(self.topics, dtype=object), counts).tolist(),
                "docno": [document for documents in self.documents for document in documents],
                "rank": [rank for count in counts for rank in range(1, count + 1)],
                "score": np.concatenate([falling(scores) for scores in self.scores] or [np.empty(0)]),
            },
            schema={"qid": pl.String, "docno": pl.String, "rank": pl.Int64, "score": pl.Float64},
        )

    def lines(self) -> Iterator[str]:
        """topic, Q0, document, rank, score and the name of the run."""
        for topic, documents, scores in zip(self.topics, self.documents, self.scores, strict=True):
            written = falling(scores).tolist()
            for rank, (document, score) in enumerate(zip(documents, written, strict=True), start=1):
                yield f"{field(topic)} Q0 {field(document)} {rank} {score:.6f} {field(self.name)}\n"

    def save(self, path: str | Path) -> None:
        """Write the run, for ir_measures, trec_eval and others."""
        with Path(path).open("w", encoding="utf-8") as file:
            file.writelines(self.lines())


def read_topics(path: str | Path) -> dict[str, str]:
    """The query of each topic, from a file of TREC title topics or of topic<TAB>query lines."""
    text = _read(path)
    return _title_topics(text, path) if "<top>" in text.lower() else read_pairs(path, "topic<TAB>query", "query")


def _title_topics(text: str, path: str | Path) -> dict[str, str]:
    topics: dict[str, str] = {}
    for number, top in enumerate(_TOP.findall(text), start=1):
        fields = {name.lower(): " ".join(value.split()) for name, value in _FIELD.findall(top)}
        if not fields.get("num") or not fields.get("title"):
            raise InputError(
                f"{path}: topic {number} has no number or no title; expected <num> and <title> in each <top>"
            )
        _add(topics, fields["num"], fields["title"], path)
    return topics


def read_pairs(path: str | Path, expected: str, second: str) -> dict[str, str]:
    """The second value of each line by the first; a heading (topic, then `second`) is passed over."""
    pairs: dict[str, str] = {}
    for number, line in enumerate(_read(path).split("\n"), start=1):
        first, tab, value = line.partition("\t")
        if number == 1 and (first, value) == ("topic", second):
            continue
        if line.strip():
            if not tab or not first.strip() or not value.strip():
                raise InputError(f"{path}, line {number}: expected {expected}")
            _add(pairs, first.strip(), value.strip(), path)
    if not pairs:
        raise InputError(f"nothing in {path}: expected lines of {expected}")
    return pairs


def _add(table: dict[str, str], topic: str, value: str, path: str | Path) -> None:
    if topic in table:
        raise InputError(f"{path} holds topic {topic} twice: each topic stands there once")
    table[topic] = value


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: give a file of TREC topics or of topic<TAB>query lines") from error


def run_topics(
    index: Index,
    topics: Mapping[str, str],
    ranker: Callable[[str], Ranker | None] = lambda topic: None,
    weight: float | None = None,
    limit: int = CANDIDATES,
    progress: Progress = silent,
) -> TrecRun:
    """Search every topic, by the profile that `ranker` has for it. One that nothing can be found for has no lines."""
    documents: list[tuple[str, ...]] = []
    scores: list[np.ndarray] = []
    for done, (topic, query) in enumerate(topics.items(), start=1):
        profile, average = ranker(topic) or (None, None)
        profiles = {} if profile is None else {_ASKED: profile}
        found = search(index, query, profiles, weight, {} if average is None else {_ASKED: average})
        ranking = found.rankings[next(reversed(found.rankings))]
        documents.append(names_of(index, ranking.documents[:limit]))
        scores.append(ranking.scores[:limit])
        progress(done, len(topics), "searching topics")
    return TrecRun(tuple(topics), tuple(documents), tuple(scores))


def names_of(index: Index, documents: Sequence[int] | np.ndarray) -> tuple[str, ...]:
    return tuple(index.documents.id(int(document)) for document in documents)
