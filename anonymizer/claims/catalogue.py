"""Is a catalogue of terms what it says? Holders and means recounted from the log, and nothing published of anybody."""

import numpy as np

from shoal.anonymizer.base import CATALOGUE, Catalogue, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import as_written, verify_left_out
from shoal.anonymizer.parameters import AT_LEAST_TWO


def verify_catalogue(claim: Claim, evidence: Evidence) -> Verdict:
    """No profile of anybody, and exactly the terms of at least k users, each with its holders and its mean."""
    release = evidence.release
    if len(release):
        return broken(f"{release.pseudonyms[0]} is published, but no row should be anybody's")
    if release.catalogue is None:
        return broken("there is no catalogue")
    terms = verify_terms(int(claim.values["k"]), release.catalogue, evidence)
    if not terms.holds:
        return terms
    means = verify_means(release.catalogue, evidence)
    return verify_suppressed(release.catalogue, evidence) if means.holds else means


def verify_terms(k: int, catalogue: Catalogue, evidence: Evidence) -> Verdict:
    """Every term is of as many users as it says, at least k, and no term of k users is missing."""
    counts = evidence.profiles.counts
    holders = dict(zip(evidence.profiles.terms, np.diff(counts.tocsc().indptr).tolist(), strict=True))
    for term, said in zip(catalogue.terms, catalogue.users.tolist(), strict=True):
        if holders.get(term, 0) < k:
            return broken(f"{term!r} is in the catalogue, but {holders.get(term, 0)} users hold it, fewer than k={k}")
        if holders[term] != said:
            return broken(f"{term!r} is said to be of {said} users, but {holders[term]} hold it")
    missing = sorted({term for term, many in holders.items() if many >= k} - set(catalogue.terms))
    return broken(f"{missing[0]!r} is of {holders[missing[0]]} users, but not in the catalogue") if missing else HOLDS


def verify_means(catalogue: Catalogue, evidence: Evidence) -> Verdict:
    """Every mean is that of all users who have a profile, digit by digit, as it is or as it is written."""
    profiles = evidence.profiles
    users = int(np.count_nonzero(profiles.size))
    typed = dict(zip(profiles.terms, profiles.counts.sum(axis=0).tolist(), strict=True))
    exact = np.array([typed[term] for term in catalogue.terms], dtype=float) / max(1, users)
    wrong = np.flatnonzero((catalogue.mean != exact) & (catalogue.mean != as_written(exact)))
    if len(wrong) == 0:
        return HOLDS
    term, said = catalogue.terms[wrong[0]], catalogue.mean[wrong[0]]
    return broken(f"{term!r} has the mean {said:.9g} in the catalogue, but {exact[wrong[0]]:.9g} in the log")


def verify_suppressed(catalogue: Catalogue, evidence: Evidence) -> Verdict:
    """What was left out is what the log holds of terms outside of the catalogue."""
    listed = set(catalogue.terms)
    typed = zip(evidence.profiles.terms, evidence.profiles.counts.sum(axis=0).tolist(), strict=True)
    left_out = int(sum(times for term, times in typed if term not in listed))
    return verify_left_out(left_out, "are of terms outside of the catalogue", evidence)


VERIFIERS = (
    Verifier(
        "catalogue-of-terms",
        "log",
        verify_catalogue,
        lambda values: (
            f"Nothing is published of a person; the catalogue lists the terms that at least {values['k']} users hold, "
            "how many do, and everyone's mean."
        ),
        {"k": AT_LEAST_TWO},
        files=(CATALOGUE,),
    ),
)
