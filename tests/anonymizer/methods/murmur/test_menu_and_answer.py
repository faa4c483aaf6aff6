"""Does Murmur offer and say what its definition says, with the probabilities that it promises?"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, sqrt
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Catalogue, Release
from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.murmur import Murmur, heard
from shoal.anonymizer.methods.murmur.answer import choices, gains, probability_of_truth, randomized
from shoal.anonymizer.methods.murmur.literal import (
    average_precision,
    best_word,
    catalogue,
    menu,
    page,
    probabilities,
    said_scores,
    shares,
    spread,
)
from shoal.anonymizer.methods.murmur.menu import NONE
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from shoal.corpus.searches import Device, Search
from shoal.search.vectors import DocumentVectors
from tests.examples import examples

KNOWLEDGE = Knowledge(dictionary_name="any")
WORDS = "wine beer cheese car truck hotel flight dog".split()


def log_of(texts: list[str]) -> QueryLog:
    return make_log(pl.Series([f"user{i}" for i in range(len(texts))]), pl.Series(texts, dtype=pl.String))


def release_of(mean: dict[str, float]) -> Release:
    known = Catalogue(list(mean), np.full(len(mean), 20), np.array(list(mean.values()), dtype=float))
    return Release([], np.empty(0, dtype=np.int64), [], np.empty(0, dtype=bool), csr_array((0, 0)), catalogue=known)


def search_of(documents: list[dict[str, float]], query: str = "anything") -> Search:
    matrix = np.array([[document.get(word, 0.0) for word in WORDS] for document in documents])
    columns = {word: column for column, word in enumerate(WORDS)}
    return DocumentVectors(csr_array(matrix), columns, WORDS).search(query, np.arange(len(documents)))


def device_of(own: dict[str, float], random: Random | None = None) -> Device:
    row = csr_array(np.array([[own.get(word, 0.0) for word in WORDS]]))
    return Device(row, csr_array((1, len(WORDS))), random or Random(0))


def say(method: Murmur, search: Search, device: Device, release: Release) -> str:
    return method.said(method.offered(search, release), search.query, device)


# What is published


queries = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@examples(120)
@given(st.lists(queries, min_size=2, max_size=12), st.integers(2, 5))
def test_the_catalogue_is_the_literal_one_and_holds(texts: list[str], k: int) -> None:
    log, method = log_of(texts), Murmur(KNOWLEDGE, k=k)
    profiles = build_profiles(log, KNOWLEDGE.words)
    if np.count_nonzero(profiles.size) < k:
        with pytest.raises(InputError, match="at least"):
            method.run(log)
        return
    made = method.run(log)
    known = made.release.catalogue
    assert known is not None
    found = dict(zip(known.terms, zip(known.users.tolist(), known.mean.tolist(), strict=True), strict=True))
    assert found == catalogue([profiles.of(user) for user in range(len(profiles))], k)
    assert len(made.release) == len(made.assignment.user) == 0  # no row is anybody's
    assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE)).holds


# What is offered, and what is said


bags = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 9).map(float), max_size=5)
means = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 99).map(lambda n: n / 8), min_size=1, max_size=5)


@examples(200)
@given(st.lists(bags, min_size=1, max_size=14), means, bags, st.integers(1, 5))
def test_menu_and_word_are_the_literal_ones(
    documents: list[dict[str, float]], mean: dict[str, float], own: dict[str, float], size: int
) -> None:
    hold_against_the_literal_ones(documents, mean, own, size)


def test_so_they_are_with_a_hundred_candidates() -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        documents = [dict(zip(WORDS, rng.integers(0, 4, len(WORDS)).astype(float), strict=True)) for _ in range(100)]
        own = dict(zip(WORDS, rng.integers(0, 9, len(WORDS)).astype(float), strict=True))
        hold_against_the_literal_ones(documents, dict.fromkeys(WORDS, 1.0), own, 5)


def hold_against_the_literal_ones(
    documents: list[dict[str, float]], mean: dict[str, float], own: dict[str, float], size: int
) -> None:
    method, search, release = Murmur(menu=size), search_of(documents), release_of(mean)
    offered = method.offered(search, release)
    worth = {word: spread(word, documents) * typed for word, typed in mean.items()}
    assert [worth[word] for word in offered.words] == pytest.approx(
        [worth[word] for word in menu(documents, mean, size)], abs=1e-6
    )
    pages = [page(word, documents) for word in offered.words]
    assert offered.pages.tolist() == pages
    engine = average_precision(own, page(NONE, documents), documents)
    of_words = [2520 * (average_precision(own, shown, documents) - engine) for shown in pages]
    assert gains(offered, device_of(own).own).tolist() == of_words
    assert choices(offered, device_of(own), 3)[1] == best_word(own, offered.words, documents)


@examples(200)
@given(st.lists(bags, min_size=1, max_size=6), st.sampled_from(WORDS))
def test_a_word_ranks_by_itself_and_by_the_candidates_that_hold_it(
    documents: list[dict[str, float]], word: str
) -> None:
    search = search_of(documents)
    scores = (search.candidates @ heard(search, word).T).todense().ravel().tolist()
    assert shares(scores) == pytest.approx(said_scores(word, documents))


DOCUMENTS = [{"hotel": 1.0, "car": 1.0}, {"wine": 3.0, "car": 1.0, "dog": 2.0}, {"beer": 2.5, "car": 1.0}]
RELEASE = release_of(dict.fromkeys(WORDS, 1.0))


def test_a_word_that_all_candidates_hold_alike_is_never_offered() -> None:
    assert Murmur().offered(search_of(DOCUMENTS), RELEASE).words == ["wine", "beer", "dog", "hotel"]


def test_who_has_nothing_in_common_with_the_candidates_says_none_and_is_served_plainly() -> None:
    assert Murmur().choose(search_of(DOCUMENTS), device_of({"flight": 9.0}), RELEASE).nnz == 0
    assert Murmur().choose(search_of(DOCUMENTS), device_of({}), RELEASE).nnz == 0


def test_nothing_is_said_where_the_engine_ranks_as_well_as_any_word() -> None:
    assert say(Murmur(), search_of(DOCUMENTS), device_of({"hotel": 9.0}), RELEASE) == NONE


def test_a_word_may_be_said_that_the_person_never_typed() -> None:
    """That of the first page of two that are alike, and wine is offered before dog."""
    assert say(Murmur(), search_of(DOCUMENTS), device_of({"dog": 9.0}), RELEASE) == "wine"


def test_the_menu_does_not_depend_on_who_asks() -> None:
    method, search = Murmur(epsilon=1), search_of(DOCUMENTS)
    before = method.offered(search, RELEASE).words
    method.choose(search, device_of({"dog": 5.0}), RELEASE)
    assert method.offered(search, RELEASE).words == before


def test_words_of_fewer_than_k_users_are_offered_to_nobody() -> None:
    assert Murmur().offered(search_of(DOCUMENTS), release_of({"beer": 1.0})).words == ["beer"]


def test_the_answer_to_a_query_is_remembered_also_when_the_menu_changes() -> None:
    method, device = Murmur(epsilon=0.5), device_of({"wine": 1.0}, Random(3))
    first = say(method, search_of(DOCUMENTS, "Good  drinks"), device, RELEASE)
    for _ in range(30):
        assert say(method, search_of(DOCUMENTS, "good drinks"), device, RELEASE) == first
    assert method.said(method.offered(search_of([{"beer": 1.0}, {}]), RELEASE), "good drinks", device) == first


@pytest.mark.parametrize("epsilon", ["none", 0.5])
def test_so_many_different_words_are_said_and_no_more(epsilon: object) -> None:
    method, device = Murmur(epsilon=epsilon, words=2), device_of(dict.fromkeys(WORDS, 1.0), Random(1))
    ever = {
        say(method, search_of([{word: 1.0}, {other: 2.0}, {}], f"{word} {other}"), device, RELEASE)
        for word in WORDS
        for other in WORDS
    }
    assert len(ever - {NONE}) == 2


# How likely each answer is


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 8.0])
@pytest.mark.parametrize("offered", [WORDS[:1], WORDS[:5], WORDS])
def test_no_answer_is_more_than_e_to_the_epsilon_times_as_likely_under_another_profile(
    epsilon: float, offered: list[str]
) -> None:
    tables = [probabilities(best, offered, epsilon) for best in (*offered, NONE)]
    for table in tables:
        assert sum(table.values()) == pytest.approx(1)
        assert max(table.values()) == pytest.approx(probability_of_truth(len(table), epsilon))
    for one in tables:
        for other in tables:
            assert all(one[word] <= exp(epsilon) * other[word] * (1 + 1e-12) for word in one)


Mechanism = Callable[[str, Sequence[str], float, Random], str]
DRAWS = 20_000
EPSILON = 1.0


def answers(mechanism: Mechanism, own: dict[str, float], seed: int) -> Counter[str]:
    """What a device with this profile says to one menu, again and again, as if each time it were new."""
    offered = Murmur().offered(search_of(DOCUMENTS), RELEASE).words
    best, random = best_word(own, offered, DOCUMENTS), Random(seed)
    return Counter(mechanism(best, [*offered, NONE], EPSILON, random) for _ in range(DRAWS))


def is_private(mechanism: Mechanism) -> bool:
    """Whether two profiles that differ in a term are told apart by no more than epsilon, within four deviations."""
    one, other = answers(mechanism, {"wine": 1.0}, 1), answers(mechanism, {"wine": 1.0, "beer": 9.0}, 2)
    return all(
        first[word] <= exp(EPSILON) * second[word] + 4 * sqrt(first[word] + exp(2 * EPSILON) * second[word])
        for first, second in ((one, other), (other, one))
        for word in one | other
    )


def half_the_noise(best: str, options: Sequence[str], epsilon: float, random: Random) -> str:
    drawn = randomized(best, options, epsilon, random)
    return best if random.random() < 0.5 else drawn


def test_neighbouring_profiles_are_told_apart_by_epsilon_at_most_and_half_the_noise_is_caught() -> None:
    assert is_private(randomized)
    assert not is_private(half_the_noise)
    assert not is_private(lambda best, options, epsilon, random: best)


def test_answers_fall_as_often_as_the_exact_table_says() -> None:
    found = answers(randomized, {"wine": 1.0}, 5)
    table = probabilities("wine", Murmur().offered(search_of(DOCUMENTS), RELEASE).words, EPSILON)
    for word, chance in table.items():
        assert abs(found[word] - DRAWS * chance) < 4 * sqrt(DRAWS * chance * (1 - chance))


def test_a_crafted_menu_extracts_a_word_without_epsilon_and_hardly_with_it() -> None:
    search = search_of([{}, {"dog": 1.0}])
    assert say(Murmur(), search, device_of({"dog": 1.0}), RELEASE) == "dog"
    method = Murmur(epsilon=0.5)
    liars = sum(say(method, search, device_of({}, Random(seed)), RELEASE) == "dog" for seed in range(300))
    assert 0.25 < liars / 300 < 0.5  # 1 / (e^0.5 + 1) is 0.38


def test_a_crafted_menu_that_repeats_a_word_makes_no_answer_rarer_for_some() -> None:
    offered = Murmur().offered(search_of(DOCUMENTS), RELEASE)
    crafted = replace(offered, words=["wine"] * 4, pages=offered.pages[[0] * 4])
    assert choices(crafted, device_of({"wine": 1.0}), 3) == (["wine", NONE], "wine")
    assert choices(crafted, device_of({"flight": 1.0}), 3) == (["wine", NONE], NONE)


def test_all_chance_comes_from_the_device() -> None:
    class Loaded(Random):
        drawn = 0

        def random(self) -> float:
            self.drawn += 1
            return 0.0  # always the truth

    loaded = Loaded()
    device = device_of({"beer": 1.0}, loaded)
    assert say(Murmur(epsilon=0.5), search_of(DOCUMENTS), device, RELEASE) == "beer"
    assert loaded.drawn == 1
