"""When is a vocabulary shared by k users, or by sessions of k users? Liu & Wang 2010, Definition 2 and section IV-B.

A bag holds one word of each member, all at most epsilon edges apart, no occurrence in two bags; its label is its medoid
(`vote`; of several, the word that most users use, then the first of the alphabet), all its words (`bags`), or their
lowest common ancestor (`generalize`). Every bag is looked for.

Of sessions, nobody says whose shares what. Some choice gives each published vocabulary a session of each of its users
that has an occurrence for each of its bags. All such sessions of a user together fill the bags with one word of that
user; more words of theirs may be in them, so a word of `vote` need only be in its bag, and the terms of a label of
`bags`, or two below one of `generalize`, be there.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement, pairwise
from math import prod

from shoal.anonymizer.contract.literal import Bag, Case, Definition, Undecided, can_pair
from shoal.anonymizer.contract.literal.groups import are_at_least

Bears = Callable[[tuple[str, ...], str], bool]
MOST = 3000  # choices that are tried for one label, and ways to go on from bag to bag


def vocabulary_k_anonymity(case: Case) -> bool:
    k, own = int(case.values["k"]), {user: _vocabulary(case, user) for user in case.bags}
    if not _are_shared(case, k) or not all(own[user] for users in case.members.values() for user in users):
        return False
    without = sum(1 for user in case.outside if own[user])
    if 0 < without < k or not _flags_are_right(case):
        return False
    members = {name: [own[user] for user in users] for name, users in case.members.items()}
    return all(
        _bags_can_be(case, name, members[name], lambda bag, label: _label_of(case, bag) == label) for name in members
    )


def _are_shared(case: Case, k: int) -> bool:
    """Users who have nothing in common are left with nothing: no vocabulary is empty."""
    return are_at_least(case, k) and all(case.terms.values())


def unrepresented(case: Case) -> int:
    """Of each member, one occurrence is in each bag; all others are suppressed."""
    bags = sum(len(case.members[name]) * weight for name, terms in case.terms.items() for weight in terms.values())
    return round(sum(bag.total() for bag in case.bags.values()) - bags)


def _vocabulary(case: Case, user: str) -> Bag:
    return Bag({term: times for term, times in case.bags[user].items() if term in case.above})


def _flags_are_right(case: Case) -> bool:
    """A label is generalized if and only if it is no term that somebody typed."""
    labels = {label for terms in case.terms.values() for label in terms}
    return all((label in case.generalized) == (label not in case.above) for label in labels)


def _bags_can_be(case: Case, name: str, members: list[Bag], bears: Bears) -> bool:
    """Whether there are bags at once for all labels of a vocabulary, each of which bears its label."""
    wanted = case.terms[name]
    if any(copies != int(copies) for copies in wanted.values()):
        return False
    slots = [label for label, copies in sorted(wanted.items()) for _ in range(min(int(copies), 1 + members[0].total()))]
    ways = {label: [bag for bag in _bags_under(case, members, label) if bears(bag, label)] for label in wanted}
    return _fill_bags(slots, ways, [dict(own) for own in members])


def _bags_under(case: Case, members: list[Bag], label: str) -> Iterator[tuple[str, ...]]:
    """Each choice of one word of each member, all near each other."""
    epsilon = int(case.values["epsilon"])
    fitting = [[term for term in own if _may_be_under(case, label, term)] for own in members]
    if prod(len(terms) for terms in fitting) > MOST:
        raise Undecided

    def choose(bag: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(bag) == len(members):
            yield bag
            return
        for term in fitting[len(bag)]:
            if all(_edges(case, term, other) <= epsilon for other in bag):
                yield from choose((*bag, term))

    return choose(())


def _may_be_under(case: Case, label: str, term: str) -> bool:
    """Whether a bag of this label may hold this word, which otherwise is too far from it or of another branch."""
    epsilon, typical = int(case.values["epsilon"]), case.values["typical"]
    if typical == "vote":
        return label in case.above and _edges(case, label, term) <= epsilon
    if typical == "bags":
        return term in label.split("|")
    return label.lower() in case.above[term] and (label == term or case.above[term].index(label.lower()) < epsilon)


def _edges(case: Case, a: str, b: str) -> int:
    return len(set(case.above[a]) ^ set(case.above[b]))


def _label_of(case: Case, bag: tuple[str, ...]) -> str:
    typical = case.values["typical"]
    if typical == "bags":
        return "|".join(sorted(set(bag)))
    if typical == "generalize":
        if len(set(bag)) == 1:
            return bag[0]
        lowest = next(label for label in case.above[bag[0]] if all(label in case.above[term] for term in bag))
        return case.spelled(lowest)
    users = Counter(term for own in case.bags.values() for term in own)
    return min(sorted(set(bag)), key=lambda term: (sum(_edges(case, term, other) for other in bag), -users[term], term))


def _fill_bags(slots: list[str], ways: dict[str, list[tuple[str, ...]]], left: list[dict[str, int]]) -> bool:
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


def session_vocabulary_k_anonymity(case: Case) -> bool:
    whole = all(weight == int(weight) for terms in case.terms.values() for weight in terms.values())
    if not (whole and _are_shared(case, int(case.values["k"])) and _flags_are_right(case) and _labels_can_be(case)):
        return False
    sessions = {user: _sessions(case, user) for user in case.typed}
    if not all(_each_gets_one(case, user, own) for user, own in sessions.items()):
        return False
    return all(_session_bags_can_be(case, name, sessions) for name in case.terms)


def _sessions(case: Case, user: str) -> list[Bag]:
    """The words of each session that has one that the taxonomy knows."""
    log, place = case.log, case.log.users.to_list().index(user)
    events = range(int(log.start[place]), int(log.start[place + 1]))
    cuts = [e for e in events[1:] if log.time[e] - log.time[e - 1] > 60 * int(case.values["gap"])]
    parts = pairwise([events.start, *cuts, events.stop])
    found = [Bag() for _ in range(len(cuts) + 1)]
    for words, (first, last) in zip(found, parts, strict=True):
        for query in log.query[first:last].tolist():
            words.update(case.terms_of({log.queries[query]: 1}))
    kept = [Bag({term: n for term, n in words.items() if term in case.above}) for words in found]
    return [words for words in kept if words]


def _labels_can_be(case: Case) -> bool:
    return all(_can_be(case, label) for label in {label for terms in case.terms.values() for label in terms})


def _can_be(case: Case, label: str) -> bool:
    """A label is a term, a node above terms, or a bag of terms in the order of the alphabet."""
    typical, epsilon = case.values["typical"], int(case.values["epsilon"])
    if typical == "generalize" and label not in case.above:
        return label == case.spelled(label) and case.knowledge.taxonomy.leaf(label.lower()) is None
    parts = label.split("|") if typical == "bags" else [label]
    if not all(part in case.above for part in parts) or parts != sorted(set(parts)):
        return False
    return all(_edges(case, a, b) <= epsilon for a, b in combinations(parts, 2))


def _is_able(case: Case, name: str, session: Bag) -> bool:
    wanted = {label: min(int(copies), 1 + session.total()) for label, copies in case.terms[name].items()}
    return can_pair(wanted, session, lambda label, term: _may_be_under(case, label, term))


def _each_gets_one(case: Case, user: str, own: list[Bag]) -> bool:
    """Each vocabulary that a user shares has a session of its own."""
    rows = {name: 1 for name, users in case.members.items() if user in users}
    numbers = {str(i): 1 for i in range(len(own))}
    return can_pair(rows, numbers, lambda name, i: _is_able(case, name, own[int(i)]))


def _session_bags_can_be(case: Case, name: str, sessions: dict[str, list[Bag]]) -> bool:
    epsilon, members = int(case.values["epsilon"]), []
    for user in case.members[name]:
        together = Bag()
        for session in sessions[user]:
            together.update(session if _is_able(case, name, session) else {})
        members.append(together)

    def bears(bag: tuple[str, ...], label: str) -> bool:
        words = sorted({term for own in members for term in own if _may_be_under(case, label, term)})
        if case.values["typical"] == "vote":
            return label in bag
        if case.values["typical"] == "bags":
            return "|".join(words) == label
        near = [pair for pair in combinations_with_replacement(words, 2) if _edges(case, *pair) <= epsilon]
        return any(_label_of(case, pair) == label for pair in near)

    return _bags_can_be(case, name, members, bears)


OWN = {
    "vocabulary-k-anonymity": Definition(vocabulary_k_anonymity, unrepresented),
    "session-vocabulary-k-anonymity": Definition(session_vocabulary_k_anonymity, unrepresented),
}
