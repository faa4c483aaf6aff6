"""Does a release know its labels, and an assignment its users?"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
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
