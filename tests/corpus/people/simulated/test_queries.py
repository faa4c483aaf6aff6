"""Are the small parts of the simulation right: spelling, repetition, fixed draws, taken queries?"""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.columns import below, mix
from shoal.corpus.people.simulated.people import queries_per_user, sessions
from shoal.corpus.people.simulated.phrases import COMPOUND, MISSPELT, NUMBERED, PLAIN, Taken, slip, written
from shoal.corpus.people.simulated.queries import new_at_rate, rate_for, repeated
from tests.examples import examples

WORDS = pl.Series("word", ["brexit", "news"])


def test_words_are_written_as_their_kind_says() -> None:
    kind = np.array([PLAIN, COMPOUND, NUMBERED, MISSPELT, MISSPELT, MISSPELT])
    extra = np.array([0, 1, 2016, 0 * 64 + 2, 1 * 64 + 2, 2 * 64 + 2])
    typed = written(WORDS, np.zeros(6, dtype=np.int64), kind, extra)
    assert typed.to_list() == ["brexit", "brexitnews", "brexit2016", "brxit", "breexit", "brxeit"]


@examples(50)
@given(st.integers(0, 1 << 20), st.text("abcdefg", min_size=3, max_size=24))
def test_a_slip_changes_one_letter_or_two_inside_the_word(choice: int, word: str) -> None:
    extra = slip(np.array([choice]), np.array([len(word)]))
    typed = written(pl.Series([word]), np.array([0]), np.array([MISSPELT]), extra).item()
    assert typed[0] == word[0]
    assert abs(len(typed) - len(word)) <= 1
    assert set(typed) <= set(word)


def test_mixed_numbers_are_spread_and_the_same_again() -> None:
    rows = np.arange(10_000)
    assert len(np.unique(mix(rows, 1))) == 10_000
    assert np.array_equal(mix(rows, 1), mix(rows, 1))
    assert not np.array_equal(mix(rows, 1), mix(rows, 2))
    assert np.bincount(below(10, rows)).min() > 850


@examples(50)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=20), st.floats(0, 1), st.integers(0, 99))
def test_a_repetition_is_of_an_earlier_query_of_the_same_user(number: list[int], rate: float, seed: int) -> None:
    user = np.repeat(np.arange(len(number)), number)
    rng = np.random.default_rng(seed)
    new = new_at_rate(user, rate, rng)
    source = np.flatnonzero(new)[repeated(user, new, rng)]
    assert (source <= np.arange(len(user))).all()
    assert (user[source] == user).all()
    assert (source[new] == np.flatnonzero(new)).all()


def test_the_rate_gives_the_wanted_number_of_new_queries() -> None:
    user = np.repeat(np.arange(1_000), 20)
    rate = rate_for(user, 8_000)
    new = new_at_rate(user, rate, np.random.default_rng(0))
    assert abs(new.sum() - 8_000) < 200


def test_a_query_is_taken_once() -> None:
    taken = Taken()
    sound = np.array([True, True, True, False])
    assert taken.claim(np.array([5, 3, 5, 9], dtype=np.uint64), sound).tolist() == [True, True, False, False]
    assert taken.claim(np.array([3, 9, 1], dtype=np.uint64), np.ones(3, dtype=bool)).tolist() == [False, True, True]


@examples(30)
@given(st.integers(1, 400), st.integers(0, 99))
def test_every_user_types_and_time_runs_forward(users: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    number = queries_per_user(users, 44.0, rng)
    assert number.min() >= 1
    assert abs(number.mean() - 44) < 1
    when = sessions(number, rng)
    user = np.repeat(np.arange(users), number)
    assert (np.diff(when.time)[user[1:] == user[:-1]] > 0).all()
    assert (np.diff(when.session) >= 0).all()
    assert np.array_equal(when.user[when.session], user)
