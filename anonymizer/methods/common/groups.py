"""Balanced groups of similar users: grown by cosine, then users of two groups exchanged. The compiled loops of Common.

Vectors have whole numbers, so that a sum is the same in whatever order it is made and a tie is a tie.

Which groups of an earlier release stay? Those that still have k members, and a term that t of them used.

Two releases of the same people, grouped anew each time, can be intersected; groups that stay tell nothing of that kind.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csc_array, csr_array

from shoal.anonymizer.base import Assignment, find_names
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import Profiles

LENGTH = 2**14  # of a unit vector in whole numbers: two of them make a product of 2**28
ROUNDS = 8  # of exchanges at most; the first two bring nearly all of it


def unit_vectors(counts: csr_array, t: int) -> csr_array:
    """Users x terms: square roots of count times holders, of the terms that at least t users hold, as unit vectors.

    Who shares what many hold is grouped with others of whom that is published: t of them are soon found.
    """
    holders = np.bincount(counts.indices, minlength=counts.shape[1])
    shared = np.where(holders[counts.indices] >= t, counts.data * holders[counts.indices], 0)
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    square = np.bincount(row, shared, minlength=counts.shape[0])  # of the vector of square roots
    unit = np.rint(LENGTH * np.sqrt(shared / np.maximum(square, 1)[row])).astype(np.int64)
    vectors = csr_array((unit, counts.indices, counts.indptr), shape=counts.shape, copy=True)
    vectors.eliminate_zeros()
    return vectors


class Block(NamedTuple):
    """The vectors of some users by user and by term, and the product of each with itself."""

    start: np.ndarray
    term: np.ndarray
    weight: np.ndarray
    holder_start: np.ndarray
    holder: np.ndarray
    holder_weight: np.ndarray
    square: np.ndarray


def balanced_groups(vectors: csr_array, k: int) -> np.ndarray:
    """The group of each user, floor(n / k) groups in all; users are tried in their order, the first of equals wins."""
    by_term = csc_array(vectors)
    square = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    rows, columns = (vectors.indptr, vectors.indices, vectors.data), (by_term.indptr, by_term.indices, by_term.data)
    block = Block(*rows, *columns, square)
    group = np.full(vectors.shape[0], -1)
    groups = vectors.shape[0] // k
    grow(block, k, groups, group)
    nearness = np.zeros((groups, vectors.shape[0]), dtype=np.int64)
    join(block, nearness, group)
    for _ in range(ROUNDS):
        if not exchange(block, nearness, group):
            break
    return group


@njit(cache=True)
def add_products(user: int, block: Block, products: np.ndarray) -> None:
    """Add to each user's number the product of its vector with this user's."""
    for place in range(block.start[user], block.start[user + 1]):
        term, weight = block.term[place], block.weight[place]
        for other in range(block.holder_start[term], block.holder_start[term + 1]):
            products[block.holder[other]] += weight * block.holder_weight[other]


@njit(cache=True)
def grow(block: Block, k: int, groups: int, group: np.ndarray) -> None:
    """Each group from the first free user on, by the free one with the largest cosine to the group's sum."""
    products = np.zeros(len(group), dtype=np.int64)
    newcomer = 0
    for number in range(groups):
        while group[newcomer] >= 0:
            newcomer += 1
        group[newcomer] = number
        products[:] = 0
        latest = newcomer
        for _ in range(k - 1):
            add_products(latest, block, products)
            latest = -1
            for user in range(len(group)):  # all vectors have one length, so that the product orders as the cosine does
                if group[user] < 0 and (latest < 0 or products[user] > products[latest]):
                    latest = user
            group[latest] = number


@njit(cache=True)
def join(block: Block, nearness: np.ndarray, group: np.ndarray) -> None:
    """Who is left joins the group with the largest mean similarity. Fills in the product of each sum with each user."""
    products = np.zeros(len(group), dtype=np.int64)
    size = np.zeros(len(nearness), dtype=np.int64)
    for left in (False, True):
        for user in range(len(group)):
            if (group[user] < 0) != left:
                continue
            if left:
                best = 0
                for other in range(1, len(size)):
                    if nearness[other, user] * size[best] > nearness[best, user] * size[other]:
                        best = other
                group[user] = best
            products[:] = 0
            add_products(user, block, products)
            nearness[group[user]] += products
            size[group[user]] += 1


@njit(cache=True)
def exchange(block: Block, nearness: np.ndarray, group: np.ndarray) -> int:
    """Each user in turn changes places with whom it raises the similarity within both groups most; how many did."""
    own, others = np.zeros(len(group), dtype=np.int64), np.zeros(len(group), dtype=np.int64)
    leaving = np.empty(len(group), dtype=np.int64)  # what a group loses of each member's similarity, negative
    for user in range(len(group)):
        leaving[user] = block.square[user] - nearness[group[user], user]
    exchanged = 0
    for user in range(len(group)):
        own[:] = 0
        add_products(user, block, own)
        best = best_exchange(user, own, leaving, nearness, group)
        if best < 0:
            continue
        here, there = group[user], group[best]
        others[:] = 0
        add_products(best, block, others)
        nearness[here] += others - own
        nearness[there] += own - others
        group[user], group[best] = there, here
        for other in range(len(group)):
            if group[other] == here or group[other] == there:
                leaving[other] = block.square[other] - nearness[group[other], other]
        exchanged += 1
    return exchanged


@njit(cache=True)
def best_exchange(user: int, own: np.ndarray, leaving: np.ndarray, nearness: np.ndarray, group: np.ndarray) -> int:
    """The user of another group with whom an exchange raises the similarity within groups most; -1 if with none."""
    here, towards, to_here = group[user], nearness[:, user].copy(), nearness[group[user]]
    best, largest = -1, -leaving[user]
    for other in range(len(group)):
        gain = towards[group[other]] + to_here[other] + leaving[other] - 2 * own[other]
        if gain > largest and group[other] != here:
            best, largest = other, gain
    return best


def groups_that_stay(previous: Assignment | None, profiles: Profiles, users: np.ndarray, k: int, t: int) -> np.ndarray:
    """The group of each row of the profiles, counted from 0; -1 for who is new, takes no part or must be regrouped."""
    group = np.full(len(profiles), -1)
    if previous is None or len(users) == 0:
        return group
    group[users] = _groups_before(previous, profiles)[users]
    members = np.flatnonzero(group >= 0)
    if len(members) == 0:
        return group
    stays = _may_stay(group, members, profiles, k, t)
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    group[members] = number[group[members]]
    return group


def _groups_before(previous: Assignment, profiles: Profiles) -> np.ndarray:
    """The group that each user of the log had, -1 for who had none."""
    if len(np.unique(previous.user)) < len(previous.user):
        raise InputError("the earlier release has users with several profiles each: name one where each has one")
    before = np.full(len(previous.users) + 1, -1)
    before[previous.user] = previous.profile
    return before[find_names(profiles.users, previous.users)]  # who was not there is the last entry


def _may_stay(group: np.ndarray, members: np.ndarray, profiles: Profiles, k: int, t: int) -> np.ndarray:
    """Of each earlier group, whether it has k members and publishes a term."""
    groups = int(group.max()) + 1
    ones = np.ones(len(members), dtype=np.int64)
    of_groups = csr_array((ones, (group[members], members)), shape=(groups, len(profiles)))
    holders = csr_array(of_groups @ profiles.counts.sign())
    row = np.repeat(np.arange(groups), np.diff(holders.indptr))
    shared = np.bincount(row[holders.data >= t], minlength=groups)
    return np.asarray((np.bincount(group[members], minlength=groups) >= k) & (shared > 0))
