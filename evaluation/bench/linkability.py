"""What does linkability cost? Seconds at the paper's size, growth with users, and what blocks lose in likeness."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.methods.linkability import Linkability
from shoal.anonymizer.methods.linkability.augmentation import augment
from shoal.anonymizer.methods.linkability.literal import Paths, linkability_groups
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.run.timing import fitted_exponent, in_own_process, timed

PAPER_USERS, PAPER_TERMS = 720, 150
_VOCABULARY, _TOPICS = 8000, 50
_P = 0.4


def run(full: bool, progress: Progress) -> Sequence[Row]:
    sizes = (PAPER_USERS, 5_000, 10_000, 20_000, 50_000) if full else (PAPER_USERS, 2_000, 6_000)
    Linkability(p=_P).anonymize(draw_profiles(50))  # compiles the loops before the clock runs
    seconds: list[float] = []
    for size in sizes[:-1]:
        progress(len(seconds), len(sizes), f"linkability of {size:,} users")
        seconds.append(timed_run(size))
    last, _, peak = in_own_process(_timed_alone, sizes[-1])
    return [
        _paper_row(seconds[0]),
        _growth_row(sizes, [*seconds, last], peak),
        _loss_row(10_000 if full else 3_000, progress),
        _literal_row(60),
    ]


def timed_run(users: int) -> float:
    profiles = draw_profiles(users)
    return timed(lambda: Linkability(p=_P).anonymize(profiles))[1]


def _timed_alone(users: int) -> float:
    timed_run(50)
    return timed_run(users)


def _paper_row(seconds: float) -> Row:
    at = f"{PAPER_USERS} users with {PAPER_TERMS} terms, p={_P}"
    return Row("linkability", at, "10 s", f"{seconds:.2f} s", seconds <= 10)


def _growth_row(sizes: Sequence[int], seconds: Sequence[float], peak: float) -> Row:
    exponent = fitted_exponent(sizes, seconds)
    dense = sizes[-1] ** 2 * 8 / 1e6
    reached = f"{exponent:.2f}; {seconds[-1]:.1f} s, {peak:,.0f} MB (a dense matrix: {dense:,.0f} MB)"
    at = f"{sizes[0]:,} to {sizes[-1]:,} users"
    return Row("linkability, growth", at, "exponent <= 1.6", reached, exponent <= 1.6)


def _loss_row(users: int, progress: Progress) -> Row:
    """Blocks of similar users against the search among all, at a size where both can be had."""
    profiles = draw_profiles(users)
    found = {}
    for number, block in enumerate(("all", users // 4)):
        progress(number, 2, f"linkability of {users:,} users in blocks")
        found[block] = cohesion(profiles, Linkability(p=_P, block=block).anonymize(profiles))
    exact, cut = found.values()
    at = f"{users:,} users, block={users // 4:,}"
    reached = f"{cut / exact:.1%} (cosine {cut:.3f} of {exact:.3f})"
    return Row("linkability, likeness kept by blocks", at, "95 % of the exact one's", reached, cut >= 0.95 * exact)


def _literal_row(users: int) -> Row:
    """The same groups as the algorithm to the letter, and how much sooner."""
    knowledge = Knowledge()
    profiles = draw_profiles(users, terms=20)
    bags = [profiles.of(user) for user in range(users)]
    first = int(np.random.default_rng(0).integers(users))
    paths = Paths(knowledge)
    literal, slow = timed(lambda: linkability_groups(bags, _P, 1, first, paths))
    made, fast = timed(lambda: Linkability(p=_P).anonymize(profiles))
    groups = {frozenset(np.flatnonzero(made.assignment.profile == g).tolist()) for g in range(len(made.release))}
    same = groups == {frozenset(group) for group in literal}
    reached = f"{'the same groups' if same else 'OTHER GROUPS'}, {slow / fast:,.0f} times"
    return Row("linkability against the literal one", f"{users} users with 20 terms", "the same groups", reached, same)


def cohesion(profiles: Profiles, made: Anonymized) -> float:
    """How alike the members of a group are: the mean cosine of a user's augmented profile with the group's sum."""
    vectors = augment(profiles, 1, Knowledge())
    group = made.assignment.profile[np.argsort(made.assignment.user)]
    sums = csr_array((np.ones(len(group)), (group, np.arange(len(group))))) @ vectors
    norms = [np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel()) for rows in (vectors, sums)]
    dots = np.asarray(vectors.multiply(sums[group]).sum(axis=1)).ravel()
    return float(np.mean(dots / (norms[0] * norms[1][group])))


def draw_profiles(users: int, terms: int = PAPER_TERMS, seed: int = 0) -> Profiles:
    """Users with as many distinct terms each: half of them common words, half of one topic, both by Zipf's law."""
    rng = np.random.default_rng(seed)
    words = sorted(rng.choice(np.array(load_wordnet().words), _VOCABULARY, replace=False).tolist())
    zipf = np.cumsum(1 / np.arange(1, _VOCABULARY + 1))
    order = np.array([rng.permutation(_VOCABULARY) for _ in range(_TOPICS + 1)])
    rows = np.empty((users, terms), dtype=np.int32)
    for user in range(users):
        rank = np.searchsorted(zipf, zipf[-1] * rng.random((2, 2 * terms)))
        drawn = np.concatenate([order[0][rank[0]], order[1 + rng.integers(_TOPICS)][rank[1]]])
        rows[user] = rng.permutation(np.unique(drawn))[:terms]
    counts = csr_array((np.ones(rows.size, dtype=np.int32), rows.ravel(), np.arange(0, rows.size + 1, terms)),
                       shape=(users, _VOCABULARY))  # fmt: skip
    counts.sort_indices()
    return Profiles(pl.Series([str(user) for user in range(users)]), words, counts)
