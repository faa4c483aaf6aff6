"""Differential privacy of counts of people: OpenDP's Laplace noise and threshold, and its map to (epsilon, delta).

A method of `PrivateCounts` publishes them as one profile for all users.

The unit is a whole user, who counts for at most `per_user` things, once for each. Noise is drawn by OpenDP from the
system's entropy: no seed makes it again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nextafter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Method, ReleasedQueries, Suppressed
from shoal.anonymizer.blocks import CountedMethod
from shoal.anonymizer.parameters import Parameter, number, whole_number
from shoal.anonymizer.publish import publish
from shoal.corpus.progress import Progress

if TYPE_CHECKING:
    import opendp.prelude as dp

EPSILON, DELTA, PER_USER = number(0.01, 20), number(1e-12, 0.1), whole_number(1, 1000)
_AT_ONCE = 250_000  # counts per call: OpenDP takes a table of Python's numbers
_STAGE = "adding noise to counts"


@dataclass(frozen=True)
class NoisyCounts:
    """Noise of a scale on each count, and the least noisy count that is published."""

    scale: float
    threshold: int

    def release(self, counts: np.ndarray, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
        """Which counts (all above 0) pass with their noise, ascending, and what they are then."""
        mechanism = _mechanism(self.scale, self.threshold)
        passed: dict[int, int] = {}
        for start in range(0, len(counts), _AT_ONCE):
            progress(start, len(counts), _STAGE)
            part = counts[start : start + _AT_ONCE].tolist()
            passed |= mechanism(dict(zip(range(start, start + len(part)), part, strict=True)))
        kept = np.array(sorted(passed), dtype=np.int64)
        return kept, np.array([passed[place] for place in kept.tolist()], dtype=np.int64)


def noisy_counts(epsilon: float, delta: float, per_user: int) -> NoisyCounts:
    """The least noise and the lowest threshold that are (epsilon, delta)-private for a user of `per_user` counts."""
    distance = (per_user, per_user, 1)  # counts that a user changes, by how much in sum, and each by how much
    scale = per_user / epsilon
    while _mechanism(scale, 1).map(distance)[0] > epsilon:  # rounded up by a last bit
        scale = nextafter(scale, inf)
    accounted = _least(lambda threshold: _mechanism(scale, threshold).map(distance)[1] <= delta)
    # OpenDP 0.16 accounts for what is above its threshold, but publishes what is at it, too (opendp#2922).
    return NoisyCounts(scale, accounted + 1)


def _least(holds: Callable[[int], bool]) -> int:
    """The least whole number from 1 on of which something holds that holds of all larger ones."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _mechanism(scale: float, threshold: int) -> "dp.Measurement":
    import opendp.prelude as dp  # here, because it takes long, and most that is done needs no noise

    dp.enable_features("contrib")
    domain = dp.map_domain(dp.atom_domain(T="u32"), dp.atom_domain(T="i64"))
    return dp.m.make_laplace_threshold(domain, dp.l01inf_distance(dp.absolute_distance(T="i64")), scale, threshold)


def noisy_columns(
    held: csr_array, epsilon: float, delta: float, per_user: int, seed: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """The columns that so many users hold that they pass with their noise, and their noisy counts of users."""
    progress(0, 1, _STAGE)
    users = counted_users(held, per_user, seed)
    counted = np.flatnonzero(users)
    passed, count = noisy_counts(epsilon, delta, per_user).release(users[counted], progress)
    progress(1, 1, _STAGE)
    return counted[passed], count


def noisy_totals(totals: pl.DataFrame, epsilon: float, delta: float, per_user: int, progress: Progress) -> pl.DataFrame:
    """The same of what blocks of users counted: the totals that pass with their noise, and what they are then."""
    some = totals.filter(pl.col("count") > 0)
    passed, count = noisy_counts(epsilon, delta, per_user).release(some["count"].to_numpy(), progress)
    return some[passed].with_columns(pl.Series("count", count, dtype=pl.Int64))


def counted_users(held: csr_array, per_user: int, seed: int) -> np.ndarray:
    """How many users count for each column: each for at most `per_user` that it holds, chosen at random.

    Which they are changes nothing for anybody else, so that this choice needs no privacy of its own.
    """
    row = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    order = np.lexsort((np.random.default_rng(seed).random(len(row)), row))
    place = np.arange(len(row)) - held.indptr[row]  # within its row, in a random order
    return np.bincount(held.indices[order[place < per_user]], minlength=held.shape[1])


class PrivateCounts(Method, CountedMethod):
    """What methods have in common that publish noisy counts of people, for each of `per_user` things of a user."""

    one_profile = True
    epsilon = Parameter(1.0, EPSILON, "how much likelier a whole user may make any release, as a logarithm", "lower")
    delta = Parameter(1e-5, DELTA, "the probability with which that may fail", "lower")
    per_user: Parameter[int]

    def settle(self, totals: pl.DataFrame, seed: int, progress: Progress) -> pl.DataFrame:
        return noisy_totals(totals, self.epsilon, self.delta, self.per_user, progress)

    def publish_one(
        self, users: pl.Series, labels: list[str], weights: csr_array, queries: ReleasedQueries | None = None
    ) -> Anonymized:
        """One profile for all users. What is suppressed is not counted: that would be an exact number of the log."""
        everyone = np.arange(len(users))
        members = (everyone, np.zeros(len(everyone), dtype=np.int64))
        return publish(users, members, weights, labels, self.claim(), Suppressed(), queries=queries)
