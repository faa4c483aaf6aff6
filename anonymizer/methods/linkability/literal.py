"""What does Zhu & Xiong's Algorithm 1 say to the letter? Augmentation and greedy groups, in fractions and lists."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import log, sqrt

from shoal.corpus.knowledge import Knowledge

Bag = Mapping[str, int]
Vector = Mapping[str | int, int]


class Paths:
    """What is at or above each sense along all hypernym paths, and how specific each synonym set is."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        start, above = knowledge.hypernyms.start.tolist(), knowledge.hypernyms.above.tolist()
        self.hypernyms = [above[begin:end] for begin, end in pairwise(start)]
        self.below = Counter(node for sense in range(len(self.hypernyms)) for node in self.at_or_above(sense))

    def at_or_above(self, sense: int, steps: int | None = None) -> set[int]:
        """The sense and its hypernyms within so many steps, or all."""
        found, last = {sense}, {sense}
        while last and steps != 0:
            last = {above for node in last for above in self.hypernyms[node]} - found
            found |= last
            steps = None if steps is None else steps - 1
        return found

    def information(self, node: int) -> float:
        return log(len(self.hypernyms) / self.below[node])

    def senses(self, term: str) -> list[int]:
        found: list[int] = self.knowledge.senses(term).tolist()
        return found


def chosen_sense(term: str, profile: Bag, paths: Paths) -> int | None:
    """The sense whose paths have the largest cosine with those of the rest of the profile; the first of equals."""
    rest: Counter[int] = Counter()
    for other in profile:
        if other != term:
            for node in {node for sense in paths.senses(other) for node in paths.at_or_above(sense)}:
                rest[node] += profile[other]
    best, best_likeness = None, -1.0
    for sense in paths.senses(term):
        above = paths.at_or_above(sense)
        dot = sum(paths.information(node) ** 2 * rest[node] for node in above)
        likeness = dot / sqrt(sum(paths.information(node) ** 2 for node in above)) if dot else 0.0
        if likeness > best_likeness + 1e-12:
            best, best_likeness = sense, likeness
    return best


def augmented(profile: Bag, a: int, paths: Paths) -> Vector:
    """Each term as its synonym set, and every hypernym within a steps; weights that meet add up."""
    vector: Counter[str | int] = Counter()
    for term, weight in profile.items():
        sense = chosen_sense(term, profile, paths)
        for node in {term} if sense is None else paths.at_or_above(sense, a):
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
    profiles: Sequence[Bag], p: float, a: int, drawn: int, paths: Paths, members: int = 1, first: str = "random"
) -> list[set[int]]:
    """The groups of Algorithm 1 as sets of positions; `drawn` is the profile that was picked at random."""
    vectors = [augmented(profile, a, paths) for profile in profiles]
    bound = Fraction(sum(len(profile) for profile in profiles), len(profiles)) / Fraction(str(p))
    free = list(range(len(profiles)))
    groups: list[list[int]] = []
    seed = drawn if first == "random" else _furthest(drawn, free, vectors)
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
            seed = _furthest(seed, free, vectors)
    return [set(group) for group in groups]


def _furthest(seed: int, free: Sequence[int], vectors: Sequence[Vector]) -> int:
    return min(free, key=lambda i: (squared_cosine(vectors[i], vectors[seed]), i))


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
