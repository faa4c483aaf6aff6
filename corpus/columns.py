"""Columns of numbers: where runs start, which numbers occur, and a well-spread number for each row (SplitMix64)."""

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def starts(*columns: np.ndarray) -> np.ndarray:
    """True at the first row, and at each that differs from the one before it in any of the columns."""
    first = np.zeros(len(columns[0]), dtype=bool)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return first


def distinct(values: np.ndarray) -> np.ndarray:
    """The numbers that occur, ascending: by sorting, several times faster on millions than numpy's hash table."""
    ordered = np.sort(values)
    return ordered[starts(ordered)]


def spread(numbers: np.ndarray) -> np.ndarray:
    """Each 64-bit number as one that looks random: the finalizer of SplitMix64."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _SECOND
    return numbers ^ (numbers >> np.uint64(31))


def mix(*columns: np.ndarray | int) -> np.ndarray:
    """One number per row of the columns, the same again for the same row, whatever else was drawn."""
    state = np.zeros(1, dtype=np.uint64)
    for column in columns:
        state = spread((state + _GOLDEN) ^ np.atleast_1d(np.asarray(column)).astype(np.uint64))
    return state


def below(limit: np.ndarray | int, *columns: np.ndarray | int) -> np.ndarray:
    """A number from 0 to limit - 1 per row, fixed by the columns."""
    return (mix(*columns) % np.asarray(limit).astype(np.uint64)).astype(np.int64)
