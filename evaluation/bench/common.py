"""What does common cost? Growth with users up to all of AOL, what its blocks lose in likeness, and the literal one."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.methods import common
from shoal.anonymizer.methods.common import Common
from shoal.anonymizer.methods.common.groups import LENGTH, unit_vectors
from shoal.anonymizer.methods.common.literal import common_groups, vectors_of
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.clump import AOL_SIZE, MEGABYTES, MINUTES, THESIS_SIZE, zipf_profiles
from shoal.evaluation.run.timing import best_of, fitted_exponent, in_own_process, timed

QUICK_SIZES, FULL_SIZES = (5_000, 10_000, 20_000), (1_000, THESIS_SIZE, AOL_SIZE)
EXPONENT = 1.3
KEPT = 0.95  # of the likeness that groups have where every user is compared with all


def run(full: bool, progress: Progress) -> list[Row]:
    sizes = FULL_SIZES if full else QUICK_SIZES
    measured = []
    for done, size in enumerate(sizes):
        progress(done, len(sizes) + 1, f"common: {size:,} users")
        (processor, clock), _, megabytes = in_own_process(seconds_of, size)
        measured.append((processor, clock, megabytes))
    progress(len(sizes), len(sizes) + 1, "common: blocks and the literal one")
    return [_growth_row(sizes, measured), *_cost_rows(sizes, measured), _loss_row(8_000), _literal_row(150)]


def seconds_of(users: int) -> tuple[float, float]:
    """Processor and wall seconds of one release: the best of three where it is quick. Compiling is not counted."""
    Common().anonymize(zipf_profiles(50))
    profiles = zipf_profiles(users)
    return best_of(3 if users < THESIS_SIZE else 1, lambda: Common().anonymize(profiles))


Measured = Sequence[tuple[float, float, float]]


def _growth_row(sizes: Sequence[int], measured: Measured) -> Row:
    fitted = fitted_exponent(sizes, [processor for processor, _, _ in measured])
    at = f"{sizes[0]:,} to {sizes[-1]:,} users"
    reached = f"{fitted:.2f} in processor time"
    return Row("common, k=7 t=4, growth", at, f"exponent <= {EXPONENT}", reached, fitted <= EXPONENT)


def _cost_rows(sizes: Sequence[int], measured: Measured) -> list[Row]:
    return [
        Row(
            "common, k=7 t=4",
            f"{size:,} users",
            f"{MINUTES} min, {MEGABYTES:,} MB",
            f"{processor:.1f} s of processor time, {megabytes:,.0f} MB",
            processor <= 60 * MINUTES and megabytes <= MEGABYTES,
        )
        for size, (processor, _, megabytes) in zip(sizes, measured, strict=True)
    ]


def _loss_row(users: int) -> Row:
    """Blocks of similar users against all users in one."""
    profiles, usual = zipf_profiles(users), common.EXACT_UP_TO
    cut = likeness(profiles)
    try:
        common.EXACT_UP_TO = users
        exact = likeness(profiles)
    finally:
        common.EXACT_UP_TO = usual
    reached = f"{cut / exact:.1%} (mean cosine {cut:.3f} of {exact:.3f})"
    at = f"{users:,} users in blocks of {common.BLOCK:,}"
    return Row("common, likeness kept by blocks", at, f"{KEPT:.0%} of the exact one's", reached, cut >= KEPT * exact)


def likeness(profiles: Profiles) -> float:
    """How alike the members of a group are: the mean over users of the cosine to another member."""
    method = Common()
    vectors = unit_vectors(profiles.counts, method.t)
    vectors = csr_array(vectors[np.flatnonzero(np.diff(vectors.indptr))])
    group = method.groups(vectors, np.random.default_rng(0), silent)
    size = np.bincount(group)[group]
    sums = csr_array((np.ones(len(group)), (group, np.arange(len(group))))) @ vectors
    with_own = np.asarray(vectors.multiply(sums[group]).sum(axis=1)).ravel() / LENGTH**2
    return float(np.mean((with_own - 1) / (size - 1)))


def _literal_row(users: int) -> Row:
    """The same groups as the literal reference, and how much sooner."""
    profiles, method = zipf_profiles(users), Common()
    vectors = unit_vectors(profiles.counts, method.t)
    taking_part = np.flatnonzero(np.diff(vectors.indptr))
    vectors = csr_array(vectors[taking_part])
    (order,) = method.blocks(vectors, np.random.default_rng(0), silent)
    bags = vectors_of([profiles.of(user) for user in range(users)], method.t)
    slow_groups, slow = timed(lambda: common_groups([bags[taking_part[user]] for user in order], method.k))
    group, fast = timed(lambda: method.groups(vectors, np.random.default_rng(0), silent))
    same = {frozenset(order[member] for member in members) for members in slow_groups} == {
        frozenset(np.flatnonzero(group == number).tolist()) for number in range(group.max() + 1)
    }
    reached = f"{'the same groups' if same else 'OTHER GROUPS'}, {slow / fast:,.0f} times"
    return Row("common against the literal one", f"{users} users", "the same groups", reached, same)
