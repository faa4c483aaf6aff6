"""Does the attacker see what is published, and each generalized label as an equal share of its leaves?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge import Knowledge
from shoal.evaluation.attacks import view
from shoal.evaluation.attacks.view import PublishedView
from tests.examples import examples

LEAVES = ["apple", "orange", "banana", "beef", "chicken", "milk", "cheese", "butter"]
LABELS = [*LEAVES, "Fruit", "Meat", "Dairy", "Food", "apple|beef", "milk|orange|zebra", "zebra"]


def shares(release: Release, knowledge: Knowledge, row: int) -> dict[str, float]:
    """P(t | profile), label by label."""
    found: dict[str, float] = {}
    profile = release.profile(row)
    for label, weight in profile.items():
        general = bool(release.generalized[release.labels.index(label)])
        terms = knowledge.stands_for(label) if general else [label]
        for term in terms:
            found[term] = found.get(term, 0.0) + weight / len(terms) / sum(profile.values())
    return found


def test_a_label_is_shared_equally_by_all_leaves_below_it(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"Fruit": 3, "beef": 1}, ["a"])])
    matrix = PublishedView(release, food).profiles_over(["apple", "beef", "milk"]).toarray()
    np.testing.assert_allclose(matrix, [[0.25, 0.25, 0.0]])


def test_a_term_published_twice_over_counts_both_times(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"Food": 8, "apple|beef": 2, "apple": 2}, ["a"])])
    matrix = PublishedView(release, food).profiles_over(["apple", "beef", "milk"]).toarray()
    np.testing.assert_allclose(matrix, [[4 / 12, 2 / 12, 1 / 12]])


def test_the_whole_release_counts_every_user(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"beef": 1}, ["a", "b", "c"]), ({"milk": 1}, ["d"])])
    np.testing.assert_allclose(PublishedView(release, food).whole_over(["beef", "milk", "apple"]), [0.75, 0.25, 0])


def test_terms_between_the_same_labels_are_one_atom(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"Food": 1, "Fruit": 1, "apple": 1}, ["a"])])
    atoms = PublishedView(release, food).atoms
    assert len({*atoms.of(["orange", "banana"]).tolist()}) == 1
    assert len({*atoms.of(["apple", "orange", "beef"]).tolist()}) == 3
    assert sorted(atoms.terms(int(atoms.of(["orange"])[0]))) == ["banana", "orange"]


@examples(60)
@given(data=st.data())
def test_atoms_say_what_walking_over_all_leaves_says(
    data: st.DataObject, food: Knowledge, release_of: Callable[..., Any]
) -> None:
    profile = st.dictionaries(st.sampled_from(LABELS), st.sampled_from([1, 2, 5]), min_size=1, max_size=6)
    groups = data.draw(st.lists(profile, min_size=1, max_size=4))
    release, _ = release_of([(terms, [f"u{i}"]) for i, terms in enumerate(groups)])
    view = PublishedView(release, food)
    expected = [shares(release, food, row) for row in range(len(release))]
    assert view.terms == sorted({term for row in expected for term in row})
    matrix = view.profiles_over([*LEAVES, "zebra", "nothing"]).toarray()
    wanted = [[row.get(term, 0.0) for term in [*LEAVES, "zebra", "nothing"]] for row in expected]
    np.testing.assert_allclose(matrix, wanted, atol=1e-12)
    np.testing.assert_allclose(view.profiles @ view.atoms.size, np.ones(len(release)))


def test_of_a_large_release_the_parts_are_those_of_the_whole(
    food: Knowledge, release_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = [({"Food": 8, "apple|beef": 2, "apple": 2}, ["a"]), ({"Meat": 1, "milk": 3}, ["b", "c"]), ({}, ["d"])]
    release, _ = release_of(profiles)
    small, large = PublishedView(release, food), PublishedView(release, food)
    atoms = np.unique(small.atoms.of(["beef", "milk", "butter"]))
    told = [(small.holders_of(atoms).toarray(), small.profiles_at(np.array([0, 2])).toarray())]
    monkeypatch.setattr(view, "_FEW", 0)
    told.append((large.holders_of(atoms).toarray(), large.profiles_at(np.array([0, 2])).toarray()))
    np.testing.assert_array_equal(told[0][0], told[1][0])
    np.testing.assert_array_equal(told[0][1], told[1][1])
    assert not {"profiles", "holders"} & set(vars(large))
    np.testing.assert_array_equal(small.holders.toarray()[atoms], told[1][0])
