"""How are profiles bundled so that a term can hardly be linked to a user? Zhu & Xiong 2010, Algorithm 1."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.blocks import CountedMethod, similar_blocks, total_of, totals
from shoal.anonymizer.methods.linkability.augmentation import augment
from shoal.anonymizer.methods.linkability.likeness import Likeness
from shoal.anonymizer.parameters import Parameter, number, one_of, whole_number
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog

EXACT_UP_TO = 5_000  # users; above, block=auto gives up the search for the closest among all
_LEFT_AT_ONCE = 200


class Linkability(ProfileMethod, CountedMethod):
    """Guarantee: every published profile has at least mean ||u|| / p distinct terms (section 3.2).

    Under independent terms and profiles of average size, a term of it is then linked to a member with probability
    at most p. It stops there: a larger profile than average, or a term that all members share, is linked with a higher
    one, and a profile that reaches the bound alone is a group of its own unless `members` asks for more.
    """

    info = MethodInfo(
        id="linkability",
        title="Bundles of similar profiles with many terms",
        paper="Yun Zhu and Li Xiong, 2010: Anonymizing User Profiles for Personalized Web Search (TR-2010-007)",
        unit="user",
        family="group",
        protects="Which terms of a group's profile are yours: an average user is linked with probability p at most.",
        does_not_protect=(
            "A user with a larger profile than average (one large enough stands alone unless members is 2 or more), "
            "terms that all members share, and terms that one member alone typed: they are published as they are, and "
            "who knows some of them finds the group."
        ),
        cluster="counts",
    )
    p = Parameter(0.4, number(0.001, 1), "the probability of linking a user to a term of the group", "lower")
    a = Parameter(1, whole_number(0, 20), "how many steps of hypernyms are added to compare profiles", "neither")
    first = Parameter(
        "random",
        one_of("random", "furthest"),
        "who starts the first group: a user drawn at random (the paper's prose), or "
        "the one furthest from a drawn one (its pseudo-code)",
        "neither",
    )
    representative = Parameter(
        "centroid",
        one_of("centroid", "union"),
        "what is published of a group: the mean or the sum of its profiles",
        "neither",
    )
    members = Parameter(
        1,
        whole_number(1, 10**6),
        "the fewest users of a group, besides the terms it needs (1: the paper's rule)",
        "higher",
    )
    block = Parameter(
        "auto",
        whole_number(100, 10**9) | one_of("auto", "all"),
        "how many users are searched for the closest one (auto: all of them up to "
        f"{EXACT_UP_TO:,} users, then blocks of similar users)",
        "neither",
    )

    def claim(self) -> Claim:
        return Claim("p-linkability", {"p": self.p, "representative": self.representative, "members": self.members})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        return self._anonymized(profiles, None, seed, progress)

    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        profiles = build_profiles(log, self.knowledge.words)
        return totals(users=int(np.count_nonzero(profiles.size)), terms=int(profiles.size.sum()))

    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        enough = self._enough(total_of(totals, "terms"), total_of(totals, "users"))
        return self._anonymized(build_profiles(log, self.knowledge.words), enough, seed, progress)

    def _anonymized(self, profiles: Profiles, enough: int | None, seed: int, progress: Progress) -> Anonymized:
        """Groups of enough terms: as the mean of these users asks for, or as is given."""
        users = np.flatnonzero(profiles.size > 0)
        part = profiles.select(users)
        enough = self.enough_terms(part) if enough is None else enough
        self.need(part, enough)
        group = np.full(len(profiles), -1)
        group[users] = self.bundle(part, np.random.default_rng(seed), progress, enough)
        return publish_centroids(profiles, group, self.claim(), union=self.representative == "union")

    def enough_terms(self, profiles: Profiles) -> int:
        """The fewest distinct terms of a group: |G| >= |U|_avg / p, without rounding errors."""
        return self._enough(int(profiles.size.sum()), len(profiles))

    def _enough(self, terms: int, users: int) -> int:
        return ceil(Fraction(terms, max(1, users)) / Fraction(str(self.p)))

    def need(self, profiles: Profiles, enough: int) -> None:
        """Refuse users who cannot fill one group all together."""
        if len(profiles) < self.members:
            raise InputError(
                f"linkability needs at least {self.members} users with a profile, the log has {len(profiles)}: "
                "lower members or bring a larger log"
            )
        terms = len(np.unique(profiles.counts.indices))
        if terms < enough:
            raise InputError(
                f"p={self.p:g} needs groups of at least {enough} distinct terms, all users together have {terms}: "
                "raise p or bring a larger log"
            )

    def bundle(self, profiles: Profiles, rng: np.random.Generator, progress: Progress, enough: int) -> np.ndarray:
        """The group of each user."""
        vectors = augment(profiles, self.a, self.knowledge, progress)
        group = np.full(len(profiles), -1)
        done = groups = 0
        for rows in self.blocks(vectors, profiles.counts, enough, rng, progress):
            for members in self.grow(csr_array(vectors[rows]), profiles.counts[rows], enough, rng):
                group[rows[members]] = groups
                groups, done = groups + 1, done + len(members)
                progress(done, len(profiles), "bundling profiles")
        return join_closest(vectors, group, progress)

    def blocks(
        self, vectors: csr_array, counts: csr_array, enough: int, rng: np.random.Generator, progress: Progress
    ) -> list[np.ndarray]:
        """All users at once, or where they are too many, blocks of similar users that can fill a group each."""
        most = {"auto": EXACT_UP_TO, "all": vectors.shape[0]}.get(str(self.block)) or int(self.block)

        def wide(rows: np.ndarray) -> bool:
            return len(rows) >= self.members and len(np.unique(counts[rows].indices)) >= enough

        return similar_blocks(vectors, most, wide, rng, progress)

    def grow(self, vectors: csr_array, counts: csr_array, enough: int, rng: np.random.Generator) -> Iterator[list[int]]:
        """Algorithm 1: groups grown by the closest profile until they hold enough; what is left at the end is not."""
        likeness = Likeness(vectors)
        drawn = int(rng.integers(vectors.shape[0]))
        seed = drawn if self.first == "random" else likeness.furthest_from(drawn)
        while seed >= 0:
            likeness.start_group()
            likeness.take(seed)
            of_seed = likeness.dots()
            members, terms = [seed], set(terms_of(counts, seed))
            while len(terms) < enough or len(members) < self.members:
                closest = likeness.closest()
                if closest < 0:
                    return
                likeness.take(closest)
                members.append(closest)
                terms.update(terms_of(counts, closest))
            yield members
            seed = likeness.furthest(of_seed)


def terms_of(counts: csr_array, user: int) -> list[int]:
    found: list[int] = counts.indices[counts.indptr[user] : counts.indptr[user + 1]].tolist()
    return found


def join_closest(vectors: csr_array, group: np.ndarray, progress: Progress) -> np.ndarray:
    """Each user that is left joins the group whose sum is closest, the first of equals."""
    left, grouped = np.flatnonzero(group < 0), np.flatnonzero(group >= 0)
    if len(left) == 0:
        return group
    ones = np.ones(len(grouped))
    sums = csr_array(csr_array((ones, (group[grouped], grouped)), shape=(group.max() + 1, len(group))) @ vectors)
    square = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
    joined = group.copy()
    for first in range(0, len(left), _LEFT_AT_ONCE):
        progress(first, len(left), "joining the closest groups")
        some = left[first : first + _LEFT_AT_ONCE]
        dots = (vectors[some] @ sums.T).toarray()
        joined[some] = np.argmax(dots * dots / square, axis=1)
    return joined
