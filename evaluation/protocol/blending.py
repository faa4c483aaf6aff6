"""What should the profile, everyone's average and the engine's order weigh? Learned on the earlier part of the log.

Ranking by a published profile alone is the papers' protocol; nobody should serve that way. The weights are learned for
each release: the part of the log that profiles may see is split once more by time, the method runs on its first nine
tenths, and the weights are those under which the queries of the last tenth are served best. It is not split as for the
test, since three tenths less make short profiles so much shorter that what is learned on them serves others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Catalogue, Method
from shoal.anonymizer.publish import FEWEST_USERS, catalogue_of, with_average
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Dictionary
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Blend
from shoal.evaluation.measures.base import DEPTH, Rankings
from shoal.evaluation.measures.precision import average_precision
from shoal.evaluation.protocol.many_rankings import first_relevant, many_cosines
from shoal.evaluation.protocol.precision import TestQueries, Trial, choose_queries
from shoal.evaluation.protocol.truth import Truth, truth_of_profiles
from shoal.search.index import Index
from shoal.search.rerank import blended, engine_order, scaled
from shoal.search.vectors import Vectors, own_profiles, profile_space

USERS = 500  # whose queries are learned from
QUERIES = 5  # of each of them, at most
GRID = tuple(Blend(b / 10, g / 10) for b in range(11) for g in range(11 - b))
NONE = Blend(0.0, 0.0)  # no profile at all
_PROFILE_TENTHS = 9


def everyones_average(profiles: Profiles, index: Index) -> csr_array:
    """What all users have in common, over the terms of at least 20 of them: a row in the space of the documents."""
    return average_row(catalogue_of(profiles, FEWEST_USERS), index.vectors)


def average_row(catalogue: Catalogue, vectors: Vectors) -> csr_array:
    space = profile_space(catalogue.terms, [False] * len(catalogue.terms), vectors, Knowledge())
    return csr_array(catalogue.mean.reshape(1, -1) @ space)


@dataclass(frozen=True, eq=False)
class BlendTrial:
    """A trial of releases whose profiles rank beside everyone's average and the engine's order."""

    trial: Trial
    order: np.ndarray  # of the engine, queries x candidates
    everyone: np.ndarray  # cosines with the average

    def scores(self, cosine: np.ndarray, blend: Blend) -> np.ndarray:
        """The score of every candidate, from its cosine with what the method chose; padding stays at the end."""
        there = self.trial.queries.documents >= 0
        return np.where(there, blended(self.order, cosine, self.everyone, blend), -1.0)

    def ap10(self, truth: Truth, cosine: np.ndarray, blends: Sequence[Blend]) -> np.ndarray:
        """Blends x users: AP@10 of what `scores` ranks first."""
        parts = (self.order[truth.row], scaled(cosine)[truth.row], self._everyone[truth.row])
        there = self.trial.queries.documents[truth.row] >= 0
        first = first_relevant(truth.relevant, parts, there, blends, DEPTH)
        return np.stack([truth.by_user(average_precision(Rankings(top, truth.total))) for top in first])

    @cached_property
    def _everyone(self) -> np.ndarray:
        return scaled(self.everyone)

    def best(self, truth: Truth, cosine: np.ndarray) -> Blend:
        """Of the weights that serve no worse than none and within a standard error of the best, most of the profile.

        The published profiles are of a little more than what was learned on, so that what cannot be told apart here is
        decided for them. Where nothing personal is chosen, the profile weighs nothing.
        """
        personal = bool((cosine > 0).any())
        grid = [blend for blend in GRID if personal or blend.profile == 0]
        served = self.ap10(truth, cosine, grid)
        means = served.mean(axis=1).round(12)
        behind = served[means.argmax()] - served
        near = behind.mean(axis=1) <= behind.std(axis=1) / np.sqrt(served.shape[1]) + 1e-12
        fit = np.flatnonzero(near & (means >= means[grid.index(NONE)]))
        return grid[max(fit, key=lambda i: (grid[i].profile, means[i], -grid[i].everyone))]


def blend_trial(queries: TestQueries, profiles: Profiles, index: Index) -> BlendTrial:
    trial = Trial(queries, profiles.users, own_profiles(profiles, index.vectors), index)
    nobody = np.zeros(len(queries), dtype=np.int64)
    everyone = many_cosines(trial.candidates, nobody, everyones_average(profiles, index))
    return BlendTrial(trial, engine_order(queries.documents), everyone)


@dataclass(frozen=True, eq=False)
class Lesson:
    """What weights are learned from: the log that a method sees, later queries of its users, and what is relevant."""

    log: QueryLog
    profiles: Profiles
    truth: Truth
    trial: BlendTrial

    def learn(self, method: Method, seed: int = 0, progress: Progress = silent) -> Blend:
        made = method.run(self.log, profiles=self.profiles, seed=seed, progress=progress)
        return self.trial.best(self.truth, self.trial.trial.cosines(method, made.release, made.assignment, seed))


def split_for_lesson(log: QueryLog, seed: int = 0) -> tuple[QueryLog, QueryLog]:
    """The log that is learned with, and the later events of some users: a tenth of each, at least one of four."""
    counts = np.diff(log.start)
    held = np.where(counts > 3, np.maximum(counts * (10 - _PROFILE_TENTHS) // 10, 1), 0)
    late = log.place >= np.repeat(counts - held, counts)
    some = np.random.default_rng([seed, 9]).permutation(np.flatnonzero(held))[:USERS]
    return log.select(~late).compacted(), log.select(late & np.isin(log.user, some)).compacted()


def make_lesson(log: QueryLog, queries: TestQueries, words: Dictionary, index: Index) -> Lesson:
    """What can be learned on a log and later queries of its users."""
    profiles = build_profiles(log, words)
    trial = blend_trial(queries.of_people_with(profiles), profiles, index)
    return Lesson(log, profiles, truth_of_profiles(trial.trial.queries, trial.trial.own, index), trial)


def with_blend(
    made: Anonymized, method: Method, log: QueryLog, index: Index, seed: int = 0, progress: Progress = silent
) -> Anonymized:
    """A release with its weights, learned on its own log; as it is where nothing is published or can be learned."""
    lesson = _lesson_of(log, method.knowledge, index) if made.claim.id != "nothing-published" else None
    if lesson is None:
        return made
    try:
        blend = lesson.learn(method, seed, progress)
    except InputError:  # too few are left for the method
        return made
    return with_average(made, build_profiles(log, method.knowledge.words), blend)


@lru_cache(maxsize=1)  # of many releases of one log, one after the other
def _lesson_of(log: QueryLog, knowledge: Knowledge, index: Index) -> Lesson | None:
    early, late = split_for_lesson(log)
    queries = choose_queries(late, index, QUERIES) if len(late) else None
    return make_lesson(early, queries, knowledge.words, index) if queries is not None and len(queries) else None
