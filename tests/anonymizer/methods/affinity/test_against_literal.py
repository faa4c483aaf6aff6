"""Does the fast affinity agree with the graph over (query, user) pairs, written word by word?"""

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.base import ReleasedQueries
from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.anonymizer.methods.affinity import Affinity, literal
from shoal.anonymizer.methods.affinity import pairs as affine_pairs
from shoal.anonymizer.methods.affinity.concepts import (
    affinity_classes,
    count_unigrams,
    mine_concepts,
    support_by_coverage,
)
from shoal.anonymizer.methods.affinity.pairs import affinity_graph
from shoal.anonymizer.methods.equality import Equality
from shoal.corpus.progress import silent
from shoal.corpus.querylog import QueryLog, make_log
from shoal.corpus.tokens import STOP_WORDS
from tests.examples import examples

WORDS = ["cell", "phone", "case", "Nokia", "red", "wine", "the", "of", "zz9", "cell.phone@aol.com", "?"]
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
LOGS = st.lists(st.tuples(st.sampled_from("abcdef"), QUERIES), min_size=2, max_size=30)
THETAS = st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0])


def log_of(asked: literal.Asked) -> QueryLog:
    return make_log(pl.Series([user for user, _ in asked]), pl.Series([query for _, query in asked]))


def degrees(asked: literal.Asked, **settings: object) -> dict[str, int]:
    queries = distinct_queries(log_of(asked))
    found = Affinity(**settings).degrees(queries)
    return dict(zip(queries.texts.to_list(), found.tolist(), strict=True))


def released(queries: ReleasedQueries | None) -> set[str]:
    assert queries is not None
    return set(queries.query.to_list())


@examples(200)
@given(LOGS, THETAS, st.integers(2, 3), st.integers(2, 3))
def test_degrees_equal_those_of_the_literal_graph(
    asked: literal.Asked, theta: float, support: int, word_users: int
) -> None:
    expected = literal.anonymity_degrees(asked, theta, support, word_users)
    assert degrees(asked, theta=theta, support=support, word_users=word_users) == expected


@examples(200)
@given(LOGS, THETAS, st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 20]))
def test_degrees_in_grown_graphs_equal_those_of_the_literal_ones(
    asked: literal.Asked, theta: float, v_max: int
) -> None:
    expected = literal.anonymity_degrees(asked, theta, 2, v_max=v_max)
    assert degrees(asked, theta=theta, support=2, exact="no", v_max=v_max) == expected


@examples(100)
@given(LOGS, THETAS)
def test_the_support_of_auto_equals_the_literal_one(asked: literal.Asked, theta: float) -> None:
    support = literal.support_by_coverage(asked)
    queries = distinct_queries(log_of(asked))
    function_word = np.array([word in STOP_WORDS for word in queries.tokens.vocabulary], dtype=bool)
    assert support_by_coverage(count_unigrams(queries), function_word) == support
    assert degrees(asked, theta=theta) == degrees(asked, theta=theta, support=support)


@examples(60)
@given(LOGS, st.integers(2, 3))
def test_concepts_and_weights_equal_the_literal_ones(asked: literal.Asked, support: int) -> None:
    concepts = mine_concepts(distinct_queries(log_of(asked)), support, 2, silent)
    expected = literal.concept_weights(asked, support)
    found = dict(zip(concepts.names, concepts.weight.tolist(), strict=True))
    assert found.keys() == expected.keys()
    assert all(abs(found[name] - expected[name]) < 1e-9 for name in expected)


@examples(60)
@given(LOGS, THETAS)
def test_all_pairs_above_theta_are_found_and_no_others(asked: literal.Asked, theta: float) -> None:
    queries = distinct_queries(log_of(asked))
    classes = affinity_classes(queries, mine_concepts(queries, 2, 2, silent))
    graph = affinity_graph(classes, theta, silent)
    found = {(a, int(b)) for a in range(len(classes)) for b in graph.neighbour[graph.start[a] : graph.start[a + 1]]}
    vectors = np.zeros((len(classes), len(classes.square)))
    for c in range(len(classes)):
        part = classes.concept[classes.start[c] : classes.start[c + 1]]
        vectors[c, part] = np.sqrt(classes.square[part])
    length = np.linalg.norm(vectors, axis=1)
    cosine = vectors @ vectors.T / np.outer(length, length)
    assert found == {(a, b) for a, b in np.argwhere(cosine >= theta - 1e-12).tolist() if a != b}


@examples(60)
@given(st.lists(QUERIES, min_size=2, max_size=25), THETAS)
def test_with_one_user_per_query_cores_equal_those_of_networkx(texts: list[str], theta: float) -> None:
    asked = [(f"user {i}", text) for i, text in enumerate(texts)]
    vertices, neighbours = literal.affinity_edges(asked, theta, 2)
    graph = nx.Graph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from((v, w) for v in vertices for w in neighbours[v])
    found = degrees(asked, theta=theta, support=2)
    assert {v: found[v[0]] - 1 for v in vertices} == nx.core_number(graph)


@examples(60)
@given(LOGS, THETAS, st.integers(1, 6))
def test_grown_graphs_give_lower_bounds(asked: literal.Asked, theta: float, v_max: int) -> None:
    exact = degrees(asked, theta=theta, support=2)
    bounds = degrees(asked, theta=theta, support=2, exact="no", v_max=v_max)
    assert all(bounds[query] <= exact[query] for query in exact)


@examples(60)
@given(LOGS, THETAS)
def test_grown_graphs_that_hold_whole_components_are_exact(asked: literal.Asked, theta: float) -> None:
    exact = degrees(asked, theta=theta, support=2)
    assert degrees(asked, theta=theta, support=2, exact="no", v_max=100) == exact


@examples(60)
@given(LOGS, THETAS, st.integers(2, 4), st.sampled_from(["yes", "no"]))
def test_what_equality_releases_affinity_releases_too(asked: literal.Asked, theta: float, k: int, exact: str) -> None:
    log = log_of(asked)
    if len(log.users) < k:
        return
    equal = Equality(k=k).anonymize(log).release.queries
    close = Affinity(k=k, theta=theta, support=2, exact=exact, v_max=2).anonymize(log).release.queries
    assert released(equal) <= released(close)


def test_a_class_with_more_neighbours_than_the_buffer_holds_makes_it_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affine_pairs, "_PAIRS_AT_ONCE", 1)
    words = [f"w{i}" for i in range(15)]
    asked = [(f"u{i % 5}", " ".join([*words[:10], words[10 + i % 5], words[10 + i // 5]])) for i in range(25)]
    assert degrees(asked, theta=0.7, support=2) == literal.anonymity_degrees(asked, 0.7, 2)
