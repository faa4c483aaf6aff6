"""Common: how are groups of k made of people who really have terms in common, and published are only those?

A method of this program (docs/common.md): balanced groups of similar people, and of each group the mean of the terms
that at least t of its members used.
"""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.blocks import similar_blocks
from shoal.anonymizer.methods.common.groups import balanced_groups, groups_that_stay, unit_vectors
from shoal.anonymizer.parameters import Parameter, group_size, whole_number
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

EXACT_UP_TO = 4_000  # users; more are cut into blocks of similar ones, within which the most similar one is sought
BLOCK = 2_000


class Common(ProfileMethod):
    """Guarantee: every profile is shared by at least k users, and every term of it was used by at least t of them.

    So any c <= t - 2 members who put their knowledge together leave at least two possible holders of every term. It
    stops there: when t is close to k, who is known to be a member is known to have used what is published, and no
    inference is bounded.
    """

    info = MethodInfo(
        id="common",
        title="Balanced groups, and what t of their members have in common",
        paper="Shoal (2026), docs/common.md: a method of this program, not of a paper",
        unit="user",
        family="group",
        protects=(
            "Who of k users has which profile, and any term that fewer than t of them used: up to t - 2 members "
            "together cannot tell whose a term is."
        ),
        does_not_protect=(
            "What most members have in common: it bounds no inference when t is close to k, for then a published term "
            "was used by nearly every one of them."
        ),
        cluster="blocks",
    )
    k = group_size(7)
    t = Parameter(4, whole_number(1, 10**6), "the fewest members who used a published term, at most k", "higher")

    def __init__(self, knowledge: Knowledge | None = None, **settings: object) -> None:
        super().__init__(knowledge, **settings)
        self.previous: Assignment | None = None
        if self.t > self.k:
            raise InputError(f"t={self.t} is more than k={self.k}: a group of k has no t members; lower t or raise k")

    def claim(self) -> Claim:
        return Claim("terms-in-common", {"k": self.k, "t": self.t})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        vectors = unit_vectors(profiles.counts, self.t)
        users = np.flatnonzero(np.diff(vectors.indptr))  # others have no term that may be published
        self.need_users(len(users), self.k)
        group = groups_that_stay(self.previous, profiles, users, self.k, self.t)
        free = users[group[users] < 0]
        if len(free) >= self.k:  # fewer wait: added to a group that stays, the difference of two releases told of them
            found = self.groups(csr_array(vectors[free]), np.random.default_rng(seed), progress)
            group[free] = group.max(initial=-1) + 1 + found
        return publish_centroids(profiles, group, self.claim(), holders=self.t)

    def after(self, previous: Assignment) -> "Common":
        """The same, keeping the groups of an earlier release that still have k members with a term of t of them."""
        later = Common(self.knowledge, **self.settings)
        later.previous = previous
        return later

    def groups(self, vectors: csr_array, rng: np.random.Generator, progress: Progress) -> np.ndarray:
        """The group of each user."""
        group = np.full(vectors.shape[0], -1)
        groups = done = 0
        for rows in self.blocks(vectors, rng, progress):
            progress(done, len(group), "grouping users")
            group[rows] = groups + balanced_groups(csr_array(vectors[rows]), self.k)
            groups, done = groups + len(rows) // self.k, done + len(rows)
        return group

    def blocks(self, vectors: csr_array, rng: np.random.Generator, progress: Progress) -> list[np.ndarray]:
        """All users, or blocks of similar ones where they are many; each in the random order in which it is grown."""
        most = max(EXACT_UP_TO if vectors.shape[0] <= EXACT_UP_TO else BLOCK, 4 * self.k)
        cut = similar_blocks(vectors, most, lambda rows: True, rng, progress, multiple=self.k)
        return [rng.permutation(rows) for rows in cut]
