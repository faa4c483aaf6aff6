"""Random numbers that must stay secret: a stream of SHAKE-256 from a seed that nobody knows, as columns.

numpy's generators are quick but not made to be secret: who sees enough of their numbers can tell the next ones.
"""

import hashlib

import numpy as np

_BLOCK = 1 << 17  # numbers per call of the hash, so that no call makes more than a megabyte


def secret_numbers(seed: int, purpose: str, count: int) -> np.ndarray:
    """So many 64-bit numbers; another purpose gives others that tell nothing of these."""
    numbers = np.empty(count, dtype=np.uint64)
    for block, start in enumerate(range(0, count, _BLOCK)):
        part = numbers[start : start + _BLOCK]
        part[:] = np.frombuffer(_stream(seed, f"{purpose} {block}", 8 * len(part)), dtype="<u8")
    return numbers


def secret_bytes(seed: int, purpose: str, count: int) -> bytes:
    return _stream(seed, purpose, count)


def secret_order(seed: int, purpose: str, count: int) -> np.ndarray:
    """The numbers from 0 to count - 1 in an order that nobody can tell."""
    return np.argsort(secret_numbers(seed, purpose, count), kind="stable")


def _stream(seed: int, purpose: str, count: int) -> bytes:
    return hashlib.shake_256(f"shoal {seed} {purpose}".encode()).digest(count)
