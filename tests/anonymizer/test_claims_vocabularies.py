"""Does the verifier of vocabulary k-anonymity reject releases that were tampered with?"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Claim, Release, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.methods.ssc import SSC
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log

TYPED = {
    "a1": "dog dog cat beer", "a2": "puppy dog cat beer", "a3": "dog cat kitten wine", "a4": "dog dog cat ale hill",
    "b1": "violin piano concert", "b2": "cello piano concert", "b3": "violin guitar concert",
}  # fmt: skip
KNOWLEDGE = Knowledge()


@pytest.fixture(scope="module")
def log() -> QueryLog:
    return make_log(pl.Series(list(TYPED)), pl.Series(list(TYPED.values())))


@pytest.fixture(scope="module")
def made(log: QueryLog) -> Anonymized:
    return SSC(KNOWLEDGE, k=3).anonymize(log)


def verdict(made: Anonymized, log: QueryLog) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE))


def large(made: Anonymized) -> int:
    return int(np.argmax(made.release.users))


def with_profile(made: Anonymized, row: int, profile: dict[str, float], general: tuple[str, ...] = ()) -> Anonymized:
    """The release with another profile in one row."""
    rows = [profile if r == row else made.release.profile(r) for r in range(len(made.release))]
    labels = sorted({label for p in rows for label in p})
    old = dict(zip(made.release.labels, made.release.generalized.tolist(), strict=True))
    weights = csr_array(np.array([[p.get(label, 0.0) for label in labels] for p in rows]))
    flags = np.array([label in general or old.get(label, False) for label in labels], dtype=bool)
    changed = Release(made.release.pseudonyms, made.release.users, labels, flags, weights)
    return replace(made, release=changed)


def counted(made: Anonymized, more: int) -> Anonymized:
    """The number of suppressed occurrences forged, so that only what is published can give it away."""
    return replace(made, suppressed=Suppressed(made.suppressed.occurrences + more, made.suppressed.users))


def moved(made: Anonymized) -> Anonymized:
    """One member of the large group sent to the small one, all counts adjusted."""
    row = large(made)
    other = 1 - row
    one = int(np.flatnonzero(made.assignment.profile == row)[0])
    profile = made.assignment.profile.copy()
    profile[one] = other
    users = made.release.users + np.where(np.arange(2) == row, -1, 1)
    bags = np.asarray(made.release.weights.sum(axis=1)).ravel()
    release = replace(made.release, users=users)
    assignment = Assignment(made.assignment.users, made.assignment.user, profile)
    return counted(replace(made, release=release, assignment=assignment), int(bags[row] - bags[other]))


def with_a_foreign_term(made: Anonymized) -> Anonymized:
    row = large(made)
    return counted(with_profile(made, row, {**made.release.profile(row), "theory": 1.0}), -4)


def with_a_near_term_that_nobody_typed(made: Anonymized) -> Anonymized:
    row = large(made)
    profile = made.release.profile(row)
    assert profile.pop("cat") == 1
    return with_profile(made, row, {**profile, "feline": 1.0})


def with_one_copy_too_many(made: Anonymized) -> Anonymized:
    row = large(made)
    profile = made.release.profile(row)
    return counted(with_profile(made, row, {**profile, "dog": profile["dog"] + 2}), -8)


def with_a_term_left_out(made: Anonymized) -> Anonymized:
    row = large(made)
    profile = made.release.profile(row)
    del profile["dog"]
    return with_profile(made, row, profile)


def with_half_a_bag(made: Anonymized) -> Anonymized:
    row = large(made)
    return with_profile(made, row, {label: w / 2 for label, w in made.release.profile(row).items()})


def with_an_unknown_label(made: Anonymized) -> Anonymized:
    return with_profile(made, 0, {"xqzzy": 1.0})


def with_an_inner_node(made: Anonymized) -> Anonymized:
    return with_profile(made, 0, {"dog.n.01": 1.0}, ("dog.n.01",))


def with_a_flag_on_a_plain_term(made: Anonymized) -> Anonymized:
    row = large(made)
    return with_profile(made, row, made.release.profile(row), ("dog",))


def with_a_stricter_promise(made: Anonymized) -> Anonymized:
    return replace(made, claim=Claim(made.claim.id, {**made.claim.values, "k": 4}))


MUTANTS = [
    moved, with_a_foreign_term, with_a_near_term_that_nobody_typed, with_one_copy_too_many, with_a_term_left_out,
    with_half_a_bag, with_an_unknown_label, with_an_inner_node, with_a_flag_on_a_plain_term, with_a_stricter_promise,
]  # fmt: skip


def test_the_true_release_is_accepted(made: Anonymized, log: QueryLog) -> None:
    assert sorted(made.release.users.tolist()) == [3, 4]
    assert "dog" in made.release.profile(large(made))
    assert verdict(made, log).holds


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_release_is_rejected(mutant: Callable[[Anonymized], Anonymized], made: Anonymized, log: QueryLog) -> None:
    found = verdict(mutant(made), log)
    assert not found.holds
    assert found.counterexample
    assert "\n" not in found.counterexample


@pytest.mark.parametrize(
    ("typical", "label"), [("bags", "cat|dog|hill"), ("bags", "cat|theory"), ("generalize", "entity.n.01")]
)
def test_a_label_that_the_members_do_not_give_is_rejected(log: QueryLog, typical: str, label: str) -> None:
    made = SSC(KNOWLEDGE, k=3, typical=typical).anonymize(log)
    assert verdict(made, log).holds
    row = large(made)
    count = float(made.release.weights[[row]].sum())
    forged = with_profile(made, row, {label: count}, (label,))
    assert not verdict(forged, log).holds


def test_a_session_that_supplies_nothing_published_for_its_user_is_rejected(log: QueryLog) -> None:
    times = np.arange(14) * 10**5
    users, queries = list(TYPED) * 2, [*TYPED.values(), *reversed(TYPED.values())]
    twice = make_log(pl.Series(users), pl.Series(queries), times)
    made = SSC(KNOWLEDGE, k=3, gap=30).anonymize(twice)
    assert verdict(made, twice).holds
    row = int(np.argmax(np.asarray(made.release.weights.sum(axis=1)).ravel()))
    keep = ~(
        (made.assignment.profile == row)
        & (made.assignment.user == made.assignment.user[made.assignment.profile == row][0])
    )
    fewer = Assignment(made.assignment.users, made.assignment.user[keep], made.assignment.profile[keep])
    users_left = made.release.users - (np.arange(len(made.release)) == row)
    forged = replace(made, assignment=fewer, release=replace(made.release, users=users_left))
    assert not verdict(forged, twice).holds
