"""Do profiles reorder candidates by cosine, weigh generalized terms rightly, and explain the score?"""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.searches import Blend
from shoal.search.engines.base import Candidates
from shoal.search.explain import explain
from shoal.search.index import Index
from shoal.search.rerank import cosines, rerank
from shoal.search.vectors import DocumentVectors, profile_space
from tests.examples import examples

QUERY = "president trump house"


@pytest.fixture(scope="module")
def drinks(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    path: Path = tmp_path_factory.mktemp("taxonomy") / "drinks.tsv"
    path.write_text("Wine\tDrink\nBottle\tDrink\nUnicorn\tDrink\nDrink\tThing\nMusic\tThing\n")
    return Knowledge(path)


def vector(index: Index, weights: dict[str, float]) -> sp.csr_matrix:
    space = profile_space(list(weights), [False] * len(weights), index.vectors, Knowledge())
    return sp.csr_matrix(np.array([list(weights.values())])) @ space


def test_document_vectors_have_length_one_and_no_stop_words(news: Index) -> None:
    rows = news.vectors.rows(np.arange(len(news)))
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    assert rows.dtype == np.float32
    assert not {"the", "of", "with"} & set(news.vectors.columns(["the", "of", "with"]))


def test_every_spelling_of_a_word_has_one_column(small: Index) -> None:
    column = small.vectors.columns(["elections", "election", "panels"])
    assert column["elections"] == column["election"]
    assert small.vectors.names([column["panels"]]) == ["panel"]


def test_a_plain_term_goes_to_its_form_and_an_unknown_one_nowhere(small: Index) -> None:
    space = profile_space(["wine", "panels", "unicorn"], [False] * 3, small.vectors, Knowledge()).toarray()
    assert space.sum(axis=1).tolist() == [1, 1, 0]
    assert space[1, small.vectors.columns(["panel"])["panel"]] == 1


def test_a_generalized_label_is_shared_equally_among_its_leaves_in_the_corpus(small: Index, drinks: Knowledge) -> None:
    space = profile_space(["Drink", "Thing", "wine"], [True, True, False], small.vectors, drinks).toarray()
    column = small.vectors.columns(["wine", "bottle", "music"])
    columns = [column[word] for word in ("wine", "bottle", "music")]
    np.testing.assert_allclose(space[:, columns], [[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
    assert (space > 0).sum() == 6


def test_a_generalized_term_of_another_taxonomy_is_refused(small: Index, drinks: Knowledge) -> None:
    with pytest.raises(InputError, match=r"food\.n\.01"):
        profile_space(["food.n.01"], [True], small.vectors, drinks)


def test_a_bag_counts_for_each_of_its_members(small: Index) -> None:
    space = profile_space(["bottle|wine"], [True], small.vectors, Knowledge()).toarray()
    column = small.vectors.columns(["wine", "bottle"])
    assert space[0, [column[word] for word in ("wine", "bottle")]].tolist() == [0.5, 0.5]


def test_a_label_of_wordnet_counts_for_the_words_below_it(news: Index) -> None:
    space = profile_space(["animal.n.01", "entity.n.01"], [True, True], news.vectors, Knowledge())
    assert space.sum(axis=1).ravel().tolist()[0] == pytest.approx([1, 1])
    animals = set(news.vectors.names(space[[0]].indices))
    assert {"dog", "horse"} <= animals
    assert "president" not in animals


@examples(30)
@given(st.lists(st.sampled_from(["dog.n.01", "food.n.01", "wine", "music", "qqzz", "person.n.01"]), max_size=6))
def test_spreading_keeps_weights_and_adds_none(labels: list[str]) -> None:
    vectors = DocumentVectors(sp.csr_matrix((1, 3)), {"wine": 0, "music": 1, "dog": 2}, ["wine", "music", "dog"])
    space = profile_space(labels, [".n." in label for label in labels], vectors, Knowledge())
    sums = np.asarray(space.sum(axis=1)).ravel()
    assert space.shape == (len(labels), 3)
    assert all(total == pytest.approx(0) or total == pytest.approx(1) for total in sums)
    assert (space.data > 0).all()


def test_a_profile_equal_to_a_document_puts_it_first(news: Index) -> None:
    candidates = news.engine.candidates(QUERY)
    for document in candidates.documents[[0, 10, 50, 99]]:
        ranking = rerank(candidates, news.vectors.rows(np.array([document])), news.vectors)
        assert ranking.documents[0] == document
        assert ranking.scores[0] == pytest.approx(1, rel=1e-5)


def test_weight_zero_gives_the_engines_order_and_weight_one_the_cosines(news: Index) -> None:
    candidates = news.engine.candidates(QUERY)
    profile = vector(news, {"football": 3, "election": 1, "money": 2})
    engine_only = rerank(candidates, profile, news.vectors, Blend(0))
    assert engine_only.documents.tolist() == candidates.documents.tolist()
    np.testing.assert_allclose(engine_only.scores, 1 - np.arange(len(candidates)) / len(candidates))
    full = rerank(candidates, profile, news.vectors)
    assert full.scores.tolist() == (full.cosine / full.cosine[0]).tolist()
    assert (np.diff(full.scores) <= 0).all()
    with pytest.raises(InputError, match="from 0"):
        rerank(candidates, profile, news.vectors, Blend(1.5))


def test_cosines_are_those_of_dense_vectors(news: Index) -> None:
    profile = vector(news, {"football": 3, "election": 1, "money": 2, "unicorns": 5})
    documents = np.arange(0, len(news), 7)
    dense = news.vectors.rows(documents).toarray().astype(float)
    p = profile.toarray().ravel()
    np.testing.assert_allclose(cosines(documents, profile, news.vectors), dense @ p / np.linalg.norm(p), atol=1e-6)


@examples(50)
@given(st.permutations(range(9)), st.floats(0, 1))
def test_an_empty_profile_and_twins_keep_the_engines_order(order: list[int], weight: float) -> None:
    matrix = sp.csr_matrix(np.tile([0.6, 0.8], (9, 1)).astype(np.float32))
    vectors = DocumentVectors(matrix, {"a": 0, "b": 1}, ["a", "b"])
    candidates = Candidates(np.array(order), np.ones(9))
    for profile in (sp.csr_matrix((1, 2)), sp.csr_matrix([[1.0, 3.0]])):
        assert rerank(candidates, profile, vectors, Blend(weight)).documents.tolist() == order


def test_no_candidates_and_no_scores_are_ranked_too(news: Index) -> None:
    nothing = Candidates(np.zeros(0, dtype=np.int64), np.zeros(0))
    assert len(rerank(nothing, vector(news, {"money": 1}), news.vectors)) == 0


@pytest.mark.parametrize("blend", [Blend(0.0), Blend(0.3), Blend(1.0), Blend(0.3, 0.2), Blend(0.0, 1.0)], ids=str)
def test_the_parts_of_an_explanation_sum_to_the_score_shown(news: Index, blend: Blend) -> None:
    query = '"white house" president title:trump'
    profile = vector(news, {"election": 3, "russia": 1, "money": 2, "vote": 2, "court": 1})
    average = vector(news, {"election": 1, "police": 5, "white": 2})
    ranking = rerank(news.engine.candidates(query), profile, news.vectors, blend, average)
    explanations = [explain(ranking, rank, query, news.engine, profile, news.vectors, average) for rank in range(1, 11)]
    for rank, explanation in enumerate(explanations, start=1):
        assert explanation.document == ranking.documents[rank - 1]
        assert explanation.total() == pytest.approx(explanation.score, rel=1e-5, abs=1e-9)
        for parts in (explanation.engine, explanation.profile, explanation.everyone):
            values = [value for _, value in parts]
            assert values == sorted(values, reverse=True)
    assert any(explanation.engine for explanation in explanations) == (blend.engine > 0)
    assert any(explanation.profile for explanation in explanations) == (blend.profile > 0)
    assert any(explanation.everyone for explanation in explanations) == (blend.everyone > 0)


def test_a_weight_is_the_share_that_the_profile_has_in_the_best_score(news: Index) -> None:
    profile = vector(news, {"football": 3, "election": 1, "money": 2, "court": 2})
    candidates = news.engine.candidates(QUERY)
    assert 0 < cosines(candidates.documents, profile, news.vectors).max() < 0.5
    for weight in (0.15, 0.5, 0.85):
        ranking = rerank(candidates, profile, news.vectors, Blend(weight))
        by_engine, by_profile = (1 - weight) * ranking.engine, ranking.scores - (1 - weight) * ranking.engine
        assert by_engine.max() == pytest.approx(1 - weight)
        assert by_profile.max() == pytest.approx(weight)
