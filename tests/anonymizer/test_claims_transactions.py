"""Does the verifier of generalized profiles see what is wrong? Broken twins of true releases, each with its reason."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Release, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log

TREE = (
    "Apple Fruit,Orange Fruit,Banana Fruit,Beef Meat,Chicken Meat,Milk Dairy,Cheese Dairy,Butter Dairy,"
    "Fruit Food,Meat Food,Dairy Food"
)
ITEMS = ["Apple", "Orange", "Banana", "Beef", "Chicken", "Milk", "Cheese", "Butter"]
METHODS = [("clump", {}), ("clump", {"duplicates": "drop"}), ("partition", {}), ("partition", {"bags": "yes"})]


@pytest.fixture
def food(tmp_path: Path) -> Knowledge:
    (tmp_path / "food").write_text(TREE.replace(" ", "\t").replace(",", "\n"))
    return Knowledge(tmp_path / "food")


def random_log(seed: int, users: int = 23) -> QueryLog:
    rng = np.random.default_rng(seed)
    queries = [" ".join(rng.choice(ITEMS, rng.integers(1, 6))) for _ in range(users)]
    return make_log(pl.Series([f"u{i}" for i in range(users)]), pl.Series(queries))


def made_by(method: str, settings: dict[str, str], log: QueryLog, known: Knowledge) -> Anonymized:
    return make_method(method, {"k": 3, **settings}, known).anonymize(build_profiles(log, known.words))


def verdict_on(made: Anonymized, log: QueryLog, known: Knowledge) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, known))


def with_release(made: Anonymized, **changes: object) -> Anonymized:
    return replace(made, release=replace(made.release, **changes))


def with_members(made: Anonymized, profile: np.ndarray) -> Anonymized:
    """Users moved between groups, with the counts of the public file changed to fit."""
    assignment = Assignment(made.assignment.users, made.assignment.user, profile.astype(np.int32))
    users = np.bincount(profile, minlength=len(made.release)).astype(np.int64)
    return replace(with_release(made, users=users), assignment=assignment)


def a_group_of_k_less_one(made: Anonymized) -> Anonymized:
    profile = made.assignment.profile.copy()
    small = int(np.argmin(made.release.users))
    for u in np.flatnonzero(profile == small)[: made.release.users[small] - 2]:
        profile[u] = (small + 1) % len(made.release)
    return with_members(made, profile)


def two_members_exchanged(made: Anonymized) -> Anonymized:
    """Of two groups, the first members change places; sizes stay."""
    profile = made.assignment.profile.copy()
    one, other = (int(np.flatnonzero(profile == group)[0]) for group in (0, 1))
    profile[[one, other]] = profile[[other, one]]
    return with_members(made, profile)


def one_copy_more(made: Anonymized) -> Anonymized:
    weights = made.release.weights.copy()
    weights.data[0] += 1
    return with_release(made, weights=weights)


def one_item_less(made: Anonymized) -> Anonymized:
    weights = made.release.weights.copy()
    weights.data[-1] = 0
    weights.eliminate_zeros()
    return with_release(made, weights=weights)


def a_term_that_leaks(made: Anonymized) -> Anonymized:
    """An inner node is published as one of its terms."""
    release = made.release
    general = int(np.flatnonzero(release.generalized)[0])
    labels = [*release.labels]
    labels[general] = next(x.lower() for x in ITEMS if x.lower() not in labels)
    flags = release.generalized.copy()
    flags[general] = False
    return with_release(made, labels=labels, generalized=flags)


def a_word_of_nobody(made: Anonymized) -> Anonymized:
    release = made.release
    column = csr_array(([1.0], ([0], [0])), shape=(len(release), 1))
    weights = csr_array(np.hstack([release.weights.toarray(), column.toarray()]))
    labels = [*release.labels, "zzyzx"]
    return with_release(made, labels=labels, generalized=np.append(release.generalized, False), weights=weights)


def a_leaf_flagged_as_general(made: Anonymized) -> Anonymized:
    return with_release(made, generalized=~made.release.generalized)


def a_user_in_two_groups(made: Anonymized) -> Anonymized:
    old = made.assignment
    both = Assignment(old.users, np.append(old.user, old.user[0]), np.append(old.profile, (old.profile[0] + 1) % 2))
    return replace(made, assignment=both)


def less_suppressed_than_is_missing(made: Anonymized) -> Anonymized:
    return replace(made, suppressed=Suppressed(made.suppressed.occurrences + 1, made.suppressed.users))


MUTANTS = {
    a_group_of_k_less_one: "fewer than k=3",
    two_members_exchanged: "members|member",
    one_copy_more: "with weight",
    one_item_less: "with weight|no item",
    a_term_that_leaks: "with weight|no item",
    a_word_of_nobody: "zzyzx",
    a_leaf_flagged_as_general: "which it is not",
    a_user_in_two_groups: "in 2 groups",
    less_suppressed_than_is_missing: "the manifest counts",
}


@pytest.mark.parametrize(("method", "settings"), METHODS)
@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda mutate: mutate.__name__)
def test_a_broken_twin_is_rejected_with_its_reason(
    food: Knowledge, method: str, settings: dict[str, str], mutate: Callable[[Anonymized], Anonymized]
) -> None:
    log = random_log(5)
    made = made_by(method, settings, log, food)
    assert verdict_on(made, log, food).holds
    verdict = verdict_on(mutate(made), log, food)
    assert not verdict.holds
    assert any(reason in verdict.counterexample for reason in MUTANTS[mutate].split("|")), verdict.counterexample


@pytest.mark.parametrize(("method", "settings"), METHODS)
def test_true_releases_are_accepted_over_many_logs(food: Knowledge, method: str, settings: dict[str, str]) -> None:
    for seed in range(40):
        log = random_log(seed, users=3 + seed)
        verdict = verdict_on(made_by(method, settings, log, food), log, food)
        assert verdict.holds, verdict.counterexample


@pytest.mark.parametrize(("method", "settings"), METHODS)
def test_a_check_in_many_blocks_sees_the_last_group_too(
    food: Knowledge, method: str, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.anonymizer.claims.transactions.MEMBERS_PER_BLOCK", 4)
    log = random_log(8, users=60)
    made = made_by(method, settings, log, food)
    assert verdict_on(made, log, food).holds
    last: Release = one_item_less(made).release
    verdict = verdict_on(replace(made, release=last), log, food)
    assert not verdict.holds
    assert made.release.pseudonyms[-1] in verdict.counterexample


def test_another_log_than_the_one_anonymized_is_rejected(food: Knowledge) -> None:
    log = random_log(5)
    made = made_by("clump", {}, log, food)
    assert not verdict_on(made, random_log(6), food).holds
