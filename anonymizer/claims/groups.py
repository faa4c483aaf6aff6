"""Do groups of users hold? Claims about how many users share a profile that is the mean of its members' profiles."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.weights import ROUNDED, verify_nothing_generalized, verify_weights
from shoal.anonymizer.parameters import AT_LEAST_TWO


def verify_nothing_published(claim: Claim, evidence: Evidence) -> Verdict:
    if len(evidence.release) == 0:
        return verify_all_with_a_profile_take_part(evidence)
    return broken(f"{evidence.release.pseudonyms[0]} is published, but nothing should be")


def verify_own_profile(claim: Claim, evidence: Evidence) -> Verdict:
    return verify_published_means(evidence)


def verify_one_profile(claim: Claim, evidence: Evidence) -> Verdict:
    if len(evidence.release) != 1:
        return broken(f"{len(evidence.release)} profiles are published, but all users should share one")
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
    fits = verify_all_with_a_profile_take_part(evidence)
    if not fits.holds:
        return fits
    plain = verify_nothing_generalized(evidence.release)
    expected = expected_means(evidence, union)
    terms = evidence.profiles.terms
    return verify_weights(evidence.release, expected, terms, "its members", ROUNDED) if plain.holds else plain


def verify_all_with_a_profile_take_part(evidence: Evidence) -> Verdict:
    """Nobody without a profile fills a group, and what was suppressed is what the users outside of all groups typed."""
    profiles, names = evidence.profiles, evidence.assignment.users
    inside = profiles.users.is_in(names.gather(evidence.assignment.user).to_list()).to_numpy()
    hollow = np.flatnonzero(inside & (profiles.size == 0))
    if len(hollow):
        return broken(f"user {profiles.users[int(hollow[0])]!r} fills a group, but has no profile")
    outside = int(profiles.occurrences[~inside].sum())
    if outside != evidence.suppressed.occurrences:
        said = f"the manifest counts {evidence.suppressed.occurrences} suppressed occurrences"
        return broken(f"{said}, but users outside of all groups typed {outside}")
    return HOLDS


def expected_means(evidence: Evidence, union: bool) -> csr_array:
    """Profiles x terms, from the log and the assignment alone."""
    user = evidence.assignment.rows_for(evidence.profiles.users)
    group = evidence.assignment.profile
    share = np.ones(len(user)) if union else 1 / np.bincount(group, minlength=len(evidence.release))[group]
    shape = (len(evidence.release), len(evidence.profiles))
    return csr_array(csr_array((share, (group, user)), shape=shape) @ evidence.profiles.counts)


VERIFIERS = (
    Verifier("nothing-published", "log", verify_nothing_published, lambda values: "Nothing is published."),
    Verifier("none", "user", verify_own_profile, lambda values: "No promise: each user's own profile is published."),
    Verifier("one-profile", "log", verify_one_profile, lambda values: "All users share one profile."),
    Verifier(
        "users-per-profile",
        "user",
        verify_users_per_profile,
        lambda values: f"Every profile is shared by at least {values['k']} users.",
        {"k": AT_LEAST_TWO},
    ),
)
