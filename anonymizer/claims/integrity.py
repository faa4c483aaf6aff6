"""Is a release whole? What holds for every release, whatever its claim: counts, names and members fit together."""

import numpy as np

from shoal.anonymizer.claims import HOLDS, Evidence, Unit, Verdict, broken


def check_integrity(unit: Unit, evidence: Evidence) -> Verdict:
    for check in (
        _members_are_users_of_the_log, _one_profile_per_user, _shares_are_counted, _nobody_is_forgotten,
        _weights_are_positive,
    ):  # fmt: skip
        verdict = check(unit, evidence)
        if not verdict.holds:
            return verdict
    return HOLDS


def _members_are_users_of_the_log(unit: Unit, evidence: Evidence) -> Verdict:
    known = set(evidence.log.users.to_list())
    for name in evidence.assignment.users.to_list():
        if name not in known:
            return broken(f"the assignment names a user {name!r} that the log does not have")
    return HOLDS


def _one_profile_per_user(unit: Unit, evidence: Evidence) -> Verdict:
    if unit == "session":
        return HOLDS
    counts = np.bincount(evidence.assignment.user, minlength=len(evidence.assignment.users))
    twice = np.flatnonzero(counts > 1)
    if len(twice):
        return broken(f"user {evidence.assignment.users[int(twice[0])]!r} is in {counts[twice[0]]} groups")
    return HOLDS


def _shares_are_counted(unit: Unit, evidence: Evidence) -> Verdict:
    release, assignment = evidence.release, evidence.assignment
    pairs = np.unique(np.stack([assignment.profile, assignment.user]), axis=1)
    members = np.bincount(pairs[0], minlength=len(release))
    wrong = np.flatnonzero(members != release.users)
    if len(wrong):
        row = int(wrong[0])
        said = f"{release.pseudonyms[row]} says that {release.users[row]} users share it"
        return broken(f"{said}, but {members[row]} are assigned to it")
    return HOLDS


def _nobody_is_forgotten(unit: Unit, evidence: Evidence) -> Verdict:
    assigned = len(np.unique(evidence.assignment.user))
    missing = len(evidence.log.users) - assigned
    if missing != evidence.suppressed.users:
        return broken(
            f"{missing} users of the log have no profile, but the manifest counts {evidence.suppressed.users}"
        )
    return HOLDS


def _weights_are_positive(unit: Unit, evidence: Evidence) -> Verdict:
    """A weight of 0, or one that is no number, would slip through every comparison that follows."""
    weights = evidence.release.weights
    wrong = np.flatnonzero(~(np.isfinite(weights.data) & (weights.data > 0)))
    if len(wrong):
        row = int(np.searchsorted(weights.indptr, wrong[0], side="right")) - 1
        label = evidence.release.labels[int(weights.indices[wrong[0]])]
        return broken(f"{evidence.release.pseudonyms[row]} publishes {label!r} with weight {weights.data[wrong[0]]}")
    return HOLDS
