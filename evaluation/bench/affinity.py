"""What does k-theta-affinity cost? All pairs, cores and whole releases, up to all of AOL."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.anonymizer.methods.affinity import Affinity
from shoal.anonymizer.methods.affinity.concepts import AffinityClasses, affinity_classes, mine_concepts
from shoal.anonymizer.methods.affinity.grown_graphs import degrees_in_grown_graphs
from shoal.anonymizer.methods.affinity.pairs import AffinityGraph, affinity_graph, generalized_cores
from shoal.corpus.documents import load_documents
from shoal.corpus.people.simulated import simulate_log
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.bench import Row
from shoal.evaluation.run.timing import first_users, fitted_exponent, in_own_process, timed

AOL_QUERIES = 28_898_361
QUERIES_PER_USER = 44
QUICK_USERS, FULL_USERS = (4_000, 8_000, 16_000), (10_000, 20_000, 40_000, 80_000)
MINUTES, MEGABYTES = 30, 16 * 1024
V_MAX = 2_000
REPEATS, SECONDS = 5, 1.0  # the fewest calls, and what they take in all: short ones need more to be told from noise

T = TypeVar("T")


@dataclass(frozen=True)
class Stages:
    """What finding pairs and peeling cores cost, in processor time, since other programs stretch the clock unevenly."""

    classes: int
    edges: int  # from a vector to the (query, user) pairs around it
    pair_seconds: float
    core_seconds: float
    exact_share: float  # of the queries whose graphs give the exact degree
    bounds_hold: bool  # grown graphs give no query a higher degree


def run(full: bool, progress: Progress) -> list[Row]:
    """Growth of the two stages; with `full` also the releases of a log of AOL's size."""
    sizes = FULL_USERS if full else QUICK_USERS
    rows = []
    progress(0, 4, "affinity: simulating users")
    log = simulate_log(load_documents("news"), sizes[-1]).typed()
    for done, theta in enumerate((0.9, 0.8)):
        progress(done, 4, f"affinity: stages at theta={theta:g}")
        rows += growth(log, theta, sizes)
    for done, theta in enumerate((0.9, 0.8) if full else ()):
        progress(2 + done, 4, f"affinity: all of AOL at theta={theta:g}")
        rows.append(whole_release(theta))
    progress(4, 4, "affinity")
    return rows


def growth(log: QueryLog, theta: float, sizes: tuple[int, ...]) -> list[Row]:
    """How the stages grow: pairs against the vectors compared, cores against the edges peeled."""
    _stages(first_users(log, 500), theta)  # compiles
    stages = [_stages(first_users(log, users), theta) for users in sizes]
    at = f"{stages[0].classes:,} to {stages[-1].classes:,} concept vectors"
    pairs = fitted_exponent([s.classes for s in stages], [s.pair_seconds for s in stages])
    edges = f"{stages[0].edges:,} to {stages[-1].edges:,} edges"
    cores = fitted_exponent([s.edges for s in stages], [s.core_seconds for s in stages])
    share = stages[-1].exact_share
    return [
        Row(f"affinity, theta={theta:g}, all pairs", at, "no n*n: exponent < 2",
            f"{pairs:.2f} ({stages[-1].pair_seconds:.2f} s)", pairs < 2),
        Row(f"affinity, theta={theta:g}, k-cores", edges, "linear: exponent <= 1.1",
            f"{cores:.2f} ({stages[-1].core_seconds:.2f} s)", cores <= 1.1),
        Row(f"affinity, theta={theta:g}, exact=no", at, "lower bounds; the loss is measured",
            f"exact for {100 * share:.1f} % of the queries (v_max={V_MAX})", stages[-1].bounds_hold),
    ]  # fmt: skip


def whole_release(theta: float) -> Row:
    """A release of a log of AOL's size, in a process of its own; the memory holds the simulation too."""
    reached, _, megabytes = in_own_process(release_of_all, AOL_QUERIES, theta)
    queries, released, seconds = reached
    share = f"{100 * released / queries:.0f} % of the queries released"
    return Row(
        f"affinity, k=5, theta={theta:g}", f"{queries:,} simulated queries",
        f"{MINUTES} min, {MEGABYTES:,} MB", f"{seconds / 60:.1f} min, {megabytes:,.0f} MB, {share}",
        seconds <= 60 * MINUTES and megabytes <= MEGABYTES,
    )  # fmt: skip


def release_of_all(queries: int, theta: float) -> tuple[int, int, float]:
    """Queries in the log, queries released, and the seconds of the release."""
    log = log_of(queries)
    made, seconds = timed(lambda: Affinity(k=5, theta=theta).anonymize(log))
    return len(log), len(log) - made.suppressed.occurrences, seconds


def log_of(queries: int) -> QueryLog:
    """A simulated log of so many queries."""
    log = simulate_log(load_documents("news"), -(-queries // QUERIES_PER_USER) + 1).typed()
    return log.select(np.arange(len(log)) < queries)


def _stages(log: QueryLog, theta: float) -> Stages:
    queries = distinct_queries(log)
    classes, users = affinity_classes(queries, mine_concepts(queries, 2, 2, silent)), len(log.users)
    graph, pair_seconds = _best(lambda: affinity_graph(classes, theta, silent))
    cores, core_seconds = _best(lambda: generalized_cores(graph, classes.user_start, classes.user, users, silent))
    grown = degrees_in_grown_graphs(queries, classes, graph, cores, V_MAX, silent)
    exact = cores[classes.of_query[classes.of_query >= 0]]
    share, lower = float((grown == exact).mean()), bool((grown <= exact).all())
    return Stages(len(classes), _edges(graph, classes), pair_seconds, core_seconds, share, lower)


def _edges(graph: AffinityGraph, classes: AffinityClasses) -> int:
    """Section 3.3 takes neighbours as pairs of a query and a user."""
    users = np.diff(classes.user_start)
    return int(users.sum() + users[graph.neighbour].sum())


def _best(function: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and the fewest processor seconds of a few calls."""
    seconds: list[float] = []
    while len(seconds) < REPEATS or sum(seconds) < SECONDS:
        start = time.process_time()
        value = function()
        seconds.append(time.process_time() - start)
    return value, min(seconds)
