"""Are hashed terms what users typed? The verifier hashes all terms of the log with the secret key, by itself."""

import hashlib

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import (
    verify_left_out,
    verify_members_have_profiles,
    verify_nothing_generalized,
    verify_rows_of_one,
    verify_weights,
)
from shoal.anonymizer.parameters import whole_number

_BLOCK = 64  # bytes of a block of SHA-256


def hashed(secret: bytes, word: str, bits: int) -> str:
    """HMAC-SHA-256 as RFC 2104 writes it, cut to its first bits."""
    key = secret.ljust(_BLOCK, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in key) + word.encode()).digest()
    outer = hashlib.sha256(bytes(b ^ 0x5C for b in key) + inner).hexdigest()
    return f"{int(outer, 16) >> (256 - bits):x}".zfill((bits + 3) // 4)


def verify_hashed_terms(claim: Claim, evidence: Evidence) -> Verdict:
    """Each user with a profile has one of their own, and its labels are the hashes of their terms."""
    release, profiles, key = evidence.release, evidence.profiles, evidence.assignment.key
    if key is None or key.bits != claim.values["bits"]:
        return broken("there is no key of so many bits beside the release: nobody can tell what it publishes")
    for verdict in (
        verify_rows_of_one(release),
        verify_left_out(0, "were left out", evidence),
        verify_nothing_generalized(release),
        verify_members_have_profiles(evidence),
    ):
        if not verdict.holds:
            return verdict
    user = evidence.assignment.rows_for(profiles.users)
    outside = np.setdiff1d(np.flatnonzero(profiles.size), user)
    if len(outside):
        return broken(f"user {profiles.users[int(outside[0])]!r} has a profile, but no published one")
    labels = [hashed(key.secret, term, key.bits) for term in profiles.terms]
    names = sorted(set(labels))
    place = {name: column for column, name in enumerate(names)}
    own = profiles.counts[evidence.owner].tocoo()
    columns = np.array([place[label] for label in labels], dtype=np.int64)[own.col]
    expected = csr_array((own.data.astype(float), (own.row, columns)), shape=(len(release), len(names)))
    return verify_weights(release, expected, names, "its user's terms")


VERIFIERS = (
    Verifier(
        "hashed-terms",
        "user",
        verify_hashed_terms,
        lambda values: (
            "No promise: each user's own profile is published, with its terms as the first "
            f"{values['bits']} bits of their HMAC-SHA-256 under the key beside it."
        ),
        {"bits": whole_number(16, 256)},
        keyed=True,
    ),
)
