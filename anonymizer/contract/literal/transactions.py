"""When is a profile what its members have in common? Definitions 3.1.1 to 3.2.1 of Milani Fard, item by item."""

from collections import Counter

from shoal.anonymizer.contract.literal import Bag, Case, Definition, can_pair
from shoal.anonymizer.contract.literal.groups import are_at_least


def transactional(case: Case) -> bool:
    if not are_at_least(case, int(case.values["k"])) or not labels_are_nodes(case):
        return False
    items = {user: _items(case, user) for users in case.members.values() for user in users}
    if not all(items.values()):
        return False
    check = {"least-common-generalization": _is_least, "common-generalization": _is_common, "cut": _is_cut}
    of_this_kind = check[str(case.values["published"])]
    once = case.values["duplicates"] == "drop"
    return all(
        of_this_kind(case, _copies(case, name), [items[user] for user in users], once)
        for name, users in case.members.items()
    )


def unpublished(case: Case) -> int:
    """Of each member, a published copy stands for one occurrence; the others of the log are suppressed."""
    kept = sum(len(case.members[name]) * weight for name, terms in case.terms.items() for weight in terms.values())
    return round(sum(bag.total() for bag in case.bags.values()) - kept)


def labels_are_nodes(case: Case) -> bool:
    tree = case.knowledge.taxonomy
    for label in {label for terms in case.terms.values() for label in terms}:
        if label != case.spelled(label) or (label in case.generalized) == bool(tree.is_leaf[tree.node[label.lower()]]):
            return False
    return all(weight == int(weight) for terms in case.terms.values() for weight in terms.values())


def _items(case: Case, user: str) -> Bag:
    return Bag({term: times for term, times in case.bags[user].items() if term in case.above})


def _copies(case: Case, name: str) -> dict[str, int]:
    return {label.lower(): int(weight) for label, weight in case.terms[name].items()}


def _below(case: Case, items: Bag) -> Counter[str]:
    """c_t(v): how many items of a transaction are at or below each node."""
    count: Counter[str] = Counter()
    for term, times in items.items():
        for label in case.above[term]:
            count[label] += times
    return count


def _is_least(case: Case, published: dict[str, int], members: list[Bag], once: bool) -> bool:
    return published == _least(case, members, once)


def _least(case: Case, members: list[Bag], once: bool) -> dict[str, int]:
    """LCG(S) holds m(v) - sum of m(w) over the children w of v copies of v, m(v) the fewest of a member."""
    counts = [_below(case, items) for items in members]
    fewest = {label: min(count[label] for count in counts) for label in counts[0]}
    parents = {path[i]: path[i + 1] for path in case.above.values() for i in range(len(path) - 1)}
    copies = dict(fewest)
    for label, m in fewest.items():
        if label in parents:
            copies[parents[label]] -= m
    return {label: min(n, 1) if once else n for label, n in copies.items() if n > 0}


def least_profile(case: Case, name: str) -> dict[str, int]:
    """The least common generalization of the members, which also is a common one."""
    members = [_items(case, user) for user in case.members[name]]
    least = _least(case, members, once=case.values["duplicates"] == "drop")
    return {case.spelled(label): n for label, n in least.items()}


def _is_cut(case: Case, published: dict[str, int], members: list[Bag], once: bool) -> bool:
    """Each item of each member has one published node at or above it, with as many copies as each can supply."""
    supplied: list[Counter[str]] = []
    for items in members:
        supplied.append(Counter())
        for term, times in items.items():
            nodes = [label for label in case.above[term] if label in published]
            if len(nodes) != 1:
                return False
            supplied[-1][nodes[0]] += times
    fewest = {label: min(supply[label] for supply in supplied) for label in published}
    return all(copies == (min(fewest[label], 1) if once else fewest[label]) for label, copies in published.items())


def _is_common(case: Case, published: dict[str, int], members: list[Bag], once: bool) -> bool:
    """The items of the profile stand for distinct items of each member (Definition 3.1.1)."""
    if once and any(copies > 1 for copies in published.values()):
        return False
    return all(can_pair(published, items, lambda label, term: label in case.above[term]) for items in members)


OWN = {"transactional-k-anonymity": Definition(transactional, unpublished, least_profile)}
