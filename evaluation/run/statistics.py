"""Is a difference more than chance? Bootstrap intervals over users, paired tests, corrected; and who loses most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2_000
FLIPS = 9_999
_CELLS = 10_000_000  # of a block of resamples x users
_TIE = 1e-9


@dataclass(frozen=True)
class Paired:
    """One setting against another, over the same users."""

    difference: float
    low: float
    high: float
    p: float  # of no difference, two-sided, not yet corrected
    wins: int
    ties: int
    losses: int


def intervals(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """The 95 % percentile bootstrap interval of the mean of each row (rows x users -> rows x 2).

    All rows are resampled together, so that the same seed draws the same users for every setting.
    """
    users = values.shape[1]
    rng = np.random.default_rng([seed, 1])
    means = []
    for size in _blocks(RESAMPLES, users):
        times = rng.multinomial(users, np.full(users, 1 / users), size=size)
        means.append(values @ times.T.astype(float) / users)
    return np.quantile(np.concatenate(means, axis=1), [0.025, 0.975], axis=1).T


def sign_flip_test(differences: np.ndarray, seed: int = 0) -> np.ndarray:
    """The two-sided p of each row of paired differences (rows x users) by Fisher's randomization test.

    Under no difference each user's sign is a coin's. Smucker, Allan & Carterette (2007) recommend this test for the
    comparison of rankings, and advise against Wilcoxon's and the sign test.
    """
    users = differences.shape[1]
    observed = np.abs(differences.mean(axis=1))
    rng = np.random.default_rng([seed, 2])
    beaten = np.zeros(len(differences), dtype=np.int64)
    for size in _blocks(FLIPS, users):
        signs = rng.integers(0, 2, size=(users, size)) * 2.0 - 1
        beaten += (np.abs(differences @ signs / users) >= observed[:, None] - _TIE).sum(axis=1)
    return (beaten + 1) / (FLIPS + 1)


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's correction of many p-values, in the order given."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def compare(values: Sequence[np.ndarray], others: Sequence[np.ndarray], seed: int = 0) -> list[Paired]:
    """Each of the values against its other: one number per user in both."""
    if not values:
        return []
    differences = np.stack(values) - np.stack(others)
    bounds, chance = intervals(differences, seed), sign_flip_test(differences, seed)
    wins, losses = (differences > _TIE).sum(axis=1), (differences < -_TIE).sum(axis=1)
    return [
        Paired(float(d.mean()), float(b[0]), float(b[1]), float(p), int(w), len(d) - int(w) - int(lost), int(lost))
        for d, b, p, w, lost in zip(differences, bounds, chance, wins, losses, strict=True)
    ]


@dataclass(frozen=True)
class Losers:
    """Who a setting serves worst: the mean of its worst tenth of users, and of each quarter by profile size."""

    worst_tenth: float
    quarters: tuple[float, ...]  # the users with the smallest profiles first
    largest: tuple[int, ...]  # the largest profile of each quarter, in distinct terms


def losers(values: np.ndarray, profile_size: np.ndarray) -> Losers:
    worst = np.sort(values)[: max(1, len(values) // 10)]
    quarters = [part for part in np.array_split(np.argsort(profile_size, kind="stable"), 4) if len(part)]
    return Losers(
        float(worst.mean()),
        tuple(float(values[part].mean()) for part in quarters),
        tuple(int(profile_size[part].max()) for part in quarters),
    )


def _blocks(total: int, users: int) -> list[int]:
    """How many resamples are drawn at a time, so that memory stays bounded."""
    size = max(1, min(total, _CELLS // max(1, users)))
    return [min(size, total - begin) for begin in range(0, total, size)]
