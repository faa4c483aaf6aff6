"""How many queries of each length are popular or one user's own, new or repeated, for a log with AOL's statistics?"""

from dataclasses import dataclass

import numpy as np

from shoal.corpus.people.calibration import AOL_DISTINCT, AOL_REPEATED, AOL_USERS, aol_one_user

CLASSES = len(AOL_DISTINCT)  # one, two, three, four, five and more words
# Distinct queries among all: Table 1 for the whole log. A small log shares fewer queries, so it has more.
_DISTINCT_PER_QUERY = {1_000: 0.44, AOL_USERS: float(AOL_DISTINCT.sum() / AOL_REPEATED.sum())}
_MOST_REPEATS = 1.6  # how often a user types an own query, at most on average
_BY_ONE = 1 / 3  # of the repetitions of a query are due to one user, the others to many
# Words in a query of five or more, so that all queries hold Table 2's words on average.
_LONG = np.array([0.45, 0.25, 0.13, 0.08, 0.05, 0.04])

_LAST = 0.6  # of the repetitions are of the user's last query; the others of any earlier one


@dataclass(frozen=True)
class Plan:
    """What a log of this many users and queries must hold, per class of length."""

    share: np.ndarray  # of all queries
    distinct: np.ndarray  # how many distinct queries
    shared: np.ndarray  # how many of those at least two users type
    own: np.ndarray  # the share of queries that only their user types, the others being popular


def make_plan(users: int, queries: int) -> Plan:
    """The numbers to reach. The rest of the simulation draws freely, and is held to these."""
    share = AOL_REPEATED / AOL_REPEATED.sum()
    rate = np.interp(np.log(users), np.log(list(_DISTINCT_PER_QUERY)), list(_DISTINCT_PER_QUERY.values()))
    distinct = rate * queries * AOL_DISTINCT / AOL_DISTINCT.sum()
    one_user = aol_one_user(users)
    typed = share * queries / distinct  # how often a distinct query is typed
    repeats = np.minimum(_MOST_REPEATS, 1 + (typed - 1) * _BY_ONE)
    return Plan(share, distinct, (1 - one_user) * distinct, repeats * one_user / typed)


def draw_class(plan: Plan, size: int, rng: np.random.Generator) -> np.ndarray:
    """The class of length of each query."""
    return np.searchsorted(np.cumsum(plan.share)[:-1], rng.random(size), side="right").astype(np.int8)


def draw_words(length_class: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """How many words each query of a class holds."""
    if length_class < CLASSES - 1:
        return np.full(size, length_class + 1)
    return CLASSES + np.searchsorted(np.cumsum(_LONG)[:-1], rng.random(size), side="right")


def first_of_user(user: np.ndarray) -> np.ndarray:
    """True at each user's first row; rows are sorted by user."""
    first = np.ones(len(user), dtype=bool)
    first[1:] = user[1:] != user[:-1]
    return first


def new_at_rate(user: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Which rows are new queries: a user's first, and others at this rate."""
    return first_of_user(user) | (rng.random(len(user)) < rate)


def rate_for(user: np.ndarray, wanted: float) -> float:
    """The rate at which this many rows are new."""
    first = int(first_of_user(user).sum())
    others = len(user) - first
    return float(np.clip((wanted - first) / others, 0, 1)) if others else 0.0


def repeated(user: np.ndarray, new: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each row, which of the new rows (counted in order) it types or repeats; always one of the same user."""
    count = np.cumsum(new)
    first = first_of_user(user)
    before = (count[first] - 1)[np.cumsum(first) - 1] if len(user) else count
    any_earlier = before + np.floor(rng.random(len(user)) * (count - before)).astype(np.int64)
    return np.where(new | (rng.random(len(user)) < _LAST), count - 1, any_earlier)
