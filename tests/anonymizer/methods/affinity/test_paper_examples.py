"""Does affinity give what Carpineto & Romano print?"""

import networkx as nx
import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.distinct_queries import DistinctQueries, distinct_queries
from shoal.anonymizer.methods.affinity import Affinity, literal
from shoal.anonymizer.methods.affinity.concepts import Concepts, affinity_classes, mine_concepts
from shoal.anonymizer.methods.affinity.pairs import AffinityGraph, affinity_graph, generalized_cores
from shoal.corpus.progress import silent
from shoal.corpus.querylog import QueryLog, make_log

# Section 3.2
WEIGHTS = {"cell": 14.32, "phone": 15.33, "case": 13.24, "nokia": 11.35, "cell phone": 10.8, "phone case": 6.95}
CASES = ["cell phone case", "nokia 2651 cell phone case"]


def log_of(rows: list[tuple[str, str]]) -> QueryLog:
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


def phone_cases() -> tuple[DistinctQueries, Concepts]:
    """The two queries of section 3.2 with the printed weights."""
    queries = distinct_queries(log_of([(user, query) for user in "ab" for query in CASES]))
    names = list(WEIGHTS)
    held = [[names.index(name) for name in literal.concepts_of(query, WEIGHTS)] for query in CASES]
    start = np.array([0, len(held[0]), len(held[0]) + len(held[1])])
    concept = np.array([*sorted(held[0]), *sorted(held[1])], dtype=np.int32)
    return queries, Concepts(names, np.array(list(WEIGHTS.values())), start, concept, np.zeros(2, dtype=bool))


def test_the_two_phone_case_queries_have_cosine_0_926() -> None:
    first, second = (literal.concepts_of(query, WEIGHTS) for query in CASES)
    assert literal.cosine(first, second) == pytest.approx(0.926, abs=0.0005)
    classes = affinity_classes(*phone_cases())
    assert affinity_graph(classes, 0.9260, silent).edges == 1
    assert affinity_graph(classes, 0.9269, silent).edges == 0


def test_a_query_of_three_words_has_six_ngrams() -> None:
    queries = distinct_queries(log_of([("u", "alpha beta gamma"), ("v", "alpha beta gamma")]))
    concepts = mine_concepts(queries, 2, 2, silent)
    assert concepts.names == ["alpha", "beta", "gamma", "alpha beta", "beta gamma", "alpha beta gamma"]
    # N = 2; P(x) = 1/3, P(xy) = 1/2, P(xyz) = 1: Equations 1 to 3
    assert concepts.weight[:3] == pytest.approx(np.log2(3))
    assert concepts.weight[3:5] == pytest.approx(np.log2(0.5 / (1 / 9) + 1))
    assert concepts.weight[5] == pytest.approx(np.log2(1 / (1 / 27 + 2 / 6) + 1))


def degrees(rows: list[tuple[str, str]], **settings: object) -> dict[str, int]:
    queries = distinct_queries(log_of(rows))
    return dict(zip(queries.texts, Affinity(**settings).degrees(queries).tolist(), strict=True))


def test_a_query_with_a_credit_card_number_is_dropped_though_its_other_word_is_frequent() -> None:
    rows = [(f"u{i}", "visa") for i in range(30)] + [("u0", "123XYZ visa")]
    assert degrees(rows, support=2) == {"visa": 30, "123xyz visa": 0}


def test_two_planted_users_bring_out_a_card_number_unless_three_must_type_each_word() -> None:
    """Section 5: one types the private data beside a frequent query, the other alone."""
    rows = [(f"u{i}", "visa") for i in range(30)] + [("one", "123XYZ visa"), ("two", "123XYZ")]
    assert degrees(rows, support=3)["123xyz visa"] == 31
    assert degrees(rows, support=3, word_users=3)["123xyz visa"] == 0


def test_an_address_is_one_word_though_each_of_its_terms_is_common() -> None:
    rows = [(f"u{i}", query) for i in range(9) for query in ("jane", "doe", "aol", "recipes")]
    rows += [("u0", "jane.doe@aol.com recipes"), ("u1", "jane doe aol recipes")]
    found = degrees(rows, support=5, theta=0.1)
    assert found["jane.doe@aol.com recipes"] == 0
    assert found["jane doe aol recipes"] > 0
    assert degrees([*rows, ("u1", "jane.doe@aol.com")], support=5, theta=0.1)["jane.doe@aol.com recipes"] > 0


def test_a_word_under_the_support_keeps_its_plain_number_of_users() -> None:
    """Section 4.2: 21 users ask for paranoia, and 50, fewer than the support of 65, use the word."""
    rows = [(f"u{i}", "paranoia") for i in range(21)] + [(f"u{i}", "paranoia symptoms") for i in range(21, 50)]
    rows += [(f"u{i}", "thyroid") for i in range(100)]
    assert degrees(rows, support=65) == {"paranoia": 21, "paranoia symptoms": 29, "thyroid": 100}
    assert degrees(rows, support=50, theta=0.5) == {"paranoia": 50, "paranoia symptoms": 50, "thyroid": 100}


def test_refinements_are_protected_by_the_query_they_refine() -> None:
    """Section 1: tiger woods, typed by many, and its refinements, typed by one user each."""
    rows = [(f"u{i}", "tiger woods golf") for i in range(20)]
    rows += [(f"u{20 + i}", f"tiger woods golf {word}") for i, word in enumerate(["yacht", "wife", "house"])]
    rows += [(f"u{i}", word) for i, word in enumerate(["yacht", "wife", "house"])]
    degree = degrees(rows, support=2)
    assert {query: number for query, number in degree.items() if "tiger" in query} == {
        "tiger woods golf": 23, "tiger woods golf yacht": 23, "tiger woods golf wife": 23, "tiger woods golf house": 23,
    }  # fmt: skip


def test_the_support_is_the_smallest_whose_concepts_are_73_percent_of_the_words() -> None:
    """Table 2: 49,346,473 of AOL's 67,567,111 unigrams are concepts. Function words count, but are none."""
    rows = [(f"u{i}", f"{word} the") for word, users in {"ale": 40, "bun": 33, "cod": 3}.items() for i in range(users)]
    assert literal.support_by_coverage(rows) == 2  # half of all words are function words
    content = [(user, query.split()[0]) for user, query in rows]
    assert literal.support_by_coverage(content) == 34  # 73 of 76 words are too many, 40 are not
    assert literal.support_by_coverage([*content, *[("u0", "dab")] * 24]) == 4  # 73 of 100 are not


def graph_of(edges: nx.Graph) -> AffinityGraph:
    matrix = nx.to_scipy_sparse_array(edges, format="csr")
    return AffinityGraph(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))


def test_cores_of_distinct_users_equal_those_of_networkx_on_large_graphs() -> None:
    for seed in range(5):
        network = nx.barabasi_albert_graph(2_000, 1 + seed, seed=seed)
        network.add_edges_from(nx.gnm_random_graph(300, 3_000, seed=seed).edges)
        number = np.arange(len(network))
        degree = generalized_cores(graph_of(network), np.arange(len(network) + 1), number, len(network), silent)
        assert dict(enumerate((degree - 1).tolist())) == nx.core_number(network)


def test_neighbours_of_one_class_count_once() -> None:
    """Section 3.3: a vertex linked only to vertices of its own class is in the generalized 0-core."""
    star = graph_of(nx.star_graph(3))  # centre 0
    start = np.arange(5)
    assert generalized_cores(star, start, np.array([0, 0, 0, 0]), 1, silent).tolist() == [1, 1, 1, 1]
    assert generalized_cores(star, start, np.array([0, 1, 1, 1]), 2, silent).tolist() == [2, 2, 2, 2]
    triangle = graph_of(nx.complete_graph(3))
    assert generalized_cores(triangle, np.arange(4), np.array([0, 1, 2]), 3, silent).tolist() == [3, 3, 3]
    assert generalized_cores(triangle, np.arange(4), np.array([0, 1, 1]), 2, silent).tolist() == [2, 2, 2]
