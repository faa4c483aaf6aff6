"""How does Shoal take part in a PyTerrier experiment? Retriever and Reranker, transformers that need no Java.

>>> import pyterrier as pt
>>> found = Retriever(documents)
>>> topics = pt.new.queries(["kitchen dinner", "fish market"], qid=["1", "2"])
>>> pipelines = [found, found >> Reranker(made, "user-1", documents)]
>>> table = pt.Experiment(pipelines, topics, qrels, ["P_10", "ndcg_cut_10"], plan="tree", verbose=False)
>>> table.columns.to_list()
['name', 'P_10', 'ndcg_cut_10']
"""

from pathlib import Path
from typing import Any

import numpy as np

from shoal.corpora import Corpus, open_corpus
from shoal.corpus.errors import InputError
from shoal.notebook import Made, load
from shoal.search.engines.base import Candidates
from shoal.search.personal import CANDIDATES, rank, search
from shoal.search.rerank import Ranking
from shoal.search.trec import falling, field

try:
    import pandas
    import pyterrier
except ImportError as error:
    raise InputError("shoal.pyterrier needs PyTerrier: run `pip install 'shoal-search[pyterrier]'`") from error

_RANKED = ("docno", "score", "rank")
_ASKED = "asked"  # the name of the ranking by the profile


class Retriever(pyterrier.Transformer):
    """Shoal's engine over a corpus: a frame of qid and query becomes one of qid, query, docno, score and rank."""

    def __init__(self, corpus: Corpus | Any, num_results: int = CANDIDATES) -> None:
        super().__init__()
        self.corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus)
        self.num_results = num_results

    def __repr__(self) -> str:
        return f"Retriever({self.corpus!r}, {self.num_results})"

    def transform(self, inp: pandas.DataFrame) -> pandas.DataFrame:
        """The documents that are found for each query, the best first."""
        pyterrier.validate.query_frame(inp, extra_columns=["query"])
        index = self.corpus.index
        parts = []
        for _, row in inp.iterrows():
            ranking = search(index, row["query"]).rankings["plain"]
            chosen = slice(self.num_results)
            parts.append(_framed(row, ranking.documents[chosen], ranking.scores[chosen], self.corpus))
        return _joined(parts, inp)


class Reranker(pyterrier.Transformer):
    """Documents re-ranked by what a release publishes of a user, as Shoal's own search ranks them.

    A frame of qid, query, docno and score comes in. `corpus` is where the documents are; without it they are those of
    the frame, which then has their `text` (and `title`). `user` may be left out where the frame has a column `user`.
    The weight of the profile is what the release says or 0.85, unless it is given; 1 is the papers' protocol.
    """

    def __init__(
        self, release: Made | str | Path, user: str = "", corpus: Corpus | Any = None, weight: float | None = None
    ) -> None:
        super().__init__()
        self.made = release if isinstance(release, Made) else load(release)
        self.user, self.weight = user, weight
        self.corpus = corpus if isinstance(corpus, Corpus) or corpus is None else open_corpus(corpus)

    def __repr__(self) -> str:
        return f"Reranker({self.made!r}, {self.user!r})"

    def transform(self, inp: pandas.DataFrame) -> pandas.DataFrame:
        """The same rows in another order, with scores and ranks of it."""
        more = [*([] if self.user else ["user"]), *([] if self.corpus is not None else ["text"])]
        pyterrier.validate.result_frame(inp, extra_columns=["query", *more])
        corpus = self.corpus if self.corpus is not None or not len(inp) else _corpus_of(inp)
        parts = [self._reranked(part, corpus) for _, part in inp.groupby("qid", sort=False)] if corpus else []
        return _joined(parts, inp)

    def _reranked(self, part: pandas.DataFrame, corpus: Corpus) -> pandas.DataFrame:
        """One query's documents; they come in their order by score, which is the engine's for the blend."""
        part = part.sort_values("score", ascending=False, kind="stable")
        first = part.iloc[0]
        profile = self.made.profile_of(str(first["user"]) if not self.user else self.user)
        given = Candidates(_places(part["docno"], corpus), part["score"].to_numpy(dtype=np.float64))
        average = profile.average(corpus.index)
        profiles, averages = {_ASKED: profile.in_space(corpus.index)}, {} if average is None else {_ASKED: average}
        ranking = rank(corpus.index, first["query"], given, profiles, self.weight, averages).rankings[_ASKED]
        return _ordered(part, given, ranking)


def _framed(row: pandas.Series, documents: np.ndarray, scores: np.ndarray, corpus: Corpus) -> pandas.DataFrame:
    """The results of one query, with all that the query's row holds."""
    names = [field(corpus.index.documents.id(int(document))) for document in documents]
    kept = {name: value for name, value in row.items() if name not in _RANKED}
    return pandas.DataFrame({**kept, "docno": names, "score": falling(scores), "rank": range(len(names))})


def _ordered(part: pandas.DataFrame, given: Candidates, ranking: Ranking) -> pandas.DataFrame:
    place = {document: row for row, document in enumerate(given.documents.tolist())}
    ordered = part.iloc[[place[document] for document in ranking.documents.tolist()]]
    return ordered.assign(score=falling(ranking.scores), rank=range(len(ordered)))


def _joined(parts: list[pandas.DataFrame], inp: pandas.DataFrame) -> pandas.DataFrame:
    if parts:
        return pandas.concat(parts, ignore_index=True)
    kept = [name for name in inp.columns if name not in _RANKED]
    return pandas.DataFrame(columns=[*kept, *_RANKED])


def _places(names: pandas.Series, corpus: Corpus) -> np.ndarray:
    """Where documents stand in the corpus."""
    try:
        return np.array([corpus.places[str(name)] for name in names], dtype=np.int64)
    except KeyError as error:
        raise InputError(f"{corpus!r} has no document {error}: re-rank its own, or give texts") from error


def _corpus_of(inp: pandas.DataFrame) -> Corpus:
    """The documents of a frame as a corpus; how rare a word is, is then counted among them."""
    titles = inp["title"] if "title" in inp.columns else ""
    documents = pandas.DataFrame({"id": inp["docno"], "title": titles, "text": inp["text"]})
    return open_corpus(documents.drop_duplicates("id"))
