"""Is a difference more than chance? Bootstrap intervals over people, paired tests, corrected; and who loses most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

RESAMPLES = 2_000
FLIPS = 9_999
CLEAR = 0.05  # a corrected p below this is a difference, and any other is none
_RARE = 10  # flips that reach the difference; with fewer, their share says little of how rare it is
_CELLS = 10_000_000  # of a block of resamples x people
_KEPT = 20_000_000  # of all resamples x people that are drawn once for all tables
_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1  # of the eight coins of each byte
_TIE = 1e-9
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over people, and what else makes it uncertain: the luck of an attack, and what nobody measured."""

    people: np.ndarray  # one number per person
    victims: np.ndarray = field(default_factory=lambda: np.empty(0))  # how each attack moves the mean; together by 0
    below: float = 0.0  # how much less the mean may be, for all that is known
    above: float = 0.0  # how much more

    @property
    def mean(self) -> float:
        return float(self.people.mean())

    def __sub__(self, other: "Estimate") -> "Estimate":
        both = padded([self.victims, other.victims])
        return Estimate(
            self.people - other.people, both[0] - both[1], self.below + other.above, self.above + other.below
        )

    def nearest_to_none(self) -> np.ndarray:
        """The numbers of people, moved towards a mean of 0 as far as what is unknown allows."""
        moved = min(self.mean, self.below) if self.mean > 0 else max(self.mean, -self.above)
        return self.people - moved


@dataclass(frozen=True)
class Paired:
    """One setting against another, over the same people."""

    difference: float
    low: float
    high: float
    p: float | None  # of no difference, two-sided; None for a pair that is not tested
    p_holm: float | None  # corrected over the family
    wins: int
    ties: int
    losses: int


def compare(differences: Sequence[Estimate], tested: Sequence[bool] | None = None, seed: int = 0) -> list[Paired]:
    """What is more than chance of differences between two, per person.

    The tested ones (all, if nothing is said) are one family: their p-values are corrected together by Holm.
    """
    if not differences:
        return []
    family = [i for i in range(len(differences)) if tested is None or tested[i]]
    chance = chances([differences[i] for i in family], seed)
    p, corrected = (dict(zip(family, values.tolist(), strict=True)) for values in (chance, holm(chance)))
    bounds = estimate_intervals(differences, seed)
    of_people = np.stack([one.people for one in differences])
    wins, losses = (of_people > _TIE).sum(axis=1), (of_people < -_TIE).sum(axis=1)
    return [
        Paired(
            difference=one.mean,
            low=float(bounds[i, 0]),
            high=float(bounds[i, 1]),
            p=p.get(i),
            p_holm=corrected.get(i),
            wins=int(wins[i]),
            ties=len(one.people) - int(wins[i] + losses[i]),
            losses=int(losses[i]),
        )
        for i, one in enumerate(differences)
    ]


def chances(differences: Sequence[Estimate], seed: int = 0) -> np.ndarray:
    """The two-sided p of each: that nothing differs, and only people, the luck of attacks and the unknown say so."""
    if not differences:
        return np.empty(0)
    return sign_flip_test(_rows([one.nearest_to_none() for one in differences], differences), seed)


def estimate_intervals(estimates: Sequence[Estimate], seed: int = 0) -> np.ndarray:
    """The 95 % interval of each mean (rows x 2), with all that makes it uncertain."""
    means = np.array([one.mean for one in estimates])
    rows = _rows([one.people - one.mean for one in estimates], estimates)
    size = len(estimates[0].people)
    spread = intervals(rows * (rows.shape[1] / size), seed=seed)
    return spread + np.array([[m - one.below, m + one.above] for m, one in zip(means, estimates, strict=True)])


def _rows(of_people: Sequence[np.ndarray], estimates: Sequence[Estimate]) -> np.ndarray:
    """People and victims side by side, in one unit: a victim's share in the mean is not a person's."""
    people = np.stack(of_people)
    victims = padded([one.victims for one in estimates])
    return np.hstack([people, victims * (people.shape[1] / max(1, victims.shape[1]))])


def padded(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays below each other; an empty one is of zeros.

    Where fewer were attacked than elsewhere (half of the people are the other log that reads hashes), nobody else moves
    the mean, and each of the few moves it by as much more: so its variance stays what it is.
    """
    longest = max(len(array) for array in arrays)
    padded = np.zeros((len(arrays), longest))
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array * (longest / max(1, len(array)))
    return padded


def resampled_means(values: np.ndarray, times: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
    """The means of each row of values (rows x people) in the bootstrap's resamples: rows x RESAMPLES.

    All rows are resampled together: one seed draws the same people for every setting. `times` counts how often a person
    was measured, where that differs; a value is then the sum over these times.
    """
    people = values.shape[1]
    means = []
    for counts in _kept_draws(people, seed) if people * RESAMPLES <= _KEPT else _draws(people, seed):
        drawn = counts.T.astype(float)
        means.append(values @ drawn / (people if times is None else times @ drawn))
    return np.concatenate(means, axis=1)


def _draws(people: int, seed: int) -> Iterator[np.ndarray]:
    """How often each resample draws each person: resamples x people, some at a time."""
    rng = np.random.default_rng([seed, 1])
    for size in _blocks(RESAMPLES, people):
        drawn = rng.multinomial(people, np.full(people, 1 / people), size=size)
        yield drawn.astype(np.min_scalar_type(drawn.max(initial=0)))


@lru_cache(maxsize=4)  # to draw them takes longer than to add up: a summary asks two dozen times about the same people
def _kept_draws(people: int, seed: int) -> tuple[np.ndarray, ...]:
    return tuple(_draws(people, seed))


def intervals(values: np.ndarray, times: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
    """The 95 % percentile bootstrap interval of the mean of each row (rows x people -> rows x 2)."""
    return ends(resampled_means(values, times, seed))


def ends(resampled: np.ndarray) -> np.ndarray:
    """The ends of the 95 % interval of what was resampled (rows x resamples -> rows x 2)."""
    return np.quantile(resampled, [0.025, 0.975], axis=1).T


def sign_flip_test(differences: np.ndarray, seed: int = 0) -> np.ndarray:
    """The two-sided p of each row of paired differences (rows x people) by Fisher's randomization test.

    Under no difference each person's sign is a coin's. Smucker, Allan & Carterette (2007) recommend this test for the
    comparison of rankings, and advise against Wilcoxon's and the sign test. So many flips cannot show a p below
    1/10,000, which a correction over hundreds of pairs would drown; what is that rare is worked out by `flip_tail`.
    """
    people = differences.shape[1]
    observed = np.abs(differences.mean(axis=1))
    rng = np.random.default_rng([seed, 2])
    reached = np.zeros(len(differences), dtype=np.int64)
    for size in _blocks(FLIPS, people):
        coins = np.frombuffer(rng.bytes(people * -(-size // 8)), dtype=np.uint8).reshape(people, -1)
        signs = _SIGNS[coins].reshape(people, -1)[:, :size]
        reached += (np.abs(differences @ signs / people) >= observed[:, None] - _TIE).sum(axis=1)
    p = (reached + 1) / (FLIPS + 1)
    rare = np.flatnonzero(reached < _RARE)
    p[rare] = np.maximum(flip_tail(differences[rare]), reached[rare] / (FLIPS + 1))
    return p


def flip_tail(differences: np.ndarray) -> np.ndarray:
    """The p that all sign flips would give, by the saddlepoint of their distribution (Robinson 1982).

    It is within a few percent; where all differences have one of few values, within a third.

    The sum of a_i times a coin's sign has the cumulants K(t) = sum log cosh(t a_i). With K'(t) at the observed sum s,
    w = sqrt(2 (t s - K)) and u = t sqrt(K''), its upper tail is that of a normal beyond w + log(u / w) / w.
    """
    a = np.abs(differences)
    s, people = np.abs(differences.sum(axis=1)), (a > _TIE).sum(axis=1)
    fewest = np.maximum(2.0 ** (1 - np.minimum(people, 1000)), _LEAST)  # one of all flips, and its mirror image
    same_sign = s >= a.sum(axis=1) - _TIE * np.maximum(1, people)
    p = np.where(people > 0, fewest, 1.0)
    between = np.flatnonzero(~same_sign)
    a, s = a[between], s[between]
    t = s / np.maximum((a**2).sum(axis=1), _LEAST)
    for _ in range(100):  # K' rises and bends down, so Newton's steps come from below and never pass the root
        slope = np.tanh(t[:, None] * a)
        step = (s - (a * slope).sum(axis=1)) / np.maximum((a**2 * (1 - slope**2)).sum(axis=1), _LEAST)
        t = t + step
        if (np.abs(step) <= 1e-10 * np.abs(t)).all():
            break
    x = t[:, None] * a
    K = (x + np.log1p(np.exp(-2 * x)) - np.log(2)).sum(axis=1)
    spread = (a**2 / np.cosh(np.minimum(x, 300)) ** 2).sum(axis=1)
    w = np.sqrt(np.maximum(2 * (t * s - K), _LEAST))
    u = np.maximum(t * np.sqrt(spread), _LEAST)
    p[between] = np.clip(2 * _normal(-(w + np.log(u / w) / w)), fewest[between], 1.0)
    return p


def two_sided(z: np.ndarray) -> np.ndarray:
    """The chance of a normal number at least so far from 0."""
    return np.asarray(2 * _normal(-np.abs(z)))


def _normal(z: np.ndarray) -> np.ndarray:
    """The chance of a normal number below it."""
    from scipy.special import ndtr  # no start need wait for it

    return np.asarray(ndtr(z))


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's correction of many p-values, in the order given."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


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


def _blocks(total: int, people: int) -> list[int]:
    """How many resamples are drawn at a time, so that memory stays bounded."""
    size = max(1, min(total, _CELLS // max(1, people)))
    return [min(size, total - begin) for begin in range(0, total, size)]
