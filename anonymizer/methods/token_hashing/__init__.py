"""Token-based hashing: each term of a profile as a keyed hash. It is shown because it is done, and broken."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod, Suppressed
from shoal.anonymizer.parameters import Parameter, whole_number
from shoal.anonymizer.publish import publish
from shoal.anonymizer.secret_numbers import secret_bytes
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.tokens import SECRET_BYTES, HashKey

_STAGE = "hashing terms"


class TokenHashing(ProfileMethod):
    """Kumar, Novak, Pang, Tomkins 2007; thesis 2.1.

    Guarantee: none. Each user's own profile is published, its terms as HMAC-SHA-256 under a key that only the searching
    server holds: it hashes the words of documents as well, and ranks by what is the same, as by the profile itself.
    """

    info = MethodInfo(
        id="token-hashing",
        title="Each user's own profile, its terms hashed",
        paper="R. Kumar, J. Novak, B. Pang, A. Tomkins: On anonymizing query logs via token-based hashing. WWW, 2007",
        unit="user",
        family="hash",
        protects="Words from a reader who has no other log, and rare words from one who has.",
        does_not_protect=(
            "Words that are frequent, or often beside others: who has another log reads them by how often and beside "
            "what they occur (the measure `inverted`), and then finds people by them. The server reads everything."
        ),
        randomness="secret",
        cluster="blocks",
    )
    bits = Parameter(64, whole_number(16, 256), "how many bits of a hash are published", "neither")

    def claim(self) -> Claim:
        return Claim("hashed-terms", {"bits": self.bits})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        progress(0, len(profiles.terms), _STAGE)
        key = HashKey(secret_bytes(seed, "key", SECRET_BYTES), self.bits)
        hashes = [key.hashed(term) for term in profiles.terms]
        labels = sorted(set(hashes))  # another order than that of the terms
        number = {label: place for place, label in enumerate(labels)}
        column = np.array([number[one] for one in hashes], dtype=np.int64)
        renamed = csr_array((np.ones(len(column)), (np.arange(len(column)), column)), shape=(len(column), len(labels)))
        progress(len(profiles.terms), len(profiles.terms), _STAGE)
        users = np.flatnonzero(profiles.size)
        weights = csr_array(profiles.counts[users] @ renamed)
        suppressed = Suppressed(0, len(profiles) - len(users))
        members = (users, np.arange(len(users)))
        made = publish(profiles.users, members, weights, labels, self.claim(), suppressed)
        return replace(made, assignment=replace(made.assignment, key=key))
