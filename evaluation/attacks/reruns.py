"""What comes out when a method runs once more? People left out, people planted, and the release of an earlier log.

`membership`: who is in the release is told from who is not, by the whole profile of each. The method runs on half of
the people, drawn at random, so that both halves are people of the same kind.
`planted`: an attacker adds two fake users who type strings that were kept back, to bring them over a threshold.
`later`: the log grew, and its release is made anew; who reads both knows of each person two profiles.
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Method, Release
from shoal.anonymizer.distinct_queries import DistinctQueries, distinct_queries
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import NO_TIME, QueryLog
from shoal.evaluation.attacks.linkage import add_up, in_blocks, name_one, whole
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import SMOOTHINGS, PublishedView, speech
from shoal.evaluation.measures.occurrences import profiles_held

FAKES = 2


@dataclass(frozen=True, eq=False)
class Rerun:
    """A method that can run on another log than the one that was released."""

    method: Method
    log: QueryLog
    knowledge: Knowledge
    seed: int = 0
    progress: Progress = silent


# Membership


def membership(again: Rerun, profiles: Profiles, people: int) -> float:
    """The chance that a person in the release looks more like it than one who is not: AUC, ties counted half.

    An attacker may look how well the best published profile explains a person's terms, by any smoothing, or how many of
    them are published at all; the strongest counts, and guessing is 0.5.
    """
    users = np.random.default_rng(again.seed).permutation(np.flatnonzero(profiles.size > 0))
    inside, outside = users[: len(users) // 2], users[len(users) // 2 :]
    made = again.method.run(
        again.log.for_users(np.sort(inside)).compacted(), seed=again.seed, progress=again.progress
    )  # fmt: skip
    if len(made.release) == 0 or len(inside) == 0:
        return 0.5
    asked = np.concatenate([inside[: people // 2], outside[: people // 2]])
    is_member = np.arange(len(asked)) < len(inside[: people // 2])
    looks = _looks(PublishedView(made.release, again.knowledge), profiles.select(asked), again.progress)
    return max(0.5, *(auc(look, is_member) for look in looks))


def auc(score: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive one scores higher than another, ties counted half."""
    yes, no = score[positive], np.sort(score[~positive])
    if not len(yes) or not len(no):
        return 0.5
    below = (np.searchsorted(no, yes, "left") + np.searchsorted(no, yes, "right")) / 2
    return float(below.mean() / len(no))


def _looks(view: PublishedView, people: Profiles, progress: Progress) -> list[np.ndarray]:
    """Several numbers of each person that are the higher, the more the release looks as if the person were in it."""
    own = csr_array(people.counts.astype(float))
    own.data /= np.repeat(np.maximum(1, people.occurrences), np.diff(own.indptr))
    told = view.over_atoms(own, people.terms)
    looks = [np.asarray(told.sum(axis=1)).ravel()]
    start, profile, ratio = whole(view.holders)
    for smoothing in SMOOTHINGS:
        given = [*whole(told), start, profile, speech(ratio, smoothing), len(view.release)]
        looks.append(in_blocks(len(people), _best_fit, given, progress)[0])
    return looks


@njit(cache=True)
def _best_fit(
    people: np.ndarray, told_start: np.ndarray, told: np.ndarray, times: np.ndarray,
    start: np.ndarray, profile: np.ndarray, speaks: np.ndarray, profiles: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The score of the profile that a person's terms speak for most, and which it is."""
    fit, which = np.zeros(len(people)), np.zeros(len(people))
    score = np.zeros(profiles)
    for i, person in enumerate(people):
        here = slice(told_start[person], told_start[person + 1])
        add_up(score, told[here], times[here], start, profile, speaks)
        which[i] = np.argmax(score)
        fit[i] = score.max()
    return fit, which


# Planted


def planted(again: Rerun, release: Release, most: int) -> float | None:
    """Of strings that were kept back, the share that comes out of other people when two fake users type them.

    None where nothing is kept back. The strings are drawn from the log: the attacker has guessed or heard them.
    """
    asked = distinct_queries(again.log)
    private = _kept_back(asked, release)
    if not len(private):
        return None
    chosen = np.sort(np.random.default_rng(again.seed).permutation(private)[:most])
    fakes = _fake_names(again.log)
    log = _with_fakes(again.log, fakes, asked.source[chosen])
    made = again.method.run(log, seed=again.seed, progress=again.progress)
    out = _out_of_people(made.release, made.assignment, fakes)
    return float(asked.texts.gather(chosen).is_in(out.implode()).to_numpy().mean())


def _kept_back(asked: DistinctQueries, release: Release) -> np.ndarray:
    assert release.queries is not None
    return np.flatnonzero((asked.users > 0) & ~asked.texts.is_in(release.queries.query.unique().implode()).to_numpy())


def _fake_names(log: QueryLog) -> pl.Series:
    """Two names that nobody has: longer than all."""
    longest = int(log.users.str.len_chars().max() or 0)  # type: ignore[arg-type]
    return pl.Series([f"{i}".zfill(longest + 1) for i in range(FAKES)], dtype=pl.String)


def _with_fakes(log: QueryLog, names: pl.Series, queries: np.ndarray) -> QueryLog:
    """The log with more users, each of whom types these queries once at its end."""
    end = int(log.time.max(initial=NO_TIME))
    return replace(
        log,
        users=pl.concat([log.users, names]),
        start=np.concatenate([log.start, log.start[-1] + len(queries) * np.arange(1, len(names) + 1)]),
        query=np.concatenate([log.query, np.tile(queries, len(names))]).astype(np.int32),
        time=np.concatenate([log.time, np.full(len(names) * len(queries), end)]),
    )


def _out_of_people(release: Release, assignment: Assignment, fakes: pl.Series) -> pl.Series:
    """Published queries that somebody else than the fakes typed: under a pseudonym that no fake has, or too often."""
    assert release.queries is not None
    is_fake = assignment.users.is_in(fakes.implode()).to_numpy()
    theirs = np.unique(assignment.profile[is_fake[assignment.user]])
    rows = pl.DataFrame({"query": release.queries.query, "count": release.queries.count})
    rows = rows.with_columns(pl.Series("theirs", np.isin(release.queries.pseudonym, theirs)))
    out = rows.group_by("query").agg(pl.col("count").sum(), (~pl.col("theirs")).any().alias("others"))
    return out.filter(pl.col("others") | (pl.col("count") > len(fakes)))["query"]


# Later


def earlier_half(log: QueryLog) -> QueryLog:
    """The log as it was at half its events: up to the median time, or the first half of each user's without times."""
    if len(log) and (log.time != NO_TIME).all():
        early = log.time <= np.median(log.time)
    else:
        counts = np.diff(log.start)
        early = log.place < np.repeat(-(-counts // 2), counts)
    some = log.select(early)
    return some.for_users(np.flatnonzero(np.diff(some.start))).compacted()


def link_releases(
    again: Rerun, view: PublishedView, assignment: Assignment, victims: Victims, known: csr_array
) -> np.ndarray:
    """The success of who reads this release and that of the earlier half of the log, made with other randomness.

    A person is as likely as the known terms under the best profile of theirs in each release; persons who share both
    profiles tie. The attacker knows which pairs of profiles some person has, as a server does where people search.
    """
    made = again.method.run(earlier_half(again.log), seed=again.seed + 1, progress=again.progress)
    chance = 1 / max(1, len(victims.profiles))
    people = victims.profiles
    first = _Side(
        PublishedView(made.release, again.knowledge), profiles_held(made.assignment, people, len(made.release))
    )
    second = _Side(view, profiles_held(assignment, people, len(view.release)))
    tries = []
    for smoothing in SMOOTHINGS:
        now = second.given(known, victims, smoothing)
        for before in (first, replace(first, held=csr_array(first.held.shape))):  # who reads the later one alone, too
            given = [*before.given(known, victims, smoothing), *now, victims.user, chance]
            tries.append(in_blocks(len(victims), _find_in_both, given, again.progress)[0])
    return max(tries, key=lambda success: float(success.sum()))


@dataclass(frozen=True, eq=False)
class _Side:
    """One of two releases, and which of its profiles each user has."""

    view: PublishedView
    held: csr_array

    def given(self, known: csr_array, victims: Victims, smoothing: float) -> list[np.ndarray]:
        told = self.view.over_atoms(known, victims.profiles.terms)
        told = told if self.held.nnz else csr_array(told.shape)  # of a release that is not read nothing speaks
        start, profile, ratio = whole(self.view.holders)
        return [*whole(told), start, profile, speech(ratio, smoothing), *whole(self.held)[:2]]


@njit(cache=True)
def _find_in_both(
    victims: np.ndarray,
    told_start: np.ndarray, told: np.ndarray, times: np.ndarray,
    start: np.ndarray, profile: np.ndarray, speaks: np.ndarray, held_start: np.ndarray, held: np.ndarray,
    told_start2: np.ndarray, told2: np.ndarray, times2: np.ndarray,
    start2: np.ndarray, profile2: np.ndarray, speaks2: np.ndarray, held_start2: np.ndarray, held2: np.ndarray,
    user: np.ndarray, chance: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The success against each victim, twice."""
    success = np.full(len(victims), chance)
    one, two = np.zeros(_most(profile, held)), np.zeros(_most(profile2, held2))
    there = (np.diff(held_start) > 0) | (np.diff(held_start2) > 0)
    score = np.zeros(len(there))
    for i, victim in enumerate(victims):
        here = slice(told_start[victim], told_start[victim + 1])
        add_up(one, told[here], times[here], start, profile, speaks)
        here = slice(told_start2[victim], told_start2[victim + 1])
        add_up(two, told2[here], times2[here], start2, profile2, speaks2)
        for u in range(len(score)):
            score[u] = _highest(one, held_start, held, u) + _highest(two, held_start2, held2, u)
        if there[user[victim]]:
            success[i] = name_one(score, there, user[victim])
    return success, success


@njit(cache=True)
def _most(profile: np.ndarray, held: np.ndarray) -> int:
    """How many profiles there must be, by the numbers that occur."""
    return 1 + max(profile.max() if len(profile) else 0, held.max() if len(held) else 0)


@njit(cache=True)
def _highest(score: np.ndarray, held_start: np.ndarray, held: np.ndarray, user: int) -> float:
    best = 0.0
    for i in range(held_start[user], held_start[user + 1]):
        best = max(best, score[held[i]])
    return best
