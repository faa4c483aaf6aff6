"""How much did members lose by being published as a group? The thesis's distortion (GGD, Def. 3.2.3), for any release.

An occurrence that is published as it is costs 0, as a generalized label x it costs LM(x), and 1 if it is suppressed.
A published weight w stands for w occurrences of every member that has so many at or below the label.
"""

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from anonymizer.base import Assignment, Release
from corpus.knowledge import Knowledge
from corpus.profiles import Profiles


def distortion(release: Release, assignment: Assignment, profiles: Profiles, knowledge: Knowledge) -> float:
    """GGD of a release, over all users of the log; a user without a profile loses everything."""
    total = float(profiles.occurrences.sum())
    user, group = members(assignment, profiles)
    if release.generalized.any():
        return total - _kept_in_tree(release, user, group, profiles, knowledge)
    return total - _kept_as_typed(release, user, group, profiles)


def members(assignment: Assignment, profiles: Profiles) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (row of the profiles, row of the release) as two columns."""
    position = {name: i for i, name in enumerate(profiles.users.to_list())}
    names = np.array([position[name] for name in assignment.users.to_list()], dtype=np.int64)
    return names[assignment.user], assignment.profile.astype(np.int64)


def _kept_as_typed(release: Release, user: np.ndarray, group: np.ndarray, profiles: Profiles) -> float:
    """Occurrences that stand in the published profile, each no more often than it is published."""
    column = {term: i for i, term in enumerate(profiles.terms)}
    known = [i for i, label in enumerate(release.labels) if label in column]
    place = np.array([column[release.labels[i]] for i in known], dtype=np.int64)
    weights = release.weights[:, known].tocoo()
    shape = (len(release), len(profiles.terms))
    published = csr_array((weights.data, (weights.row, place[weights.col])), shape=shape)
    return float(profiles.counts[user].minimum(published[group]).sum())


def _kept_in_tree(
    release: Release, user: np.ndarray, group: np.ndarray, profiles: Profiles, knowledge: Knowledge
) -> float:
    """The sum of cover * (1 - LM) over members and labels. Deeper labels take their occurrences first."""
    tree = knowledge.taxonomy
    term_node = np.array([tree.node.get(term, -1) for term in profiles.terms], dtype=np.int64)
    label_node = np.array([_node(label, tree.node) for label in release.labels], dtype=np.int64)
    if (label_node < 0).any():  # bags: each stands for its members only, and is no node of the tree
        return _kept_in_bags(release, user, group, profiles)
    counts, weights = profiles.counts, release.weights
    return float(
        _cover(
            counts.indptr.astype(np.int64), counts.indices.astype(np.int64), counts.data.astype(np.float64),
            weights.indptr.astype(np.int64), weights.indices.astype(np.int64), weights.data.astype(np.float64),
            user, group, term_node, label_node, tree.end.astype(np.int64), tree.LM, tree.depth.astype(np.int64),
        )
    )  # fmt: skip


def _node(label: str, node: dict[str, int]) -> int:
    return node.get(label.lower(), -1)


def _kept_in_bags(release: Release, user: np.ndarray, group: np.ndarray, profiles: Profiles) -> float:
    """A member's occurrence stands in a bag that holds its term, and loses the share of the others in the bag."""
    kept = 0.0
    for u, g in zip(user, group, strict=True):
        left = dict(profiles.of(int(u)))
        for label, weight in sorted(release.profile(int(g)).items(), key=lambda item: (item[0].count("|"), item[0])):
            bag = label.split("|")
            loss = (len(bag) - 1) / max(1, len(profiles.terms) - 1)
            for term in bag:
                taken = min(weight, left.get(term, 0))
                if taken > 0:
                    left[term] -= taken  # type: ignore[assignment]
                    weight -= taken
                    kept += taken * (1 - loss)
    return kept


@njit(cache=True)
def _cover(
    term_start: np.ndarray, terms: np.ndarray, counts: np.ndarray,
    label_start: np.ndarray, labels: np.ndarray, weights: np.ndarray,
    user: np.ndarray, group: np.ndarray, term_node: np.ndarray, label_node: np.ndarray,
    end: np.ndarray, loss: np.ndarray, depth: np.ndarray,
) -> float:  # fmt: skip
    kept = 0.0
    for i in range(len(user)):
        a, b = term_start[user[i]], term_start[user[i] + 1]
        left = counts[a:b].copy()
        nodes = term_node[terms[a:b]]
        c, d = label_start[group[i]], label_start[group[i] + 1]
        order = np.argsort(-depth[label_node[labels[c:d]]])
        for j in order:
            v = label_node[labels[c + j]]
            want = weights[c + j]
            for t in range(b - a):
                if want <= 0:
                    break
                if v <= nodes[t] < end[v] and left[t] > 0:
                    taken = min(want, left[t])
                    left[t] -= taken
                    want -= taken
                    kept += taken * (1 - loss[v])
    return kept
