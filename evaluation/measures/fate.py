"""What became of each occurrence? Which published label it stands under, for every user of any release.

A published weight w stands for w occurrences of every user who has that profile. They are, in this order:
1. occurrences of the very term that is published;
2. of terms below a generalized label (or in a bag a|b|c), the labels that lose least first;
3. of terms that a published term replaces, up to four edges away (Liu & Wang's matched terms), the nearest first.
What stands under nothing is suppressed. A user with several profiles has the sum of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.measures.labels import leaf_of, node_of
from shoal.evaluation.measures.near_terms import NEAR, near_terms
from shoal.evaluation.measures.occurrence_matching import match

_USERS_AT_ONCE = 1000


@dataclass(frozen=True, eq=False)
class Standing:
    """Rows (published entry, term, amount): so many occurrences of the term stand under that entry."""

    occurrences: float  # of all users of the log, those with no profile too
    entry: np.ndarray  # positions in the data of the release's weights: a label of a profile
    label: np.ndarray  # the label of that entry
    term: np.ndarray  # columns of the profiles
    amount: np.ndarray
    replaced: np.ndarray  # bool: by the third rule, so that the published term is another one

    def lost(self, loss: np.ndarray, replaced_too: bool = False) -> float:
        """The sum of losses: `loss` of each row, and 1 for what is suppressed.

        What is only replaced by another term counts as suppressed, unless it is counted, too.
        """
        counted = self.amount if replaced_too else np.where(self.replaced, 0.0, self.amount)
        return max(0.0, self.occurrences - float((counted * (1 - loss)).sum()))


def stand(
    release: Release, assignment: Assignment, profiles: Profiles, knowledge: Knowledge, progress: Progress = silent
) -> Standing:
    """The standing of every occurrence of every user."""
    held = profiles_held(assignment, profiles, len(release))
    users = np.flatnonzero(np.diff(held.indptr))
    users = users[np.argsort(held.indices[held.indptr[users]], kind="stable")]  # neighbours share a profile
    given: list[Any] = [*_whole(held)[:2], *_whole(profiles.counts), *_whole(release.weights)]
    given += [*_labels(release, profiles, knowledge.taxonomy), NEAR]
    parts = []
    for low in range(0, len(users), _USERS_AT_ONCE):
        progress(low, len(users), "comparing with what is published")
        parts.append(np.stack(match(users[low : low + _USERS_AT_ONCE], *given)))
    rows = np.concatenate(parts, axis=1) if parts else np.empty((4, 0))
    entry = rows[0].astype(np.int64)
    label = release.weights.indices[entry]
    return Standing(
        float(profiles.occurrences.sum()), entry, label, rows[1].astype(np.int64), rows[2], rows[3] > 0
    )  # fmt: skip


def profiles_held(assignment: Assignment, profiles: Profiles, published: int) -> csr_array:
    """Users of the profiles x published profiles, 1 where a user has one."""
    row = assignment.rows_for(profiles.users)
    pairs = (np.ones(len(assignment.user)), (row, assignment.profile))
    return csr_array(pairs, shape=(len(profiles), published))


def leaves_of(release: Release, taxonomy: Taxonomy) -> np.ndarray:
    """How many terms each label stands for: the leaves below a node, the members of a bag, 1 for a term."""
    leaves = np.ones(len(release.labels), dtype=np.int64)
    for i, members in release.bags.items():
        leaves[i] = len(members)
    for i, label in release.nodes.items():
        leaves[i] = taxonomy.leaves[node_of(label, taxonomy)]
    return leaves


def _whole(matrix: csr_array) -> list[np.ndarray]:
    return [matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64)]


def _labels(release: Release, profiles: Profiles, taxonomy: Taxonomy) -> list[np.ndarray]:
    """What the matching must know of labels and terms, in the order in which it takes them."""
    plain = {release.labels[i]: i for i in np.flatnonzero(~release.generalized).tolist()}
    label_of = np.array([plain.get(term, -1) for term in profiles.terms], dtype=np.int64)
    leaf = np.array([leaf_of(term, taxonomy) for term in profiles.terms], dtype=np.int64)
    published = np.array([leaf_of(label, taxonomy) for label in plain], dtype=np.int64)
    near_start, near, edges = near_terms(leaf, published, taxonomy)
    near = np.array(list(plain.values()), dtype=np.int64)[near]
    loss = leaves_of(release, taxonomy).astype(np.float64)
    return [
        *_generalized_entries(release, loss), loss, _inner_nodes(release, taxonomy), label_of, leaf,
        taxonomy.end.astype(np.int64), *_bags(release, profiles), near_start, near, edges,
    ]  # fmt: skip


def _generalized_entries(release: Release, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The generalized entries of each profile, those that lose least first: start and positions."""
    weights = release.weights
    row = np.repeat(np.arange(len(release)), np.diff(weights.indptr))
    entry = np.flatnonzero(release.generalized[weights.indices])
    entry = entry[np.lexsort((loss[weights.indices[entry]], row[entry]))]
    return np.searchsorted(row[entry], np.arange(len(release) + 1)).astype(np.int64), entry.astype(np.int64)


def _inner_nodes(release: Release, taxonomy: Taxonomy) -> np.ndarray:
    """The node of each generalized label, -1 for terms and bags."""
    node = np.full(len(release.labels), -1, dtype=np.int64)
    for i, label in release.nodes.items():
        node[i] = node_of(label, taxonomy)
    return node


def _bags(release: Release, profiles: Profiles) -> tuple[np.ndarray, np.ndarray]:
    """The terms of each label that is a bag: start and columns of the profiles."""
    number = {term: t for t, term in enumerate(profiles.terms)}
    bags = [release.bags.get(i, []) for i in range(len(release.labels))]
    known = [[number[term] for term in bag if term in number] for bag in bags]
    start = np.concatenate([[0], np.cumsum([len(bag) for bag in known])]).astype(np.int64)
    return start, np.array([t for bag in known for t in bag], dtype=np.int64)
