"""Does one search rank the same candidates for every profile, show them, and give the reasons of what is shown?"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.searches import Blend, Search
from shoal.search import personal
from shoal.search.index import Index
from shoal.search.rerank import rerank
from shoal.search.vectors import profile_space

QUERY = "president trump house"


def vector(index: Index, weights: dict[str, float]) -> csr_array:
    space = profile_space(list(weights), [False] * len(weights), index.vectors, Knowledge())
    return csr_array(np.array([list(weights.values())]) @ space)


@pytest.fixture
def found(news: Index) -> personal.Found:
    profiles = {"own": vector(news, {"election": 3, "court": 1}), "group": vector(news, {"police": 2, "city": 1})}
    return personal.search(news, QUERY, profiles)


def test_without_a_profile_there_is_the_engines_ranking_only(news: Index) -> None:
    found = personal.search(news, QUERY)
    assert list(found.rankings) == [personal.PLAIN]
    candidates = news.engine.candidates(QUERY, personal.CANDIDATES)
    assert found.rankings[personal.PLAIN].documents.tolist() == candidates.documents.tolist()
    assert len(found) == len(candidates)


def test_every_profile_reorders_the_same_candidates_with_the_one_weight(news: Index, found: personal.Found) -> None:
    candidates = news.engine.candidates(QUERY, personal.CANDIDATES)
    for name in ("own", "group"):
        alone = rerank(candidates, found.profiles[name], news.vectors, Blend(personal.DEFAULT_WEIGHT))
        assert found.rankings[name].documents.tolist() == alone.documents.tolist()
        assert found.rankings[name].scores.tolist() == alone.scores.tolist()


def test_what_is_chosen_at_the_search_sees_the_candidates_and_ranks_as_if_it_had_been_given(news: Index) -> None:
    seen: list[Search] = []

    def choose(search: Search) -> csr_array:
        seen.append(search)
        return search.row({"court": 2, "unicorns": 7})

    found = personal.search(news, QUERY, {"chosen": choose, "given": vector(news, {"court": 2})})
    assert found.rankings["chosen"].scores.tolist() == found.rankings["given"].scores.tolist()
    assert (seen[0].query, seen[0].documents.tolist()) == (QUERY, found.rankings[personal.PLAIN].documents.tolist())
    asked = seen[0].candidates[:, [seen[0].space.columns(["trump"])["trump"]]].toarray()
    assert (asked > 0).mean() > 0.5
    assert seen[0].space.names([seen[0].space.columns(["trump"])["trump"]]) == ["trump"]


def test_beside_everyones_average_a_profile_weighs_what_was_learned_unless_a_weight_is_given(news: Index) -> None:
    group, average = vector(news, {"police": 2, "city": 1}), vector(news, {"election": 1})
    beside = {name: personal.Average(average, Blend(0.4, 0.3)) for name in ("group", "nobody")}
    profiles = {"group": group, "nobody": vector(news, {"unicorns": 1})}
    by_weight = {w: personal.search(news, QUERY, profiles, w, beside).rankings for w in (None, 0.0, 0.2, 1.0)}
    assert by_weight[None]["group"].blend == Blend(0.4, 0.3)
    assert by_weight[0.2]["group"].blend == Blend(0.2, 0.15)
    assert by_weight[None]["nobody"].blend == Blend(0.0, 0.5)
    plain = by_weight[0.0][personal.PLAIN].documents.tolist()
    assert by_weight[0.0]["group"].documents.tolist() == by_weight[0.0]["nobody"].documents.tolist() == plain
    candidates = news.engine.candidates(QUERY, personal.CANDIDATES)
    assert by_weight[1.0]["group"].documents.tolist() == rerank(candidates, group, news.vectors).documents.tolist()
    found = personal.search(news, QUERY, profiles, None, beside)
    for document in found.rankings["group"].documents[:20].tolist():
        reason = found.reason("group", document)
        assert reason is not None
        assert reason.total() == pytest.approx(reason.score, rel=1e-5, abs=1e-9)


def test_an_empty_profile_has_no_say(news: Index) -> None:
    found = personal.search(news, QUERY, {"nobody": vector(news, {"unicorns": 1})}, weight=1)
    assert found.rankings["nobody"].scores.tolist() == found.rankings[personal.PLAIN].scores.tolist()


def test_a_result_knows_its_rank_in_every_ranking(found: personal.Found) -> None:
    shown = found.results(["own", "group"], slice(10, 20))
    for name, results in shown.items():
        assert [result.rank for result in results] == list(range(11, 21))
        for result in results:
            assert result.ranks[name] == result.rank
            for other, rank in result.ranks.items():
                assert found.rankings[other].documents[rank - 1] == result.document


def test_only_what_is_shown_is_read_and_each_document_once(
    found: personal.Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    text_of = found.index.documents.text

    def remember(document: int) -> str:
        read.append(document)
        return text_of(document)

    monkeypatch.setattr(found.index.documents, "text", remember)
    shown = found.results(found.rankings, slice(10))
    assert sorted(read) == sorted({result.document for results in shown.values() for result in results})


def test_the_reasons_of_a_result_sum_to_the_score_shown(found: personal.Found) -> None:
    for name, results in found.results(found.rankings, slice(5)).items():
        for result in results:
            reason = found.reason(name, result.document)
            assert reason is not None
            assert (reason.rank, reason.score) == (result.rank, result.score)
            assert reason.total() == pytest.approx(result.score, rel=1e-5)


def test_what_the_query_does_not_find_has_no_reason(news: Index, found: personal.Found) -> None:
    missing = next(i for i in range(len(news)) if i not in found.rankings["own"].documents)
    assert found.reason("own", missing) is None
    assert found.reason("nobody", int(found.rankings["own"].documents[0])) is None
