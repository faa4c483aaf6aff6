"""What must a search engine offer? The protocol: candidates, snippets, a spelling suggestion, an explanation."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.search.document_store import Store
from shoal.search.lexicon import WordForms
from shoal.search.query import Clause, parse_query
from shoal.search.snippets import Snippet, make_snippet, spelled_words
from shoal.search.spelling import Spelling

# Robertson's BM25 with Lucene's values and its idf, ln(1 + (N - n + 0.5) / (n + 0.5)), in every engine.
K1, B = 1.2, 0.75


@dataclass(frozen=True)
class Candidates:
    """Documents by position in the corpus, best first; equal scores in the order of the corpus."""

    documents: np.ndarray  # int64
    scores: np.ndarray  # float64

    def __len__(self) -> int:
        return len(self.documents)


def norms(lengths: np.ndarray, mean_length: float) -> np.ndarray:
    """The part of BM25's denominator that depends on the document: k1 (1 - b + b length / mean length)."""
    return K1 * (1 - B + B * lengths / max(mean_length, 1e-9))


class Engine(ABC):
    """An engine finds and scores clauses; what a query means and how it is shown is the same for all."""

    def __init__(self, lexicon: WordForms, store: Store, spelling: Spelling) -> None:
        self.lexicon = lexicon
        self.store = store
        self._spelling = spelling

    def candidates(self, query: str, limit: int = 100) -> Candidates:
        """The documents that hold any clause of the query and none that it excludes, by BM25, at most `limit`."""
        wanted, excluded = self._clauses(query)
        if not wanted or limit < 1:
            return Candidates(np.zeros(0, dtype=np.int64), np.zeros(0))
        return self._best(wanted, excluded, limit)

    def _clauses(self, query: str) -> tuple[tuple[Clause, ...], tuple[Clause, ...]]:
        """What a document is found by, and what it must not hold."""
        clauses = self.lexicon.resolve(parse_query(query))
        wanted, excluded = (tuple(c for c in clauses if c.excluded == without) for without in (False, True))
        return wanted, excluded

    def snippets(self, query: str, documents: Sequence[int]) -> list[Snippet]:
        """For each document, the passage that holds most of the query, its words marked."""
        wanted, _ = self._clauses(query)
        words = spelled_words(wanted, self.lexicon)
        return [make_snippet(self.store.text(int(i)), words) for i in documents]

    def suggest(self, query: str) -> str | None:
        """The query with the words that no document holds replaced by near ones; None if there is nothing."""
        return self._spelling.suggest(query)

    def parts(self, query: str, document: int) -> list[tuple[str, float]]:
        """What each clause of the query adds to the score of one document."""
        return [(str(clause), self._part(clause, document)) for clause in self._clauses(query)[0]]

    @abstractmethod
    def _best(self, wanted: tuple[Clause, ...], excluded: tuple[Clause, ...], limit: int) -> Candidates: ...

    @abstractmethod
    def _part(self, clause: Clause, document: int) -> float: ...

    @abstractmethod
    def close(self) -> None: ...


def first(documents: np.ndarray, scores: np.ndarray, limit: int) -> Candidates:
    """The best `limit` of the scored documents, ties in the order of the corpus."""
    if len(documents) > limit:
        # Keep all that tie with the last one that fits, so that the cut does not depend on the partition.
        keep = scores >= np.partition(scores, -limit)[-limit]
        documents, scores = documents[keep], scores[keep]
    order = np.lexsort((documents, -scores))[:limit]
    return Candidates(documents[order].astype(np.int64), scores[order].astype(np.float64))
