"""Groups along a band of users: each with one holder of a sensitive term at most (Algorithm 2.2, CAHD)."""

from typing import NamedTuple

import numba
import numpy as np
from scipy.sparse import csr_array


class Line(NamedTuple):
    """The users in their order, those who are in no group yet linked to each other, and what they typed."""

    order: np.ndarray  # user at each place
    group: np.ndarray  # of each user, -1 for none yet
    before: np.ndarray  # the place before each place that is still there, -1 at the end
    after: np.ndarray
    public_start: np.ndarray
    public: np.ndarray
    private_start: np.ndarray
    private: np.ndarray  # numbered from 0
    H: np.ndarray  # histogram: of each sensitive term, how many of those who are left typed it
    remaining: np.ndarray  # one number: how many are left
    formed: np.ndarray  # one number: how many groups there are


def open_line(order: np.ndarray, public: csr_array, private: csr_array) -> Line:
    n = len(order)
    _, numbered = np.unique(private.indices, return_inverse=True)
    return Line(
        order=order,
        group=np.full(n, -1, dtype=np.int64),
        before=np.arange(-1, n - 1),
        after=np.append(np.arange(1, n), -1)[:n],
        public_start=public.indptr.astype(np.int64),
        public=public.indices.astype(np.int64),
        private_start=private.indptr.astype(np.int64),
        private=numbered.astype(np.int64),
        H=np.bincount(numbered).astype(np.int64),
        remaining=np.array([n]),
        formed=np.array([0]),
    )


@numba.njit(cache=True)
def form_groups(line: Line, begin: int, end: int, p: int, reach: int) -> None:
    """Lines 3-12 for the sensitive users at the places begin:end."""
    shares = np.zeros(len(line.H), dtype=np.bool_)  # the sensitive terms of the group
    known = np.zeros(line.public.max() + 1 if len(line.public) else 1, dtype=np.bool_)  # the public terms of t
    for place in range(begin, end):
        t = line.order[place]
        if line.group[t] >= 0 or line.private_start[t] == line.private_start[t + 1]:
            continue
        members = _closest(line, place, p, reach, shares, known)
        for i in range(len(members)):
            _count(line, line.order[members[i]], -1)
        if len(members) == p and _can_be_left(line, p):
            for i in range(p):
                _take_out(line, members[i])
            line.remaining[0] -= p
            line.formed[0] += 1
        else:  # roll back
            for i in range(len(members)):
                _count(line, line.order[members[i]], 1)


@numba.njit(cache=True)
def _closest(line: Line, place: int, p: int, reach: int, shares: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Lines 5 and 6: the places of t and of up to p - 1 others near it that have most public terms in common with t.

    None shares a sensitive term with t or with another. Of equals, the nearest is first, one before t before one after.
    """
    places = _window(line, place, reach)
    t = line.order[place]
    for i in range(line.public_start[t], line.public_start[t + 1]):
        known[line.public[i]] = True
    common = np.zeros(len(places), dtype=np.int64)
    for c in range(len(places)):
        user = line.order[places[c]]
        for i in range(line.public_start[user], line.public_start[user + 1]):
            common[c] += known[line.public[i]]
    for i in range(line.public_start[t], line.public_start[t + 1]):
        known[line.public[i]] = False
    members = np.empty(p, dtype=np.int64)
    members[0] = place
    size = 1
    _mark(line, t, shares, True)
    while size < p:
        best = -1
        for c in range(len(places)):
            if common[c] > (-1 if best < 0 else common[best]):
                best = c
        if best < 0:
            break
        common[best] = -1
        user = line.order[places[best]]
        if not _meets(line, user, shares):
            _mark(line, user, shares, True)
            members[size] = places[best]
            size += 1
    for i in range(size):
        _mark(line, line.order[members[i]], shares, False)
    return members[:size]


@numba.njit(cache=True)
def _window(line: Line, place: int, reach: int) -> np.ndarray:
    """The places of the users who are left, up to `reach` on each side, the nearest first."""
    found = np.empty(min(2 * reach, line.remaining[0]), dtype=np.int64)
    size, steps = 0, 0
    low, high = line.before[place], line.after[place]
    while steps < reach and (low >= 0 or high >= 0):
        if low >= 0:
            found[size] = low
            size += 1
            low = line.before[low]
        if high >= 0:
            found[size] = high
            size += 1
            high = line.after[high]
        steps += 1
    return found[:size]


@numba.njit(cache=True)
def _meets(line: Line, user: int, shares: np.ndarray) -> bool:
    found = False
    for i in range(line.private_start[user], line.private_start[user + 1]):
        found = found or shares[line.private[i]]
    return found


@numba.njit(cache=True)
def _mark(line: Line, user: int, shares: np.ndarray, there: bool) -> None:
    for i in range(line.private_start[user], line.private_start[user + 1]):
        shares[line.private[i]] = there


@numba.njit(cache=True)
def _count(line: Line, user: int, sign: int) -> None:
    for i in range(line.private_start[user], line.private_start[user + 1]):
        line.H[line.private[i]] += sign


@numba.njit(cache=True)
def _can_be_left(line: Line, p: int) -> bool:
    """Line 8: whether those who remain could still be one group."""
    most = 0
    for s in range(len(line.H)):
        most = max(most, line.H[s])
    return most * p <= line.remaining[0] - p


@numba.njit(cache=True)
def _take_out(line: Line, place: int) -> None:
    line.group[line.order[place]] = line.formed[0]
    low, high = line.before[place], line.after[place]
    if low >= 0:
        line.after[low] = high
    if high >= 0:
        line.before[high] = low
