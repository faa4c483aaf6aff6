"""What does the searching server learn? Some searches of one person, each a query beside the published profile.

The server sees streams: a few searches of one person, whom it knows by no name, and the published profile that
re-ranked them. An attacker there who knows some terms of a victim looks for the victim's stream. A known term speaks
for a stream by what was typed in it and by its profile; how much each counts, and how to smooth, the attacker may
choose, and the strongest choice counts. One who looks at the queries alone is such an attacker, too: what the published
profile adds is the difference between both.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release, find_names, profiles_of
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.attacks.linkage import in_blocks, name_one, whole
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import PublishedView, speech

QUERY_SHARES = (0.0, 0.1, 0.5, 1.0)  # of a stream's terms, those taken from what was typed; the rest from the profile
SMOOTHINGS = (1e-9, 0.1, 0.5)
_LEAST = 1e-200  # of a term that no stream holds


@dataclass(frozen=True, eq=False)
class Streams:
    """What the server sees of each user: the terms of some searches, and the row of the profile that serves."""

    searched: np.ndarray  # bool: whether there is a stream at all
    typed: csr_array  # users x terms: the share of each term in the user's searches
    view: PublishedView  # of the profiles that serve users
    row: np.ndarray  # the profile of each user


def see_streams(
    release: Release, assignment: Assignment, users: pl.Series, knowledge: Knowledge, searches: QueryLog,
    terms: list[str], s: int, seed: int = 0,
) -> Streams:  # fmt: skip
    """Up to `s` searches of each user, drawn from a log; fewer are among more."""
    rows, row = profiles_of(users, release, assignment)
    served = replace(
        release, pseudonyms=[""] * rows.shape[0], users=np.bincount(row, minlength=rows.shape[0]), weights=rows
    )
    searched, typed = _draw(searches, users, knowledge, terms, s, seed)
    return Streams(searched, typed, PublishedView(served, knowledge), row.astype(np.int64))


def _draw(
    log: QueryLog, users: pl.Series, knowledge: Knowledge, terms: list[str], s: int, seed: int
) -> tuple[np.ndarray, csr_array]:
    user = find_names(log.users, users)[log.user]
    order = np.lexsort((np.random.default_rng(seed).random(len(log)), log.user))
    place = np.empty(len(log), dtype=np.int64)
    place[order] = np.arange(len(log)) - log.start[log.user]
    seen = np.flatnonzero((place < s) & (user >= 0))
    asked = csr_array((np.ones(len(seen)), (user[seen], log.query[seen])), shape=(len(users), len(log.queries)))
    words, holds = query_term_counts(log, knowledge.words)
    typed = csr_array(asked @ holds.astype(float))
    total = np.maximum(1.0, np.asarray(typed.sum(axis=1)).ravel())
    typed.data = typed.data / np.repeat(total, np.diff(typed.indptr))
    searched = np.bincount(user[seen], minlength=len(users)) > 0
    return searched, csr_array(typed @ _renamed(words, terms))


def _renamed(words: list[str], terms: list[str]) -> csr_array:
    """Words x terms, 1 where both are the same."""
    number = {term: t for t, term in enumerate(terms)}
    pairs = [(w, number[word]) for w, word in enumerate(words) if word in number]
    row, column = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return csr_array((np.ones(len(pairs)), (row, column)), shape=(len(words), len(terms)))


@dataclass(frozen=True, eq=False)
class Served:
    """For each victim the chance that the stream which the attacker takes for the victim's is it."""

    both: np.ndarray  # by queries and published profiles
    queries: np.ndarray  # by the queries alone


@dataclass(frozen=True, eq=False)
class _Said:
    """What profiles say of terms. Of a term near the root nearly all say something, but few different things."""

    atom: np.ndarray  # of each term, -1 where no profile says anything
    start: np.ndarray  # of the profiles of each atom
    profile: np.ndarray  # ascending within an atom
    which: np.ndarray  # of the values of the atom, int32
    value_start: np.ndarray  # of the values of each term
    value: np.ndarray  # P(term | profile)


def _said_of(terms: list[str], view: PublishedView) -> _Said:
    atoms, atom = np.unique(view.atoms.of(terms), return_inverse=True)
    none = int(len(atoms) > 0 and atoms[0] < 0)  # -1 comes first
    held = view.likely(atoms[none:])
    which, of_atom = np.empty(held.nnz, dtype=np.int32), [np.empty(0)] * none
    for a, b in pairwise(held.indptr.tolist()):
        values, which[a:b] = np.unique(held.data[a:b], return_inverse=True)
        of_atom.append(values)
    value = [of_atom[a] for a in atom.tolist()]
    start = np.concatenate([[0], np.cumsum([len(values) for values in value])]).astype(np.int64)
    return _Said(atom - none, *whole(held)[:2], which, start, np.concatenate([np.empty(0), *value]))


def attack_streams(streams: Streams, victims: Victims, known: csr_array, progress: Progress = silent) -> Served:
    """Attack every victim with what is known: victims x terms. Ties are shared; who never searches is only guessed."""
    used = np.unique(known.indices)
    told = csr_array(known[:, used])
    terms = [victims.profiles.terms[t] for t in used]
    said, typed = _said_of(terms, streams.view), csr_array(csr_array(streams.typed[:, used]).T)
    published, asked = streams.view.whole_over(terms), np.asarray(typed.mean(axis=1)).ravel()
    chance = 1 / max(1, len(victims.profiles))
    profiles = (said.atom, said.start, said.profile, said.which, said.value_start)
    given = [*whole(told), *profiles, *whole(typed), victims.user, streams.searched, streams.row]
    tries: dict[float, list[np.ndarray]] = {share: [] for share in QUERY_SHARES}
    for share in QUERY_SHARES:
        background = np.maximum(share * asked + (1 - share) * published, _LEAST)
        ratio = (1 - share) * said.value
        ratio /= np.repeat(background, np.diff(said.value_start))  # in its place: there may be hundreds of millions
        for smoothing in SMOOTHINGS:
            settings = [background, share, (1 - smoothing) / smoothing, chance]
            asking = [*given, ratio, speech(ratio, smoothing), *settings]
            tries[share].append(in_blocks(len(victims), _find_stream, asking, progress)[0])
            del asking  # before the next is made
        del ratio
    return Served(_strongest([one for share in QUERY_SHARES for one in tries[share]]), _strongest(tries[1.0]))


def _strongest(tries: list[np.ndarray]) -> np.ndarray:
    return max(tries, key=lambda success: float(success.sum()))


@njit(cache=True)
def _find_stream(
    victims: np.ndarray, told_start: np.ndarray, told: np.ndarray, times: np.ndarray,
    atom: np.ndarray, profile_start: np.ndarray, profile: np.ndarray, which: np.ndarray, value_start: np.ndarray,
    stream_start: np.ndarray, stream: np.ndarray, typed: np.ndarray,
    user: np.ndarray, searched: np.ndarray, row: np.ndarray,
    ratio: np.ndarray, speaks: np.ndarray, background: np.ndarray, share: float, odds: float, chance: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The success against each victim, twice.

    A stream scores by the sum over known terms of log(1 + odds (share typed + (1 - share) published) / background);
    `ratio` is the second part of it without the odds, and `speaks` the logarithm where nothing is typed, of each value.
    """
    success = np.full(len(victims), chance)
    by_profile = np.zeros(row.max() + 1)
    for i, victim in enumerate(victims):
        if not searched[user[victim]]:
            continue
        by_profile[:] = 0.0
        for told_here in range(told_start[victim], told_start[victim + 1]) if share < 1 else range(0):
            t = told[told_here]
            if atom[t] >= 0:
                for j in range(profile_start[atom[t]], profile_start[atom[t] + 1]):
                    by_profile[profile[j]] += times[told_here] * speaks[value_start[t] + which[j]]
        score = by_profile[row]
        for t in told[told_start[victim] : told_start[victim + 1]] if share > 0 else told[:0]:
            for j in range(stream_start[t], stream_start[t + 1]):
                before = 0.0
                if atom[t] >= 0 and share < 1:
                    here = profile[profile_start[atom[t]] : profile_start[atom[t] + 1]]
                    place = np.searchsorted(here, row[stream[j]])
                    if place < len(here) and here[place] == row[stream[j]]:
                        before = odds * ratio[value_start[t] + which[profile_start[atom[t]] + place]]
                after = before + odds * share * typed[j] / background[t]
                score[stream[j]] += np.log1p(after) - np.log1p(before)
        success[i] = name_one(score, searched, user[victim])
    return success, success
