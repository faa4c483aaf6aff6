"""Which pairs of classes cannot be affine? Signatures of 64 bits refuse most of them at a glance."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from shoal.anonymizer.methods.affinity.classes import AffinityClasses

SLACK = 1e-10  # so that rounding loses no pair at the threshold itself


@dataclass(frozen=True, eq=False)
class Signatures:
    """A bit for each concept of a class (several may share one), and how many concepts an affine one may lack."""

    bits: np.ndarray  # uint64
    spare_as_smaller: np.ndarray  # uint8
    spare_as_larger: np.ndarray  # uint8


def signatures(classes: AffinityClasses, theta: float) -> Signatures:
    vectors = classes.vectors
    return Signatures(_bits(*vectors[:2]), _spare(*vectors, 1 - theta), _spare(*vectors, 1 - theta**2))


@njit(cache=True)
def _bits(start: np.ndarray, concept: np.ndarray) -> np.ndarray:
    bits = np.zeros(len(start) - 1, dtype=np.uint64)
    for c in range(len(bits)):
        for f in concept[start[c] : start[c + 1]]:
            bits[c] |= np.uint64(1) << ((np.uint64(f) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58))
    return bits


@njit(cache=True)
def _spare(start: np.ndarray, concept: np.ndarray, square: np.ndarray, norm: np.ndarray, share: float) -> np.ndarray:
    """How many concepts, the lightest first, make up at most this share of the squared norm."""
    spare = np.zeros(len(norm), dtype=np.uint8)
    for c in range(len(norm)):
        weights = np.sort(square[concept[start[c] : start[c + 1]]])
        left = share * norm[c] * (1 + SLACK) + SLACK * norm[c]
        for weight in weights[:64]:
            left -= weight
            if left < 0:
                break
            spare[c] += 1
    return spare


@njit(cache=True, inline="always")
def lacks_at_most(bits: np.uint64, other: np.uint64, spare: int) -> bool:
    """Whether at most so many of these bits are missing from the other's."""
    missing = bits & ~other
    while missing:
        if spare == 0:
            return False
        missing &= missing - np.uint64(1)
        spare -= 1
    return True
