"""Do all engines find, score, show and correct in the same, right way?"""

import math
import tracemalloc
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from shoal.corpus.documents import Documents
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.tokens import STOP_WORDS, tokenize
from shoal.search.analysis import analyse
from shoal.search.engines import whoosh
from shoal.search.engines.base import Engine
from shoal.search.index import Index

QUERIES = [
    "climate change",
    "trump white house",
    "football club manager",
    "oil prices economy",
    "refugees europe border",
    "north korea missile test",
    "health care bill",
    "film award actor",
    "bank interest rates inflation",
    "police attack london",
]


def found(index: Index, query: str) -> list[int]:
    return index.engine.candidates(query).documents.tolist()


def form(word: str) -> str:
    """The index form by its definition, apart from the code that builds the index."""
    lemma = load_wordnet().lemma(word)
    return word if lemma is None or word in STOP_WORDS or lemma in STOP_WORDS else lemma


def in_one_byte(length: int) -> int:
    """The length that tantivy keeps: up to 40 as it is, above that the first four bits of what exceeds 24."""
    dropped = max(0, (length - 24).bit_length() - 4) if length > 24 else 0
    return 24 + ((length - 24) >> dropped << dropped)


class ExactBM25:
    """BM25 by its formula, one document at a time, with each document's length as the engine keeps it."""

    def __init__(self, documents: Documents, kept: Callable[[int], int]) -> None:
        fields = zip(documents.titles, documents.texts, strict=True)
        self.counts = [Counter(form(word) for word in tokenize(f"{title} {text}")) for title, text in fields]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.mean = sum(self.lengths) / len(self.lengths)
        self.kept = [kept(length) for length in self.lengths]
        self.held = Counter(word for count in self.counts for word in count)

    def score(self, i: int, words: list[str]) -> float:
        total = 0.0
        for word in words:
            n, held = len(self.counts), self.held[word]
            tf = self.counts[i][word]
            idf = math.log(1 + (n - held + 0.5) / (held + 0.5))
            total += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * self.kept[i] / self.mean))
        return total

    def best(self, query: str, limit: int) -> list[tuple[float, int]]:
        words = list(dict.fromkeys(form(word) for word in tokenize(query) if word not in STOP_WORDS))
        scored = [(-self.score(i, words), i) for i in range(len(self.counts))]
        return sorted(pair for pair in scored if pair[0] < 0)[:limit]


@pytest.fixture
def exact(articles: Documents, news: Index) -> ExactBM25:
    return ExactBM25(articles, in_one_byte if news.engine_name == "tantivy" else int)


def test_a_word_finds_its_documents_and_its_other_forms(small: Index) -> None:
    assert sorted(found(small, "wine")) == [1, 5]
    assert found(small, "wines") == found(small, "wine")  # though no document spells it so
    assert small.engine.suggest("wines") is None
    assert found(small, "elections") == found(small, "election") == [4]


def test_words_are_joined_by_or_and_the_document_with_all_of_them_is_first(small: Index) -> None:
    assert found(small, "music power")[0] == 3
    assert set(found(small, "music power")) == {0, 2, 3}


def test_equal_scores_stand_in_the_order_of_the_corpus(small: Index) -> None:
    assert found(small, "lighthouses") == [7, 8]
    assert small.engine.candidates("lighthouses", limit=1).documents.tolist() == [7]


def test_a_phrase_finds_only_words_in_a_row(small: Index) -> None:
    assert found(small, '"red wine"') == [1]
    assert found(small, '"wine red"') == []
    assert found(small, '"new york new york"') == [6]
    assert found(small, '"power of music"') == [3]


def test_a_phrase_does_not_run_from_the_title_into_the_text(small: Index) -> None:
    assert found(small, '"solar power solar"') == []
    assert found(small, '"power solar panels"') == []


def test_field_queries_look_in_one_field(small: Index) -> None:
    assert found(small, "title:music") == [3]
    assert sorted(found(small, "text:music")) == [2, 3]
    assert found(small, "TITLE:Wine") == [1]
    assert found(small, 'title:"new york"') == [6]
    assert found(small, 'text:"power of music"') == []


def test_a_word_after_a_minus_is_in_no_document_found(small: Index) -> None:
    assert found(small, "power -music") == [0]
    assert found(small, "power -unicorn") == found(small, "power")
    assert set(found(small, 'music wine -"red wine" -title:markup')) == {2, 3}
    assert found(small, "-music") == []
    assert found(small, "solar power -panels") == [3]
    assert small.engine.parts("power -music", 0) == small.engine.parts("power", 0)


def test_without_a_word_the_rest_keeps_its_scores(news: Index) -> None:
    every = dict(zip(*(v.tolist() for v in vars(news.engine.candidates("trump", 600)).values()), strict=True))
    without = dict(zip(*(v.tolist() for v in vars(news.engine.candidates("trump -russia", 600)).values()), strict=True))
    held = set(found(news, "russia")) | set(news.engine.candidates("russia", 600).documents.tolist())
    assert without == {document: pytest.approx(score) for document, score in every.items() if document not in held}
    assert 0 < len(without) < len(every)


def test_a_query_of_only_stop_words_is_a_phrase(small: Index) -> None:
    assert found(small, "the who") == [2]


def test_scores_fall_and_at_most_the_limit_is_given(news: Index) -> None:
    candidates = news.engine.candidates("the president said", limit=25)
    assert len(candidates) == 25
    assert (np.diff(candidates.scores) <= 0).all()
    assert len(set(candidates.documents.tolist())) == 25
    assert len(news.engine.candidates("president", limit=0)) == 0


def test_the_order_and_the_scores_are_those_of_exact_bm25(news: Index, exact: ExactBM25) -> None:
    rounding = 1e-9 if news.engine_name == "whoosh" else 1e-5  # the others count in 32 bits
    for query in QUERIES:
        best, candidates = exact.best(query, 100), news.engine.candidates(query)
        np.testing.assert_allclose(candidates.scores, [-score for score, _ in best], rtol=rounding)
        words = [form(word) for word in tokenize(query)]
        own = [exact.score(document, words) for document in candidates.documents.tolist()]
        np.testing.assert_allclose(candidates.scores, own, rtol=rounding)


def test_the_parts_of_a_score_sum_to_it(news: Index) -> None:
    for query in [*QUERIES, '"white house" trump', "title:trump text:russia"]:
        candidates = news.engine.candidates(query, limit=5)
        for document, score in zip(candidates.documents, candidates.scores, strict=True):
            assert sum(part for _, part in news.engine.parts(query, document)) == pytest.approx(score, rel=1e-5)


def test_a_snippet_shows_the_words_of_the_query_marked(small: Index) -> None:
    (snippet,) = small.engine.snippets("WINES bottle", [1])
    assert [piece.text for piece in snippet.pieces if piece.highlighted] == ["bottle", "wine", "wine"]


def test_a_snippet_is_plain_text_of_the_document(small: Index) -> None:
    (snippet,) = small.engine.snippets("wine", [5])
    assert str(snippet) == small.documents[5].text
    assert "<script>alert('" in next(piece.text for piece in snippet.pieces if not piece.highlighted)


def test_a_snippet_of_a_long_text_is_short_and_holds_the_passage(news: Index) -> None:
    for query in QUERIES:
        documents = news.engine.candidates(query, limit=5).documents.tolist()
        for document, snippet in zip(documents, news.engine.snippets(query, documents), strict=True):
            assert len(str(snippet)) < 400
            in_text = {form(word) for word in tokenize(news.documents.text(document))}
            if in_text & {form(word) for word in tokenize(query)}:
                assert any(piece.highlighted for piece in snippet.pieces)


def test_a_misspelled_word_is_corrected_and_a_right_one_is_left(news: Index) -> None:
    assert news.engine.suggest("presidnet trump") == "president trump"
    assert news.engine.suggest('title:"White Huose"') == 'title:"White house"'
    assert news.engine.suggest("president trump") is None
    assert news.engine.suggest("qqqqzzzzxxxx") is None


HOSTILE = {
    "empty": "",
    "blank": " \t\n ",
    "only stop words": "the of and a to in is",
    "every stop word": " ".join(sorted(STOP_WORDS)),
    "10,000 characters": "president " * 1_000,
    "10,000 different words": " ".join(f"president{i} trump house {i}" for i in range(2_500)),
    "one word of 10,000 letters": "a" * 10_000,
    "control characters": "\x00\x01\x02 trump \x7f\x1b[31m \u202e",
    "an unbalanced quote": '"white house',
    "only quotes": '""""""" " "',
    "nested quotes": 'title:"a "b "c',
    "wildcards": "*" * 500 + " t*u?p a*a*a*a*a*b ?????",
    "a regular expression": "/(a+)+$/ ((((((((((a*)*)*)*)*)*)*)*)*)*b",
    "lone operators": "AND OR NOT && || ! + - ( ) ^ ~ { } [ ] \\ : title: text:",
    "an unknown field": "nosuch:trump __class__:x",
    "a range": "[a TO zzz] title:[a TO z]",
    "fuzziness": "trump~9999 house^1e308",
    "a lone surrogate": "trump \ud800 house",
    "a common phrase": '"of the" "in the" "to the" "and the" "the president of the united states of the"',
    "an emoji": "🦊 ’ - '' trump",
}


@pytest.mark.parametrize("query", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.timeout(120, func_only=True)  # what is answered takes a moment; what is not, for ever
def test_a_hostile_query_is_answered(news: Index, query: str) -> None:
    candidates = news.engine.candidates(query)
    assert len(news.engine.snippets(query, candidates.documents[:10].tolist())) == min(10, len(candidates))
    suggestion = news.engine.suggest(query)
    assert suggestion is None or len(suggestion) < 10_000
    news.engine.parts(query, 0)


def test_words_without_letters_in_the_corpus_change_nothing(news: Index) -> None:
    plain = news.engine.candidates("trump house")
    for query in ("trump \x00 house", "trump OR house", "(trump) && house!", "trump house qqqqzzzzxxxx"):
        assert news.engine.candidates(query).documents.tolist() == plain.documents.tolist()


def test_eight_threads_get_what_one_gets(news: Index) -> None:
    engine: Engine = news.engine
    queries = [*QUERIES, '"white house"', "title:trump", "president of the united states", "climat"] * 6
    alone = [_everything(engine, query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda query: _everything(engine, query), queries))
    assert together == alone


def test_another_reader_maps_the_index_and_does_not_copy_it(articles: Documents, tmp_path: Path) -> None:
    whoosh.build(analyse(articles.titles, articles.texts, load_wordnet().lemmas), tmp_path)
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    index = whoosh.MappedStorage(tmp_path).open_index(indexname=whoosh.INDEX_NAME)
    tracemalloc.start()
    with index.reader() as reader:
        documents = reader.postings("all", "trump").postings.documents
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(documents) > 10
    assert peak < size / 4, f"{peak:,} bytes for a reader of {size:,}"


def _everything(engine: Engine, query: str) -> tuple[object, ...]:
    candidates = engine.candidates(query)
    shown = engine.snippets(query, candidates.documents[:3].tolist())
    return candidates.documents.tolist(), candidates.scores.tolist(), shown, engine.suggest(query)
