"""How are a user's occurrences matched with what is published? The loop behind evaluation.utility.standing."""

import numpy as np
from numba import njit

_LEAST = 1e-12


@njit(cache=True)
def match(
    users: np.ndarray,
    held_start: np.ndarray, held: np.ndarray,  # the profiles of each user
    own_start: np.ndarray, own_term: np.ndarray, own_count: np.ndarray,
    entry_start: np.ndarray, entry_label: np.ndarray, weight: np.ndarray,
    general_start: np.ndarray, general: np.ndarray,  # generalized entries of each profile, those that lose least first
    loss: np.ndarray, node: np.ndarray,  # of each label; node is -1 for a term and for a bag
    label_of: np.ndarray, leaf: np.ndarray,  # of each term
    end: np.ndarray,
    bag_start: np.ndarray, bag: np.ndarray,  # the terms of each label that is a bag
    near_start: np.ndarray, near: np.ndarray, edges: np.ndarray, farthest: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Rows (entry, term, amount, replaced) by the three rules of evaluation.utility.standing."""
    room = weight.copy()
    here = np.full(len(loss), -1, dtype=np.int64)  # the entry of each label in the profile at hand
    place = np.full(len(leaf), -1, dtype=np.int64)  # where the user at hand has each term
    rows = np.empty((4, 1024))
    n, hand = 0, -1
    for u in users:
        a, b = own_start[u], own_start[u + 1]
        left = own_count[a:b].copy()
        for j in range(b - a):
            place[own_term[a + j]] = j
        mine = held[held_start[u] : held_start[u + 1]]
        first = n
        for p in mine:  # rule 1
            hand = _take_in_hand(p, hand, here, entry_start, entry_label)
            for j in range(b - a):
                label = label_of[own_term[a + j]]
                if label >= 0 and here[label] >= 0:
                    rows, n = _stand(rows, n, here[label], own_term[a + j], j, left, room, 0)
        for e in _generalized(mine, general_start, general, entry_label, loss):  # rule 2
            label = entry_label[e]
            if node[label] >= 0:
                for j in range(b - a):
                    if room[e] > _LEAST and node[label] <= leaf[own_term[a + j]] < end[node[label]]:
                        rows, n = _stand(rows, n, e, own_term[a + j], j, left, room, 0)
            else:
                for t in bag[bag_start[label] : bag_start[label + 1]]:
                    if place[t] >= 0:
                        rows, n = _stand(rows, n, e, t, place[t], left, room, 0)
        for far in range(1, farthest + 1):  # rule 3
            for p in mine:
                hand = _take_in_hand(p, hand, here, entry_start, entry_label)
                for j in range(b - a):
                    t = own_term[a + j]
                    for i in range(near_start[t], near_start[t + 1]):
                        if left[j] <= _LEAST or edges[i] > far:
                            break
                        if edges[i] == far and here[near[i]] >= 0:
                            rows, n = _stand(rows, n, here[near[i]], t, j, left, room, 1)
        for row in range(first, n):
            room[int(rows[0, row])] = weight[int(rows[0, row])]
        for j in range(b - a):
            place[own_term[a + j]] = -1
    return rows[0, :n].copy(), rows[1, :n].copy(), rows[2, :n].copy(), rows[3, :n].copy()


@njit(cache=True)
def _take_in_hand(p: int, hand: int, here: np.ndarray, entry_start: np.ndarray, entry_label: np.ndarray) -> int:
    """Let `here` know the entries of profile p instead of those of profile `hand`."""
    if p != hand:
        if hand >= 0:
            here[entry_label[entry_start[hand] : entry_start[hand + 1]]] = -1
        for e in range(entry_start[p], entry_start[p + 1]):
            here[entry_label[e]] = e
    return p


@njit(cache=True)
def _generalized(
    mine: np.ndarray, start: np.ndarray, general: np.ndarray, label: np.ndarray, loss: np.ndarray
) -> np.ndarray:
    """The generalized entries of all these profiles, those that lose least first."""
    if len(mine) == 1:
        return general[start[mine[0]] : start[mine[0] + 1]]
    total = 0
    for p in mine:
        total += start[p + 1] - start[p]
    found = np.empty(total, dtype=np.int64)
    n = 0
    for p in mine:
        for i in range(start[p], start[p + 1]):
            found[n] = general[i]
            n += 1
    return found[np.argsort(loss[label[found]], kind="mergesort")]


@njit(cache=True)
def _stand(
    rows: np.ndarray, n: int, entry: int, term: int, j: int, left: np.ndarray, room: np.ndarray, replaced: int
) -> tuple[np.ndarray, int]:
    """Let as many occurrences as there are, and as there is room for, stand under an entry."""
    amount = min(left[j], room[entry])
    if amount <= _LEAST:
        return rows, n
    left[j] -= amount
    room[entry] -= amount
    if n == rows.shape[1]:
        longer = np.empty((4, 2 * n))
        longer[:, :n] = rows
        rows = longer
    rows[0, n], rows[1, n], rows[2, n], rows[3, n] = entry, term, amount, replaced
    return rows, n + 1
