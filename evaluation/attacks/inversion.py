"""Can hashed terms be read? An attacker with another log matches hashes and words by frequency and co-occurrence.

Kumar, Novak, Pang and Tomkins 2007: a word that many people use, or one that stands beside known ones, has a hash that
is as frequent and stands beside theirs. First the most frequent words and hashes are matched as two graphs of
co-occurrence, then more and more by what they stand beside among those that are matched. What is read so is a lower
bound: a better attacker reads more.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.corpus.profiles import Profiles

ANCHORS = 120  # hashes and words that are matched first
MOST = 2_500  # of each that are compared: what is rarer has too little beside it
_FEWEST = 3  # occurrences of a hash or a word of which anything can be told
_ROUNDS = 2
_NEAR = 2.0  # how far apart frequencies may be where the graphs are matched first, in squared standard errors
_FREQUENCY = 0.03  # what that distance counts later, against a likeness from 0 to 1 of what stands beside
_FURTHEST = 4.0  # more counts no more: words come and go


def invert(release: Release, reference: Profiles) -> dict[int, str]:
    """The words that an attacker reads behind labels, by the number of the label: some are wrong."""
    hashed, known = csr_array(release.weights.astype(float)), csr_array(reference.counts.astype(float))
    labels, terms = _frequent(hashed), _frequent(known)
    if min(len(labels), len(terms)) < 2:
        return {}
    apart = _apart(hashed, known, labels, terms)
    left, right = csr_array(hashed[:, labels].sign()), csr_array(known[:, terms].sign())
    match = _matched_graphs(left, right, apart)
    for many in (ANCHORS, 2 * ANCHORS, 4 * ANCHORS, MOST):
        for _ in range(_ROUNDS):
            match = _by_neighbours(left, right, apart[:many, :many], match)
    return {int(labels[h]): reference.terms[terms[t]] for h, t in match}


def read_by(release: Release, words: dict[int, str]) -> Release:
    """The release as the attacker reads it, where labels that are not read stay hashes."""
    labels = [words.get(place, label) for place, label in enumerate(release.labels)]
    return replace(release, labels=labels)


Pairs = list[tuple[int, int]]


def _frequent(counts: csr_array) -> np.ndarray:
    """The columns of most occurrences, the most frequent first."""
    many = np.asarray(counts.sum(axis=0)).ravel()
    order = np.argsort(-many, kind="stable")[:MOST]
    return order[many[order] >= _FEWEST]


def _apart(first: csr_array, second: csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """How far the shares of occurrences are apart, in squared standard errors; roots make errors alike (Anscombe)."""
    many = [np.asarray(counts.sum(axis=0)).ravel() for counts in (first, second)]
    total = [max(1.0, float(one.sum())) for one in many]
    roots = [np.sqrt(one[some] / all) for one, all, some in zip(many, total, (rows, columns), strict=True)]
    return 4 * (roots[0][:, None] - roots[1][None, :]) ** 2 / (1 / total[0] + 1 / total[1])


def _beside(held: csr_array, others: np.ndarray) -> np.ndarray:
    """Columns x others: how much oftener they share a row than by chance, as Pearson's residuals for one row."""
    rows, many = held.shape[0], np.maximum(np.asarray(held.sum(axis=0)).ravel(), 1)
    together = np.asarray((held.T @ csr_array(held[:, others])).todense())
    chance = many[:, None] * many[others][None, :] / rows
    return (together - chance) / np.sqrt(chance * rows)


def _matched_graphs(left: csr_array, right: csr_array, apart: np.ndarray) -> Pairs:
    """The most frequent of both sides, matched as graphs (FAQ, Vogelstein et al. 2015) from where frequencies agree."""
    from scipy.optimize import quadratic_assignment  # takes 0.3 s to load: every start would wait for it

    many = min(ANCHORS, *apart.shape)
    first = np.arange(many)
    graphs = [_beside(csr_array(side[:, first]), first) for side in (left, right)]
    for graph in graphs:
        np.fill_diagonal(graph, 0)
    start = _doubly_stochastic(np.exp(-apart[:many, :many] / _NEAR) + 1e-3)
    found = quadratic_assignment(
        *graphs, method="faq", options={"maximize": True, "P0": start, "rng": np.random.default_rng(0)}
    )
    return list(zip(range(many), found.col_ind.tolist(), strict=True))


def _doubly_stochastic(matrix: np.ndarray) -> np.ndarray:
    """Sinkhorn: rows and columns scaled in turn until both sum to 1."""
    for _ in range(2_000):
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
        matrix = matrix / matrix.sum(axis=0, keepdims=True)
    return matrix


def _by_neighbours(left: csr_array, right: csr_array, apart: np.ndarray, match: Pairs) -> Pairs:
    """The most frequent ones matched anew, by what they stand beside among those matched before and by frequency."""
    from scipy.optimize import linear_sum_assignment  # takes 0.3 s to load: every start would wait for it

    ours, theirs = (
        _signature(held, places)[:many]
        for held, places, many in zip((left, right), np.array(match).T, apart.shape, strict=True)
    )
    likeness = ours @ theirs.T - _FREQUENCY * np.minimum(apart / 2, _FURTHEST)
    rows, columns = linear_sum_assignment(likeness, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _signature(held: csr_array, anchors: np.ndarray) -> np.ndarray:
    """What each column stands beside, of length 1; an anchor tells nothing by itself."""
    beside = _beside(held, anchors)
    beside[anchors, np.arange(len(anchors))] = 0
    return beside / np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-12)
