"""Common word by word: slow, over plain dictionaries, to hold the compiled loops against."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

from shoal.anonymizer.methods.common.groups import LENGTH, ROUNDS

Vector = dict[str, int]


def vectors_of(bags: Sequence[dict[str, int]], t: int) -> list[Vector]:
    """Unit vectors of square roots of count times holders, of terms that at least t users hold, in whole numbers."""
    holders = Counter(term for bag in bags for term in bag)
    shared = [{term: count * holders[term] for term, count in bag.items() if holders[term] >= t} for bag in bags]
    return [
        {term: whole for term, count in bag.items() if (whole := round(LENGTH * sqrt(count / sum(bag.values()))))}
        for bag in shared
    ]


def product(one: Vector, other: Vector) -> int:
    return sum(weight * other.get(term, 0) for term, weight in one.items())


def similarity(user: Vector, members: list[int], vectors: Sequence[Vector]) -> int:
    """Of a user to the sum of some users."""
    return sum(product(user, vectors[member]) for member in members)


def common_groups(vectors: Sequence[Vector], k: int) -> list[list[int]]:
    """Groups of users, who are tried in their order; the first of equals wins."""
    free = list(range(len(vectors)))
    groups: list[list[int]] = []
    for _ in range(len(vectors) // k):
        group = [free.pop(0)]
        while len(group) < k:
            nearest = max(free, key=lambda user: similarity(vectors[user], group, vectors))
            free.remove(nearest)
            group.append(nearest)
        groups.append(group)
    for user in free:
        shares = [Fraction(similarity(vectors[user], group, vectors), len(group)) for group in groups]
        groups[shares.index(max(shares))].append(user)
    for _ in range(ROUNDS):
        if not _exchanged(vectors, groups):
            break
    return groups


def within(group: list[int], vectors: Sequence[Vector]) -> int:
    """The similarity within a group: of all pairs of its members."""
    return sum(product(vectors[one], vectors[other]) for one in group for other in group if one != other)


def _exchanged(vectors: Sequence[Vector], groups: list[list[int]]) -> bool:
    """Each user changes places with whom that raises the similarity within groups most; whether any did."""
    any_did = False
    for user in range(len(vectors)):
        here = next(group for group in groups if user in group)
        gains = {
            other: _gain(user, other, here, there, vectors) for there in groups if there is not here for other in there
        }
        best = max(sorted(gains), key=lambda other: gains[other], default=None)
        if best is not None and gains[best] > 0:
            there = next(group for group in groups if best in group)
            here[here.index(user)], there[there.index(best)] = best, user
            any_did = True
    return any_did


def _gain(user: int, other: int, here: list[int], there: list[int], vectors: Sequence[Vector]) -> int:
    after = [other if one == user else one for one in here], [user if one == other else one for one in there]
    return sum(within(group, vectors) for group in after) - sum(within(group, vectors) for group in (here, there))
