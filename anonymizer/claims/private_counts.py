"""Do noisy counts keep what can be checked? The map from parameters to noise, the threshold, and whose counts they are.

Noise itself cannot be checked on one release. The scale and the threshold are computed here from the claimed epsilon
and delta, by the closed form of the discrete Laplace distribution and without the library that drew the noise.
"""

from collections.abc import Mapping
from math import ceil, exp, expm1, log, log1p

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import QUERIES, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_nothing_generalized, verify_weights
from shoal.anonymizer.claims.queries import typed_queries, verify_profiles
from shoal.anonymizer.parameters import Range, Value, number, whole_number

NEVER = 1e-12  # noise so large that it is once in so many releases


def least_count(values: Values) -> int:
    """The threshold: a user's `per_user` counts of 1 are published with probability delta at most.

    A count of 1 passes where the noise is at least threshold - 1, with probability a^(threshold - 1) / (1 + a), where
    a = exp(-epsilon / per_user).
    """
    epsilon, delta, many = float(values["epsilon"]), float(values["delta"]), int(values["per_user"])
    each = -expm1(log1p(-delta) / many)  # 1 - (1 - each)^many = delta
    least = 1 - log(each * (1 + exp(-epsilon / many))) * many / epsilon
    return max(2, ceil(least - 1e-9))


def most_noise(values: Values) -> int:
    """Noise that is never exceeded, as far as one may expect."""
    return ceil(-log(NEVER) * int(values["per_user"]) / float(values["epsilon"]))


def verify_one_profile_for_all(evidence: Evidence) -> Verdict:
    """One profile, of all users of the log; nothing is counted as suppressed, for that count would be exact."""
    release, users = evidence.release, len(evidence.log.users)
    if len(release) != 1 or release.users.tolist() != [users]:
        return broken(f"{len(release)} profiles are published, but all {users} users should share one")
    if evidence.suppressed.occurrences:
        return broken(f"{evidence.suppressed.occurrences} suppressed occurrences are counted: an exact number")
    return verify_nothing_generalized(release)


def verify_counts(values: Values, counts: Mapping[str, int], users: Mapping[str, int]) -> Verdict:
    """Every count reaches the threshold, and is of something that users have, as far as noise may carry it."""
    least, noise = least_count(values), most_noise(values)
    for text, count in counts.items():
        if not users.get(text):
            return broken(f"{text!r} is published, but it is of no user")
        if count < least:
            return broken(f"{text!r} is published with {count}, below the threshold of {least}")
        if count > users[text] + noise:
            return broken(f"{text!r} is published with {count}, but {users[text]} users have it, and noise is less")
    return HOLDS


def verify_private_queries(claim: Claim, evidence: Evidence) -> Verdict:
    whole, rows = verify_one_profile_for_all(evidence), evidence.release.queries
    if not whole.holds or rows is None:
        return whole if not whole.holds else broken("no queries are published, but the claim is about queries")
    if rows.query.is_duplicated().any() or not np.array_equal(rows.count, rows.degree):
        return broken("a query is published twice, or its count and its degree differ: both are its noisy count")
    typed = typed_queries(evidence.log)
    users = dict(zip(typed.texts.to_list(), typed.users.tolist(), strict=True))
    counts = dict(zip(rows.query.to_list(), rows.count.tolist(), strict=True))
    verdict = verify_counts(claim.values, counts, users)
    return verify_profiles(evidence, typed) if verdict.holds else verdict


def verify_private_terms(claim: Claim, evidence: Evidence) -> Verdict:
    whole = verify_one_profile_for_all(evidence)
    if not whole.holds:
        return whole
    profiles, release = evidence.profiles, evidence.release
    holders = np.bincount(profiles.counts.indices, minlength=len(profiles.terms)).tolist()
    weights = release.profile(0)
    if any(weight != int(weight) for weight in weights.values()):
        return broken("a weight is no whole number, but it is the noisy count of users")
    counts = {label: int(weight) for label, weight in weights.items()}
    verdict = verify_counts(claim.values, counts, dict(zip(profiles.terms, holders, strict=True)))
    if not verdict.holds:
        return verdict
    said = csr_array(np.array([[counts.get(term, 0) for term in profiles.terms]], dtype=float))
    return verify_weights(release, said, profiles.terms, "its counts")  # each term stands there once


def _sentence(what: str, values: Values) -> str:
    return (
        f"({values['epsilon']:g}, {values['delta']:g})-differential privacy of a whole user: at most "
        f"{values['per_user']} {what} of each count, noise has the scale {values['per_user']}/{values['epsilon']:g}, "
        f"and every published count is at least {least_count(values)}. Checked are the threshold, that users have what "
        "is published, and no count beyond theirs and noise; that noise was drawn, and who was counted, cannot be."
    )


_VALUES: dict[str, Range[Value]] = {
    "epsilon": number(0.01, 20), "delta": number(1e-12, 0.1), "per_user": whole_number(1, 1000),
}  # fmt: skip

VERIFIERS = (
    Verifier(
        "private-query-counts",
        "log",
        verify_private_queries,
        lambda values: _sentence("different queries", values),
        _VALUES,
        files=(QUERIES,),
    ),
    Verifier(
        "private-term-counts",
        "log",
        verify_private_terms,
        lambda values: _sentence("different terms", values),
        _VALUES,
    ),
)
