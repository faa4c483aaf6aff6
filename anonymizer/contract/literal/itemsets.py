"""When do k users share any m items? Definition 2.5.1 of Milani Fard's thesis, every set of every profile counted."""

from itertools import combinations
from math import comb

from shoal.anonymizer.contract.literal import Case, Definition, Undecided
from shoal.anonymizer.contract.literal.transactions import labels_are_nodes, unpublished

MOST = 20_000  # sets of one profile that are counted


def km_anonymity(case: Case) -> bool:
    """Each profile is one user's items under one cut, each once, and any m of them are in k profiles."""
    alone = all(len(users) == 1 for users in case.members.values())
    once = all(weight == 1 for terms in case.terms.values() for weight in terms.values())
    if not (alone and once and labels_are_nodes(case) and _is_cut(case) and all(case.terms.values())):
        return False
    if any(set(case.terms[name]) != set(own_items(case, name)) for name in case.terms):
        return False
    return not any(_items(case, user) for user in case.outside) and _are_shared(case)


def _is_cut(case: Case) -> bool:
    """Of the labels above a term, one is published; none only where items may be left out."""
    published = _published(case)
    found = [sum(label in published for label in path) for path in case.above.values()]
    fewest = 1 if case.values["suppressed"] == "nothing" else 0
    tree, nodes = case.knowledge.taxonomy, [case.knowledge.taxonomy.node[label] for label in published]
    return all(fewest <= n <= 1 for n in found) and not any(w in tree.path(v)[1:] for v in nodes for w in nodes)


def _published(case: Case) -> set[str]:
    return {label.lower() for terms in case.terms.values() for label in terms}


def _items(case: Case, user: str) -> set[str]:
    """The published items above a user's terms."""
    published = _published(case)
    return {label for term in case.bags[user] if term in case.above for label in case.above[term] if label in published}


def own_items(case: Case, name: str) -> dict[str, int]:
    return {case.spelled(label): 1 for user in case.members[name] for label in sorted(_items(case, user))}


def _are_shared(case: Case) -> bool:
    k, m, profiles = int(case.values["k"]), case.values["m"], [set(terms) for terms in case.terms.values()]
    for profile in profiles:
        most = len(profile) if isinstance(m, str) else min(int(m), len(profile))
        if sum(comb(len(profile), size) for size in range(1, most + 1)) > MOST:
            raise Undecided
        for size in range(1, most + 1):
            for items in combinations(sorted(profile), size):
                if sum(other.issuperset(items) for other in profiles) < k:
                    return False
    return True


OWN = {"km-anonymity": Definition(km_anonymity, unpublished, own_items)}
