"""Are shares read in columns as the textbook reads them one by one, whatever an adversary wrote?"""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release, ReleasedQueries
from shoal.anonymizer.claims.polynomials import PRIME, inverse, minus, times
from shoal.anonymizer.claims.share_columns import BYTES, parsed, read_blocks
from shoal.anonymizer.claims.shares import reads
from shoal.anonymizer.contract.literal.shares import NoShare, share_of
from shoal.anonymizer.methods.secret_sharing.literal import blocks_of, share, text_of, value_at
from tests.examples import examples

EDGES = [0, 1, 2, 127, 128, 2**29 - 1, 2**32 - 1, 2**32, 2**56 - 1, 2**56, 2**60, PRIME - 2, PRIME - 1]
numbers = st.sampled_from(EDGES) | st.integers(0, PRIME - 1)
words = st.text(st.sampled_from("ab é酒\0\x80"), max_size=20)
points = st.sampled_from([1, 2, 3, 4, 5, 10**18 - 1])


@given(numbers, numbers)
@examples(300)
def test_the_field_computes_as_whole_numbers_do(a: int, b: int) -> None:
    assert int(times(np.uint64(a), np.uint64(b))) == a * b % PRIME
    assert int(minus(np.uint64(a), np.uint64(b))) == (a - b) % PRIME
    assert a == 0 or int(inverse(np.uint64(a))) == pow(a, -1, PRIME)


def test_no_pair_of_numbers_at_an_edge_overflows() -> None:
    for a in EDGES:
        for b in EDGES:
            assert int(times(np.uint64(a), np.uint64(b))) == a * b % PRIME


@given(st.lists(st.lists(numbers | st.binary(max_size=7).map(lambda b: int.from_bytes(b + b"\x80", "little")))))
@examples(300)
def test_blocks_are_the_text_of_the_textbook_or_none(texts: list[list[int]]) -> None:
    start = np.concatenate([[0], np.cumsum([len(blocks) for blocks in texts])]).astype(np.int64)
    found = read_blocks(np.array([block for blocks in texts for block in blocks], dtype=np.uint64), start)
    assert [None if one is None else decoded(one) for one in found.to_list()] == [text_of(blocks) for blocks in texts]


def decoded(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


Given = tuple[int, list[int], Sequence[int], list[int], int]
queries = st.tuples(
    st.sampled_from([0, 1, 7, 10**18 - 1]),
    words.map(blocks_of) | st.lists(numbers, min_size=1, max_size=3),
    st.lists(numbers, min_size=1, max_size=2),
    st.lists(points, min_size=1, max_size=5),
    st.integers(0, 3),
)


def written(query: Given) -> list[str]:
    """Shares of a query, of which one may be another's, longer, or of a point that was there."""
    number, blocks, powers, places, spoiled = query
    rows = [[share(block, powers, x) for block in blocks] for x in places]
    if spoiled == 1:
        rows[-1][0] = (rows[-1][0] + 1) % PRIME
    elif spoiled == 2:
        rows[-1].append(5)
    return [f"{number}/{x}/{'.'.join(map(str, row))}" for x, row in zip(places, rows, strict=True)]


lines = st.text("0123456789/.+- \n", max_size=30) | st.tuples(numbers, numbers, numbers).map(
    lambda of: f"{of[0]}/{of[1]}/{of[2]}"
)


@given(st.lists(queries, max_size=4), st.lists(lines, max_size=4), st.integers(1, 4))
@examples(400)
def test_columns_read_what_the_textbook_reads(some: list[Given], other: list[str], k: int) -> None:
    rows = [text for query in some for text in written(query)] + other
    table = parsed(pl.Series(rows, dtype=pl.String))
    literal = literally(rows)
    assert table.query[table.first[:-1]].tolist() == sorted(literal)
    texts, astray, few = table.texts(k), table.astray(k), table.decoded(np.where(table.fit, 1, 0))
    for place, number in enumerate(sorted(literal)):
        shares = sorted(literal[number])
        fit = len({x for x, _ in shares}) == len(shares) and len({len(values) for _, values in shares}) == 1
        assert table.fit[place] == fit
        if not fit or len(shares) < k:
            assert texts[place] is None
            assert not astray[place]
            continue
        assert texts[place] == text_of(at(0, shares[:k]))
        assert astray[place] == any(at(x, shares[:k]) != values for x, values in shares[k:])
        assert text_of(at(0, shares[:1])) == (None if few[place] is None else decoded(few[place]))


def literally(rows: list[str]) -> dict[int, list[tuple[int, list[int]]]]:
    """Point and values of the shares of each query, one row after the other."""
    found: dict[int, list[tuple[int, list[int]]]] = {}
    for text in rows:
        try:
            query, point, values = share_of(text)
        except NoShare:
            continue
        found.setdefault(query, []).append((point, values))
    return found


def at(place: int, shares: list[tuple[int, list[int]]]) -> list[int]:
    return [value_at(place, {x: values[block] for x, values in shares}) for block in range(len(shares[0][1]))]


@pytest.mark.parametrize(
    "text",
    [
        "", "1", "1/1", "1/1/", "1//1", "/1/1", "1/1/1.", "1/1/.1", "1/1/1..1", "1/1/1/1", "01/1/1", "1/01/1",
        "1/1/01", "1/0/1", "+1/1/1", "1/-1/1", "1/1/1e3", "1/1/1 ", "1/1/1\n", "1/1/١", f"1/1/{PRIME}",
        f"1/1/1.{PRIME}", f"1/1/{2**64 - 1}", f"1/1/{2**64 + 1}", f"1/{PRIME}/1", f"{10**18}/1/1", "9" * 5000,
        f"1/1/{'9' * 5000}",
    ],
)  # fmt: skip
def test_what_is_no_share_is_left_out(text: str) -> None:
    table = parsed(pl.Series([text, "1/1/128"]))
    assert table.row.tolist() == [1]
    assert table.texts(1).to_list() == [""]


def test_a_release_of_which_no_row_is_a_share_tells_nothing() -> None:
    rows = ReleasedQueries(np.zeros(1, dtype=np.int32), pl.Series(["wine"]), np.ones(1, int), np.ones(1, int))
    release = Release(["p0001"], np.ones(1, dtype=np.int64), [], np.zeros(0, dtype=bool), csr_array((1, 0)), rows)
    told = reads(release, {"k": 2})
    assert told.shares is rows
    assert told.queries is not None
    assert len(told.queries.query) == 0


def test_bytes_that_are_no_text_are_none_and_others_beside_them_are_read() -> None:
    wrong = int.from_bytes(b"\xff\x80", "little")
    rows = pl.Series([f"1/1/{wrong}", f"2/1/{blocks_of('wine')[0]}", f"3/1/{2**56}", f"4/1/{0x80 << 8 * (BYTES - 1)}"])
    assert parsed(rows).texts(1).to_list() == [None, "wine", None, "\0" * 6]
