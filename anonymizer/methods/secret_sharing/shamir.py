"""Shamir's secret sharing over the prime field of 2^61 - 1, for millions of queries at once.

A query is cut into blocks of 7 bytes, each a number below the prime. A polynomial of degree k - 1 has the block at 0
and random numbers besides; a share is its value at the point of a user.
"""

import numpy as np
import polars as pl
from numba import njit

PRIME = (1 << 61) - 1
BLOCK = 7  # bytes: 56 bits are below the prime whatever they are
_END = 0x80  # after the last byte of a query, then zeros: so that no two texts have the same blocks


def as_blocks(texts: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of all texts as numbers: text i has blocks[start[i]:start[i + 1]]."""
    size = texts.str.len_bytes().to_numpy().astype(np.int64)
    start = np.concatenate([[0], np.cumsum(size // BLOCK + 1)])
    content = np.frombuffer("".join(texts.to_list()).encode(), dtype=np.uint8)
    return start, _blocks(content, np.concatenate([[0], np.cumsum(size)]), start)


@njit(cache=True)
def _blocks(content: np.ndarray, byte: np.ndarray, start: np.ndarray) -> np.ndarray:
    blocks = np.zeros(start[-1], dtype=np.uint64)
    for text in range(len(start) - 1):
        size = byte[text + 1] - byte[text]
        for i in range(size + 1):
            letter = np.uint64(content[byte[text] + i]) if i < size else np.uint64(_END)
            blocks[start[text] + i // BLOCK] |= letter << np.uint64(8 * (i % BLOCK))
    return blocks


@njit(cache=True)
def multiply(a: np.uint64, b: np.uint64) -> np.uint64:
    """a * b modulo 2^61 - 1 in 64 bits: both are cut at bit 31, and what is above bit 61 is added below it."""
    low, middle = np.uint64((1 << 31) - 1), np.uint64((1 << 30) - 1)
    a_high, a_low = a >> np.uint64(31), a & low
    b_high, b_low = b >> np.uint64(31), b & low
    cross = a_low * b_high + a_high * b_low  # below 2^62
    total = (a_high * b_high << np.uint64(1)) + (cross >> np.uint64(30)) + a_low * b_low
    return reduce(reduce(total) + ((cross & middle) << np.uint64(31)))


@njit(cache=True)
def reduce(a: np.uint64) -> np.uint64:
    """A number below 2^64 modulo 2^61 - 1."""
    prime = np.uint64(PRIME)
    folded = (a & prime) + (a >> np.uint64(61))
    return folded - prime if folded >= prime else folded


@njit(cache=True)
def shares_at(
    point: np.ndarray, query: np.ndarray, start: np.ndarray, blocks: np.ndarray, coefficients: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The values of the polynomials of a query at a point, by Horner; row i has values[value_start[i]:...]."""
    value_start = np.zeros(len(query) + 1, dtype=np.int64)
    for row in range(len(query)):
        value_start[row + 1] = value_start[row] + start[query[row] + 1] - start[query[row]]
    values = np.empty(value_start[-1], dtype=np.uint64)
    for row in range(len(query)):
        for i in range(value_start[row + 1] - value_start[row]):
            block = start[query[row]] + i
            value = np.uint64(0)
            for c in range(coefficients.shape[1]):
                value = reduce(multiply(value, point[row]) + coefficients[block, c])
            values[value_start[row] + i] = reduce(multiply(value, point[row]) + blocks[block])
    return value_start, values
