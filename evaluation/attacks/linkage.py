"""Can the attacker find the victim's profile? The published profile under which the known terms are likeliest.

Before anything is known every user is as likely as any other. So a profile's posterior is its users times the
likelihood of the known terms, and that of each of its users is the likelihood alone: who names a user of the likeliest
profile decides as well as Bayes allows. For a centroid the likelihood is that of draws from the mixture of its members.
What is left to choose is the smoothing, since methods leave terms out: the attacker tries several, and the strongest
counts, which is an upper bound for one who must choose beforehand.

Do released queries give a victim away? Linkage by any word of the queries, not only by those that profiles keep.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import dictionary
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import tokenize_column
from shoal.evaluation.attacks.victims import Victims, choose_victims
from shoal.evaluation.attacks.view import SMOOTHING, SMOOTHINGS, PublishedView, speech

_BLOCK = 256  # victims between two looks at whether to go on
_TIE = 1e-9  # sums in another order may differ in the last digits


@dataclass(frozen=True, eq=False)
class Linkage:
    """For each victim: the chance that the user whom the strongest attacker names is the victim, and what is picked."""

    success: np.ndarray
    picked: np.ndarray  # attackers x victims, the strongest first: a row of the release, -1 where it is empty
    smoothing: float = SMOOTHING  # of the strongest


def evidence(view: PublishedView, terms: Sequence[str], smoothing: float = SMOOTHING) -> csr_array:
    """Terms x profiles: how much a known term speaks for a profile, as a logarithm; 0 where the profile lacks it."""
    every = csr_array((np.ones(len(terms)), (np.arange(len(terms)),) * 2), shape=(len(terms),) * 2)
    return csr_array(view.over_atoms(every, terms) @ view.speaks(smoothing))


def best_profiles(scores: np.ndarray) -> np.ndarray:
    """Where a profile scores as high as the highest."""
    return np.asarray(scores >= scores.max() - _TIE)


def link(
    view: PublishedView,
    assignment: Assignment,
    victims: Victims,
    known: csr_array,
    terms: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Linkage:
    """Attack every victim with what is known: victims x `terms` (those of the victims' profiles); counts weigh.

    Success = [the victim's profile is picked] / (users that share it), ties between profiles shared. Without a
    published profile the attacker can only guess a user; nor can a victim without one be found better than that.
    """
    chance = 1 / max(1, len(victims.profiles))
    if len(view.release) == 0:
        return Linkage(np.full(len(victims), chance), np.full((1, len(victims)), -1))
    told = view.over_atoms(known, victims.profiles.terms if terms is None else terms)
    used, place = np.unique(told.indices, return_inverse=True)
    held = whole(profiles_of(victims, assignment, len(view.release)))[:2]
    users = np.maximum(1, view.release.users).astype(np.int64)
    start, profile, ratio = whole(view.holders_of(used))
    said = told.indptr.astype(np.int64), place.astype(np.int64), told.data.astype(np.float64)
    tries = []
    for smoothing in SMOOTHINGS:
        success, picked = in_blocks(
            len(victims), _link, [*said, start, profile, speech(ratio, smoothing), *held, users, chance], progress
        )
        tries.append((smoothing, success, picked.astype(np.int64)))
    tries.sort(key=lambda one: -float(one[1].sum()))
    return Linkage(tries[0][1], np.stack([picked for _, _, picked in tries]), tries[0][0])


def in_blocks(
    victims: int, attack: Callable[..., tuple[np.ndarray, np.ndarray]], given: Sequence[object], progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Attack some victims at a time, so that a person who waits sees it and can stop it."""
    found = [(np.empty(0), np.empty(0))]
    for low in range(0, victims, _BLOCK):
        progress(low, victims, "attacking")
        found.append(attack(np.arange(low, min(low + _BLOCK, victims)), *given))
    success, picked = zip(*found, strict=True)
    return np.concatenate(success), np.concatenate(picked)


def whole(matrix: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sparse matrix as compiled code takes it: where rows start, the columns, and the values."""
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64, copy=False),  # the largest there is: nothing writes into it
    )


@njit(cache=True)
def _link(
    victims: np.ndarray, told_start: np.ndarray, told: np.ndarray, times: np.ndarray,
    start: np.ndarray, profile: np.ndarray, speaks: np.ndarray,
    held_start: np.ndarray, held: np.ndarray, users: np.ndarray, chance: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The success against each victim and the first profile picked, by the atoms that are told of them."""
    success, picked = np.full(len(victims), chance), np.empty(len(victims))
    score = np.zeros(len(users))
    for i, victim in enumerate(victims):
        here = slice(told_start[victim], told_start[victim + 1])
        add_up(score, told[here], times[here], start, profile, speaks)
        best = score.max() - _TIE
        picked[i] = np.argmax(score >= best)
        right = 0.0
        for j in range(held_start[victim], held_start[victim + 1]):
            if score[held[j]] >= best:
                right += 1 / users[held[j]]
        if held_start[victim + 1] > held_start[victim]:
            success[i] = right / (score >= best).sum()
    return success, picked


@njit(cache=True)
def add_up(
    score: np.ndarray, told: np.ndarray, times: np.ndarray, start: np.ndarray, column: np.ndarray, speaks: np.ndarray
) -> None:
    """Write into `score` how much what is told speaks for each column of a matrix."""
    score[:] = 0.0
    for i in range(len(told)):
        for j in range(start[told[i]], start[told[i] + 1]):
            score[column[j]] += times[i] * speaks[j]


@njit(cache=True)
def name_one(score: np.ndarray, there: np.ndarray, own: int) -> float:
    """The chance that one of the highest scores, taken among those that are there, is the own one."""
    best, ties = -1.0, 0
    for i in range(len(score)):
        if there[i] and score[i] > best + _TIE:
            best, ties = score[i], 1
        elif there[i] and score[i] >= best - _TIE:
            ties += 1
    return 1 / ties if score[own] >= best - _TIE else 0.0


def profiles_of(victims: Victims, assignment: Assignment, profiles: int) -> csr_array:
    """Victims x profiles, 1 where the victim has that profile."""
    row = assignment.rows_among(victims.profiles.users.gather(victims.user))
    there = row >= 0
    pairs = (np.ones(int(there.sum())), (row[there], assignment.profile[there]))
    held = csr_array(pairs, shape=(len(victims), profiles))
    held.data[:] = 1
    return held


def link_later(view: PublishedView, assignment: Assignment, victims: Victims, later: Profiles) -> float | None:
    """The success of linking all that victims asked later, repetitions counted; None if none of them asked anything.

    `later` are the profiles of the test events. No number of known terms is chosen: the attacker holds them all.
    """
    position = {name: row for row, name in enumerate(later.users.to_list())}
    names = victims.profiles.users.gather(victims.user).to_list()
    row = np.array([position.get(name, -1) for name in names], dtype=np.int64)
    asked = np.flatnonzero((row >= 0) & (later.size[row] > 0)) if len(later) else np.empty(0, dtype=np.int64)
    if len(asked) == 0:
        return None
    seen = Victims(victims.user[asked], victims.profiles, victims.order)
    known = csr_array(later.counts[row[asked]].astype(float))
    return float(link(view, assignment, seen, known, later.terms).success.mean())


@dataclass(frozen=True)
class Attackers:
    """The chance that a victim is named, for three attackers with the same knowledge and different aims."""

    prosecutor: float  # looks for one person: the worst user
    journalist: float  # wants to show that someone can be found: the worst group, in the mean over its victims
    marketer: float  # wants to find as many as possible: the mean


def attackers(linked: Linkage, victims: Victims, assignment: Assignment, profiles: int) -> Attackers:
    """The three risks of one linkage attack. A victim without a profile is in no group."""
    if len(victims) == 0:
        return Attackers(0.0, 0.0, 0.0)
    held = profiles_of(victims, assignment, profiles)
    there = np.asarray(held.sum(axis=0)).ravel()
    by_group = (held.T @ linked.success)[there > 0] / there[there > 0]
    worst = float(linked.success.max())
    marketer = float(linked.success.mean())
    return Attackers(worst, float(by_group.max(initial=0.0)) if len(by_group) else worst, marketer)


def query_linkage(release: Release, assignment: Assignment, log: QueryLog, victims: int, m: int, seed: int) -> float:
    """The success of an attacker who knows m words of the victim's queries and reads all that is released of them."""
    words = dictionary("any")
    chosen = choose_victims(build_profiles(log, words), victims, seed)
    view = PublishedView(as_words(release), Knowledge())
    success = link(view, assignment, chosen, chosen.known(m)).success
    return float(success.mean()) if len(success) else 0.0


def as_words(release: Release) -> Release:
    """The release whose profiles are all the words of the released queries, as often as they were asked."""
    asked = release.queries
    assert asked is not None
    words = dictionary("any")
    tokens = tokenize_column(asked.query)
    kept = np.array([words(token) is not None for token in tokens.vocabulary], dtype=bool)
    row = np.repeat(asked.pseudonym, np.diff(tokens.start))
    count = np.repeat(asked.count, np.diff(tokens.start)).astype(float)
    used = kept[tokens.ids] if len(kept) else np.zeros(0, dtype=bool)
    shape = (len(release), len(tokens.vocabulary))
    weights = csr_array((count[used], (row[used], tokens.ids[used])), shape=shape)
    weights.sum_duplicates()
    plain = np.zeros(len(tokens.vocabulary), dtype=bool)
    return Release(release.pseudonyms, release.users, list(tokens.vocabulary), plain, weights)


@dataclass(frozen=True)
class RareTermShare:
    """How much of what is released holds a word typed by fewer than k users."""

    events: float  # of the released query occurrences
    distinct: float  # of the distinct released queries


def rare_term_share(release: Release, log: QueryLog, k: int) -> RareTermShare | None:
    """The queries that hold a rare word, as typed and each counted once; None if nothing is released."""
    asked = release.queries
    if asked is None or int(asked.count.sum()) == 0:
        return None
    typed = _users_per_word(build_profiles(log, dictionary("any")))
    queries = pl.DataFrame({"query": asked.query, "count": asked.count}).group_by("query").sum()
    tokens = tokenize_column(queries["query"])
    rare = np.array([0 < typed.get(token, 0) < k for token in tokens.vocabulary], dtype=bool)
    holds = np.zeros(len(queries), dtype=bool)
    holds[np.repeat(np.arange(len(queries)), np.diff(tokens.start))[rare[tokens.ids]]] = True
    count = queries["count"].to_numpy()
    return RareTermShare(float(count[holds].sum() / count.sum()), float(holds.mean()))


def _users_per_word(profiles: Profiles) -> dict[str, int]:
    users = np.bincount(profiles.counts.indices, minlength=len(profiles.terms))
    return dict(zip(profiles.terms, users.tolist(), strict=True))
