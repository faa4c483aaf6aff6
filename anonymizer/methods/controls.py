"""What are the floor, the ceiling and the controls? Methods like any other, so that every table carries them."""

import numpy as np
from scipy.sparse import csr_array

from anonymizer.base import Anonymized, Claim, Method, MethodInfo, Suppressed
from anonymizer.parameters import group_size
from anonymizer.publish import publish, publish_centroids
from corpus.errors import InputError
from corpus.profiles import Profiles
from corpus.progress import Progress, silent
from corpus.querylog import QueryLog


class Plain(Method):
    """Guarantee: nothing is published, so nothing can be learned from it."""

    info = MethodInfo(
        id="plain",
        title="No profile at all",
        paper="",
        unit="user",
        takes="profiles",
        protects="Everything: no profile is published and the search is not personalized.",
        does_not_protect="The queries themselves, which the engine still sees.",
    )

    def anonymize(self, data: Profiles | QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        assert isinstance(data, Profiles)
        progress(0, len(data), "leaving profiles out")
        nobody = np.empty(0, dtype=np.int32)
        claim = Claim("nothing-published", "Nothing is published.")
        suppressed = Suppressed(int(data.occurrences.sum()), len(data))
        return publish(data.users, (nobody, nobody), csr_array((0, 0), dtype=float), [], claim, suppressed)


class Original(Method):
    """Guarantee: none. The ceiling of precision, and the floor of privacy."""

    info = MethodInfo(
        id="original",
        title="Each user's own profile",
        paper="",
        unit="user",
        takes="profiles",
        protects="Nothing but the name: each profile is published as it is, under a pseudonym.",
        does_not_protect="Anyone who knows a few of a person's terms finds the profile and reads the rest.",
    )

    def anonymize(self, data: Profiles | QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        assert isinstance(data, Profiles)
        progress(0, len(data), "publishing profiles")
        group = np.where(data.size > 0, np.cumsum(data.size > 0) - 1, -1)
        return publish_centroids(data, group, Claim("none", "No promise: each user's own profile is published."))


class Everyone(Method):
    """Guarantee: all users share one profile."""

    info = MethodInfo(
        id="everyone",
        title="One group of all users",
        paper="",
        unit="user",
        takes="profiles",
        protects="Who has which profile: there is only one.",
        does_not_protect="A term that a single user typed is still in the average, for all to see.",
    )

    def anonymize(self, data: Profiles | QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        assert isinstance(data, Profiles)
        if not data.size.any():
            raise InputError("no user of the log has a profile: its queries hold no term that the dictionary knows")
        progress(0, len(data), "averaging profiles")
        claim = Claim("one-profile", "All users share one profile.")
        return publish_centroids(data, np.where(data.size > 0, 0, -1), claim)


class Random(Method):
    """Guarantee: every profile is shared by at least k users."""

    info = MethodInfo(
        id="random",
        title="Random groups of k users",
        paper="",
        unit="user",
        takes="profiles",
        protects="Who of k users has which profile.",
        does_not_protect="Terms that only one member typed stand in the group's profile, and point to that member.",
        parameters=(group_size(),),
    )
    k: int

    def anonymize(self, data: Profiles | QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        assert isinstance(data, Profiles)
        users = np.flatnonzero(data.size > 0)
        self.need_users(len(users), self.k)
        shuffled = np.random.default_rng(seed).permutation(users)
        group = np.full(len(data), -1)
        for number, members in enumerate(np.array_split(shuffled, len(users) // self.k)):
            group[members] = number
            progress(number, len(users) // self.k, "grouping users")
        claim = Claim("users-per-profile", f"Every profile is shared by at least {self.k} users.", {"k": self.k})
        return publish_centroids(data, group, claim)
