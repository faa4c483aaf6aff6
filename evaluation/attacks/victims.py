"""Whom does the attacker look for, and what is known of them? Victims and the terms that are known."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.profiles import Profiles

KNOWN = (1, 3, 5, 10)


@dataclass(frozen=True, eq=False)
class Victims:
    """Users that are attacked: their original profiles, and an order in which their terms become known."""

    user: np.ndarray  # rows of the profiles
    profiles: Profiles
    order: csr_array  # users x terms, 1 for the term that is learned first, 2 for the next ...

    def __len__(self) -> int:
        return len(self.user)

    def known(self, m: int) -> csr_array:
        """Victims x terms, 1 where the attacker knows the term; a victim with fewer than m terms is known wholly."""
        rows = self.order[self.user]
        kept = rows.copy()
        kept.data = np.where(rows.data <= m, 1.0, 0.0)
        kept.eliminate_zeros()
        return kept

    def in_order(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """The first `most` terms of each victim as they are learned: where each victim's begin, and the terms."""
        rows = self.known(most)
        place = csr_array(self.order[self.user])
        first = place.data <= most
        row = np.repeat(np.arange(len(self)), np.diff(place.indptr))[first]
        learned = np.lexsort((place.data[first], row))
        return rows.indptr.astype(np.int64), place.indices[first][learned].astype(np.int64)


def choose_victims(profiles: Profiles, victims: int, seed: int = 0) -> Victims:
    """Draw victims from the users with a profile. Terms are drawn without replacement, at the profile's frequencies.

    Exponential races: the term with the smallest Exp(1) / frequency comes first, which is such a draw.
    """
    rng = np.random.default_rng(seed)
    users = np.flatnonzero(profiles.size > 0)
    chosen = np.sort(rng.permutation(users)[:victims])
    counts = csr_array(profiles.counts.astype(float))
    arrival = rng.exponential(size=counts.nnz) / counts.data
    row = np.repeat(np.arange(len(profiles)), np.diff(counts.indptr))
    by_row = np.lexsort((arrival, row))
    place = np.empty(counts.nnz)
    place[by_row] = np.arange(counts.nnz) - np.repeat(counts.indptr[:-1], np.diff(counts.indptr)) + 1
    return Victims(chosen, profiles, csr_array((place, counts.indices, counts.indptr), shape=counts.shape))
