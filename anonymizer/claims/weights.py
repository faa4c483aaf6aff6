"""Are published weights those that they must be? Profiles compared with what members or queries make of them."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.anonymizer.claims import HOLDS, Verdict, broken

ROUNDED = 1e-6  # means are stored with nine digits; counts are exact


def verify_weights(
    release: Release, expected: csr_array, terms: list[str], made_by: str, tolerance: float = 0
) -> Verdict:
    """Every profile holds exactly the weights of its row of `expected`, whose columns are `terms`."""
    column = {term: t for t, term in enumerate(terms)}
    foreign = next((label for label in release.labels if label not in column), None)
    if foreign is not None:
        return broken(f"{foreign!r} is published, but nobody used it")
    place = np.array([column[label] for label in release.labels], dtype=np.int64)
    weights = release.weights.tocoo()
    published = csr_array((weights.data, (weights.row, place[weights.col])), shape=expected.shape)
    gap = csr_array(abs(published - expected) - tolerance * (abs(expected) + abs(expected).sign()))
    worst = np.flatnonzero(gap.data > 0)
    if len(worst) == 0:
        return HOLDS
    row, term = int(np.searchsorted(gap.indptr, worst[0], side="right")) - 1, int(gap.indices[worst[0]])
    return broken(
        f"{release.pseudonyms[row]} publishes {terms[term]!r} with weight {published[row, term]:.6g}, "
        f"but {made_by} make {expected[row, term]:.6g}"
    )


def verify_nothing_generalized(release: Release) -> Verdict:
    """Every label is a term that users typed."""
    if not release.generalized.any():
        return HOLDS
    return broken(
        f"{release.labels[int(release.generalized.argmax())]!r} is said to be generalized, but users typed it"
    )
