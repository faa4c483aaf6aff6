"""One search for one person: candidates, re-ranked by profiles, with reasons. Page, API and command line call it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.searches import Blend, Chooser, Search
from shoal.search.engines.base import Candidates
from shoal.search.explain import Explanation, explain
from shoal.search.index import Index
from shoal.search.rerank import Ranking, rerank
from shoal.search.snippets import Snippet

CANDIDATES = 100  # documents that the engine finds and a profile reorders
DEFAULT_WEIGHT = 0.85  # of a profile for which none was learned; the rest is the engine's
PLAIN = "plain"  # the name of the engine's own ranking


@dataclass(frozen=True)
class Result:
    """A document at its rank (1 is the best) in one ranking, and its rank in every ranking."""

    document: int
    rank: int
    ranks: dict[str, int]
    score: float
    snippet: Snippet


@dataclass(frozen=True, eq=False)
class Average:
    """What ranks beside the profiles of a release: everyone's average, and what each was found to weigh."""

    row: csr_array
    blend: Blend


@dataclass(frozen=True, eq=False)
class Found:
    """The candidates of a query under each profile by name, and under none as PLAIN."""

    query: str
    index: Index
    profiles: dict[str, csr_array]
    rankings: dict[str, Ranking]
    seconds: dict[str, float]  # what the engine and the re-ranking took
    vectors: csr_array  # of the candidates, in the engine's order
    averages: Mapping[str, Average] = field(default_factory=dict)  # beside which profiles ranked

    def __len__(self) -> int:
        return len(self.rankings[PLAIN])

    @cached_property
    def _ranks(self) -> dict[str, dict[int, int]]:
        """The rank of each document, by ranking."""
        return {
            name: {document: rank for rank, document in enumerate(ranking.documents.tolist(), start=1)}
            for name, ranking in self.rankings.items()
        }

    def results(self, names: Iterable[str], part: slice) -> dict[str, tuple[Result, ...]]:
        """That part of the rankings as it is shown. Only the documents shown are read, each once."""
        shown = {name: self.rankings[name].documents[part].tolist() for name in names}
        different = sorted({document for documents in shown.values() for document in documents})
        snippets = dict(zip(different, self.index.engine.snippets(self.query, different), strict=True))
        return {name: tuple(self._result(name, d, snippets[d]) for d in shown[name]) for name in shown}

    def _result(self, name: str, document: int, snippet: Snippet) -> Result:
        ranks = {other: ranks[document] for other, ranks in self._ranks.items()}
        return Result(document, ranks[name], ranks, float(self.rankings[name].scores[ranks[name] - 1]), snippet)

    def reason(self, name: str, document: int) -> Explanation | None:
        """The parts of a document's score in a ranking; None where the query does not find it there."""
        rank = self._ranks.get(name, {}).get(document)
        if rank is None:
            return None
        average = self.averages[name].row if name in self.averages else None
        return explain(
            self.rankings[name], rank, self.query, self.index.engine, self.profiles[name], self.index.vectors, average
        )


def search(
    index: Index,
    query: str,
    profiles: Mapping[str, csr_array | Chooser] | None = None,
    weight: float | None = None,
    averages: Mapping[str, Average] | None = None,
) -> Found:
    """Find once, and rank by each of the profiles, which are rows in the space of the documents.

    What depends on the search itself is chosen when the candidates are known.

    Each weighs what was found for it or, where a weight is given, that; the rest is of the average and the engine. An
    empty profile has no say, whatever the weight.
    """
    started = perf_counter()
    candidates = index.engine.candidates(query, CANDIDATES)
    found = rank(index, query, candidates, profiles, weight, averages)
    return replace(found, seconds={"engine": perf_counter() - started - found.seconds["rerank"], **found.seconds})


def rank(
    index: Index,
    query: str,
    candidates: Candidates,
    profiles: Mapping[str, csr_array | Chooser] | None = None,
    weight: float | None = None,
    averages: Mapping[str, Average] | None = None,
) -> Found:
    """The same of candidates that are there already."""
    started = perf_counter()
    here = index.vectors.search(query, candidates.documents)
    rows = {PLAIN: csr_array((1, index.vectors.width), dtype=np.float64)}
    rows |= {name: given(here) if callable(given) else given for name, given in (profiles or {}).items()}
    beside = dict(averages or {})
    nobody = Average(rows[PLAIN], Blend(DEFAULT_WEIGHT))
    rankings = {
        name: _ranked(candidates, row, here, index, weight, beside.get(name, nobody)) for name, row in rows.items()
    }
    return Found(query, index, rows, rankings, {"rerank": perf_counter() - started}, here.candidates, beside)


def _ranked(
    candidates: Candidates, profile: csr_array, here: Search, index: Index, weight: float | None, average: Average
) -> Ranking:
    blend = average.blend if weight is None else average.blend.with_profile(weight)
    blend = blend if profile.nnz else blend.without_profile()
    return rerank(candidates, profile, index.vectors, blend, average.row, here.candidates)
