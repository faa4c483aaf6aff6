"""Does linkability give what Zhu & Xiong print? Tables 1 to 5, from the real WordNet."""

from math import sqrt
from pathlib import Path

import polars as pl
import pytest

from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.claims.linkability import actual_linkability
from shoal.anonymizer.methods.linkability import Linkability
from shoal.anonymizer.methods.linkability.augmentation import augment, semantic_similarity, senses_in_context
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log

UP1 = {"kitten": 1.0, "riding": 0.8}
UP2 = {"pup": 0.6, "equitation": 1.0}


def log_of(rows: list[tuple[str, str]]) -> QueryLog:
    return make_log(pl.Series([u for u, _ in rows], dtype=pl.String), pl.Series([q for _, q in rows], dtype=pl.String))


TABLE_1 = log_of(
    [
        ("UP1", "kitten riding"),
        ("UP2", "pup equitation"),
        ("UP3", "mocha java coffee"),
        ("UP4", "programming language java c++"),
    ]
)


def test_synonym_sets_give_the_similarity_of_table_3() -> None:
    assert semantic_similarity(UP1, UP2, a=0) == pytest.approx(0.536, abs=5e-4)


def test_hypernyms_within_one_step_give_the_similarity_of_table_4() -> None:
    assert semantic_similarity(UP1, UP2, a=1) == pytest.approx(0.737, abs=5e-4)


def test_dog_and_stocker_meet_at_domestic_animal_which_is_not_on_the_trees_path_of_dog() -> None:
    assert semantic_similarity({"dog": 1}, {"stocker": 1}, a=0) == 0
    # dog, canine, domestic animal; stocker, domestic animal
    assert semantic_similarity({"dog": 1}, {"stocker": 1}, a=1) == pytest.approx(1 / sqrt(3 * 2))


def test_a_taxonomy_file_has_one_path(tmp_path: Path) -> None:
    (tmp_path / "tree").write_text("Dog\tCanine\nWolf\tCanine\nCanine\tAnimal\nCat\tAnimal\n")
    tree = Knowledge(tmp_path / "tree")
    assert semantic_similarity({"dog": 1}, {"wolf": 1}, 0, tree) == 0
    assert semantic_similarity({"dog": 1}, {"wolf": 1}, 1, tree) == pytest.approx(1 / 2)
    assert semantic_similarity({"dog": 1}, {"wolf": 1}, 2, tree) == pytest.approx(2 / 3)


def test_more_hypernyms_make_the_two_more_similar_still() -> None:
    similarities = [semantic_similarity(UP1, UP2, a) for a in range(6)]
    assert similarities == sorted(similarities)


def test_similarity_is_symmetric_and_one_with_itself() -> None:
    assert semantic_similarity(UP1, UP2, a=1) == semantic_similarity(UP2, UP1, a=1)
    assert semantic_similarity(UP1, UP1, a=2) == pytest.approx(1)


def test_profiles_without_a_common_meaning_have_no_similarity() -> None:
    assert semantic_similarity({"kitten": 1}, {"mortgage": 1}, a=1) == 0
    assert semantic_similarity({}, {"mortgage": 1}, a=1) == 0


def java_among(*terms: str) -> str:
    profile = dict.fromkeys([*terms, "java"], 1.0)
    return load_wordnet().synsets[senses_in_context(profile)["java"]]


def test_java_is_coffee_among_coffees_and_a_language_among_languages() -> None:
    assert java_among("mocha", "coffee") == "coffee.n.01"  # UP3
    assert java_among("programming", "language", "c") == "java.n.03"  # UP4
    assert java_among("fortran", "pascal") == "java.n.03"
    assert java_among("bali", "island") == "java.n.01"


def test_the_example_words_are_read_as_figure_1_shows() -> None:
    names = load_wordnet().synsets
    assert {term: names[s] for term, s in senses_in_context(UP1).items()} == {
        "kitten": "kitten.n.01",
        "riding": "riding.n.01",
    }
    assert {term: names[s] for term, s in senses_in_context(UP2).items()} == {
        "pup": "pup.n.01",
        "equitation": "riding.n.01",
    }


def test_a_word_alone_is_read_in_its_first_sense() -> None:
    assert semantic_similarity({"java": 1}, {"island": 1}, a=1) > 0


def test_a_term_that_wordnet_does_not_know_is_like_itself_alone() -> None:
    assert semantic_similarity({"zzyzxq": 2}, {"zzyzxq": 1}, a=3) == pytest.approx(1)
    assert semantic_similarity({"zzyzxq": 2}, {"qxzyzz": 1}, a=3) == 0


def test_weights_that_meet_add_up() -> None:
    profiles = build_profiles(log_of([("u", "kitten pup kitten")]), Knowledge().words)
    weights = sorted(augment(profiles, 1, Knowledge()).data.tolist())
    assert weights == [1, 2, 3]  # pup, kitten, and young mammal above both


@pytest.mark.parametrize("first", ["random", "furthest"])
def test_the_example_profiles_are_grouped_as_in_table_5(first: str) -> None:
    # mean ||u|| = 11/4: p = 0.7 needs 4 distinct terms, which UP1 and UP2 have only together
    made = Linkability(p=0.7, first=first).run(TABLE_1)
    groups = {name: made.assignment.profile[u] for u, name in enumerate(made.assignment.users.to_list())}
    assert groups["UP1"] == groups["UP2"]
    assert groups["UP3"] != groups["UP1"]


def test_the_first_seed_is_drawn_in_the_prose_and_the_furthest_from_it_in_the_pseudo_code() -> None:
    # the cosines are ann-bob 0.71, ann-cem 0.58, bob-cem 0.82
    log = log_of([("ann", "wine"), ("bob", "wine beer"), ("cem", "wine beer bread")])
    profiles = build_profiles(log, Knowledge().words)
    for first, seeds in (("random", [0, 1, 2]), ("furthest", [2, 0, 0])):
        method = Linkability(p=0.9, first=first)
        vectors = augment(profiles, 0, method.knowledge)
        found = [next(method.grow(vectors, profiles.counts, 1, Drawn(user)))[0] for user in range(3)]  # type: ignore[arg-type]
        assert found == seeds


class Drawn:
    """A generator of random numbers that draws what it was told."""

    def __init__(self, number: int) -> None:
        self.number = number

    def integers(self, high: int) -> int:
        assert self.number < high
        return self.number


def test_a_union_holds_what_its_members_typed_and_a_centroid_their_mean() -> None:
    published = {}
    for representative in ("union", "centroid"):
        method = Linkability(p=0.7, representative=representative)
        made = method.run(TABLE_1)
        rows = [made.release.profile(row) for row in range(len(made.release))]
        published[representative] = next(row for row in rows if "kitten" in row)
    assert published["union"] == {"kitten": 1, "riding": 1, "pup": 1, "equitation": 1}
    assert published["centroid"] == {"kitten": 0.5, "riding": 0.5, "pup": 0.5, "equitation": 0.5}


def test_the_release_of_the_example_verifies() -> None:
    method = Linkability(p=0.7)
    made = method.run(TABLE_1)
    evidence = Evidence(made.release, made.assignment, made.suppressed, TABLE_1, method.knowledge)
    assert verify(made.claim, evidence).holds


def test_actual_linkability_shows_what_the_bound_hides() -> None:
    log = log_of([("large", "wine beer bread butter cheese milk"), ("small", "wine")])
    made = Linkability(p=0.6).run(log)
    profiles = build_profiles(log, Knowledge().words)
    actual = actual_linkability(profiles, made.assignment)
    if len(made.release) == 1:
        assert actual.mean == pytest.approx((6 / 6 + 1 / 6) / 2)
        assert actual.alone == 0
    assert actual.largest == 1  # all terms of the group are the large user's
    assert actual.largest_share == 1  # both typed wine


def test_a_large_profile_stands_alone_unless_members_forbids_it() -> None:
    rows = [(f"u{i}", word) for i, word in enumerate("wine beer milk tea water juice".split())]
    log = log_of([*rows, ("large", "dog cat horse cow pig sheep goat duck")])
    smallest = [
        [Linkability(p=0.8, members=members).run(log, seed=seed).release.users.min() for seed in range(8)]
        for members in (1, 2)
    ]
    assert min(smallest[0]) == 1
    assert min(smallest[1]) >= 2


def test_too_few_terms_in_all_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"needs groups of at least 28 distinct terms.*have 10.*raise p"):
        Linkability(p=0.1).run(TABLE_1)


def test_too_few_users_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"at least 9 users.*has 4.*lower members"):
        Linkability(p=0.7, members=9).run(TABLE_1)


def test_the_bound_is_exact_where_a_quotient_of_floats_is_not() -> None:
    assert 21 / 0.7 > 30
    profiles = build_profiles(log_of([("u", " ".join(f"term{i}" for i in range(21)))]), lambda token: token)
    assert Linkability(p=0.7).enough_terms(profiles) == 30
