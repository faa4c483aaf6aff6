"""Do groups of users hold? How many share a profile, and whether it has exactly the weights that they make."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim, Release
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.parameters import AT_LEAST_TWO
from shoal.corpus.columns import distinct

DIGITS = 9  # with which a weight that is no whole number is written into a release folder


def verify_weights(release: Release, expected: csr_array, terms: list[str], made_by: str) -> Verdict:
    """Every profile holds exactly the weights of its row of `expected`, whose columns are `terms`.

    They are compared digit by digit: as they are, or as they are written into a release folder.
    """
    column = {term: t for t, term in enumerate(terms)}
    foreign = next((label for label in release.labels if label not in column), None)
    if foreign is not None:
        return broken(f"{foreign!r} is published, but nobody used it")
    place = np.array([column[label] for label in release.labels], dtype=np.int64)
    content = (release.weights.data, place[release.weights.indices], release.weights.indptr)
    key, said, made = _side_by_side(csr_array(content, shape=expected.shape), expected)
    different = np.flatnonzero(said != made)
    wrong = different[said[different] != as_written(made[different])]
    if len(wrong) == 0:
        return HOLDS
    row, term = divmod(int(key[wrong[0]]), len(terms))
    return broken(
        f"{release.pseudonyms[row]} publishes {terms[term]!r} with weight {said[wrong[0]]:.9g}, "
        f"but {made_by} make {made[wrong[0]]:.9g}"
    )


def _side_by_side(first: csr_array, second: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places (row * columns + column) where one of two matrices is not 0, and the values of both there."""
    keys = [_places(matrix) for matrix in (first, second)]
    key = np.union1d(*keys)
    said, made = np.zeros(len(key)), np.zeros(len(key))
    np.add.at(said, np.searchsorted(key, keys[0]), first.data)  # a term that stands twice counts twice
    np.add.at(made, np.searchsorted(key, keys[1]), second.data)
    return key, said, made


def _places(matrix: csr_array) -> np.ndarray:
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return row * matrix.shape[1] + matrix.indices


def as_written(weights: np.ndarray) -> np.ndarray:
    """Whole numbers as they are, others with as many digits as a release folder has."""
    different, place = np.unique(weights, return_inverse=True)
    written = [x if x.is_integer() else float(f"{x:.{DIGITS}g}") for x in different.tolist()]
    return np.array(written, dtype=float)[place]


def verify_nothing_generalized(release: Release) -> Verdict:
    """Every label is a term that users typed."""
    if not release.generalized.any():
        return HOLDS
    return broken(
        f"{release.labels[int(release.generalized.argmax())]!r} is said to be generalized, but users typed it"
    )


def verify_nothing_published(claim: Claim, evidence: Evidence) -> Verdict:
    if len(evidence.release) == 0:
        return verify_outsiders(evidence)
    return broken(f"{evidence.release.pseudonyms[0]} is published, but nothing should be")


def verify_own_profiles(claim: Claim, evidence: Evidence) -> Verdict:
    own = verify_rows_of_one(evidence.release)
    return verify_nobody_is_left_out(evidence) if own.holds else own


def verify_rows_of_one(release: Release) -> Verdict:
    """Nobody shares a profile."""
    shared = np.flatnonzero(release.users != 1)
    if len(shared) == 0:
        return HOLDS
    name, users = release.pseudonyms[shared[0]], release.users[shared[0]]
    return broken(f"{name} is of {users} users, but each should have a profile of their own")


def verify_own_sets(evidence: Evidence, always: np.ndarray) -> Verdict:
    """Each user's own terms, each once; one is published of all who typed it, or of nobody, and `always` of all."""
    terms, published = evidence.profiles.terms, set(evidence.release.labels)
    kept = always | np.fromiter((term in published for term in terms), dtype=bool, count=len(always))
    return verify_own_items(evidence, np.where(kept, np.arange(len(terms)), -1), terms)


def verify_own_items(evidence: Evidence, items: np.ndarray, labels: list[str]) -> Verdict:
    """Each user's row is what stands for their terms, each once; nobody else has a row, and the rest is counted.

    `items` is the label that stands for each term of the log, -1 for none.
    """
    profiles, release = evidence.profiles, evidence.release
    item = items[profiles.counts.indices]
    user = np.repeat(np.arange(len(profiles)), profiles.size)[item >= 0]
    user, item = np.divmod(distinct(user * len(labels) + item[item >= 0]), max(1, len(labels)))
    has = np.bincount(user, minlength=len(profiles)) > 0
    wrong = np.flatnonzero(has != _inside(evidence))
    if len(wrong):
        said = "typed what is published, but has no profile" if has[wrong[0]] else "has a profile, but of no own term"
        return broken(f"user {profiles.users[int(wrong[0])]!r} {said}")
    row_of = np.full(len(profiles), -1)
    row_of[evidence.assignment.rows_for(profiles.users)] = evidence.assignment.profile
    expected = csr_array((np.ones(len(item)), (row_of[user], item)), shape=(len(release), len(labels)))
    verdict = verify_weights(release, expected, labels, "its user's own terms")
    missing = int(profiles.occurrences.sum()) - len(item)
    return verify_left_out(missing, "are not published", evidence) if verdict.holds else verdict


def verify_left_out(number: int, what: str, evidence: Evidence) -> Verdict:
    """As much is counted as suppressed as was left out."""
    said = evidence.suppressed.occurrences
    if said == number:
        return HOLDS
    return broken(f"the manifest counts {said} suppressed occurrences, but {number} {what}")


def verify_one_profile(claim: Claim, evidence: Evidence) -> Verdict:
    if len(evidence.release) != 1:
        return broken(f"{len(evidence.release)} profiles are published, but all users should share one")
    return verify_nobody_is_left_out(evidence)


def verify_nobody_is_left_out(evidence: Evidence) -> Verdict:
    """Every user who has a profile has a published one, which is the mean of those who share it."""
    outside = np.flatnonzero(~_inside(evidence) & (evidence.profiles.size > 0))
    if len(outside):
        return broken(f"user {evidence.profiles.users[int(outside[0])]!r} has a profile, but no published one")
    return verify_published_means(evidence)


def verify_users_per_profile(claim: Claim, evidence: Evidence) -> Verdict:
    few = verify_at_least_k(int(claim.values["k"]), evidence)
    return verify_published_means(evidence) if few.holds else few


def verify_at_least_k(k: int, evidence: Evidence) -> Verdict:
    """Every published profile is shared by at least k users."""
    release = evidence.release
    small = np.flatnonzero(release.users < k)
    if len(small):
        row = int(small[0])
        return broken(f"{release.pseudonyms[row]} is shared by {release.users[row]} users, fewer than k={k}")
    return HOLDS


def verify_published_means(evidence: Evidence, union: bool = False) -> Verdict:
    """Every published profile is the mean (or the sum) of the original profiles of the users assigned to it."""
    fits = verify_outsiders(evidence)
    if not fits.holds:
        return fits
    plain = verify_nothing_generalized(evidence.release)
    if not plain.holds:
        return plain
    return verify_weights(evidence.release, expected_weights(evidence, union), evidence.profiles.terms, "its members")


def verify_outsiders(evidence: Evidence) -> Verdict:
    """Nobody without a profile fills a group, and what was suppressed is what the users outside of all groups typed."""
    filled = verify_members_have_profiles(evidence)
    if not filled.holds:
        return filled
    outside = int(evidence.profiles.occurrences[~_inside(evidence)].sum())
    return verify_left_out(outside, "are of users outside of all groups", evidence)


def verify_members_have_profiles(evidence: Evidence) -> Verdict:
    """Nobody without a profile fills a group."""
    hollow = np.flatnonzero(_inside(evidence) & (evidence.profiles.size == 0))
    if len(hollow):
        return broken(f"user {evidence.profiles.users[int(hollow[0])]!r} fills a group, but has no profile")
    return HOLDS


def _inside(evidence: Evidence) -> np.ndarray:
    """Of each user of the log, whether a published profile is theirs."""
    inside = np.zeros(len(evidence.profiles), dtype=bool)
    inside[evidence.assignment.rows_for(evidence.profiles.users)] = True
    return inside


def expected_weights(evidence: Evidence, union: bool) -> csr_array:
    """Profiles x terms, from the log and the assignment alone: whole sums, divided once."""
    user = evidence.assignment.rows_for(evidence.profiles.users)
    ones, shape = np.ones(len(user), dtype=np.int64), (len(evidence.release), len(evidence.profiles))
    members = csr_array((ones, (evidence.assignment.profile, user)), shape=shape)
    sums = csr_array(members @ evidence.profiles.counts)
    users = np.ones(len(evidence.release)) if union else evidence.release.users
    return csr_array((sums.data / np.repeat(users, np.diff(sums.indptr)), sums.indices, sums.indptr), shape=sums.shape)


VERIFIERS = (
    Verifier("nothing-published", "log", verify_nothing_published, lambda values: "Nothing is published."),
    Verifier("none", "user", verify_own_profiles, lambda values: "No promise: each user's own profile is published."),
    Verifier(
        "one-profile",
        "log",
        verify_one_profile,
        lambda values: "All users who have a profile share one, the mean of theirs.",
    ),
    Verifier(
        "users-per-profile",
        "user",
        verify_users_per_profile,
        lambda values: f"Every profile is shared by at least {values['k']} users, and is the mean of theirs.",
        {"k": AT_LEAST_TWO},
    ),
)
