"""Is a profile the bag of the terms a user typed?"""

import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import dictionary
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import make_log
from shoal.corpus.tokens import STOP_WORDS, tokenize
from tests.examples import examples

WORDS = ["dog", "dogs", "the", "wine", "zzyzx", "raw-milk", "riding"]
queries = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)),
    min_size=1,
    max_size=15,
)


@examples(150)
@given(queries)
def test_a_profile_counts_every_term_that_the_dictionary_knows(rows: list[tuple[str, str]]) -> None:
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    profiles = build_profiles(log, dictionary("any"))
    for u, name in enumerate(profiles.users):
        typed = Counter(t for user, query in rows if user == name for t in tokenize(query) if t not in STOP_WORDS)
        assert profiles.of(u) == dict(typed)
        assert (profiles.size[u], profiles.occurrences[u]) == (len(typed), sum(typed.values()))


def test_wordnet_keeps_nouns_by_their_lemma() -> None:
    log = make_log(pl.Series(["a", "a"]), pl.Series(["the dogs", "dog quickly zzyzx"]))
    assert build_profiles(log, dictionary("wordnet")).of(0) == {"dog": 2}


def test_a_taxonomy_keeps_its_leaves_whatever_their_case(tmp_path: Path) -> None:
    tree = tmp_path / "tree.tsv"
    tree.write_text("Raw-Milk\tMilk\nWine\tGoods\nMilk\tGoods\n")
    log = make_log(pl.Series(["a", "b"]), pl.Series(["raw-milk WINE milk dog", "dog"]))
    profiles = build_profiles(log, Knowledge(tree).words)
    assert (profiles.of(0), profiles.of(1)) == ({"raw-milk": 1, "wine": 1}, {})


def test_an_unknown_dictionary_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="wordnet, taxonomy, any"):
        dictionary("latin")
    with pytest.raises(InputError, match="needs a taxonomy file"):
        dictionary("taxonomy")


def test_profiles_are_made_once_for_a_log_and_a_dictionary_and_given_up_with_the_log() -> None:
    log = make_log(pl.Series(["ann"]), pl.Series(["red wine"]))
    made = build_profiles(log, dictionary("any"))
    assert build_profiles(log, dictionary("any")) is made
    assert build_profiles(replace(log), dictionary("any")) is not made
    assert build_profiles(log, dictionary("wordnet")) is not made
    gone = weakref.ref(log)
    del log
    assert gone() is None
