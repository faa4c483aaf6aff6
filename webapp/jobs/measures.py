"""What does a release cost and protect? The measures that a run keeps, by the one protocol of the evaluation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Method, Release, find_names
from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.attacks.spoken import LINKED, Overheard, overhear, speaks, spoken
from shoal.evaluation.measures.precision import FREE, share_kept
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.evaluation.protocol.precision import Trial, choose_queries
from shoal.evaluation.protocol.truth import Truth, truth_of_profiles
from shoal.evaluation.protocol.workload import split_by_time
from shoal.evaluation.statistics import intervals
from shoal.search.index import Index
from shoal.search.vectors import own_profiles
from shoal.webapp.core.gate import MOST_COUNTED

_VICTIMS = 500  # of each attack
_USERS = 200  # whose queries are tried
_QUERIES = 2  # of each


def measure_risk(
    made: Anonymized,
    log: QueryLog,
    method: Method,
    seed: int,
    progress: Progress,
    index: Index,
    wanted: Sequence[str] = (),
) -> dict[str, float]:
    """What an attacker gets out of the published profiles, and how many users share one; or only what is wanted.

    Of a method that is used at searches, out of what devices say at some of them.
    """
    seen, log, said = heard(made, log, method, seed, index, progress) if speaks(method) else (made, log, None)
    release = MeasuredRelease(
        seen.release, seen.assignment, log, method.knowledge, seed, _VICTIMS, suppressed=made.suppressed,
        progress=progress, heard=said,
    )  # fmt: skip
    return measure_release(release, wanted)


def heard(
    made: Anonymized, log: QueryLog, method: Method, seed: int, index: Index, progress: Progress
) -> tuple[Anonymized, QueryLog, Overheard | None]:
    """What the server hears at searches of some people of a log; their log, for nobody else can be found; and menus."""
    part = log.drawn(_USERS, seed)
    profiles = build_profiles(part, method.knowledge.words)
    queries = choose_queries(part, index, LINKED, seed, progress).of_people_with(profiles)
    if not len(queries):
        return made, log, None
    trial = Trial(queries, part.users, own_profiles(profiles, index.vectors), index)
    nobody = replace(made.assignment, user=made.assignment.user[:0], profile=made.assignment.profile[:0])
    devices = trial.devices(method, made.release, nobody, seed)
    trial.cosines(method, made.release, nobody, seed, devices)
    seen = spoken(made, devices, part.users)
    said = overhear(method, made.release, trial, devices)
    return (made, log, None) if seen is made else (seen, part, said)


def measure_precision(log: QueryLog, index: Index, method: Method, seed: int, progress: Progress) -> dict[str, float]:
    """How much of each person's own ranking is kept: profiles from the first 70 % of the events, queries from the rest.

    The method is run once more, on the early part, since no test query may have reached a profile. Absent where the
    log has no query to test with, or too few users left for the method.
    """
    train, test = split_by_time(log)
    queries = choose_queries(_some_users(test, seed), index, _QUERIES, seed, progress)
    profiles = build_profiles(train, method.knowledge.words)
    queries = queries.of_people_with(profiles)
    if not len(queries):
        return {}
    trial = Trial(queries, train.users, own_profiles(profiles, index.vectors), index)
    truth = truth_of_profiles(queries, trial.own, index)
    try:
        scores = _scores(train, trial, truth, method, seed, progress)
    except InputError:
        return {}
    controls = [make_method(name, {}, method.knowledge) for name in FREE]
    floor = max(_scores(train, trial, truth, control, seed, progress)["ap10"] for control in controls)
    ends = {f"kept_{end}": float(share_kept(scores[f"ap10_{end}"], floor)) for end in ("low", "high")}
    return scores | ends | {"kept": float(share_kept(scores["ap10"], floor)), "queries": float(len(queries))}


def _some_users(test: QueryLog, seed: int) -> QueryLog:
    """The test events of some users, drawn by the seed. Users keep their numbers."""
    users = np.flatnonzero(np.diff(test.start))
    chosen = np.random.default_rng(seed).permutation(users)[:_USERS]
    return test.select(np.isin(test.user, chosen))


def _scores(
    train: QueryLog, trial: Trial, truth: Truth, method: Method, seed: int, progress: Progress
) -> dict[str, float]:
    made = method.run(train, seed=seed, progress=progress)
    scores = truth.scores(trial.cosines(method, made.release, made.assignment, seed))
    low, high = intervals(scores["ap10"][None, :], seed=seed)[0].tolist()
    return {name: float(values.mean()) for name, values in scores.items()} | {"ap10_low": low, "ap10_high": high}


def count_exposure(release: Release, log: QueryLog, knowledge: Knowledge) -> dict[str, Any]:
    """What a release shows of few people: who is alone, and how many published terms and queries 1, 2, ... users hold.

    Words that no user holds are nobody's: a method made them up, or writes them otherwise.
    """
    return {
        "groups": len(release),
        "catalogue": len(release.catalogue.terms) if release.catalogue is not None else 0,
        "alone": int((release.users == 1).sum()),
        "terms": _by_holders(_holders_of_labels(release, build_profiles(log, knowledge.words), knowledge)),
        "queries": _by_holders(_holders_of_queries(release, log)),
    }


def _by_holders(holders: np.ndarray) -> list[int]:
    counts = np.bincount(np.minimum(holders, MOST_COUNTED), minlength=MOST_COUNTED + 1)
    return [int(count) for count in counts[1:MOST_COUNTED]]


def _holders_of_labels(release: Release, profiles: Profiles, knowledge: Knowledge) -> np.ndarray:
    """How many users hold each published label, up to the most that are counted: a term, or any that it stands for."""
    users = np.bincount(profiles.counts.indices, minlength=len(profiles.terms))
    place = {term: t for t, term in enumerate(profiles.terms)}
    by_term = csr_array(profiles.counts.T)
    labels = [_below(release, i, knowledge) for i in np.unique(release.weights.indices).tolist()]
    labels += [[term] for term in release.catalogue.terms] if release.catalogue is not None else []
    return np.array([_holders(terms, place, users, by_term) for terms in labels], dtype=int)


def _below(release: Release, label: int, knowledge: Knowledge) -> list[str]:
    name = release.labels[label]
    return knowledge.stands_for(name) if release.generalized[label] else [name]


def _holders(terms: list[str], place: dict[str, int], users: np.ndarray, by_term: csr_array) -> int:
    held = [place[term] for term in terms if term in place]
    if len(held) <= 1 or max(users[held]) >= MOST_COUNTED:
        return int(max(users[held], default=0))
    rows = [by_term.indices[by_term.indptr[t] : by_term.indptr[t + 1]] for t in held]
    return len(np.unique(np.concatenate(rows)))


def _holders_of_queries(release: Release, log: QueryLog) -> np.ndarray:
    if release.queries is None:
        return np.zeros(0, dtype=int)
    asked = distinct_queries(log)
    place = find_names(release.queries.query.unique(), asked.texts)
    return asked.users[place[place >= 0]]
