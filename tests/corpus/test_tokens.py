"""Is a term always the same thing?"""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.tokens import tokenize, tokenize_column
from tests.examples import examples


def test_a_term_keeps_inner_hyphens_and_apostrophes_and_loses_case() -> None:
    assert tokenize("Raw-Milk, the BAKER's -edge- 'quoted' a_b") == [
        "raw-milk", "the", "baker's", "edge", "quoted", "a", "b",
    ]  # fmt: skip


def test_an_empty_column_has_no_terms() -> None:
    tokens = tokenize_column(pl.Series([], dtype=pl.String))
    assert (len(tokens), tokens.vocabulary) == (0, [])


# Characters that this Python's Unicode does not know yet may be letters to the other tokenizer.
known = st.characters(exclude_categories=["Cn", "Cs"])


@examples(300)
@given(st.lists(st.text(known, max_size=30), max_size=8))
def test_the_column_tokenizer_agrees_with_the_plain_one(texts: list[str]) -> None:
    tokens = tokenize_column(pl.Series(texts, dtype=pl.String))
    assert [tokens.of(i) for i in range(len(tokens))] == [tokenize(text) for text in texts]
