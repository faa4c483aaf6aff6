"""Does microaggregation give what its paper's examples say? Erola et al. (2011)."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.microaggregation import Microaggregation, chosen_copies, quotas
from shoal.anonymizer.methods.microaggregation.literal import classification_matrix, semantic_remain
from shoal.anonymizer.methods.microaggregation.similar_clusters import join_most_similar, make_incidence, partition
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.directory import classification_matrices, read_directory
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log


def log_of(queries: dict[str, list[str]]) -> QueryLog:
    rows = [(user, query) for user, asked in queries.items() for query in asked]
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


def clusters_of(log: QueryLog, made: object) -> set[tuple[str, ...]]:
    found: dict[int, list[str]] = {}
    for user, profile in zip(made.assignment.user, made.assignment.profile, strict=True):  # type: ignore[attr-defined]
        found.setdefault(int(profile), []).append(log.users[int(user)])
    return {tuple(sorted(members)) for members in found.values()}


def test_a_query_asked_three_times_by_a_user_who_contributes_0_4_enters_once_and_again_with_probability_0_2() -> None:
    chances = (np.arange(1000) + 0.5) / 1000
    copies = [
        int(chosen_copies(np.array([0, 2]), np.array([3, 1]), np.array([4]), np.array([10]), np.array([2]), c)[0])
        for c in (np.array([chance, 0.0]) for chance in chances)
    ]
    assert Counter(copies) == {1: 800, 2: 200}


def test_the_published_query_log_is_that_of_algorithm_5_and_the_profile_is_made_of_it() -> None:
    """Both contribute 0.5, so that a query asked four times enters twice, and two is the quota of each."""
    log = log_of({"a": ["Dog  qwzx"] * 3 + ["dog qwzx"], "b": ["cat"] * 4})
    made = Microaggregation(k=2).anonymize(log)
    rows = made.release.queries
    assert rows is not None
    columns = zip(rows.query, rows.count.tolist(), rows.degree.tolist(), strict=True)
    assert sorted(columns) == [("cat", 2, 2), ("dog qwzx", 2, 2)]  # as typed, in lower case and with single blanks
    assert made.release.profile(0) == {"cat": 2, "dog": 2}
    assert (made.suppressed.occurrences, made.suppressed.users) == (0, 0)


def test_an_event_whose_query_is_not_in_the_log_of_its_user_is_suppressed() -> None:
    log = log_of({"a": ["dog", "dog", "dog", "the of"], "b": ["cat", "cat", "cat"], "c": ["of"]})
    made = Microaggregation(k=2).anonymize(log)
    rows = made.release.queries
    assert rows is not None
    assert rows.count.sum() == 3  # the mean of 3 and 3: "the of" holds no term and does not count in |Q|
    assert set(rows.query) == {"dog", "cat"}
    assert (made.suppressed.occurrences, made.suppressed.users) == (2, 1)


def test_figure_1_at_level_1_is_sports_and_at_level_2_sports_soccer(tmp_path: Path) -> None:
    path = tmp_path / "odp.tsv"
    path.write_text("Sports/Soccer/UEFA/Spain/Clubs/Barcelona\tBarcelona FC\tclub\n")
    [found] = read_directory(path, lambda token: token).categories("barcelona")
    assert found[:1] == ("Sports",)
    assert found[:2] == ("Sports", "Soccer")


def test_two_soccer_supporters_are_grouped_and_two_others_too() -> None:
    """Section 2.2: a supporter with somebody who dislikes sports would make a log that tells nothing."""
    log = log_of({
        "a": ["soccer", "football match"], "b": ["poetry", "novel"],
        "c": ["football", "soccer goal"], "d": ["poem novel", "poetry"],
    })  # fmt: skip
    made = Microaggregation(k=2).anonymize(log)
    assert clusters_of(log, made) == {("a", "c"), ("b", "d")}


def test_the_incidence_is_the_sum_of_minima_over_levels(tmp_path: Path) -> None:
    tree = tmp_path / "food"
    tree.write_text("Apple\tFruit\nOrange\tFruit\nBeef\tMeat\nFruit\tFood\nMeat\tFood\n")
    known = Knowledge(tree)
    log = log_of({"a": ["apple apple", "beef"], "b": ["apple orange orange"], "c": ["beef beef"]})
    matrices = classification_matrices(build_profiles(log, known.words), known.directory, 2, 5)
    rows = make_incidence(matrices).rows(0, 3).tolist()
    assert rows == [[6, 3, 2], [3, 6, 0], [2, 0, 4]]  # a and b: Fruit min(2, 3) and Apple min(2, 1)


def test_the_third_member_has_the_largest_sum_of_similarities_and_who_is_left_joins_a_cluster(tmp_path: Path) -> None:
    tree = tmp_path / "food"
    tree.write_text("Apple\tFruit\nOrange\tFruit\nBeef\tMeat\nFruit\tFood\nMeat\tFood\n")
    known = Knowledge(tree)
    log = log_of({
        "beef": ["beef"] * 2, "apples": ["apple"] * 9, "more apples": ["apple"] * 9,
        "few apples": ["apple"] * 2, "fruit": ["orange"] * 9,
    })  # fmt: skip
    matrices = classification_matrices(build_profiles(log, known.words), known.directory, 2, 5)
    cluster = partition(make_incidence(matrices), 3)
    assert cluster.tolist() == [-1, 0, 0, -1, 0]  # fruit shares 9 + 9 at level 1, few apples 4 + 4
    assert join_most_similar(make_incidence(matrices), cluster).tolist() == [0] * 5


def test_whole_quotas_make_up_the_mean_size() -> None:
    tie = np.array([0.3, 0.2, 0.1])
    assert quotas(np.array([10, 6, 5]), np.zeros(3, dtype=np.int64), tie).tolist() == [3, 2, 2]
    assert quotas(np.array([1, 1, 1]), np.zeros(3, dtype=np.int64), tie).tolist() == [0, 0, 1]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_users_with_nothing_in_common_keep_one_kth_of_their_topics_the_worst_case_of_equation_5(k: int) -> None:
    topics = ["dog", "algebra", "wine", "violin", "river"][:k]
    log = log_of({f"u{i}": [topic] * 2 * k for i, topic in enumerate(topics)})
    made = Microaggregation(k=k, levels=20, categories=1).anonymize(log)
    published = [[term] * int(times) for term, times in made.release.profile(0).items()]
    directory = Knowledge().directory
    deepest = [(topic, len(directory.categories(topic)[0])) for topic in topics]
    for topic, level in deepest:
        original = classification_matrix([[[topic]] * 2 * k], directory, level, 1)
        centroid = classification_matrix([published], directory, level, 1)
        assert semantic_remain(original, centroid) == Fraction(1, k)


def test_the_clusters_never_fall_under_k_and_the_rest_is_spread() -> None:
    log = log_of({f"u{i}": ["dog cat", "wine"][: 1 + i % 2] for i in range(11)})
    made = Microaggregation(k=4).anonymize(log)
    assert sorted(made.release.users.tolist()) == [4, 7] or sorted(made.release.users.tolist()) == [5, 6]
    assert made.release.users.sum() == 11


def test_users_whom_the_directory_does_not_know_are_grouped_with_whoever_is_left(tmp_path: Path) -> None:
    path = tmp_path / "odp.tsv"
    path.write_text("Animals/Dogs\tdog\tdogs\n")
    log = log_of({"a": ["dog"], "b": ["wine"], "c": ["river"], "d": ["dog"], "nothing": ["the of"]})
    made = Microaggregation(Knowledge(directory_file=path), k=2).anonymize(log)
    assert clusters_of(log, made) == {("a", "d"), ("b", "c")}
    assert made.suppressed.users == 1


def test_fewer_than_k_users_is_an_error() -> None:
    with pytest.raises(InputError, match="at least 3 users"):
        Microaggregation(k=3).anonymize(log_of({"a": ["dog"], "b": ["cat"], "c": ["qwzx"]}))


AWKWARD = {
    "all users equal": {f"u{i}": ["dog cat"] for i in range(7)},
    "all users different": {f"u{i}": [word] for i, word in enumerate("dog wine violin river algebra".split())},
    "one user with thousands of queries": {"big": [f"dog w{i}" for i in range(5000)], "b": ["cat"], "c": ["wine"]},
    "a query of stop words only": {"a": ["the of", "dog"], "b": ["dog"], "c": ["cat", "the"]},
    "unknown words": {"a": ["qwzx"], "b": ["zzyx dog"], "c": ["wqxz"], "d": ["cat"]},
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("dictionary", ["wordnet", "any"])
@pytest.mark.parametrize("settings", [{"k": 2}, {"k": 2, "levels": 20, "categories": 100, "search": "blocks"}])
def test_awkward_logs_give_a_release_that_holds(name: str, dictionary: str, settings: dict[str, object]) -> None:
    log, known = log_of(AWKWARD[name]), Knowledge(dictionary_name=dictionary)
    made = Microaggregation(known, **settings).anonymize(log)
    verdict = verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, known))
    assert verdict.holds, verdict.counterexample
    assert made.release.users.min() >= 2
    assert np.diff(made.release.weights.indptr).min() >= 1


def test_a_log_of_no_terms_and_a_log_of_one_user_are_errors() -> None:
    for queries in ({"a": ["qwzx"], "b": ["the"]}, {"a": ["dog"]}):
        with pytest.raises(InputError, match="needs at least 2 users"):
            Microaggregation(k=2).anonymize(log_of(queries))
