"""When is a vocabulary shared by k users? Definition 2 and section IV-B of Liu & Wang 2010: every bag is looked for.

A bag holds one word of each member, all at most epsilon edges apart, no occurrence in two bags; its label is its medoid
(`vote`; of several, the word that most users use, then the first of the alphabet), all its words (`bags`), or their
lowest common ancestor (`generalize`).
"""

from collections import Counter
from collections.abc import Callable, Iterator
from math import prod

from shoal.anonymizer.contract.literal import Bag, Case, Definition, Undecided
from shoal.anonymizer.contract.literal.groups import are_at_least

Bears = Callable[[tuple[str, ...], str], bool]
MOST = 3000  # choices that are tried for one label, and ways to go on from bag to bag


def vocabulary_k_anonymity(case: Case) -> bool:
    k, own = int(case.values["k"]), {user: _vocabulary(case, user) for user in case.bags}
    if not are_at_least(case, k) or not all(own[user] for users in case.members.values() for user in users):
        return False
    without = sum(1 for user in case.outside if own[user])
    if 0 < without < k or not flags_are_right(case):
        return False
    members = {name: [own[user] for user in users] for name, users in case.members.items()}
    return all(
        bags_can_be(case, name, members[name], lambda bag, label: label_of(case, bag) == label) for name in members
    )


def unrepresented(case: Case) -> int:
    """Of each member, one occurrence is in each bag; all others are suppressed."""
    bags = sum(len(case.members[name]) * weight for name, terms in case.terms.items() for weight in terms.values())
    return round(sum(bag.total() for bag in case.bags.values()) - bags)


def _vocabulary(case: Case, user: str) -> Bag:
    return Bag({term: times for term, times in case.bags[user].items() if term in case.above})


def flags_are_right(case: Case) -> bool:
    """A label is generalized if and only if it is no term that somebody typed."""
    labels = {label for terms in case.terms.values() for label in terms}
    return all((label in case.generalized) == (label not in case.above) for label in labels)


def bags_can_be(case: Case, name: str, members: list[Bag], bears: Bears) -> bool:
    """Whether there are bags at once for all labels of a vocabulary, each of which bears its label."""
    wanted = case.terms[name]
    if any(copies != int(copies) for copies in wanted.values()):
        return False
    slots = [label for label, copies in sorted(wanted.items()) for _ in range(min(int(copies), 1 + members[0].total()))]
    ways = {label: [bag for bag in bags_under(case, members, label) if bears(bag, label)] for label in wanted}
    return fill_bags(slots, ways, [dict(own) for own in members])


def bags_under(case: Case, members: list[Bag], label: str) -> Iterator[tuple[str, ...]]:
    """Each choice of one word of each member, all near each other."""
    epsilon = int(case.values["epsilon"])
    fitting = [[term for term in own if may_be_under(case, label, term)] for own in members]
    if prod(len(terms) for terms in fitting) > MOST:
        raise Undecided

    def choose(bag: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(bag) == len(members):
            yield bag
            return
        for term in fitting[len(bag)]:
            if all(edges(case, term, other) <= epsilon for other in bag):
                yield from choose((*bag, term))

    return choose(())


def may_be_under(case: Case, label: str, term: str) -> bool:
    """Whether a bag of this label may hold this word, which otherwise is too far from it or of another branch."""
    epsilon, typical = int(case.values["epsilon"]), case.values["typical"]
    if typical == "vote":
        return label in case.above and edges(case, label, term) <= epsilon
    if typical == "bags":
        return term in label.split("|")
    return label.lower() in case.above[term] and (label == term or case.above[term].index(label.lower()) < epsilon)


def edges(case: Case, a: str, b: str) -> int:
    return len(set(case.above[a]) ^ set(case.above[b]))


def label_of(case: Case, bag: tuple[str, ...]) -> str:
    typical = case.values["typical"]
    if typical == "bags":
        return "|".join(sorted(set(bag)))
    if typical == "generalize":
        if len(set(bag)) == 1:
            return bag[0]
        lowest = next(label for label in case.above[bag[0]] if all(label in case.above[term] for term in bag))
        return case.spelled(lowest)
    users = Counter(term for own in case.bags.values() for term in own)
    return min(sorted(set(bag)), key=lambda term: (sum(edges(case, term, other) for other in bag), -users[term], term))


def fill_bags(slots: list[str], ways: dict[str, list[tuple[str, ...]]], left: list[dict[str, int]]) -> bool:
    """Slot after slot, a bag of words that are still there; of one label, bags in one order only."""

    steps = 0

    def fill(i: int, begin: int) -> bool:
        nonlocal steps
        steps += 1
        if steps > MOST:
            raise Undecided
        if i == len(slots):
            return True
        label = slots[i]
        first = begin if i and slots[i - 1] == label else 0
        for at in range(first, len(ways[label])):
            bag = ways[label][at]
            if all(left[m][term] > 0 for m, term in enumerate(bag)):
                _take(left, bag, 1)
                done = fill(i + 1, at)
                _take(left, bag, -1)
                if done:
                    return True
        return False

    return fill(0, 0)


def _take(left: list[dict[str, int]], bag: tuple[str, ...], copies: int) -> None:
    for m, term in enumerate(bag):
        left[m][term] -= copies


OWN = {"vocabulary-k-anonymity": Definition(vocabulary_k_anonymity, unrepresented)}
