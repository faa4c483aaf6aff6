"""TDControl: public terms generalized from the root of the taxonomy down, where that tells no sensitive term."""

import heapq

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, Suppressed
from shoal.anonymizer.methods.uncertainty.rules import Bound, suppress_control
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress


def generalize_top_down(
    profiles: Profiles, private: np.ndarray, taxonomy: Taxonomy, bound: Bound, progress: Progress
) -> np.ndarray:
    """The item of each term: the node of the cut above a public one, len(taxonomy) + its number for a sensitive one.

    -1: it is suppressed, as is a public term that the taxonomy does not know, and a sensitive one that has the name
    of a node above others.
    """
    node = np.array([taxonomy.node.get(term, -1) for term in profiles.terms], dtype=np.int64)
    known = taxonomy.is_leaf[node] & (node > 0)
    users = np.bincount(profiles.counts.indices, minlength=len(private))
    is_secret = private & (known | (node < 0))
    secret = len(taxonomy) + np.arange(len(private))
    item = np.where(is_secret, secret, np.where(known & ~private, 0, -1))
    item = _safe(profiles, item, taxonomy, bound, progress)
    waiting = [(0, 0)]
    done, total = 0, len(np.unique(node))
    while waiting:
        progress(min(done, total), total, "splitting nodes")
        done += 1
        v = heapq.heappop(waiting)[1]
        below = np.flatnonzero(item == v)
        if not len(below):  # suppressed since
            continue
        split = item.copy()
        split[below] = _child_above(node[below], v, taxonomy)
        split = _safe(profiles, split, taxonomy, bound, progress, np.unique(split[below]))
        costs = [_cost(some, users, taxonomy) for some in (split, item)]
        if costs[0] > costs[1] or (costs[0] == costs[1] and (split < 0).sum() > (item < 0).sum()):
            continue
        item = split
        for child in np.unique(item[below][item[below] >= 0]).tolist():
            if not taxonomy.is_leaf[child]:
                held = int(users[item == child].sum())
                heapq.heappush(waiting, (-held * int(taxonomy.leaves[child] - 1), child))
    return item


def _safe(
    profiles: Profiles,
    item: np.ndarray,
    taxonomy: Taxonomy,
    bound: Bound,
    progress: Progress,
    new: np.ndarray | None = None,
) -> np.ndarray:
    """The items, of which some are suppressed so that no rule is too sure; `new` are in all that could be."""
    sets, items = _sets(profiles, item)
    place = None if new is None else np.searchsorted(items, new)
    gone = suppress_control(sets, items >= len(taxonomy), bound, progress, place)
    return np.where(np.isin(item, items[gone]), -1, item)


def _sets(profiles: Profiles, item: np.ndarray) -> tuple[csr_array, np.ndarray]:
    """Users x items, 1 where a user has one, and the items."""
    items = np.unique(item[item >= 0])
    entry = item[profiles.counts.indices]
    row = np.repeat(np.arange(len(profiles)), profiles.size)[entry >= 0]
    key = np.unique(row * max(1, len(items)) + np.searchsorted(items, entry[entry >= 0]))
    row, column = np.divmod(key, max(1, len(items)))
    return csr_array((np.ones(len(key), dtype=np.int64), (row, column)), shape=(len(profiles), len(items))), items


def _child_above(leaves: np.ndarray, v: int, taxonomy: Taxonomy) -> np.ndarray:
    """The child of v that is at or above each of these leaves."""
    above = leaves.copy()
    while (rest := taxonomy.parent[above] != v).any():
        above[rest] = taxonomy.parent[above[rest]]
    return above


def _cost(item: np.ndarray, users: np.ndarray, taxonomy: Taxonomy) -> int:
    """What occurrences lose: NCP (here times the leaves of the root) at their node, all of it where suppressed."""
    at_node = taxonomy.leaves[np.where((item >= 0) & (item < len(taxonomy)), item, 0)] - 1
    lost = np.where(item < 0, taxonomy.leaves[0] - 1, np.where(item >= len(taxonomy), 0, at_node))
    return int((lost * users).sum())


def publish_items(profiles: Profiles, item: np.ndarray, taxonomy: Taxonomy, claim: Claim) -> Anonymized:
    """A row per user: the items of their terms, each once; who has none has no row."""
    sets, items = _sets(profiles, item)
    users, nodes = np.flatnonzero(np.diff(sets.indptr)), len(taxonomy)
    inner = np.array([i < nodes and not taxonomy.is_leaf[i] for i in items.tolist()], dtype=bool)
    labels = [
        profiles.terms[i - nodes] if i >= nodes else taxonomy.labels[i] if general else taxonomy.labels[i].lower()
        for i, general in zip(items.tolist(), inner.tolist(), strict=True)
    ]
    suppressed = Suppressed(int(profiles.occurrences.sum()) - sets.nnz, len(profiles) - len(users))
    members = (users, np.arange(len(users)))
    weights = csr_array(sets[users]).astype(float)
    return publish(profiles.users, members, weights, labels, claim, suppressed, inner)
