"""When is a vocabulary shared by sessions of k users? What can be told where nobody says whose session shares what.

Some choice gives each published vocabulary a session of each of its users that has an occurrence for each of its bags.
All such sessions of a user together fill the bags with one word of that user; more words of theirs may be in them, so a
word of `vote` need only be in its bag, and the terms of a label of `bags`, or two below one of `generalize`, be there.
"""

from itertools import combinations, combinations_with_replacement, pairwise

from shoal.anonymizer.contract.literal import Bag, Case, Definition
from shoal.anonymizer.contract.literal.groups import are_at_least
from shoal.anonymizer.contract.literal.pairing import can_pair
from shoal.anonymizer.contract.literal.vocabularies import (
    bags_can_be,
    edges,
    flags_are_right,
    label_of,
    may_be_under,
    unrepresented,
)


def session_vocabulary_k_anonymity(case: Case) -> bool:
    whole = all(weight == int(weight) for terms in case.terms.values() for weight in terms.values())
    if not (whole and are_at_least(case, int(case.values["k"])) and flags_are_right(case) and _labels_can_be(case)):
        return False
    sessions = {user: _sessions(case, user) for user in case.typed}
    if not all(_each_gets_one(case, user, own) for user, own in sessions.items()):
        return False
    return all(_bags_can_be(case, name, sessions) for name in case.terms)


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
    return all(edges(case, a, b) <= epsilon for a, b in combinations(parts, 2))


def _is_able(case: Case, name: str, session: Bag) -> bool:
    wanted = {label: min(int(copies), 1 + session.total()) for label, copies in case.terms[name].items()}
    return can_pair(wanted, session, lambda label, term: may_be_under(case, label, term))


def _each_gets_one(case: Case, user: str, own: list[Bag]) -> bool:
    """Each vocabulary that a user shares has a session of its own."""
    rows = {name: 1 for name, users in case.members.items() if user in users}
    numbers = {str(i): 1 for i in range(len(own))}
    return can_pair(rows, numbers, lambda name, i: _is_able(case, name, own[int(i)]))


def _bags_can_be(case: Case, name: str, sessions: dict[str, list[Bag]]) -> bool:
    epsilon, members = int(case.values["epsilon"]), []
    for user in case.members[name]:
        together = Bag()
        for session in sessions[user]:
            together.update(session if _is_able(case, name, session) else {})
        members.append(together)

    def bears(bag: tuple[str, ...], label: str) -> bool:
        words = sorted({term for own in members for term in own if may_be_under(case, label, term)})
        if case.values["typical"] == "vote":
            return label in bag
        if case.values["typical"] == "bags":
            return "|".join(words) == label
        near = [pair for pair in combinations_with_replacement(words, 2) if edges(case, *pair) <= epsilon]
        return any(label_of(case, pair) == label for pair in near)

    return bags_can_be(case, name, members, bears)


OWN = {"session-vocabulary-k-anonymity": Definition(session_vocabulary_k_anonymity, unrepresented)}
