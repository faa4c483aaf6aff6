"""Does a release in blocks keep its promise, and is it the same in whatever order its rows come?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.anonymizer.base import Anonymized, Release
from shoal.anonymizer.blocks import anonymize_in_blocks, block_log, block_of_users, cut, ordered, rows_of
from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.cluster.verify import Published, verified_block
from shoal.anonymizer.contract.sample_logs import INTERESTS, log_of, sample_log
from shoal.anonymizer.registry import make_method, methods
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import reproduce, verify_stored
from shoal.corpus.errors import InputError
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

IN_BLOCKS = [id for id, method in methods().items() if method.info.cluster in ("blocks", "counts")]
ALONE = [id for id in methods() if id not in IN_BLOCKS]
# What is published of a user, or counted of all, is the same however the users are cut.
SAME_AS_WHOLE = ("original", "plain", "everyone", "equality", "murmur", "split-personality")
SETTINGS: dict[str, dict[str, object]] = {"murmur": {"k": 5}, "linkability": {"p": 0.5}, "common": {"k": 4, "t": 2}}
SMALL = {"k": 2, "t": 1}
LOG = sample_log(40)


def made_in_blocks(id: str, log: QueryLog, size: int, seed: int = 0) -> Anonymized:
    return anonymize_in_blocks(make_method(id, SETTINGS.get(id, {})), log, size, seed=seed)


def rows(release: Release) -> list[tuple[int, dict[str, float], list[tuple[str, int, int]]]]:
    """What is published, by content: users, profile and queries of each pseudonym."""
    queries: list[list[tuple[str, int, int]]] = [[] for _ in release.pseudonyms]
    if release.queries is not None:
        parts = (release.queries.pseudonym.tolist(), release.queries.query.to_list())
        for row, query, count, degree in zip(*parts, release.queries.count, release.queries.degree, strict=True):
            queries[row].append((query, int(count), int(degree)))
    return [(int(users), release.profile(row), sorted(queries[row])) for row, users in enumerate(release.users)]


def holds(id: str, made: Anonymized, log: QueryLog) -> str:
    method = make_method(id, SETTINGS.get(id, {}))
    evidence = Evidence(made.release, made.assignment, made.suppressed, ordered(log), method.knowledge)
    return verify(made.claim, evidence).counterexample


def test_the_methods_that_the_docs_promise_run_in_blocks() -> None:
    named = "random everyone equality wordnet-queries clump partition linkability common dp-queries".split()
    assert set(named) <= set(IN_BLOCKS)


@pytest.mark.parametrize("id", IN_BLOCKS)
def test_a_release_in_blocks_is_verified_and_made_again_from_disk(id: str, tmp_path: Path) -> None:
    method, folder = make_method(id, SETTINGS.get(id, {})), tmp_path / "release"
    made = anonymize_in_blocks(method, LOG, 15, seed=3)
    manifest = write_release(folder, made, method, None, 3)
    assert manifest.block == 15
    assert manifest.users == len(LOG.users)
    stored = read_release(folder)
    assert verify_stored(stored, LOG).counterexample == ""
    if method.info.randomness == "public":
        assert reproduce(folder, stored, LOG) == ""


@pytest.mark.parametrize("id", ALONE)
def test_a_method_without_a_meaning_in_blocks_refuses_in_one_line(id: str) -> None:
    with pytest.raises(InputError, match=f"{id} cannot be run in blocks of users: ") as refused:
        made_in_blocks(id, LOG, 15)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("id", SAME_AS_WHOLE)
def test_what_is_counted_over_all_is_published_as_without_blocks(id: str) -> None:
    whole = make_method(id, SETTINGS.get(id, {})).run(LOG, seed=0)
    made = made_in_blocks(id, LOG, 7)
    assert rows(made.release) == rows(whole.release)
    assert made.suppressed == whole.suppressed
    if whole.release.catalogue is not None:
        assert made.release.catalogue is not None
        assert made.release.catalogue.terms == whole.release.catalogue.terms
        assert made.release.catalogue.mean.tolist() == whole.release.catalogue.mean.tolist()


@given(st.integers(0, 2**30), st.integers(6, 20), st.sampled_from(["random", "clump", "common", "wordnet-queries"]))
@examples(30)
def test_small_logs_in_blocks_keep_the_promise_and_no_group_crosses_a_block(seed: int, size: int, id: str) -> None:
    rng = np.random.default_rng(seed)
    some = [(f"u{rng.integers(20)}", str(rng.choice(INTERESTS[rng.integers(5)]))) for _ in range(120)]
    log = log_of(some)
    settings = {name: value for name, value in SMALL.items() if name in {p.name for p in methods()[id].info.parameters}}
    method = make_method(id, settings)
    try:
        made = anonymize_in_blocks(method, log, size, seed=seed)
    except InputError:
        assume(False)  # a block of too few users who have a term
    evidence = Evidence(made.release, made.assignment, made.suppressed, ordered(log), method.knowledge)
    assert verify(made.claim, evidence).counterexample == ""
    block = dict(zip(log.users.to_list(), block_of_users(log.users, size).tolist(), strict=True))
    of_group: dict[int, set[int]] = {}
    for user, row in zip(made.assignment.user, made.assignment.profile, strict=True):
        of_group.setdefault(int(row), set()).add(block[made.assignment.users[int(user)]])
    assert all(len(blocks) == 1 for blocks in of_group.values())


@given(st.permutations(range(40)))
@examples(12)
def test_the_order_in_which_rows_come_changes_nothing(order: list[int]) -> None:
    some = rows_of(LOG)
    mixed = some[[row for user in order for row in range(user, len(some), 40)]]
    log = make_log(mixed["user"], mixed["query"], mixed["time"].to_numpy(), mixed["click"].fill_null(""))
    one, other = made_in_blocks("random", LOG, 12), made_in_blocks("random", log, 12)
    assert one.blocks == other.blocks
    assert rows(one.release) == rows(other.release)


def test_blocks_are_of_equal_size_and_the_last_takes_who_is_left() -> None:
    names = pl.Series([str(number) for number in range(23)])
    block = block_of_users(names, 5)
    assert np.bincount(block).tolist() == [5, 5, 5, 8]
    assert np.bincount(block_of_users(names, 50)).tolist() == [23]
    assert sorted(len(log.users) for log in cut(sample_log(23), 5)) == [5, 5, 5, 8]


def test_clicks_on_one_answer_are_one_event_in_whatever_order_they_come() -> None:
    moments = pl.DataFrame(
        {"user": ["u"] * 3, "query": ["wine", "beer", "wine"], "time": [7, 7, 7], "click": ["a", None, "b"]}
    )
    assert len(block_log(moments)) == len(block_log(moments.reverse())) == 2


def test_another_log_than_that_of_the_blocks_is_no_verdict(tmp_path: Path) -> None:
    method = make_method("random", {})
    write_release(tmp_path / "release", anonymize_in_blocks(method, LOG, 20), method, None, 0)
    with pytest.raises(InputError, match="another log"):
        verify_stored(read_release(tmp_path / "release"), replace(LOG, time=LOG.time + 1))


def test_blocks_have_seeds_of_their_own_and_a_shared_secret_is_one() -> None:
    one, other = made_in_blocks("random", LOG, 20, seed=1), made_in_blocks("random", LOG, 20, seed=2)
    assert rows(one.release) != rows(other.release)
    assert made_in_blocks("token-hashing", LOG, 10).assignment.key is not None


BY_WORKERS = [id for id in IN_BLOCKS if methods()[id].info.cluster == "blocks" and methods()[id].info.unit != "query"]


@pytest.mark.parametrize("id", BY_WORKERS)
def test_verified_block_by_block_all_numbers_come_together(id: str) -> None:
    method = make_method(id, SETTINGS.get(id, {}))
    made = anonymize_in_blocks(method, LOG, 15, seed=3)
    told = Published(made.release, made.assignment, made.claim, method.knowledge, "real")
    found = [verified_block(told, log) for log in cut(LOG, 15)]
    assert [one["counterexample"] for one in found] == [None] * len(found)
    assert sum(one["occurrences"] for one in found) == made.suppressed.occurrences
    assert sum(one["left_out"] for one in found) == made.suppressed.users
    assert sum(one["rows"] for one in found) == len(made.release)


def test_a_group_that_crosses_blocks_is_seen_by_the_worker_of_either() -> None:
    method = make_method("random", {})
    made = method.run(LOG)
    told = Published(made.release, made.assignment, made.claim, method.knowledge, "real")
    assert "users share it" in verified_block(told, cut(LOG, 15)[0])["counterexample"]
