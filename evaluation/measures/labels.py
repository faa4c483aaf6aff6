"""Where in the taxonomy is a published label? A term is a leaf, a generalized label a node, a bag what is above it."""

import numpy as np

from shoal.anonymizer.base import Release
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Taxonomy, bag_members, is_bag


def node_of(label: str, taxonomy: Taxonomy) -> int:
    """The node of a generalized label."""
    node = taxonomy.node.get(label.lower())
    if node is None:
        raise InputError(f"{label!r} is not in the taxonomy: give the taxonomy that the release was made with")
    return node


def leaf_of(term: str, taxonomy: Taxonomy) -> int:
    """The leaf of a term, -1 where the taxonomy does not know it."""
    leaf = taxonomy.leaf(term)
    return -1 if leaf is None else leaf


def label_nodes(release: Release, taxonomy: Taxonomy) -> np.ndarray:
    """The node of each label: a term's leaf, -1 for a term unknown, and for a bag the lowest node above its members."""
    pairs = zip(release.labels, release.generalized.tolist(), strict=True)
    return np.array([_place(label, general, taxonomy) for label, general in pairs], dtype=np.int64)


def _place(label: str, general: bool, taxonomy: Taxonomy) -> int:
    if not general:
        return leaf_of(label, taxonomy)
    return _above(bag_members(label), taxonomy) if is_bag(label) else node_of(label, taxonomy)


def _above(terms: list[str], taxonomy: Taxonomy) -> int:
    leaves = [leaf for term in terms if (leaf := taxonomy.leaf(term)) is not None]
    node = leaves[0] if leaves else -1
    while node >= 0 and not node <= min(leaves) <= max(leaves) < taxonomy.end[node]:
        node = int(taxonomy.parent[node])
    return node
