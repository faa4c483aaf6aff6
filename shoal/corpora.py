"""How is a corpus searched in Python? open_corpus, and its answers: shown, as frames and as TREC runs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs.tables import as_frame
from shoal.corpus.progress import Progress, bar
from shoal.corpus.querylog import counted
from shoal.corpus.searches import Chooser
from shoal.corpus.store.folders import cache_folder
from shoal.notebook import Profile
from shoal.search.index import Index, index_for
from shoal.search.personal import CANDIDATES, PLAIN, Average, Found, Result, search
from shoal.search.query import MAX_CHARACTERS, parse_query
from shoal.search.trec import TrecRun, field, run_topics
from shoal.search.vectors import profile_space

_PERSONAL = "personal"  # the name of the ranking by the profile


@dataclass(frozen=True)
class Shown:
    """One result; `before` is its rank without a profile, from 1."""

    rank: int
    before: int
    id: str
    title: str
    snippet: str
    score: float
    engine: tuple[tuple[str, float], ...]
    profile: tuple[tuple[str, float], ...]
    everyone: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Answer:
    """The results of a query, whose profile ordered them, and what may have been meant."""

    query: str
    profile: str
    weight: float  # of it
    suggestion: str
    results: tuple[Shown, ...]

    def frame(self) -> pl.DataFrame:
        """A row per result."""
        names = ("rank", "before", "id", "title", "score", "snippet")
        return pl.DataFrame([{name: getattr(one, name) for name in names} for one in self.results])

    def _repr_html_(self) -> str:
        return self.frame()._repr_html_()

    def trec(self, topic: str = "1", run: str = "shoal") -> str:
        """The lines of a TREC run: topic, Q0, document, rank, score and the name of the run."""
        documents, scores = tuple(one.id for one in self.results), np.array([one.score for one in self.results])
        return "".join(TrecRun((topic,), (documents,), (scores,), run).lines())


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """An opened corpus: its documents can be searched, plain or ordered by a profile."""

    source: str
    index: Index

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each document stands, by its name in TREC runs."""
        return {field(document.id): place for place, document in enumerate(self.index.documents)}

    def __repr__(self) -> str:
        return f"Corpus({self.index.name}, {counted(len(self), 'document')}, {self.index.engine_name})"

    def search(
        self,
        query: str,
        profile: Profile | Mapping[str, float] | None = None,
        weight: float | None = None,
        limit: int = 10,
    ) -> Answer:
        """The best documents for a query; a profile, of a release or terms with weights, reorders the first 100.

        Its weight is what the release says or 0.85, unless it is given.

        >>> news.search("dinner", limit=1).results[0].rank
        1
        """
        check_search(query, weight, limit)
        row, average = self._ranker(profile) or (None, None)
        profiles = {} if row is None else {_PERSONAL: row}
        found = search(self.index, query, profiles, weight, {} if average is None else {_PERSONAL: average})
        name = next(reversed(found.rankings))
        shown = tuple(_shown(result, found, name) for result in found.results([name], slice(limit))[name])
        whose = getattr(profile, "name", "the given profile") if found.profiles[name].nnz else "no profile"
        suggestion = self.index.engine.suggest(found.query) or ""
        return Answer(found.query, whose, found.rankings[name].blend.profile, suggestion, shown)

    def run(
        self,
        topics: Mapping[str, str],
        profile_of: Callable[[str], Profile | Mapping[str, float] | None] = lambda topic: None,
        weight: float | None = None,
        limit: int = CANDIDATES,
        progress: Progress | None = None,
    ) -> TrecRun:
        """Every topic searched, as a TREC run; `profile_of` says whose profile reorders the results of a topic.

        >>> news.run({"1": "kitchen dinner", "2": "market"}, limit=5)
        TrecRun(shoal: 10 results of 2 topics)
        """
        _check_numbers(weight, limit)
        with bar(progress) as told:
            return run_topics(self.index, topics, lambda topic: self._ranker(profile_of(topic)), weight, limit, told)

    def _ranker(
        self, profile: Profile | Mapping[str, float] | None
    ) -> tuple[csr_array | Chooser, Average | None] | None:
        """A profile in the space of the documents, and what ranks beside it."""
        if profile is None:
            return None
        if isinstance(profile, Profile):
            return profile.in_space(self.index), profile.average(self.index)
        labels = list(profile)
        space = profile_space(labels, np.zeros(len(labels), dtype=bool), self.index.vectors, Knowledge())
        return csr_array(csr_array([[float(profile[label]) for label in labels]]) @ space), None

    def close(self) -> None:
        self.index.close()


def check_search(query: str, weight: float | None, limit: int) -> None:
    if not parse_query(query):
        raise InputError(
            f"nothing to search for in {query[:40]!r}: give at least one word of letters or digits "
            f"(the first {MAX_CHARACTERS:,} characters are read)"
        )
    _check_numbers(weight, limit)


def _check_numbers(weight: float | None, limit: int) -> None:
    if weight is not None and not 0 <= weight <= 1:
        raise InputError(f"--weight {weight}: expected a number from 0 (engine alone) to 1 (profile alone)")
    if not 1 <= limit <= CANDIDATES:
        raise InputError(f"--limit {limit}: expected a number of results from 1 to {CANDIDATES}")


def _shown(result: Result, found: Found, name: str) -> Shown:
    document, reason = found.index.documents[result.document], found.reason(name, result.document)
    assert reason is not None
    return Shown(
        result.rank,
        result.ranks[PLAIN],
        document.id,
        document.title,
        str(result.snippet),
        result.score,
        reason.engine,
        reason.profile,
        reason.everyone,
    )


def open_corpus(source: Any, *, engine: str = "auto", progress: Progress | None = None) -> Corpus:
    """The corpus of a data set's name, a JSON-lines file, or a frame with id, title and text; indexed once.

    >>> news = shoal.open_corpus(corpus_file)
    >>> len(news)
    280
    """
    path = source if isinstance(source, str | Path) else _written(as_frame(source))
    with bar(progress) as told:
        return Corpus(str(path), index_for(path, engine=engine, progress=told))


def _written(frame: pl.DataFrame) -> Path:
    """The documents of a frame as a file of the cache, named by their content."""
    if missing := [name for name in ("id", "title", "text") if name not in frame.columns]:
        raise InputError(f"the frame has no column {missing[0]}: documents have id, title and text (and url, date)")
    names = [name for name in ("id", "title", "text", "url", "date") if name in frame.columns]
    rows = frame.select(pl.col(names).cast(pl.String).fill_null("")).to_dicts()
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path = cache_folder() / "frames" / f"{pl.Series([text]).hash()[0]:016x}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path
