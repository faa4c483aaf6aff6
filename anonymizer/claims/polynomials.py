"""What do points of a polynomial say of its other places? The textbook's interpolation modulo 2^61 - 1, in columns.

All numbers are uint64 below the prime, and points of one polynomial differ.
"""

import numpy as np
from numba import njit

PRIME = 2**61 - 1


@njit(cache=True)
def rest(a: np.uint64) -> np.uint64:
    """Any number modulo the prime: 2^61 counts 1."""
    prime = np.uint64(PRIME)
    folded = (a & prime) + (a >> np.uint64(61))
    return folded - prime if folded >= prime else folded


@njit(cache=True)
def times(a: np.uint64, b: np.uint64) -> np.uint64:
    """By halves of 32 bits, where 2^64 counts 8: the sum is below 2^63."""
    half, low = np.uint64(32), np.uint64(2**32 - 1)
    upper = (a >> half) * (b >> half)  # below 2^58
    across = (a >> half) * (b & low) + (a & low) * (b >> half)  # below 2^62, and counts 2^32
    lower = rest((a & low) * (b & low))
    return rest((upper << np.uint64(3)) + (across >> np.uint64(29)) + ((across & np.uint64(2**29 - 1)) << half) + lower)


@njit(cache=True)
def minus(a: np.uint64, b: np.uint64) -> np.uint64:
    return a - b if a >= b else a + np.uint64(PRIME) - b


@njit(cache=True)
def inverse(a: np.uint64) -> np.uint64:
    """By Fermat: a to the power of the prime less 2."""
    found, power = np.uint64(1), a
    for bit in range(61):
        if (PRIME - 2) >> bit & 1:
            found = times(found, power)
        power = times(power, power)
    return found


@njit(cache=True)
def denominators(points: np.ndarray) -> np.ndarray:
    """Lagrange's, inverted: they are the same for every place."""
    found = np.empty(len(points), dtype=np.uint64)
    for i in range(len(points)):
        below = np.uint64(1)
        for j in range(len(points)):
            if i != j:
                below = times(below, minus(points[i], points[j]))
        found[i] = inverse(below)
    return found


@njit(cache=True)
def weights_at(place: np.uint64, points: np.ndarray, below: np.ndarray) -> np.ndarray:
    """What the value at each point counts for that at a place: the differences of the others, before and after it."""
    weights = below.copy()
    before = after = np.uint64(1)
    for i in range(len(points)):
        weights[i] = times(weights[i], before)
        before = times(before, minus(place, points[i]))
    for i in range(len(points) - 1, -1, -1):
        weights[i] = times(weights[i], after)
        after = times(after, minus(place, points[i]))
    return weights


@njit(cache=True)
def value_of(weights: np.ndarray, at: np.ndarray, values: np.ndarray, block: int) -> np.uint64:
    total = np.uint64(0)
    for i in range(len(weights)):
        total = rest(total + times(weights[i], values[at[i] + block]))
    return total


@njit(cache=True)
def secrets(
    first: np.ndarray, take: np.ndarray, point: np.ndarray, at: np.ndarray, values: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """The values at 0 of the polynomials of each query q, by take[q] shares from first[q]: start[q]:start[q + 1]."""
    secret = np.empty(start[-1], dtype=np.uint64)
    for q in range(len(take)):
        some = slice(first[q], first[q] + take[q])
        weights = weights_at(np.uint64(0), point[some], denominators(point[some]))
        for block in range(start[q + 1] - start[q]):
            secret[start[q] + block] = value_of(weights, at[some], values, block)
    return secret


@njit(cache=True)
def astray(
    first: np.ndarray, take: np.ndarray, point: np.ndarray, at: np.ndarray, values: np.ndarray, blocks: np.ndarray
) -> np.ndarray:
    """Whether a share of each query lies elsewhere than on the polynomials through its first ones; if any is taken."""
    found = np.zeros(len(take), dtype=np.bool_)
    for q in range(len(take)):
        if take[q]:
            some = slice(first[q], first[q] + take[q])
            below = denominators(point[some])
            for other in range(first[q] + take[q], first[q + 1]):
                weights = weights_at(point[other], point[some], below)
                for block in range(blocks[q]):
                    found[q] |= value_of(weights, at[some], values, block) != values[at[other] + block]
    return found
