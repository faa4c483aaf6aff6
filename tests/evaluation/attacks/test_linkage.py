"""Is the linkage attack right by hand, near 1 on original profiles, and at chance where nothing is published?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Release
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.evaluation.attacks.inference import attack
from shoal.evaluation.attacks.linkage import Linkage, attackers, evidence, link, link_later
from shoal.evaluation.attacks.victims import Victims, choose_victims
from shoal.evaluation.attacks.view import SMOOTHINGS, PublishedView
from tests.examples import examples

EVERYTHING = 10**6


@pytest.fixture(scope="module")
def profiles() -> Profiles:
    return build_profiles(sample_log(60), Knowledge().words)


def released(method: str, profiles: Profiles, **values: object) -> Anonymized:
    return make_method(method, values, Knowledge()).anonymize(profiles)


def linkage(made: Anonymized, profiles: Profiles, m: int) -> np.ndarray:
    victims = choose_victims(profiles, 1000)
    return link(PublishedView(made.release, Knowledge()), made.assignment, victims, victims.known(m)).success


# Calibration


def test_original_profiles_are_found(profiles: Profiles) -> None:
    assert linkage(released("original", profiles), profiles, 10).mean() > 0.98


def test_a_release_of_nothing_leaves_the_attacker_at_chance(profiles: Profiles) -> None:
    np.testing.assert_allclose(linkage(released("plain", profiles), profiles, 10), 1 / 60)


def test_one_profile_for_everyone_leaves_the_attacker_at_chance(profiles: Profiles) -> None:
    np.testing.assert_allclose(linkage(released("everyone", profiles), profiles, 10), 1 / 60)


@pytest.mark.parametrize("k", [3, 5, 10])
def test_who_knows_everything_finds_one_of_k_in_random_groups(profiles: Profiles, k: int) -> None:
    success = linkage(released("random", profiles, k=k), profiles, EVERYTHING).mean()
    assert 0.8 / k < success <= 1 / k + 1e-9


def test_more_known_terms_find_more_victims(profiles: Profiles) -> None:
    made = released("original", profiles)
    success = [linkage(made, profiles, m).mean() for m in (1, 3, 5)]
    assert success == sorted(success)


# By hand

ASKED = {"a": "beef milk", "b": "beef beef beef apple"}


def test_a_known_term_speaks_by_its_smoothed_likelihood(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"beef": 1, "milk": 1}, ["a"]), ({"beef": 3, "apple": 1}, ["b"])])
    # P(beef) = 4/6 in the release; log(1 + 0.9 P(t|p) / (0.1 P(t))).
    expected = [np.log1p(0.9 * 0.5 / (0.1 * 4 / 6)), np.log1p(0.9 * 0.75 / (0.1 * 4 / 6))]
    np.testing.assert_allclose(evidence(PublishedView(release, food), ["beef"]).toarray(), [expected])


def attacked(
    groups: list[tuple[dict[str, float], list[str]]],
    known: dict[str, str],
    food: Knowledge,
    release_of: Callable[..., Any],
    profiles_of: Callable[..., Profiles],
) -> list[float]:
    """Success against each victim, of whom some words are known."""
    release, assignment = release_of(groups)
    profiles = profiles_of(known, food)
    victims = Victims(np.arange(len(profiles)), profiles, profiles.counts)
    return link(PublishedView(release, food), assignment, victims, csr_array(profiles.counts * 1.0)).success.tolist()


def test_success_is_one_over_the_users_of_the_profile(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    groups = [({"beef": 1.0}, ["a", "b"]), ({"milk": 1.0}, ["c", "d", "e"])]
    assert attacked(groups, {"a": "beef", "c": "milk", "b": "milk"}, food, release_of, profiles_of) == [1 / 2, 1 / 3, 0]


def test_ties_between_profiles_are_shared(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    groups = [({"beef": 1.0}, ["a"]), ({"beef": 2.0}, ["b", "c"]), ({"milk": 1.0}, ["d"])]
    assert attacked(groups, {"a": "beef", "b": "beef"}, food, release_of, profiles_of) == [1 / 2, 1 / 4]


def test_whoever_knows_nothing_that_is_published_guesses_a_profile(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    groups = [({"beef": 1.0}, ["a"]), ({"milk": 1.0}, ["b"])]
    assert attacked(groups, {"a": "apple", "b": "apple"}, food, release_of, profiles_of) == [1 / 2, 1 / 2]


def test_a_victim_without_a_profile_is_found_by_chance_only(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    groups = [({"beef": 1.0}, ["a"])]
    assert attacked(groups, {"a": "beef", "x": "beef", "y": "milk"}, food, release_of, profiles_of) == [1, 1 / 3, 1 / 3]


def test_of_several_profiles_of_a_victim_one_is_enough(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    groups = [({"beef": 1.0}, ["a"]), ({"milk": 1.0}, ["a", "b"])]
    assert attacked(groups, {"a": "milk"}, food, release_of, profiles_of) == [1 / 2]


def test_a_term_below_a_published_label_speaks_for_it(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    groups = [({"Fruit": 1.0}, ["a"]), ({"Meat": 1.0}, ["b"])]
    assert attacked(groups, {"a": "apple", "b": "beef"}, food, release_of, profiles_of) == [1, 1]


# The strongest of several attackers

TERMS = ["apple", "orange", "banana", "beef", "chicken", "milk"]
LABELS = [*TERMS, "Fruit", "Food", "zebra", "zebra|milk"]


def literal(release: Release, held: list[set[int]], known: list[list[str]], knowledge: Knowledge) -> list[float]:
    """The success of an attacker by each smoothing, profile by profile: the mean over victims."""
    view = PublishedView(release, knowledge)
    found = []
    for smoothing in SMOOTHINGS:
        right = 0.0
        for own, terms in zip(held, known, strict=True):
            there, everywhere = view.profiles_over(terms).toarray(), view.whole_over(terms)
            some = everywhere > 0
            likely = np.log((1 - smoothing) * there[:, some] + smoothing * everywhere[some]).sum(axis=1)
            best = set(np.flatnonzero(likely >= likely.max() - 1e-9).tolist())
            right += sum(1 / release.users[row] for row in own & best) / len(best) if own else 1 / len(held)
        found.append(right / len(held))
    return found


@examples(60)
@given(data=st.data())
def test_linkage_is_that_of_the_strongest_attacker(
    data: st.DataObject, food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    profile = st.dictionaries(st.sampled_from(LABELS), st.sampled_from([1, 2, 5]), min_size=1, max_size=6)
    people = [f"u{i}" for i in range(4)]
    groups = data.draw(
        st.lists(st.tuples(profile, st.sets(st.sampled_from(people), min_size=1)), min_size=1, max_size=4)
    )
    release, assignment = release_of([(terms, sorted(users)) for terms, users in groups])
    asked = data.draw(st.lists(st.sets(st.sampled_from(TERMS), min_size=1), min_size=4, max_size=4))
    profiles = profiles_of({name: " ".join(sorted(terms)) for name, terms in zip(people, asked, strict=True)}, food)
    victims = choose_victims(profiles, 10)
    linked = link(PublishedView(release, food), assignment, victims, csr_array(profiles.counts.astype(float)))
    held = [{row for row, (_, users) in enumerate(groups) if name in users} for name in people]
    expected = literal(release, held, [sorted(terms) for terms in asked], food)
    assert linked.success.mean() == pytest.approx(max(expected))
    assert linked.success.mean() == pytest.approx(expected[SMOOTHINGS.index(linked.smoothing)])


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_original_profiles_are_found_as_surely_as_bayes_allows(profiles: Profiles, m: int) -> None:
    """The exact posterior of terms drawn without replacement: nobody finds more people who knows as much."""
    victims = choose_victims(profiles, 1000)
    share = profiles.counts.toarray() / profiles.occurrences[:, None]
    start, term = victims.in_order(m)
    best = 0.0
    for v, user in enumerate(victims.user.tolist()):
        drawn = share[:, term[start[v] : start[v + 1]]]
        likely = (drawn / np.maximum(1 - np.cumsum(drawn, axis=1) + drawn, 1e-12)).prod(axis=1)
        ties = likely >= likely.max() * (1 - 1e-9)
        best += ties[user] / ties.sum() / len(victims)
    found = linkage(released("original", profiles), profiles, m).mean()
    one_person = 0.0 if m == 1 else 1 / len(victims)  # the attacker takes draws as if they were put back
    assert best - one_person - 1e-9 <= found <= best + one_person + 1e-9


def test_an_attacker_who_smooths_less_finds_who_has_all_known_terms(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    """A profile full of milk is likelier to whoever smooths much, though it lacks the apple."""
    groups = [({"milk": 1.0, "apple": 1.0, "beef": 98.0}, ["a"]), ({"milk": 1.0}, ["b"]), ({"apple": 3.0}, ["c"])]
    assert attacked(groups, {"a": "milk apple"}, food, release_of, profiles_of) == [1]


# What is known


def test_terms_become_known_at_their_frequency_and_without_replacement() -> None:
    counts = np.array([[9, 1]] * 4000)
    profiles = Profiles(pl.Series([str(i) for i in range(4000)]), ["often", "seldom"], csr_array(counts))
    victims = choose_victims(profiles, 4000)
    assert np.asarray(victims.known(1).sum(axis=0)).ravel()[0] / 4000 == pytest.approx(0.9, abs=0.02)
    assert (victims.known(2).toarray() == 1).all()
    assert (victims.known(10).toarray() == 1).all()


def test_fewer_known_terms_are_among_more(profiles: Profiles) -> None:
    victims = choose_victims(profiles, 1000)
    assert (victims.known(5) - victims.known(3)).toarray().min() >= 0
    assert set(np.diff(victims.known(3).indptr).tolist()) == {3}


# The three attackers, and who saw the victim later


def test_the_prosecutor_takes_the_worst_user_the_journalist_the_worst_group(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    _, assignment = release_of([({"beef": 1}, ["a", "b"]), ({"milk": 1}, ["c", "d"])])
    victims = choose_victims(profiles_of(dict.fromkeys("abcde", "beef"), food), 10)
    risks = attackers(Linkage(np.array([0.5, 0.0, 0.3, 0.3, 0.1]), np.zeros((1, 5))), victims, assignment, 2)
    assert (risks.prosecutor, risks.journalist) == (0.5, 0.3)
    assert risks.marketer == pytest.approx(0.24)


def test_whoever_saw_the_victim_later_needs_no_number_of_terms(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, assignment = release_of([({"beef": 1}, ["a"]), ({"milk": 1}, ["b"])])
    victims = choose_victims(profiles_of({"a": "beef", "b": "milk", "c": "milk"}, food), 10)
    later = profiles_of({"b": "apple", "a": "milk beef beef beef", "z": "milk"}, food)
    # a is found; of b only an apple is known, so one of two profiles is guessed; c asked nothing later.
    assert link_later(PublishedView(release, food), assignment, victims, later) == pytest.approx((1 + 0.5) / 2)
    assert link_later(PublishedView(release, food), assignment, victims, profiles_of({"z": "milk"}, food)) is None


# One victim


def test_one_victim_is_attacked_as_all_are(profiles: Profiles) -> None:
    made = released("random", profiles, k=4)
    view = PublishedView(made.release, Knowledge())
    victims = choose_victims(profiles, 20)
    known = victims.known(3)
    linked = link(view, made.assignment, victims, known)
    for row in range(20):
        terms = [profiles.terms[t] for t in known.indices[known.indptr[row] : known.indptr[row + 1]]]
        assert attack(view, terms, smoothing=linked.smoothing).picked[0] == linked.picked[0, row]


def test_belief_is_shared_among_users_by_the_likelihood(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"beef": 1}, ["a"]), ({"beef": 1}, ["b", "c", "d"]), ({"milk": 1}, ["e"])])
    found = attack(PublishedView(release, food), ["beef", "beef", "zebra"])
    beliefs = {suspect.pseudonym: suspect.belief for suspect in found.suspects}
    assert sum(beliefs.values()) == pytest.approx(1)
    assert beliefs["p1"] == pytest.approx(3 * beliefs["p0"])
    assert found.picked == (0, 1)
    assert found.suspects[0].holds == ("beef",)
    assert found.known == ("beef", "zebra")


def test_the_heaviest_unknown_terms_are_believed(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"beef": 6, "Fruit": 3, "milk": 1}, ["a"])])
    believed = attack(PublishedView(release, food), ["beef"]).believed
    assert [(b.term, b.weight) for b in believed] == [("apple", 0.1), ("banana", 0.1), ("milk", 0.1), ("orange", 0.1)]


def test_where_nothing_is_published_or_known_nothing_is_concluded(
    food: Knowledge, release_of: Callable[..., Any]
) -> None:
    assert attack(PublishedView(release_of([])[0], food), ["beef"]).suspects == ()
    assert attack(PublishedView(release_of([({"beef": 1}, ["a"])])[0], food), []).suspects == ()
