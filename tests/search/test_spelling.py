"""Are the edit distances right, and the suggestions the nearest words?"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.search.lexicon import make_lexicon
from shoal.search.spelling import LONGEST, Speller, edit_distances
from tests.examples import examples

WORDS = st.text(alphabet="abcd", min_size=1, max_size=8)


def slow_distance(a: str, b: str) -> int:
    """Optimal string alignment, cell by cell."""
    table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = a[i - 1] != b[j - 1]
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a), len(b)]


@examples(200)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=12))
def test_distances_to_many_words_are_those_to_each(word: str, others: list[str]) -> None:
    table = np.array(others, dtype=f"<U{LONGEST}")
    codes = table.view(np.uint32).reshape(len(others), LONGEST)
    distances = edit_distances(word, codes, np.char.str_len(table))
    assert distances.tolist() == [slow_distance(word, other) for other in others]


def test_a_misspelling_that_a_document_holds_is_corrected_but_not_a_rare_name() -> None:
    words, frequency = ["goverment", "government", "nunes", "nunez"], [2, 900, 30, 20]
    speller = Speller(make_lexicon(words, np.array(frequency), lambda words: [None] * len(words)))
    assert speller.suggest("the goverment of Nunez") == "the government of Nunez"
    assert speller.suggest("nunes") is None


def test_numbers_and_very_long_words_are_left_alone() -> None:
    speller = Speller(make_lexicon(["harbour"], np.array([5]), lambda words: [None] * len(words)))
    assert speller.suggest("harbuor") == "harbour"
    assert speller.suggest("2017 h4rbour harbourharbourharbourharbour") is None
