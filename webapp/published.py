"""What does a release say of a user, and who else hides behind the same profile?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.anonymizer.personal_profile import mean_profile
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import Profiles
from shoal.search.vectors import DocumentVectors, profile_space
from shoal.webapp.releases import LoadedRelease


@dataclass(frozen=True, eq=False)
class Published:
    """A loaded release beside the log it was made from. `pairs` is of the trusted side: log users x profiles."""

    loaded: LoadedRelease
    pairs: csr_array
    space: csr_array  # labels x word forms of the corpus

    @property
    def release(self) -> Release:
        return self.loaded.stored.release

    def profiles_of(self, user: int) -> np.ndarray:
        """The published profiles that a user is behind: one, several (sessions), or none (suppressed)."""
        return self.pairs.indices[self.pairs.indptr[user] : self.pairs.indptr[user + 1]]

    def find_group(self, pseudonym: str) -> np.ndarray:
        if pseudonym not in self._places:
            raise InputError(f"the release {self.loaded.release_id} publishes no profile of that name: choose again")
        return np.array([self._places[pseudonym]])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.release.pseudonyms)}

    def weights(self, profiles: np.ndarray) -> csr_array:
        """One published profile, or the mean of several, as a row over the labels."""
        return mean_profile(self.release, profiles)

    def in_corpus(self, profiles: np.ndarray) -> csr_array:
        """The same in the space of the documents."""
        return csr_array(self.weights(profiles) @ self.space)

    @cached_property
    def _members(self) -> csr_array:
        return csr_array(self.pairs.T)

    def others(self, profiles: np.ndarray, user: int | None) -> np.ndarray:
        """The other users behind these profiles."""
        rows = self._members[profiles].indices
        return np.unique(rows[rows != user] if user is not None else rows)

    def size(self, profiles: np.ndarray) -> int:
        """How many users share the profile; the fewest where there are several."""
        return int(self.release.users[profiles].min()) if len(profiles) else 0


def publish_beside(loaded: LoadedRelease, profiles: Profiles, vectors: DocumentVectors) -> Published:
    """Join a release with the users of the log by name. Users that the log does not have are left out."""
    release, assignment = loaded.stored.release, loaded.stored.assignment
    holder = assignment.rows_among(profiles.users)
    known = holder >= 0
    pairs = csr_array(
        (np.ones(int(known.sum())), (holder[known], assignment.profile[known])), shape=(len(profiles), len(release))
    )
    space = profile_space(release.labels, release.generalized, vectors, loaded.stored.knowledge)
    return Published(loaded, pairs, csr_array(space))
