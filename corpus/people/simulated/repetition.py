"""When does a person type the same query again? Often the last one, at times an older one."""

import numpy as np

_LAST = 0.6  # of the repetitions are of the user's last query; the others of any earlier one


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
