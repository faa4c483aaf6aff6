"""Are published weights those that they must be? Profiles compared with what members or queries make of them."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.anonymizer.claims import HOLDS, Verdict, broken

DIGITS = 9  # with which a weight that is no whole number is written into a release folder


def verify_weights(release: Release, expected: csr_array, terms: list[str], made_by: str) -> Verdict:
    """Every profile holds exactly the weights of its row of `expected`, whose columns are `terms`.

    They are compared digit by digit: as they are, or as they are written into a release folder.
    """
    column = {term: t for t, term in enumerate(terms)}
    foreign = next((label for label in release.labels if label not in column), None)
    if foreign is not None:
        return broken(f"{foreign!r} is published, but nobody used it")
    place = np.array([column[label] for label in release.labels], dtype=np.int64)
    content = (release.weights.data, place[release.weights.indices], release.weights.indptr)
    key, said, made = _side_by_side(csr_array(content, shape=expected.shape), expected)
    different = np.flatnonzero(said != made)
    wrong = different[said[different] != _as_written(made[different])]
    if len(wrong) == 0:
        return HOLDS
    row, term = divmod(int(key[wrong[0]]), len(terms))
    return broken(
        f"{release.pseudonyms[row]} publishes {terms[term]!r} with weight {said[wrong[0]]:.9g}, "
        f"but {made_by} make {made[wrong[0]]:.9g}"
    )


def _side_by_side(first: csr_array, second: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places (row * columns + column) where one of two matrices is not 0, and the values of both there."""
    keys = [_places(matrix) for matrix in (first, second)]
    key = np.union1d(*keys)
    said, made = np.zeros(len(key)), np.zeros(len(key))
    np.add.at(said, np.searchsorted(key, keys[0]), first.data)  # a term that stands twice counts twice
    np.add.at(made, np.searchsorted(key, keys[1]), second.data)
    return key, said, made


def _places(matrix: csr_array) -> np.ndarray:
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return row * matrix.shape[1] + matrix.indices


def _as_written(weights: np.ndarray) -> np.ndarray:
    """Whole numbers as they are, others with as many digits as a release folder has."""
    different, place = np.unique(weights, return_inverse=True)
    written = [x if x.is_integer() else float(f"{x:.{DIGITS}g}") for x in different.tolist()]
    return np.array(written, dtype=float)[place]


def verify_nothing_generalized(release: Release) -> Verdict:
    """Every label is a term that users typed."""
    if not release.generalized.any():
        return HOLDS
    return broken(
        f"{release.labels[int(release.generalized.argmax())]!r} is said to be generalized, but users typed it"
    )
