"""Is a person served by what is published of that person: one profile, the mean of several, or nothing?"""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.anonymizer.personal_profile import profile_of, profiles_of

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
