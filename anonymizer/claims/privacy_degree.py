"""Is nobody connected with a sensitive term? Whoever publishes the same sensitive part is one crowd, counted anew."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim, Release
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import (
    verify_left_out,
    verify_members_have_profiles,
    verify_nothing_generalized,
    verify_rows_of_one,
    verify_weights,
)
from shoal.anonymizer.parameters import AT_LEAST_TWO


def verify_privacy_degree(claim: Claim, evidence: Evidence) -> Verdict:
    """Rows of one user each, true public terms, and sensitive ones as true shares of 1/p at most."""
    p, profiles = int(claim.values["p"]), evidence.profiles
    private = evidence.knowledge.sensitive.among(profiles.terms)
    holders = np.bincount(profiles.counts.indices, minlength=len(private))
    hidden = private & (holders * p > np.count_nonzero(profiles.size))
    for verdict in (
        verify_rows_of_one(evidence.release),
        verify_nothing_generalized(evidence.release),
        verify_members_have_profiles(evidence),
        _nobody_is_left_out(evidence, hidden),
        _hidden_are_counted(evidence, hidden),
    ):
        if not verdict.holds:
            return verdict
    return _shares_are_true(p, evidence, private, hidden)


def _nobody_is_left_out(evidence: Evidence, hidden: np.ndarray) -> Verdict:
    """Who typed a term that may be published has a row."""
    profiles = evidence.profiles
    row = np.repeat(np.arange(len(profiles)), profiles.size)
    may = np.zeros(len(profiles), dtype=bool)
    may[row[~hidden[profiles.counts.indices]]] = True
    may[evidence.assignment.rows_for(profiles.users)] = False
    if not may.any():
        return HOLDS
    return broken(f"user {profiles.users[int(may.argmax())]!r} typed a term that may be published, but has no profile")


def _hidden_are_counted(evidence: Evidence, hidden: np.ndarray) -> Verdict:
    counts = evidence.profiles.counts
    missing = int(counts.data[hidden[counts.indices]].sum())
    return verify_left_out(missing, "are of sensitive terms that too many typed", evidence)


def _shares_are_true(p: int, evidence: Evidence, private: np.ndarray, hidden: np.ndarray) -> Verdict:
    profiles, release = evidence.profiles, evidence.release
    crowd = _crowds(release, {profiles.terms[t] for t in np.flatnonzero(private)})
    size = np.bincount(crowd)
    own = profiles.counts[evidence.assignment.rows_for(profiles.users)[np.argsort(evidence.assignment.profile)]].tocoo()
    key = crowd[own.row].astype(np.int64) * len(private) + own.col
    found, many = np.unique(key[(private & ~hidden)[own.col]], return_counts=True)
    group, term = np.divmod(found, max(1, len(private)))
    rows = csr_array((many / size[group], (group, term)), shape=(len(size), len(private)))
    public = ~private[own.col]
    typed = csr_array((own.data[public], (own.row[public], own.col[public])), shape=own.shape)
    verdict = verify_weights(release, csr_array(typed + rows[crowd]), profiles.terms, "those with its sensitive part")
    wrong = np.flatnonzero(many * p > size[group])
    if not verdict.holds or len(wrong) == 0:
        return verdict
    name = release.pseudonyms[int(np.argmax(crowd == group[wrong[0]]))]
    return broken(
        f"{many[wrong[0]]} of the {size[group[wrong[0]]]} users with the sensitive part of {name} typed "
        f"{profiles.terms[term[wrong[0]]]!r}, more than 1 of {p}"
    )


def _crowds(release: Release, private: set[str]) -> np.ndarray:
    """A number for each row, the same for rows that publish the same sensitive terms with the same weights."""
    numbers: dict[frozenset[tuple[str, float]], int] = {}
    crowd = np.empty(len(release), dtype=np.int64)
    for row in range(len(release)):
        part = frozenset((label, weight) for label, weight in release.profile(row).items() if label in private)
        crowd[row] = numbers.setdefault(part, len(numbers))
    return crowd


def _sentence(values: Values) -> str:
    p = values["p"]
    return (
        f"Nobody is connected with a sensitive term with a probability above 1/{p}: each is published as the share of "
        "those with the same sensitive part who typed it, and one that more than this share of all users typed is "
        "published of nobody; all other terms stand as each user typed them."
    )


VERIFIERS = (Verifier("privacy-degree", "user", verify_privacy_degree, _sentence, {"p": AT_LEAST_TWO}),)
