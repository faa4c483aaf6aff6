"""Does inference count what the attacker comes to believe, ties as chance expects, and never less than nothing?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.evaluation.attacks.inference import GUESSES, inference
from shoal.evaluation.attacks.linkage import Linkage, link
from shoal.evaluation.attacks.victims import Victims, choose_victims
from shoal.evaluation.attacks.view import PublishedView
from tests.examples import examples

ANY = Knowledge(dictionary_name="any")
LOUD = {f"loud{i}": 9.0 for i in range(12)}  # what the whole release is full of, and no victim asked


def inferred(release: Release, asked: dict[str, str], known: dict[str, str], make: Callable[..., Profiles]) -> float:
    """Inference against users whose first published profile is picked."""
    profiles = make(asked, ANY)
    place = {term: t for t, term in enumerate(profiles.terms)}
    told = np.zeros(profiles.counts.shape)
    for row, user in enumerate(profiles.users.to_list()):
        for term in known.get(user, "").split():
            told[row, place[term]] = 1
    victims = Victims(np.arange(len(profiles)), profiles, profiles.counts)
    linked = Linkage(np.ones(len(profiles)), np.zeros((1, len(profiles)), dtype=np.int64))
    return float(inference(PublishedView(release, ANY), victims, csr_array(told), linked).mean())


def test_terms_of_the_picked_profile_that_are_right_and_new_count(
    release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, _ = release_of([({"wine": 2, "cheese": 1, "beer": 1, "cake": 1}, ["a"]), (LOUD, ["z"])])
    assert inferred(release, {"a": "wine cheese beer"}, {"a": "wine"}, profiles_of) == pytest.approx(2 / GUESSES)
    assert inferred(release, {"a": "wine cheese beer"}, {"a": "wine beer"}, profiles_of) == pytest.approx(1 / GUESSES)


def test_what_everybody_could_guess_is_taken_off(
    release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, _ = release_of([({"wine": 2, "cheese": 1}, ["a"]), ({"beer": 1}, ["z"])])
    assert inferred(release, {"a": "wine cheese"}, {"a": "wine"}, profiles_of) == 0.0


def test_a_guess_worse_than_the_commonest_terms_is_worth_nothing(
    release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, _ = release_of([({"wine": 2}, ["a"]), (LOUD, ["z"])])
    assert inferred(release, {"a": "wine loud1 loud2"}, {"a": "wine"}, profiles_of) == 0.0


def test_among_equal_weights_chance_decides(
    release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    equal = {f"term{i:02d}": 1.0 for i in range(20)}
    release, _ = release_of([(equal, ["a"]), (LOUD, ["z"])])
    asked = {"a": " ".join(list(equal)[:5])}
    assert inferred(release, asked, {}, profiles_of) == pytest.approx(5 * (10 / 20) / GUESSES)


def test_the_stronger_of_two_rankings_counts(
    release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    """By weight alone the ten decoys come first; many users make the true term heavy in the release."""
    decoys = {f"decoy{i}": 2.0 for i in range(10)}
    release, _ = release_of([(decoys | {"wine": 1}, ["a"]), ({"wine": 1}, list("bcdefgh")), (LOUD, ["z"])])
    by_both = inferred(release, {"a": "wine"}, {}, profiles_of)
    assert by_both == pytest.approx(1 / GUESSES)


def test_a_generalized_label_makes_its_leaves_likely(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, _ = release_of([({"Food": 8, "beef": 2}, ["a"])])
    profiles = profiles_of({"a": "apple milk"}, food)
    victims = Victims(np.arange(1), profiles, profiles.counts)
    linked = Linkage(np.ones(1), np.zeros((1, 1), dtype=np.int64))
    # Eight leaves are guessed, two are right; so are they among the commonest of the release.
    assert inference(PublishedView(release, food), victims, csr_array(np.zeros((1, 2))), linked).sum() == 0.0


def test_original_profiles_tell_more_than_random_groups_and_plain_tells_nothing() -> None:
    profiles = build_profiles(sample_log(60), Knowledge().words)
    victims = choose_victims(profiles, 60)
    known = victims.known(3)
    found = []
    for method, settings_ in (("original", {}), ("random", {"k": 10}), ("plain", {})):
        made = make_method(method, settings_, Knowledge()).anonymize(profiles)
        view = PublishedView(made.release, Knowledge())
        found.append(inference(view, victims, known, link(view, made.assignment, victims, known)).mean())
    assert found[0] > found[1] >= found[2] == 0.0


def literal(release: Release, knowledge: Knowledge, victims: Victims, known: csr_array, picked: np.ndarray) -> float:
    """The definition, term by term over all that the release stands for."""
    total = release.weights.T @ release.users.astype(float)
    whole = spread(dict(zip(release.labels, total.tolist(), strict=True)), release, knowledge)
    hits = np.zeros(3)
    for v, user in enumerate(victims.user.tolist()):
        own = set(victims.profiles.of(user))
        told = {victims.profiles.terms[t] for t in np.flatnonzero(known[[v]].toarray())}
        there = spread(release.profile(int(picked[v])), release, knowledge)
        both = {term: weight * whole[term] for term, weight in there.items()}
        hits += [expected(ranking, own, told) for ranking in (there, both, whole)]
    by_weight, by_both, common = hits / (GUESSES * len(victims))
    return float(max(0.0, max(by_weight, by_both) - common))


def spread(profile: dict[str, float], release: Release, knowledge: Knowledge) -> dict[str, float]:
    found: dict[str, float] = {}
    for label, weight in profile.items():
        general = release.generalized[release.labels.index(label)]
        terms = knowledge.stands_for(label) if general else [label]
        for term in terms:
            found[term] = found.get(term, 0.0) + weight / len(terms) / sum(profile.values())
    return found


def expected(ranking: dict[str, float], own: set[str], told: set[str]) -> float:
    fresh = {term: round(weight, 12) for term, weight in ranking.items() if term not in told and weight > 0}
    edge = sorted(fresh.values(), reverse=True)[GUESSES - 1] if len(fresh) > GUESSES else 0.0
    above = [term for term, weight in fresh.items() if weight > edge]
    tied = [term for term, weight in fresh.items() if weight == edge]
    share = (GUESSES - len(above)) / len(tied) if tied else 0.0
    return sum(term in own for term in above) + share * sum(term in own for term in tied)


TERMS = ["apple", "orange", "banana", "beef", "chicken", "milk", "cheese", "butter"]


@examples(60)
@given(data=st.data())
def test_inference_is_what_its_definition_says(
    data: st.DataObject, food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    labels = [*TERMS, "Fruit", "Meat", "Dairy", "Food", *(f"zebra{i}" for i in range(9)), "zebra1|milk"]
    profile = st.dictionaries(st.sampled_from(labels), st.sampled_from([1, 2, 3]), min_size=1, max_size=14)
    published = data.draw(st.lists(profile, min_size=1, max_size=3))
    asked = data.draw(st.lists(st.lists(st.sampled_from(TERMS), min_size=1), min_size=1, max_size=4))
    release, assignment = release_of([(terms, [f"u{i}"]) for i, terms in enumerate(published)])
    profiles = profiles_of({f"u{i}": " ".join(terms) for i, terms in enumerate(asked)}, food)
    victims = choose_victims(profiles, 10)
    known = victims.known(data.draw(st.integers(1, 4)))
    view = PublishedView(release, food)
    linked = link(view, assignment, victims, known)
    assert isinstance(assignment, Assignment)
    expected = max(literal(release, food, victims, known, picked) for picked in linked.picked)
    assert inference(view, victims, known, linked).mean() == pytest.approx(expected, abs=1e-9)
