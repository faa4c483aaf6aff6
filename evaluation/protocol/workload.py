"""What is the same for every setting? The split log, the test queries with their candidates, and what is relevant."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from shoal.corpus.errors import InputError
from shoal.corpus.logs import Rejected
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.measures.base import SERVED
from shoal.evaluation.protocol.blending import QUERIES, split_for_lesson
from shoal.evaluation.protocol.precision import FEWEST_CANDIDATES, TestQueries, choose_queries
from shoal.evaluation.protocol.truth import Truth, truth_of_clicks, truth_of_profiles
from shoal.evaluation.run.cache import code_digest, read_arrays, write_arrays
from shoal.search.index import Index, index_for
from shoal.search.vectors import own_profiles

PROFILE_TENTHS = 7


@dataclass(frozen=True, eq=False)
class Workload:
    """What every setting is measured with."""

    train: QueryLog  # all that profiles, methods and attacks may see
    test: QueryLog
    queries: TestQueries
    truths: tuple[Truth, ...]  # by the user's own profile first
    profile_size: np.ndarray  # distinct terms of each evaluated user's profile
    without_profile: int  # users with test queries whose profile is empty: there is nothing personal to keep
    data: str  # a digest of the log, the corpus and the knowledge
    digests: Mapping[str, str] = field(default_factory=dict)  # of log and corpus, each
    lesson: tuple[QueryLog, TestQueries] | None = None  # what weights are learned on: a part of `train`, later queries

    @property
    def users(self) -> np.ndarray:
        """The users that have a test query, ascending."""
        return self.truths[0].users


def prepare(
    experiment: Experiment, folder: Path, progress: Progress = silent, read: tuple[QueryLog, Rejected] | None = None
) -> tuple[Workload, Rejected]:
    """Read, split and search once. Candidates are kept in `folder`, since finding them takes longest."""
    log, rejected = read or experiment.read_log(progress)
    work = searched(experiment, *split_by_time(log), folder, progress)
    return replace(work, digests={"log": log.digest(), **work.digests}), rejected


def searched(
    experiment: Experiment, train: QueryLog, test: QueryLog, folder: Path, progress: Progress = silent
) -> Workload:
    """The workload of users whose profiles are of `train` and who ask the queries of `test`."""
    index = index_for(experiment.corpus, engine=experiment.engine, progress=progress)
    data = _digest(experiment, [train, test], [index.meta["digest"], index.engine_name])
    queries = _queries(experiment, test, index, folder, progress)
    profiles = build_profiles(train, experiment.knowledge().words)
    without = int((profiles.size[np.unique(queries.user)] == 0).sum())
    queries = queries.of_people_with(profiles)
    if not len(queries):
        raise InputError(
            f"no test query of {experiment.log} finds {FEWEST_CANDIDATES} documents in {experiment.corpus} for a user "
            "with a profile: bring a larger log (each user needs 4 events) or a corpus that fits it"
        )
    truths = (
        truth_of_profiles(queries, own_profiles(profiles, index.vectors), index),
        truth_of_clicks(queries, test, index),
    )
    lesson = _lesson(experiment, train, index, folder, progress)
    index.close()
    there = tuple(truth for truth in truths if truth is not None)
    size, digests = profiles.size[there[0].users], {"corpus": index.meta["digest"]}
    return Workload(train, test, queries, there, size, without, data, digests, lesson)


def _lesson(
    experiment: Experiment, train: QueryLog, index: Index, folder: Path, progress: Progress
) -> tuple[QueryLog, TestQueries] | None:
    """None where nothing is measured that needs weights, or no later query of the part for profiles is found."""
    if experiment.measures and not any(SERVED in name for name in experiment.measures):
        return None
    early, late = split_for_lesson(train, experiment.seeds[0])
    queries = _queries(replace(experiment, queries=QUERIES), late, index, folder, progress)
    return (early, queries) if len(queries) else None


def unsearched(experiment: Experiment, log: QueryLog) -> Workload:
    """The workload of settings of which only the release is measured."""
    nothing = log.select(np.zeros(len(log), dtype=bool)).compacted()
    nobody = np.empty(0, dtype=np.int32)
    no_queries = TestQueries(nobody, nobody, np.empty((0, 0), dtype=np.int64), 0, nothing.queries)
    return Workload(log, nothing, no_queries, (), nobody, 0, _digest(experiment, [log], []))


def split_by_time(log: QueryLog) -> tuple[QueryLog, QueryLog]:
    """The log that profiles are made from and the log of test events, with the same users.

    Both are compacted, so that no query, url or statistic of a test event can be found in the first. A part of an
    event counts for the profile: a user with up to three events has a profile and no test.
    """
    counts = np.diff(log.start)
    first = -(-counts * PROFILE_TENTHS // 10)
    early = log.place < np.repeat(first, counts)
    return log.select(early).compacted(), log.select(~early).compacted()


def _queries(experiment: Experiment, test: QueryLog, index: Index, folder: Path, progress: Progress) -> TestQueries:
    """The test queries and their candidates, from the file of an earlier run if there is one."""
    seed, per_user = experiment.seeds[0], experiment.queries
    made_from = [test.digest(), index.meta["digest"], index.engine_name, per_user, seed, code_digest("search")]
    path = folder / f"candidates-{_sha256(made_from)[:16]}.npz"
    kept = read_arrays(path)
    if kept is not None:
        return TestQueries(kept["user"], kept["query"], kept["documents"], int(kept["left_out"]), test.queries)
    made = choose_queries(test, index, per_user, seed, progress)
    write_arrays(path, user=made.user, query=made.query, documents=made.documents, left_out=np.array(made.left_out))
    return made


def _digest(experiment: Experiment, logs: Sequence[QueryLog], index: list[object]) -> str:
    files = [name for name in (experiment.taxonomy, experiment.directory, experiment.sensitive) if name]
    parts = [
        *(log.digest() for log in logs), *index, experiment.knowledge().dictionary,
        *(hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in files),
        bool(experiment.taxonomy), bool(experiment.directory), bool(experiment.sensitive),
        code_digest("corpus", "search", "anonymizer", "evaluation"),
    ]  # fmt: skip
    return _sha256(parts)


def _sha256(parts: list[object]) -> str:
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()
