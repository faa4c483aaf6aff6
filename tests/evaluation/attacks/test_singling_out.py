"""Do known terms single a profile out as the definition says, and never less when more is known?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release, ReleasedQueries
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import make_log
from shoal.evaluation.attacks.singling_out import NEVER, seen_query, singled_out_at, terms_alone
from shoal.evaluation.attacks.victims import KNOWN, Victims, choose_victims
from shoal.evaluation.attacks.view import PublishedView
from shoal.evaluation.measures.registry import columns_named
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from tests.examples import examples

TERMS = ["apple", "orange", "banana", "beef", "chicken", "milk"]
LABELS = [*TERMS, "Fruit", "Food", "zebra", "zebra|milk"]


def in_alphabetical_order(profiles: Profiles) -> Victims:
    """All users as victims whose terms become known from a to z."""
    order = csr_array(profiles.counts.astype(float))
    order.data = np.concatenate([np.arange(size) + 1.0 for size in profiles.size])
    return Victims(np.arange(len(profiles)), profiles, order)


def test_terms_single_out_if_they_fit_one_profile(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, _ = release_of([({"beef": 1, "milk": 1}, ["a"]), ({"Meat": 1}, ["b"]), ({"apple": 1}, ["c"])])
    profiles = profiles_of({"a": "beef milk", "b": "beef", "c": "apple", "d": "apple milk", "e": "butter milk"}, food)
    # Of a, beef fits two profiles and milk one of them; b fits two; d's apple fits one, and its milk no longer helps;
    # nothing stands for the butter of e, so that nothing fits, whatever else is known.
    found = singled_out_at(PublishedView(release, food), in_alphabetical_order(profiles))
    assert found.tolist() == [2, NEVER, 1, 1, NEVER]


@examples(80)
@given(data=st.data())
def test_singling_out_is_what_its_definition_says_and_never_falls(
    data: st.DataObject, food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    published = data.draw(st.lists(st.sets(st.sampled_from(LABELS), min_size=1, max_size=5), min_size=1, max_size=5))
    asked = data.draw(st.lists(st.sets(st.sampled_from(TERMS), min_size=1), min_size=1, max_size=4))
    release, _ = release_of([(dict.fromkeys(labels, 1), [f"u{i}"]) for i, labels in enumerate(published)])
    profiles = profiles_of({f"u{i}": " ".join(sorted(terms)) for i, terms in enumerate(asked)}, food)
    stands_for = [{t for label in labels for t in covered(label, food)} for labels in published]
    found = singled_out_at(PublishedView(release, food), in_alphabetical_order(profiles))
    for own, at in zip(asked, found.tolist(), strict=True):
        fits = [sum(set(sorted(own)[:m]) <= terms for terms in stands_for) for m in range(1, len(own) + 1)]
        assert at == (fits.index(1) + 1 if 1 in fits else NEVER)


def covered(label: str, knowledge: Knowledge) -> list[str]:
    return knowledge.stands_for(label) if label[0].isupper() or "|" in label else [label]


@pytest.mark.parametrize(("method", "values"), [("clump", {"k": 4}), ("random", {"k": 4}), ("ssc", {"k": 2})])
def test_an_attacker_who_learns_more_singles_out_as_many_or_more(method: str, values: dict[str, object]) -> None:
    log = sample_log(60)
    made = make_method(method, values, Knowledge()).run(log)
    found = measure_release(
        MeasuredRelease(made.release, made.assignment, log, Knowledge()), columns_named(["uniqueness"])
    )
    shares = [found[f"uniqueness{m}"] for m in KNOWN]
    assert shares == sorted(shares)


def test_what_is_known_of_a_victim_begins_with_what_was_known_before() -> None:
    victims = choose_victims(build_profiles(sample_log(20), Knowledge().words), 20)
    for few, many in ((1, 2), (2, 5), (5, 10)):
        (start, term), (more_start, more) = victims.in_order(few), victims.in_order(many)
        for v in range(20):
            assert term[start[v] : start[v + 1]].tolist() == more[more_start[v] : more_start[v] + few].tolist()
        assert (victims.known(many) - victims.known(few)).min() >= 0


def test_a_term_is_alone_if_one_member_holds_what_it_stands_for(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    profiles = profiles_of({"a": "beef apple", "b": "beef banana", "c": "milk", "d": "milk"}, food)
    # Both have beef and something that Fruit stands for; apple is a's alone; nobody has butter; c holds all of Dairy.
    groups = [({"beef": 2, "Fruit": 2, "apple": 1, "butter": 1}, ["a", "b"]), ({"milk": 1, "Dairy": 1}, ["c"])]
    release, assignment = release_of(groups)
    assert terms_alone(PublishedView(release, food), assignment, profiles) == (1 + 2) / 6
    assert terms_alone(PublishedView(release_of([])[0], food), assignment, profiles) is None


@examples(60)
@given(data=st.data())
def test_terms_alone_are_counted_as_their_definition_says(
    data: st.DataObject, food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    people = [f"u{i}" for i in range(4)]
    asked = [data.draw(st.sets(st.sampled_from(TERMS), min_size=1)) for _ in people]
    profile = st.sets(st.sampled_from(LABELS), min_size=1)
    groups = data.draw(
        st.lists(st.tuples(profile, st.sets(st.sampled_from(range(4)), min_size=1)), min_size=1, max_size=4)
    )
    release, assignment = release_of(
        [(dict.fromkeys(terms, 1), [f"u{i}" for i in sorted(who)]) for terms, who in groups]
    )
    profiles = profiles_of({name: " ".join(sorted(own)) for name, own in zip(people, asked, strict=True)}, food)
    behind = [
        sum(bool(asked[i] & set(covered(label, food))) for i in who)
        for labels, who in groups
        for label in sorted(labels)
    ]
    assert terms_alone(PublishedView(release, food), assignment, profiles) == behind.count(1) / len(behind)


def test_a_query_that_one_pseudonym_alone_has_singles_out() -> None:
    asked = {"a": ["red wine", "Red  Wine"], "b": ["news"], "c": ["news"], "d": ["secret"]}
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    queries = ReleasedQueries(
        np.array([0, 1, 2], dtype=np.int32), pl.Series(["red wine", "news", "news"]), np.ones(3), np.ones(3)
    )
    release = Release(["p0", "p1", "p2"], np.ones(3), [], np.empty(0, dtype=bool), csr_array((3, 0)), queries)
    victims = choose_victims(build_profiles(log, Knowledge(dictionary_name="any").words), 10)
    assert seen_query(release, log, victims).tolist() == [1, 0, 0, 0]
