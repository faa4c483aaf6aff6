"""What does microaggregation cost? Time and memory up to 50,000 users, and what the search in blocks loses."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from shoal.anonymizer.methods.microaggregation import Microaggregation
from shoal.anonymizer.methods.microaggregation.similar_clusters import (
    BLOCK_USERS,
    Incidence,
    make_incidence,
    partition,
    partition_in_blocks,
)
from shoal.corpus.documents import load_documents
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.directory import classification_matrices
from shoal.corpus.people.simulated import simulate_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.bench import Row
from shoal.evaluation.run.timing import first_users, fitted_exponent, in_own_process, timed

PAPER_USERS = 1000
QUICK_SIZES, FULL_SIZES = (5000, 10000, 15000), (6250, 12500, 25000, 50000)
QUICK_LOSS, FULL_LOSS = 4000, 16000
K = 3


def run(full: bool, progress: Progress) -> list[Row]:
    sizes = FULL_SIZES if full else QUICK_SIZES
    progress(0, 2, "microaggregation: growth")
    (paper, *seconds), _, megabytes = in_own_process(seconds_of, (PAPER_USERS, *sizes))
    exponent = fitted_exponent(sizes, seconds)
    growth = f"{exponent:.2f} ({', '.join(f'{s:.1f} s' for s in seconds)})"
    rows = [
        Row("microaggregation, k=3", f"{PAPER_USERS} users (the paper's size)", "under 60 s", f"{paper:.1f} s",
            paper < 60),
        Row("microaggregation, growth", f"{sizes[0]} to {sizes[-1]} users", "exponent <= 1.5", growth, exponent <= 1.5),
        _memory(sizes[-1], megabytes),
    ]  # fmt: skip
    progress(1, 2, "microaggregation: loss of the search in blocks")
    return [*rows, _loss(FULL_LOSS if full else QUICK_LOSS)]


def _memory(users: int, megabytes: float) -> Row:
    """The peak of the process, making the log included. A users x users matrix would show from 20,000 users on."""
    bound = max(2048.0, users * users * 4 / 2**20 / 2)
    must = f"under {bound:.0f} MB: no users x users matrix"
    return Row("microaggregation, memory", f"{users} users", must, f"{megabytes:.0f} MB", megabytes < bound)


def _loss(users: int) -> Row:
    incidence = incidence_of(simulate_log(load_documents("news"), users).typed())
    exact = within_similarity(incidence, partition(incidence, K))
    blocks = within_similarity(incidence, partition_in_blocks(incidence.categories, K))
    lost = 1 - blocks / exact
    return Row("microaggregation, search=blocks", f"{users} users in blocks of {BLOCK_USERS}",
               "loses at most 5 % of the similarity within clusters", f"{lost:.2%}", lost <= 0.05)  # fmt: skip


def seconds_of(sizes: Sequence[int]) -> list[float]:
    """The time of a run at each size, without making the log, loading WordNet and compiling."""
    method = Microaggregation(Knowledge(), k=K)
    log = simulate_log(load_documents("news"), max(sizes)).typed()
    method.anonymize(first_users(log, 100))
    return [timed(partial(method.anonymize, first_users(log, users)))[1] for users in sizes]


def incidence_of(log: QueryLog) -> Incidence:
    known = Knowledge()
    profiles = build_profiles(log, known.words)
    profiles = profiles.select(np.flatnonzero(profiles.size))
    return make_incidence(classification_matrices(profiles, known.directory, 5, 5))


def within_similarity(incidence: Incidence, cluster: np.ndarray) -> int:
    """The sum of the similarities of all pairs of users in one cluster."""
    order = np.argsort(cluster, kind="stable")
    order = order[cluster[order] >= 0]
    total = 0
    for members in np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1):
        similarity = Incidence(incidence.categories[members]).rows(0, len(members))
        total += int(similarity.sum() - np.trace(similarity)) // 2
    return total
