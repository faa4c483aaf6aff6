"""What singles a person out? Terms that fit one profile only, terms of one member alone, a query of one pseudonym."""

from typing import Any

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.corpus.profiles import Profiles
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.attacks.linkage import whole
from shoal.evaluation.attacks.victims import KNOWN, Victims, choose_victims
from shoal.evaluation.attacks.view import PublishedView

NEVER = np.iinfo(np.int64).max


def singled_out_at(view: PublishedView, victims: Victims, most: int = max(KNOWN)) -> np.ndarray:
    """Of each victim, the number of known terms from which on one published profile is told from all others.

    A profile fits if something in it stands for each term known so far. A term that nothing published stands for fits
    no profile and is not skipped; but who was singled out by fewer terms stays so, since the attacker may forget.
    """
    start, term = victims.in_order(most)
    if len(view.release) == 0:
        return np.full(len(victims), NEVER)
    used, place = np.unique(term, return_inverse=True)
    atoms, atom = np.unique(view.atoms.of([victims.profiles.terms[t] for t in used]), return_inverse=True)
    none = int(len(atoms) > 0 and atoms[0] < 0)  # -1 comes first
    holders = whole(view.holders_of(atoms[none:]))
    return np.asarray(_alone_from(start, (atom - none)[place], *holders, len(view.release)))


@njit(cache=True)
def _alone_from(
    told_start: np.ndarray, told: np.ndarray,
    start: np.ndarray, profile: np.ndarray, weight: np.ndarray, profiles: int,
) -> np.ndarray:  # fmt: skip
    """The shortest beginning of each victim's atoms that exactly one profile holds; -1 is an atom of nothing."""
    found = np.full(len(told_start) - 1, NEVER)
    fits = np.zeros(profiles, dtype=np.int64)  # the atoms so far that a profile holds, if it holds all
    for victim in range(len(found)):
        fits[:] = 0
        for place in range(told_start[victim], told_start[victim + 1]):
            m, left = place - told_start[victim] + 1, 0
            for j in range(start[told[place]], start[told[place] + 1]) if told[place] >= 0 else range(0):
                if fits[profile[j]] == m - 1 and weight[j] > 0:
                    fits[profile[j]] = m
                    left += 1
            if left == 1:
                found[victim] = m
            if left <= 1:
                break
    return found


def terms_alone(view: PublishedView, assignment: Assignment, profiles: Profiles) -> float | None:
    """Of the published terms, counted in each profile, the share that stands for terms of one member alone.

    A generalized label is a member's if any term below it is. None where no term is published.
    """
    published = view.release.weights
    if published.nnz == 0:
        return None
    owned = csr_array(profiles.counts.astype(float))
    owned.data[:] = 1
    members = csr_array(
        (np.ones(len(assignment.user)), (assignment.profile, assignment.rows_for(profiles.users))),
        shape=(len(view.release), len(profiles)),
    )
    given: list[Any] = [*whole(members)[:2], *whole(view.over_atoms(owned, profiles.terms))[:2]]
    given += [*whole(csr_array(view.atoms.spread.T))[:2], *whole(published), len(view.release.labels)]
    alone, there = _of_one_member(*given)
    return float(alone / there) if there else None


@njit(cache=True)
def _of_one_member(
    member_start: np.ndarray, member: np.ndarray,  # of each profile
    owned_start: np.ndarray, owned: np.ndarray,  # atoms of each member
    label_start: np.ndarray, label: np.ndarray,  # labels that stand for each atom
    start: np.ndarray, published: np.ndarray, weight: np.ndarray, labels: int,
) -> tuple[int, int]:  # fmt: skip
    """Published entries that exactly one member stands behind, and all of them."""
    where = np.full(labels, -1)  # the last profile that publishes each label
    last, members = np.full(labels, -1), np.zeros(labels, dtype=np.int64)  # who was counted last, and how many
    alone, there = 0, 0
    for p in range(len(start) - 1):
        for i in range(start[p], start[p + 1]):
            where[published[i]], last[published[i]], members[published[i]] = p, -1, 0
        for i in range(member_start[p], member_start[p + 1]):
            for j in range(owned_start[member[i]], owned_start[member[i] + 1]):
                for k in range(label_start[owned[j]], label_start[owned[j] + 1]):
                    if where[label[k]] == p and last[label[k]] != member[i]:
                        last[label[k]] = member[i]
                        members[label[k]] += 1
        for i in range(start[p], start[p + 1]):
            if weight[i] > 0:
                there += 1
                alone += members[published[i]] == 1
    return alone, there


def seen_query(release: Release, log: QueryLog, victims: Victims, seed: int = 0) -> np.ndarray:
    """Of each victim, 1 where one query, drawn as often as it was asked, is published under one pseudonym only."""
    assert release.queries is not None
    asked = distinct_queries(log)
    under = pl.DataFrame({"query": release.queries.query, "pseudonym": release.queries.pseudonym})
    pseudonyms = under.group_by("query").agg(pl.col("pseudonym").n_unique())
    count = asked.texts.replace_strict(pseudonyms["query"], pseudonyms["pseudonym"], default=0, return_dtype=pl.Int64)
    known = choose_victims(Profiles(log.users, [], csr_array(asked.asked)), len(log.users), seed)
    start, query = Victims(victims.user, known.profiles, known.order).in_order(1)
    assert len(query) == len(start) - 1, "every victim has asked something"
    return (count.to_numpy()[query] == 1).astype(float)
