"""How is a number drawn that must be the same again for the same session, whatever else was drawn?"""

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mix(*columns: np.ndarray | int) -> np.ndarray:
    """One well spread 64-bit number per row of the columns (the finalizer of SplitMix64, chained)."""
    state = np.zeros(1, dtype=np.uint64)
    for column in columns:
        state = _finalize((state + _GOLDEN) ^ np.atleast_1d(np.asarray(column)).astype(np.uint64))
    return state


def below(limit: np.ndarray | int, *columns: np.ndarray | int) -> np.ndarray:
    """A number from 0 to limit - 1 per row, fixed by the columns."""
    return (mix(*columns) % np.asarray(limit).astype(np.uint64)).astype(np.int64)


def _finalize(state: np.ndarray) -> np.ndarray:
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))
