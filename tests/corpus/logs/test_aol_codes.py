"""Has each distinct string one code, in the order in which they come, however blocks are cut and hashes meet?"""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.logs.aol import Distinct, _coded
from tests.examples import examples

words = st.sampled_from(
    ["", "wine", "red wine", "wine ", "Wine", "a longer text, which is kept elsewhere", "é", "日本"]
)


@examples(60)
@given(blocks=st.lists(st.lists(words, max_size=6), min_size=1, max_size=4))
def test_strings_are_numbered_in_the_order_in_which_they_come(blocks: list[list[str]]) -> None:
    strings = [text for block in blocks for text in block]
    distinct = Distinct()
    for block in [*blocks, ["last"]]:
        distinct.add(distinct.codes(pl.Series(block, dtype=pl.String)))
    names, code = distinct.coded()
    assert names.to_list() == list(dict.fromkeys([*strings, "last"]))
    assert names.gather(code).to_list() == [*strings, "last"]
    assert code.dtype == np.int32


@examples(60)
@given(
    strings=st.lists(
        st.sampled_from(["wine", " wine", "wine\u00a0", "red wine", "\twine", " ", "\u3000", ""]), max_size=9
    )
)
def test_strings_that_differ_by_blanks_around_them_have_one_code(strings: list[str]) -> None:
    codes = Distinct().stripped(pl.Series(strings, dtype=pl.String))
    assert codes.names.to_list() == list(dict.fromkeys(text.strip() for text in strings))
    assert codes.names.gather(codes.code).to_list() == [text.strip() for text in strings]


@examples(60)
@given(
    pairs=st.lists(st.tuples(st.sampled_from([0, 1, 2, 2**63, 2**63 + 1]), st.integers(0, 2)), min_size=1, max_size=12)
)
def test_what_meets_in_one_of_two_hashes_is_told_apart(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs, dtype=np.uint64).T
    first, code = _coded(one, other)
    known = list(dict.fromkeys(pairs))
    assert first.tolist() == [pairs.index(pair) for pair in known]
    assert code.tolist() == [known.index(pair) for pair in pairs]
