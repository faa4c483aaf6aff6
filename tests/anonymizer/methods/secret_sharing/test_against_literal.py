"""Are the shares Shamir's, does k of them read what equality releases, and are broken ones refused?"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.base import Anonymized, Release, ReleasedQueries
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.claims.share_columns import parsed, read_blocks
from shoal.anonymizer.claims.shares import reads
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import log_of
from shoal.anonymizer.methods.equality import Equality
from shoal.anonymizer.methods.secret_sharing import PRIME, SecretSharing, as_blocks, multiply, shares_at
from shoal.anonymizer.methods.secret_sharing.literal import blocks_of, share, text_of, value_at
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog
from tests.examples import examples

KNOWLEDGE = Knowledge(dictionary_name="any")
numbers = st.integers(0, PRIME - 1)
texts = st.text(st.sampled_from("ab é酒\x80 "), max_size=20)
asked = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["wine", "red wine", "Wine", "a", "", "酒 bar tender"])))
LOG = log_of([(f"user{u}", q) for u in range(6) for q in ("wine", "wine", f"car {u}", *(["beer"] if u < 2 else []))])


@given(numbers, numbers)
@examples(300)
def test_the_product_of_the_field_is_that_of_whole_numbers(a: int, b: int) -> None:
    assert int(multiply(np.uint64(a), np.uint64(b))) == a * b % PRIME


def test_the_largest_numbers_of_the_field_do_not_overflow() -> None:
    assert int(multiply(np.uint64(PRIME - 1), np.uint64(PRIME - 1))) == 1


@given(st.lists(texts, min_size=1, max_size=5), st.lists(numbers, min_size=1, max_size=4), numbers)
@examples(150)
def test_shares_are_those_of_the_textbook(some: list[str], powers: list[int], point: int) -> None:
    start, blocks = as_blocks(pl.Series(some, dtype=pl.String))
    assert [blocks[start[i] : start[i + 1]].tolist() for i in range(len(some))] == [blocks_of(text) for text in some]
    coefficients = [np.full(len(blocks), power, dtype=np.uint64) for power in powers]
    everyone = np.arange(len(some))
    at, values = shares_at(np.full(len(some), point, dtype=np.uint64), everyone, start, [*coefficients, blocks])
    for i, text in enumerate(some):
        assert values[at[i] : at[i + 1]].tolist() == [share(block, powers, point) for block in blocks_of(text)]
        assert text_of(blocks_of(text)) == text
    assert read_blocks(blocks, start).to_list() == [text.encode() for text in some]


def evidence(made: Anonymized, log: QueryLog) -> Evidence:
    return Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE)


def verdict(made: Anonymized, log: QueryLog = LOG) -> Verdict:
    found = verify(made.claim, evidence(made, log))
    assert found.holds == is_true(made.claim, evidence(replace(made, release=as_published(made)), log))
    return found


def as_published(made: Anonymized) -> Release:
    """With the rows of its file: what stands in queries.tsv."""
    return replace(made.release, queries=made.release.shares)


def released(made: Anonymized) -> list[tuple[str, str, int, int]]:
    """User, query, count and degree of all that can be read."""
    rows = made.release.queries
    assert rows is not None
    user = dict(zip(made.assignment.profile.tolist(), made.assignment.user.tolist(), strict=True))
    names = [made.assignment.users[user[p]] for p in rows.pseudonym.tolist()]
    return sorted(zip(names, rows.query, rows.count.tolist(), rows.degree.tolist(), strict=True))


@given(asked, st.integers(2, 4), st.integers(0, 3))
@examples(120)
def test_what_is_decoded_is_what_equality_releases(rows: list[tuple[int, str]], k: int, seed: int) -> None:
    log = log_of([(f"user{u}", query) for u, query in rows])
    if len(log.users) < k:
        return
    made = SecretSharing(KNOWLEDGE, k=k).run(log, seed=seed)
    decoded = replace(made, release=reads(as_published(made), {"k": k}))
    plain = Equality(KNOWLEDGE, k=k).run(log)
    assert released(decoded) == released(made) == released(plain)
    assert made.suppressed.occurrences == plain.suppressed.occurrences
    read = [made.release.profile(row) for row in range(len(made.release)) if made.release.profile(row)]
    assert sorted(map(str, read)) == sorted(
        str(plain.release.profile(row)) for row in range(len(plain.release)) if plain.release.profile(row)
    )
    assert verdict(made, log).holds


def test_fewer_than_k_shares_fit_every_text_as_well() -> None:
    """With k - 1 shares and any other block at 0 there is a polynomial: they tell nothing of which it was."""
    made = SecretSharing(KNOWLEDGE, k=3).run(LOG, seed=1)
    assert made.release.shares is not None
    table = parsed(made.release.shares.query)
    query = int(np.flatnonzero(table.many == 2)[0])
    some = slice(table.first[query], table.first[query + 1])
    few = dict(zip(table.point[some].tolist(), table.values[table.at[some]].tolist(), strict=True))
    for block in (blocks_of("beer")[0], blocks_of("wine")[0]):
        through = {0: block} | few
        assert all(value_at(x, through) == y for x, y in through.items())
    assert table.decoded(table.many)[query] is None


def shares_with(made: Anonymized, texts_of: Callable[[list[str]], list[str]]) -> Anonymized:
    rows = made.release.shares
    assert rows is not None
    changed = replace(rows, query=pl.Series(texts_of(rows.query.to_list()), dtype=pl.String))
    return replace(made, release=reads(replace(made.release, queries=changed), {"k": 3}))


def constant(texts_: list[str]) -> list[str]:
    """Every share of the two who asked for beer is the secret itself."""
    beer = ".".join(map(str, blocks_of("beer")))
    twice = {text.split("/")[0] for text in texts_ if sum(o.split("/")[0] == text.split("/")[0] for o in texts_) == 2}
    return ["/".join([*text.split("/")[:2], beer]) if text.split("/")[0] in twice else text for text in texts_]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (constant, "can be read by 2 shares"),
        (lambda texts_: ["wine", *texts_[1:]], "is no share of a query"),
        (lambda texts_: [f"0{texts_[0]}", *texts_[1:]], "is no share of a query"),
        (lambda texts_: [f"{texts_[0]}.7", *texts_[1:]], "of different lengths|not those of the log"),
        (lambda texts_: [text + "1" if len(text) < 200 else text for text in texts_], "no query|no share|not those"),
        (lambda texts_: ["/".join(["7777", *text.split("/")[1:]]) for text in texts_], "two shares of one query"),
        (lambda texts_: ["/".join([text.split("/")[0], "5", text.split("/")[2]]) for text in texts_], "has several"),
        (lambda texts_: [text.replace("/", f"{'0' * 18}/", 1) for text in texts_], "is no share of a query"),
        (lambda texts_: [f"{text.rsplit('/', 1)[0]}/{PRIME}" for text in texts_], "is no share of a query"),
        (lambda texts_: [f"{text.rsplit('/', 1)[0]}/" for text in texts_], "is no share of a query"),
        (lambda texts_: [f"{text.rsplit('/', 1)[0]}/{PRIME - 1}" for text in texts_], "those of no query"),
        (lambda texts_: [text + ".1" for text in texts_], "those of no query"),
    ],
)
def test_broken_shares_are_refused(edit: Callable[[list[str]], list[str]], said: str) -> None:
    made = SecretSharing(KNOWLEDGE, k=3).run(LOG, seed=1)
    assert verdict(made).holds
    found = verdict(shares_with(made, edit))
    assert not found.holds
    assert any(words in found.counterexample for words in said.split("|"))


def test_a_query_that_the_shares_do_not_tell_is_refused() -> None:
    made = SecretSharing(KNOWLEDGE, k=3).run(LOG, seed=1)
    rows = made.release.queries
    assert rows is not None
    other = ReleasedQueries(rows.pseudonym, pl.Series(["car 1"] * len(rows.query)), rows.count, rows.degree)
    found = verify(made.claim, evidence(replace(made, release=replace(made.release, queries=other)), LOG))
    assert "the shares tell otherwise" in found.counterexample


def test_nobody_chooses_the_seed_of_what_must_stay_secret() -> None:
    assert SecretSharing().seed_for(None) != SecretSharing().seed_for(None)
    with pytest.raises(InputError, match="secret-sharing stays secret: leave the seed away"):
        SecretSharing().seed_for(0)
    assert Equality().seed_for(None) == 0
