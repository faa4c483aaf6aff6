"""What does Zhu & Xiong's Algorithm 1 say to the letter? Augmentation and greedy groups, in fractions and lists."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log, sqrt

from shoal.corpus.knowledge import Knowledge

Bag = Mapping[str, int]
Vector = Mapping[str | int, int]


class Paths:
    """Hypernym paths, from a sense to the top, and how specific each synonym set is."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.above: list[int] = knowledge.hypernym.tolist()
        self.below = Counter(node for sense in range(len(self.above)) for node in self.path(sense))

    def path(self, sense: int) -> list[int]:
        found = []
        while sense >= 0:
            found.append(sense)
            sense = self.above[sense]
        return found

    def information(self, node: int) -> float:
        return log(len(self.above) / self.below[node])

    def senses(self, term: str) -> list[int]:
        found: list[int] = self.knowledge.senses(term).tolist()
        return found


def chosen_sense(term: str, profile: Bag, paths: Paths) -> int | None:
    """The sense whose path has the largest cosine with the paths of the rest of the profile; the first of equals."""
    rest: Counter[int] = Counter()
    for other in profile:
        if other != term:
            for node in {node for sense in paths.senses(other) for node in paths.path(sense)}:
                rest[node] += profile[other]
    best, best_likeness = None, -1.0
    for sense in paths.senses(term):
        path = paths.path(sense)
        dot = sum(paths.information(node) ** 2 * rest[node] for node in path)
        likeness = dot / sqrt(sum(paths.information(node) ** 2 for node in path)) if dot else 0.0
        if likeness > best_likeness + 1e-12:
            best, best_likeness = sense, likeness
    return best


def augmented(profile: Bag, a: int, paths: Paths) -> Vector:
    """Each term as its synonym set, and every hypernym within a steps; weights that meet add up."""
    vector: Counter[str | int] = Counter()
    for term, weight in profile.items():
        sense = chosen_sense(term, profile, paths)
        if sense is None:
            vector[term] += weight
            continue
        for node in paths.path(sense)[: a + 1]:
            vector[node] += weight
    return vector


def squared_cosine(first: Vector, second: Vector) -> Fraction:
    """Of whole-number weights, so that a tie is a tie."""
    dot = sum(weight * second[node] for node, weight in first.items() if node in second)
    return Fraction(dot * dot, sum(w * w for w in first.values()) * sum(w * w for w in second.values()))


def total(vectors: Sequence[Vector]) -> Vector:
    vector: Counter[str | int] = Counter()
    for part in vectors:
        vector.update(part)
    return vector


def linkability_groups(
    profiles: Sequence[Bag], p: float, a: int, first_seed: int, paths: Paths, members: int = 1
) -> list[set[int]]:
    """The groups of Algorithm 1, from a given first seed, as sets of positions."""
    vectors = [augmented(profile, a, paths) for profile in profiles]
    bound = Fraction(sum(len(profile) for profile in profiles), len(profiles)) / Fraction(str(p))
    free = list(range(len(profiles)))
    groups: list[list[int]] = []
    seed = first_seed
    while free:
        group = [seed]
        free.remove(seed)
        while not _holds(group, profiles, bound, members) and free:
            sum_of_group = total([vectors[i] for i in group])
            closest = max(free, key=lambda i: (squared_cosine(vectors[i], sum_of_group), -i))
            group.append(closest)
            free.remove(closest)
        if not _holds(group, profiles, bound, members):
            return _joined(group, groups, vectors)
        groups.append(group)
        if free:
            seed = min(free, key=lambda i: (squared_cosine(vectors[i], vectors[seed]), i))
    return [set(group) for group in groups]


def _holds(group: Sequence[int], profiles: Sequence[Bag], bound: Fraction, members: int) -> bool:
    return len({term for i in group for term in profiles[i]}) >= bound and len(group) >= members


def _joined(left: Sequence[int], groups: Sequence[Sequence[int]], vectors: Sequence[Vector]) -> list[set[int]]:
    """Each profile that is left joins the group whose sum is closest."""
    sums = [total([vectors[i] for i in group]) for group in groups]
    joined = [set(group) for group in groups]
    for i in left:
        closest = max(range(len(groups)), key=lambda g: (squared_cosine(vectors[i], sums[g]), -g))
        joined[closest].add(i)
    return joined
