"""Does a release know its labels, an assignment its users, and is a person served by what is published of them?"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release, profile_of, profiles_of
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import bag_label, bag_members, is_bag


def test_a_release_tells_terms_nodes_and_bags_apart() -> None:
    labels = ["wine", "Fruit", "beer|wine"]
    release = Release(["p0001"], np.array([2]), labels, np.array([False, True, True]), csr_array(np.ones((1, 3))))
    assert release.nodes == {1: "Fruit"}
    assert release.bags == {2: ["beer", "wine"]}


@given(st.lists(st.sampled_from(["wine", "beer", "raw-milk", "o'neill"]), min_size=1))
def test_a_bag_is_read_as_it_was_written(terms: list[str]) -> None:
    label = bag_label(terms)
    assert bag_members(label) == sorted(set(terms))
    assert is_bag(label) == (len(set(terms)) > 1)


names = st.lists(st.sampled_from(["ann", "bob", "cy", "", "1", "01"]), unique=True)


@given(names, names, st.data())
def test_rows_are_those_of_a_dictionary(held: list[str], users: list[str], data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.integers(0, len(held) - 1), max_size=8)) if held else []
    assignment = Assignment(pl.Series(held, dtype=pl.String), np.array(pairs, dtype=np.int32), np.zeros(len(pairs)))
    expected = [users.index(held[user]) if held[user] in users else -1 for user in pairs]
    assert assignment.rows_among(pl.Series(users, dtype=pl.String)).tolist() == expected


def test_a_user_whom_the_log_does_not_hold_is_named() -> None:
    assignment = Assignment(pl.Series(["ann", "bob"]), np.array([1, 0]), np.array([0, 0]))
    with pytest.raises(InputError, match="a user 'bob' whom the log does not hold: give the log it was made from"):
        assignment.rows_for(pl.Series(["ann", "cy"]))


WEIGHTS = csr_array(np.array([[2.0, 0, 0], [0, 4.0, 0], [0, 1.0, 5.0]]))
RELEASE = Release(["p1", "p2", "p3"], np.array([2, 2, 1]), ["a", "b", "c"], np.zeros(3, dtype=bool), WEIGHTS)
EVERYBODY = ["u0", "u1", "u2", "u3"]


def assignment(pairs: dict[str, list[int]]) -> Assignment:
    names = list(pairs)
    user = [names.index(name) for name, profiles in pairs.items() for _ in profiles]
    profile = [row for profiles in pairs.values() for row in profiles]
    return Assignment(pl.Series(names, dtype=pl.String), np.array(user, dtype=int), np.array(profile, dtype=int))


def test_a_user_of_several_sessions_has_their_mean_and_a_suppressed_one_nothing() -> None:
    secret = assignment({"u1": [1, 2], "u0": [0]})
    assert profile_of("u1", RELEASE, secret).toarray().tolist() == [[0, 2.5, 2.5]]
    assert profile_of("u0", RELEASE, secret).toarray().tolist() == [[2, 0, 0]]
    assert profile_of("u3", RELEASE, secret).nnz == 0


@given(st.dictionaries(st.sampled_from(EVERYBODY), st.sets(st.integers(0, 2), min_size=1, max_size=3)))
def test_all_users_at_once_are_served_as_one_at_a_time(pairs: dict[str, set[int]]) -> None:
    secret = assignment({name: sorted(profiles) for name, profiles in pairs.items()})
    rows, row_of = profiles_of(pl.Series(EVERYBODY), RELEASE, secret)
    for name, row in zip(EVERYBODY, row_of, strict=True):
        np.testing.assert_allclose(rows[[row]].toarray(), profile_of(name, RELEASE, secret).toarray())
