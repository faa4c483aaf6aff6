"""What do Clump and Partition cost? Clump against the literal BUIG version, and the growth of both up to all of AOL."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, ProfileMethod
from shoal.anonymizer.methods.clump import Clump
from shoal.anonymizer.methods.clump.literal import Tree, clump, distortion, lcg_by_buig
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.run.timing import best_of, fitted_exponent, in_own_process, timed

LITERAL_SIZE = 1_000
THESIS_SIZE, AOL_SIZE = 53_058, 650_000
QUICK_SIZES, FULL_SIZES = (10_000, 20_000, 40_000), (THESIS_SIZE, 150_000, 325_000, AOL_SIZE)
MEAN_LENGTH = 20.93  # items per transaction, thesis 6.1.1
WORDS = 25_645  # items of its taxonomy
REPEATS = 5
SETTINGS = {"k": 5, "r": 10}
MINUTES, MEGABYTES = 10, 8 * 1024


def run(full: bool, progress: Progress) -> list[Row]:
    sizes = FULL_SIZES if full else QUICK_SIZES
    progress(0, len(sizes) + 1, "clump: against the literal version")
    return [
        *against_literal(),
        *growth("clump", sizes, 1.1, progress),
        *growth("partition", sizes, 1.2, progress),
    ]


def against_literal() -> list[Row]:
    """Both on one log and the whole taxonomy, both compiled."""
    profiles, method = zipf_profiles(LITERAL_SIZE), Clump(None, **SETTINGS)
    taxonomy = method.knowledge.taxonomy
    method.anonymize(zipf_profiles(50))
    literal_clump(zipf_profiles(50), taxonomy)
    made, fast = min((timed(lambda: method.anonymize(profiles)) for _ in range(5)), key=lambda run: run[1])
    slow_cost, slow = timed(lambda: literal_clump(profiles, taxonomy))
    fast_cost, ratio = ggd(made, taxonomy), slow / fast
    at = f"{LITERAL_SIZE:,} transactions"
    return [
        Row("clump against literal BUIG, speed", at, "at least 200 times",
            f"{ratio:,.0f} times ({slow:.1f} s, {fast * 1000:.0f} ms)", ratio >= 200),
        Row("clump against literal BUIG, distortion", at, f"at most {slow_cost:,.1f}", f"{fast_cost:,.1f}",
            fast_cost <= slow_cost + 1e-6),
    ]  # fmt: skip


def growth(method: str, sizes: tuple[int, ...], exponent: float, progress: Progress, parameter: str = "k") -> list[Row]:
    """The fitted exponent over the sizes, and time and memory at each; each size in a fresh process.

    The exponent is judged by processor time, since these methods use one core and other programs stretch the clock
    unevenly; the exponent by the clock stands beside it. The limits of time are by the clock. `parameter` is the size
    of a group.
    """
    measured = []
    for done, size in enumerate(sizes):
        progress(done + 1, len(sizes) + 1, f"{method}: {size:,} transactions")
        (processor, clock), _, megabytes = in_own_process(seconds_of, method, size, parameter)
        measured.append((processor, clock, megabytes))
    fitted = fitted_exponent(sizes, [processor for processor, _, _ in measured])
    by_clock = fitted_exponent(sizes, [clock for _, clock, _ in measured])
    rows = [Row(f"{method}, {parameter}=5, growth", f"{sizes[0]:,} to {sizes[-1]:,}", f"exponent <= {exponent}",
                f"{fitted:.2f} in processor time ({by_clock:.2f} by the clock)", fitted <= exponent)]  # fmt: skip
    for size, (_, clock, megabytes) in zip(sizes, measured, strict=True):
        reached, limit = f"{clock:.1f} s, {megabytes:,.0f} MB", f"{MINUTES} min, {MEGABYTES:,} MB"
        holds = clock <= 60 * MINUTES and megabytes <= MEGABYTES
        rows.append(Row(f"{method}, {parameter}=5", f"{size:,} transactions", limit, reached, holds))
    return rows


def seconds_of(method: str, size: int, parameter: str = "k") -> tuple[float, float]:
    """Processor and wall seconds of one release, each the best of as many runs at every size.

    Compiling and reading WordNet are not counted.
    """
    grouping = make_method(method, {parameter: SETTINGS["k"]})
    assert isinstance(grouping, ProfileMethod)
    grouping.anonymize(zipf_profiles(50))
    profiles = zipf_profiles(size)
    return best_of(REPEATS, lambda: grouping.anonymize(profiles))


def zipf_profiles(users: int, seed: int = 0) -> Profiles:
    """Transactions as in the thesis's log: lognormal lengths of its mean, words of WordNet drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    taxonomy = Knowledge().taxonomy
    leaves = np.sort(rng.choice(np.flatnonzero(taxonomy.is_leaf), WORDS, replace=False))
    terms = sorted(taxonomy.labels[v].lower() for v in leaves)
    sigma = 1.0
    length = np.maximum(1, np.rint(rng.lognormal(np.log(MEAN_LENGTH) - sigma**2 / 2, sigma, users))).astype(np.int64)
    rank = np.minimum(WORDS - 1, WORDS ** rng.random(length.sum()) - 1).astype(np.int64)
    row = np.repeat(np.arange(users), length)
    ones = np.ones(len(row), dtype=np.int32)
    counts = csr_array((ones, (row, rng.permutation(WORDS)[rank])), shape=(users, WORDS))
    counts.sum_duplicates()
    used = np.unique(counts.indices)  # as profiles made from a log have no other terms
    return Profiles(pl.Series([f"u{i}" for i in range(users)]), [terms[t] for t in used], counts[:, used])


def literal_clump(profiles: Profiles, taxonomy: Taxonomy) -> float:
    """The GGD that Algorithm 4.5 reaches with Algorithm 5.6 on the same profiles."""
    leaf = [taxonomy.node[term] for term in profiles.terms]
    transactions = [{leaf[t]: n for t, n in _row(profiles, user)} for user in range(len(profiles))]
    order = np.argsort(-profiles.occurrences, kind="stable").tolist()
    tree = Tree(taxonomy.parent)
    clusters = clump(tree, transactions, order, SETTINGS["k"], SETTINGS["r"], lcg_by_buig)
    return sum(distortion(tree, c.items, len(c.members), c.lcg) for c in clusters) / tree.LM[0]


def _row(profiles: Profiles, user: int) -> list[tuple[int, int]]:
    part = slice(profiles.counts.indptr[user], profiles.counts.indptr[user + 1])
    return list(zip(profiles.counts.indices[part].tolist(), profiles.counts.data[part].tolist(), strict=True))


def ggd(made: Anonymized, taxonomy: Taxonomy) -> float:
    """Definition 3.2.3 over all groups, from what was published."""
    LM = np.array([taxonomy.LM[taxonomy.node[label.lower()]] for label in made.release.labels])
    return float(made.release.users @ (made.release.weights @ LM)) + made.suppressed.occurrences
