"""Which terms tell a sensitive one? Rules that are too sure, by the size of what is known, and SuppressControl.

TDControl: public terms generalized from the root of the taxonomy down, where that tells no sensitive term.
"""

import heapq
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numba
import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim
from shoal.anonymizer.distinct_queries import only_columns
from shoal.anonymizer.publish import publish_sets
from shoal.anonymizer.term_sets import Holders, holders_of, suppress_greedily, who_holds
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress

SETS_PER_BLOCK = 20_000  # between two calls of progress
MOST_SETS = 20_000_000  # of terms that are looked at, and of rules that are too sure: a few gigabytes
MOST_CLOSED_SETS = 20_000
SAMPLE = 5_000  # sets that tell how many will come of all
CLEAR = 1.25  # times the most: what a sample says is so many is too many for sure


class Bound(NamedTuple):
    """A rule is too sure with a confidence above `above`/`below`; it knows up to `size` terms, or any number for 0."""

    above: int
    below: int
    size: int


def suppress_control(
    sets: csr_array, private: np.ndarray, bound: Bound, progress: Progress, new: np.ndarray | None = None
) -> np.ndarray:
    """Of each item (column), whether it is suppressed: SuppressControl, one size of antecedent after the other.

    `new` are the items without which no rule is too sure, where that is known.
    """
    gone = np.zeros(len(private), dtype=bool)
    support = np.bincount(sets.indices, minlength=len(private))
    for size in range(1, (bound.size or 2) + 1):
        left = only_columns(sets, ~gone)
        first = np.flatnonzero(support * ~gone) if new is None else new[~gone[new]]
        known = who_holds(left, only_columns(left, private))
        antecedents = wider_sets(known, first.reshape(-1, 1), size, 0 if new is None else 1, progress)
        gone[suppress_greedily([_sure_rules(known, bound, antecedents, progress)], support, progress)] = True
    while not bound.size and (tables := closed_rules(only_columns(sets, ~gone), private, bound, progress)):
        gone[suppress_greedily(tables, support, progress)] = True
    return gone


def wider_sets(known: Holders, sets: np.ndarray, size: int, fixed: int, progress: Progress) -> np.ndarray:
    """The sets of so many items with these in them that somebody with a sensitive item has.

    Items are ascending but for the first `fixed`.
    """
    while sets.shape[1] < size:
        mark = np.zeros(len(known.user_start) - 1, dtype=np.bool_)
        wider = [np.empty(0, dtype=np.int64)]
        _refuse_clear(sets, lambda some: supersets(some, known, fixed, mark, MOST_SETS))  # noqa: B023
        for block in _blocks(sets, progress, "putting terms together"):
            wider.append(supersets(block, known, fixed, mark, MOST_SETS))
            _refuse_too_many(sum(map(len, wider)) // (sets.shape[1] + 1))
        sets = np.concatenate(wider).reshape(-1, sets.shape[1] + 1)
    return sets


def _sure_rules(known: Holders, bound: Bound, antecedents: np.ndarray, progress: Progress) -> np.ndarray:
    """The rules with these antecedents that are too sure: rows of the antecedent and of what it tells."""
    tally = np.zeros(len(known.user_start) - 1, dtype=np.int64)
    found = [np.empty(0, dtype=np.int64)]
    _refuse_clear(antecedents, lambda some: rules_of(some, known, bound, tally, MOST_SETS))
    for block in _blocks(antecedents, progress, "counting what terms tell"):
        found.append(rules_of(block, known, bound, tally, MOST_SETS))
        _refuse_too_many(sum(map(len, found)) // (antecedents.shape[1] + 1))
    return np.concatenate(found).reshape(-1, antecedents.shape[1] + 1)


def _blocks(sets: np.ndarray, progress: Progress, stage: str) -> Iterator[np.ndarray]:
    for begin in range(0, len(sets), SETS_PER_BLOCK):
        progress(begin, len(sets), stage)
        yield sets[begin : begin + SETS_PER_BLOCK]


def _refuse_clear(sets: np.ndarray, wider: Callable[[np.ndarray], np.ndarray]) -> None:
    """Refuse before most of the work what some of the sets already say is clearly too much; others are counted."""
    if len(sets) > SAMPLE:
        some = sets[np.random.default_rng(0).integers(len(sets), size=SAMPLE)]
        found = len(wider(some)) / (sets.shape[1] + 1)
        _refuse_too_many(int(found * len(sets) / SAMPLE / CLEAR))


def _refuse_too_many(many: int) -> None:
    if many > MOST_SETS:
        raise InputError(
            f"uncertainty would look at more than {MOST_SETS:,} sets of terms: lower antecedent or bring a smaller log"
        )


@numba.njit(cache=True)
def supersets(sets: np.ndarray, known: Holders, fixed: int, mark: np.ndarray, most: int) -> np.ndarray:
    """These sets with one item more that a holder with a sensitive item has; none after more than `most` of them."""
    found = [np.int64(0) for _ in range(0)]
    size = sets.shape[1]
    for row in range(len(sets)):
        if len(found) > most * (size + 1):  # those of one block may fill the memory
            break
        begin = len(found)
        for user in holders_of(sets[row], known):
            if known.secret_start[user] == known.secret_start[user + 1]:
                continue
            for i in range(known.start[user], known.start[user + 1]):
                item = known.terms[i]
                later = size <= fixed or item > sets[row, size - 1]
                if later and not mark[item] and not (sets[row] == item).any():
                    mark[item] = True
                    for column in range(size):
                        found.append(sets[row, column])
                    found.append(item)
        for place in range(begin + size, len(found), size + 1):
            mark[found[place]] = False
    return np.array(found)


@numba.njit(cache=True)
def rules_of(sets: np.ndarray, known: Holders, bound: Bound, tally: np.ndarray, most: int) -> np.ndarray:
    """The rules with these antecedents that are too sure, one after another; none after more than `most` of them."""
    found = [np.int64(0) for _ in range(0)]
    for row in range(len(sets)):
        if len(found) > most * (sets.shape[1] + 1):
            break
        holders = holders_of(sets[row], known)
        for user in holders:
            for i in range(known.secret_start[user], known.secret_start[user + 1]):
                tally[known.secrets[i]] += 1
        for user in holders:
            for i in range(known.secret_start[user], known.secret_start[user + 1]):
                secret = known.secrets[i]
                times = tally[secret]
                tally[secret] = 0
                if times * bound.below > bound.above * len(holders) and not (sets[row] == secret).any():
                    for item in sets[row]:
                        found.append(item)
                    found.append(secret)
    return np.array(found)


def closed_rules(sets: csr_array, private: np.ndarray, bound: Bound, progress: Progress) -> list[np.ndarray]:
    """The rules of any size that are too sure, of those whose items together are closed; a table for each size."""
    rows = [frozenset(sets.indices[a:b].tolist()) for a, b in pairwise(sets.indptr.tolist())]
    closed: set[frozenset[int]] = set()
    for done, row in enumerate(sorted(set(rows), key=sorted)):
        progress(done, len(rows), "looking for closed sets")
        closed |= {row, *(row & other for other in closed)}
        if len(closed) > MOST_CLOSED_SETS:
            raise InputError(
                f"the log has more than {MOST_CLOSED_SETS:,} closed sets, too many for antecedent=any: set antecedent=2"
            )
    by_size: dict[int, list[list[int]]] = {}
    secrets = frozenset(np.flatnonzero(private).tolist())
    for z in sorted(closed, key=sorted):
        for e in sorted(z & secrets) if len(z) > 1 else ():
            known = z - {e}
            holders = [row for row in rows if known <= row]
            if sum(e in row for row in holders) * bound.below > bound.above * len(holders):
                by_size.setdefault(len(z), []).append([*sorted(known), e])
    return [np.array(table, dtype=np.int64) for _, table in sorted(by_size.items())]


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
    nodes = len(taxonomy)
    inner = np.array([i < nodes and not taxonomy.is_leaf[i] for i in items.tolist()], dtype=bool)
    labels = [
        profiles.terms[i - nodes] if i >= nodes else taxonomy.labels[i] if general else taxonomy.labels[i].lower()
        for i, general in zip(items.tolist(), inner.tolist(), strict=True)
    ]
    return publish_sets(profiles, sets, labels, claim, inner)
