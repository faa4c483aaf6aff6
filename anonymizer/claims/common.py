"""Do the members of a group have in common what is published of them? Recounted from the log, term by term."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import (
    verify_at_least_k,
    verify_left_out,
    verify_members_have_profiles,
    verify_nothing_generalized,
    verify_weights,
)
from shoal.anonymizer.parameters import AT_LEAST_TWO, whole_number


def verify_terms_in_common(claim: Claim, evidence: Evidence) -> Verdict:
    """At least k members of each profile, at least t holders of each term, their mean, and the rest counted."""
    t, counts = int(claim.values["t"]), member_counts(evidence)
    for verdict in (
        verify_at_least_k(int(claim.values["k"]), evidence),
        verify_members_have_profiles(evidence),
        verify_nothing_generalized(evidence.release),
        verify_holders(t, counts, evidence),
    ):
        if not verdict.holds:
            return verdict
    return verify_means_of_held(t, counts, evidence)


@dataclass(frozen=True, eq=False)
class MemberCounts:
    """Every profile and term that its members used: the pair as one number, how many used it, and how often in all."""

    pair: np.ndarray  # profile * (terms + 1) + term, ascending
    holders: np.ndarray
    typed: np.ndarray
    width: int

    def holders_of(self, profile: np.ndarray, term: np.ndarray) -> np.ndarray:
        wanted = profile * self.width + term
        if len(self.pair) == 0:
            return np.zeros(len(wanted), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.pair, wanted), len(self.pair) - 1)
        return np.where(self.pair[place] == wanted, self.holders[place], 0)


def member_counts(evidence: Evidence) -> MemberCounts:
    assignment, profiles = evidence.assignment, evidence.profiles
    rows = profiles.counts[assignment.rows_for(profiles.users)]
    width = len(profiles.terms) + 1
    pair = np.repeat(assignment.profile.astype(np.int64), np.diff(rows.indptr)) * width + rows.indices
    found, place = np.unique(pair, return_inverse=True)
    typed = np.bincount(place, rows.data, minlength=len(found)).astype(np.int64)
    return MemberCounts(found, np.bincount(place, minlength=len(found)), typed, width)


def verify_holders(t: int, counts: MemberCounts, evidence: Evidence) -> Verdict:
    """Every published term was used by at least t of its members."""
    release, terms = evidence.release, evidence.profiles.terms
    column = {term: number for number, term in enumerate(terms)}
    term = np.array([column.get(label, len(terms)) for label in release.labels], dtype=np.int64)
    row = np.repeat(np.arange(len(release)), np.diff(release.weights.indptr))
    holders = counts.holders_of(row, term[release.weights.indices])
    few = np.flatnonzero(holders < t)
    if len(few) == 0:
        return HOLDS
    name, label = release.pseudonyms[row[few[0]]], release.labels[release.weights.indices[few[0]]]
    return broken(f"{name} publishes {label!r}, which {holders[few[0]]} of its members used, fewer than t={t}")


def verify_means_of_held(t: int, counts: MemberCounts, evidence: Evidence) -> Verdict:
    """Every profile is the mean of its members' terms that t of them used, and what is missing was counted."""
    held = counts.holders >= t
    profile, term = np.divmod(counts.pair[held], counts.width)
    release, profiles, typed = evidence.release, evidence.profiles, counts.typed[held]
    shape = (len(release), len(profiles.terms))
    means = csr_array((typed / release.users[profile], (profile, term)), shape=shape)
    verdict = verify_weights(release, means, profiles.terms, f"the terms of at least {t} of its members")
    left_out = int(profiles.occurrences.sum() - typed.sum())
    return verify_left_out(left_out, "of the log stand in no profile", evidence) if verdict.holds else verdict


def _sentence(values: Values) -> str:
    users, holders = values["k"], values["t"]
    return (
        f"Every profile is shared by at least {users} users, and is their mean of those terms, and no others, that at "
        f"least {holders} of them used."
    )


VERIFIERS = (
    Verifier(
        "terms-in-common",
        "user",
        verify_terms_in_common,
        _sentence,
        {"k": AT_LEAST_TWO, "t": whole_number(1, 10**6)},
    ),
)
