"""Does the server find people as its definition says: by what they type, by the profile beside it, and by both?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.attacks.server import QUERY_SHARES, SMOOTHINGS, Served, attack_streams, see_streams
from shoal.evaluation.attacks.victims import choose_victims
from shoal.evaluation.attacks.view import PublishedView
from shoal.evaluation.measures.registry import columns_named
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from tests.examples import examples

TERMS = ["apple", "orange", "banana", "beef", "chicken", "milk"]
ALL = 10  # searches, and terms known


def log_of(asked: dict[str, list[str]]) -> QueryLog:
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    return make_log(pl.Series([u for u, _ in rows], dtype=pl.String), pl.Series([q for _, q in rows], dtype=pl.String))


def attacked(
    release: Release, assignment: Assignment, profiles: Profiles, searches: QueryLog, knowledge: Knowledge, s: int = ALL
) -> Served:
    streams = see_streams(release, assignment, profiles.users, knowledge, searches, profiles.terms, s)
    victims = choose_victims(profiles, ALL)
    return attack_streams(streams, victims, victims.known(ALL))


def test_who_shares_a_profile_is_told_apart_by_what_is_typed(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    profiles = profiles_of({"a": "beef", "b": "milk", "c": "apple"}, food)
    release, assignment = release_of([({"beef": 1, "milk": 1}, ["a", "b"]), ({"apple": 1}, ["c"])])
    found = attacked(release, assignment, profiles, log_of({"a": ["beef"], "b": ["zzz"], "c": ["zzz"]}), food)
    # The queries of b and c say nothing: by them alone each is one of three, and one of two when a's profile is known.
    assert found.queries.tolist() == pytest.approx([1, 1 / 3, 1 / 3])
    assert found.both.tolist() == pytest.approx([1, 1 / 2, 1])


def test_who_never_searches_is_only_guessed(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    profiles = profiles_of({"a": "beef", "b": "milk"}, food)
    release, assignment = release_of([({"beef": 1}, ["a"]), ({"milk": 1}, ["b"])])
    assert attacked(release, assignment, profiles, log_of({"b": ["milk"]}), food).both.tolist() == [1 / 2, 1]


def literal(
    release: Release, row: list[int], asked: list[str], known: list[list[str]], knowledge: Knowledge
) -> dict[tuple[float, float], float]:
    """The success of an attacker by each share and smoothing, stream by stream."""
    view = PublishedView(release, knowledge)
    users = np.bincount(row, minlength=len(release))
    everyone = (release.weights.T @ users) @ view.atoms.spread / max(1e-300, (release.weights.T @ users).sum())
    found = {}
    for share in QUERY_SHARES:
        for smoothing in SMOOTHINGS:
            right = 0.0
            for victim, terms in enumerate(known):
                typed = np.array([[text.split().count(t) / len(text.split()) for t in terms] for text in asked])
                there = view.profiles_over(terms).toarray()[row]
                mixed = share * typed + (1 - share) * there
                ground = share * typed.mean(axis=0) + (1 - share) * (everyone @ view._named(terms))
                some = ground > 0
                score = np.log((1 - smoothing) * mixed[:, some] + smoothing * ground[some]).sum(axis=1)
                best = np.flatnonzero(score >= score.max() - 1e-9).tolist()
                right += (victim in best) / len(best)
            found[share, smoothing] = right / len(known)
    return found


@examples(40)
@given(data=st.data())
def test_the_server_is_the_strongest_attacker_of_its_definition(
    data: st.DataObject, food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    words = st.lists(st.sampled_from(TERMS), min_size=1, max_size=5)
    people = [f"u{i}" for i in range(5)]
    published = data.draw(
        st.lists(st.dictionaries(st.sampled_from([*TERMS, "Fruit", "Food"]), st.integers(1, 3)), min_size=3, max_size=3)
    )
    row = data.draw(st.lists(st.integers(0, 2), min_size=5, max_size=5))
    groups = [
        ({"zebra": 1, **terms}, [p for p, r in zip(people, row, strict=True) if r == g])
        for g, terms in enumerate(published)
    ]
    release, assignment = release_of(groups)
    own, asked = ([" ".join(data.draw(words)) for _ in people] for _ in range(2))
    profiles = profiles_of(dict(zip(people, own, strict=True)), food)
    found = attacked(release, assignment, profiles, log_of({p: [q] for p, q in zip(people, asked, strict=True)}), food)
    expected = literal(release, row, asked, [sorted(set(text.split())) for text in own], food)
    assert found.both.mean() == pytest.approx(max(expected.values()))
    assert found.queries.mean() == pytest.approx(max(expected[1.0, smoothing] for smoothing in SMOOTHINGS))


def test_fewer_searches_are_among_more_and_a_number_is_not_exceeded(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    profiles = profiles_of({"a": " ".join(TERMS)}, food)
    release, assignment = release_of([({"beef": 1}, ["a"])])
    log = log_of({"a": TERMS})
    seen = [
        set(csr_array(see_streams(release, assignment, profiles.users, food, log, profiles.terms, s).typed).indices)
        for s in (1, 3, 5)
    ]
    assert [len(terms) for terms in seen] == [1, 3, 5]
    assert seen[0] < seen[1] < seen[2]


def measured(method: str, **values: object) -> dict[str, float]:
    log = sample_log(60)
    made = make_method(method, values, Knowledge()).run(log)
    wanted = columns_named(["server5_", "queries_only5_", "linkage5"])
    return measure_release(MeasuredRelease(made.release, made.assignment, log, Knowledge(), later_log=log), wanted)


def test_a_method_that_publishes_nothing_adds_nothing_and_others_never_take_away() -> None:
    plain, groups, original = measured("plain"), measured("random", k=5), measured("original")
    for s in (1, 5):
        assert plain[f"server5_{s}"] == plain[f"queries_only5_{s}"]
        for found in (groups, original):
            assert found[f"server5_{s}"] >= max(found[f"queries_only5_{s}"], found["linkage5"] - 1e-9)
        assert groups[f"server5_{s}"] < original[f"server5_{s}"]
        assert {plain[f"queries_only5_{s}"], original[f"queries_only5_{s}"]} == {groups[f"queries_only5_{s}"]}
    assert plain["queries_only5_1"] < plain["queries_only5_5"]
