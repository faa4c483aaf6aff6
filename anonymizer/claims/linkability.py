"""Does p-linkability hold, and how likely is a term really linked to a user? Zhu & Xiong, section 3 and Figure 6."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_at_least_k, verify_published_means
from shoal.anonymizer.parameters import number, one_of, whole_number
from shoal.corpus.profiles import Profiles


@dataclass(frozen=True)
class ActualLinkability:
    """How likely terms are linked to users in truth, where the bound p speaks of an average user."""

    mean: float  # over users, of ||u|| / terms(G)
    largest: float  # over users
    largest_share: float  # over groups and their terms, of the members that used the term
    alone: int  # users who are the only member of their group


def verify_p_linkability(claim: Claim, evidence: Evidence) -> Verdict:
    """Every group has enough distinct terms and members, and its profile is made of its members' and nothing else."""
    enough = verify_enough_terms(Fraction(str(claim.values["p"])), evidence)
    if not enough.holds:
        return enough
    few = verify_at_least_k(int(claim.values["members"]), evidence)
    if not few.holds:
        return few
    return verify_published_means(evidence, union=claim.values["representative"] == "union")


def verify_enough_terms(p: Fraction, evidence: Evidence) -> Verdict:
    """Distinct original terms of each group >= mean ||u|| / p, the mean over users with a profile."""
    sizes = evidence.profiles.size[evidence.profiles.size > 0].tolist()
    if not sizes:
        return HOLDS if len(evidence.release) == 0 else broken("a profile is published, but no user has one")
    mean = Fraction(sum(sizes), len(sizes))
    terms = terms_of_groups(evidence.profiles, evidence.assignment, len(evidence.release))
    for row, distinct in enumerate(terms.tolist()):
        if distinct * p < mean:
            return broken(
                f"the members of {evidence.release.pseudonyms[row]} have {distinct} distinct terms: with "
                f"{float(mean):.4g} terms per user, a term is linked with probability "
                f"{min(1.0, float(mean) / max(1, distinct)):.3f}, above p={float(p):g}"
            )
    return HOLDS


def actual_linkability(profiles: Profiles, assignment: Assignment) -> ActualLinkability:
    """The actual probability of linking a user to a term of the group (Figure 6), at the mean and at the worst.

    Profiles are of the log that was anonymized; users are matched by name.
    """
    if len(assignment.user) == 0:
        return ActualLinkability(0.0, 0.0, 0.0, 0)
    groups = int(assignment.profile.max()) + 1
    users = used_terms(profiles, assignment)
    together = _sum_by_group(users, assignment, groups)
    terms = np.diff(together.indptr)[assignment.profile]
    linked = np.diff(users.indptr) / np.maximum(1, terms)
    members = np.bincount(assignment.profile, minlength=groups)
    share = together.data / np.repeat(members, np.diff(together.indptr))
    alone = int((members == 1).sum())
    return ActualLinkability(float(linked.mean()), float(linked.max()), float(share.max(initial=0.0)), alone)


def terms_of_groups(profiles: Profiles, assignment: Assignment, groups: int) -> np.ndarray:
    """The number of distinct original terms of each group's members."""
    return np.diff(_sum_by_group(used_terms(profiles, assignment), assignment, groups).indptr)


def used_terms(profiles: Profiles, assignment: Assignment) -> csr_array:
    """One row per row of the assignment: 1 where that user used a term."""
    rows = profiles.counts[assignment.rows_for(profiles.users)]
    return csr_array((np.ones(len(rows.data)), rows.indices, rows.indptr), shape=rows.shape)


def _sum_by_group(rows: csr_array, assignment: Assignment, groups: int) -> csr_array:
    ones = np.ones(len(assignment.profile))
    places = (assignment.profile, np.arange(len(assignment.profile)))
    return csr_array(csr_array((ones, places), shape=(groups, rows.shape[0])) @ rows)


def _sentence(values: Values) -> str:
    made = "mean" if values["representative"] == "centroid" else "sum"
    members = "a user or more" if values["members"] == 1 else f"{values['members']} users or more"
    return (
        f"Every profile is the {made} of the profiles of {members}, with so many distinct terms that a user of average "
        f"size is linked to one of them with probability {values['p']:g} at most."
    )


VERIFIERS = (
    Verifier(
        "p-linkability",
        "user",
        verify_p_linkability,
        _sentence,
        {
            "p": number(0.001, 1),
            "representative": one_of("centroid", "union"),
            "members": whole_number(1, 10**6),
        },
    ),
)
