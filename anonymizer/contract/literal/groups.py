"""When does a group share its mean? The controls, the p-linkability of Zhu & Xiong, section 3.2, Common and Murmur.

When is a profile what its members have in common? Definitions 3.1.1 to 3.2.1 of Milani Fard, item by item.

When do k users share any m items? Definition 2.5.1 of Milani Fard's thesis, every set of every profile counted.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

from shoal.anonymizer.contract.literal import Bag, Case, Definition, Undecided, can_pair

DIGITS = 9  # with which a weight that is no whole number is written


def outsiders_typed(case: Case) -> int:
    return sum(case.bags[user].total() for user in case.outside)


def everybody_has_a_profile(case: Case) -> bool:
    """Whoever has a term has a published profile."""
    return not any(case.bags[user] for user in case.outside)


def are_means(case: Case, of_one: bool = False) -> bool:
    """Each profile is the mean (or the sum) of its members', none of which is empty, and nothing is generalized."""
    members = [user for users in case.members.values() for user in users]
    if case.generalized or not all(case.bags[user] for user in members):
        return False
    return all(_is_mean(case, name, of_one) for name in case.terms)


def _is_mean(case: Case, name: str, of_one: bool) -> bool:
    return are_weights(case.terms[name], _means(case, name, of_one))


def are_weights(published: dict[str, float], exact: dict[str, Fraction]) -> bool:
    if exact.keys() != published.keys():
        return False
    return all(published[term] in (float(x), written(x)) for term, x in exact.items())


def _means(case: Case, name: str, of_one: bool) -> dict[str, Fraction]:
    users = case.members[name]
    terms = sorted({term for user in users for term in case.bags[user]})
    share = 1 if of_one else len(users)
    return {term: Fraction(sum(case.bags[user][term] for user in users), share) for term in terms}


def mean_profile(case: Case, name: str) -> dict[str, float]:
    means = _means(case, name, of_one=case.values.get("representative") == "union")
    return {term: written(x) for term, x in means.items()}


def written(x: Fraction) -> float:
    return float(x) if x.denominator == 1 else float(f"{float(x):.{DIGITS}g}")


def are_at_least(case: Case, k: int) -> bool:
    return all(len(users) >= k for users in case.members.values())


def nothing_published(case: Case) -> bool:
    return not case.terms


def own_profiles(case: Case) -> bool:
    return all(len(users) == 1 for users in case.members.values()) and everybody_has_a_profile(case) and are_means(case)


def one_profile(case: Case) -> bool:
    return len(case.terms) == 1 and everybody_has_a_profile(case) and are_means(case)


def users_per_profile(case: Case) -> bool:
    return are_at_least(case, int(case.values["k"])) and are_means(case)


def p_linkability(case: Case) -> bool:
    """Distinct terms of a group times p are at least the mean number of distinct terms of a user."""
    sizes = [len(bag) for bag in case.bags.values() if bag]
    if not sizes:
        return not case.terms
    p, mean = Fraction(str(case.values["p"])), Fraction(sum(sizes), len(sizes))
    groups = [{term for user in users for term in case.bags[user]} for users in case.members.values()]
    wide = all(len(terms) * p >= mean for terms in groups)
    union = case.values["representative"] == "union"
    return wide and are_at_least(case, int(case.values["members"])) and are_means(case, of_one=union)


def _held(case: Case, name: str) -> dict[str, Fraction]:
    """The mean of the terms that at least t members of a group used."""
    users, t = case.members[name], int(case.values["t"])
    means = _means(case, name, of_one=False)
    return {term: x for term, x in means.items() if sum(term in case.bags[user] for user in users) >= t}


def terms_in_common(case: Case) -> bool:
    """At least k members of each profile, all with a term, and their mean of exactly the terms that t of them used."""
    if case.generalized or not are_at_least(case, int(case.values["k"])):
        return False
    if not all(case.bags[user] for users in case.members.values() for user in users):
        return False
    return all(are_weights(case.terms[name], _held(case, name)) for name in case.terms)


def typed_alone(case: Case) -> int:
    """All that was typed, but for what stands in a profile."""
    published = sum(
        case.bags[user][term] for name, users in case.members.items() for term in _held(case, name) for user in users
    )
    return sum(bag.total() for bag in case.bags.values()) - published


def held_profile(case: Case, name: str) -> dict[str, float]:
    return {term: written(x) for term, x in _held(case, name).items()}


def catalogue_of_terms(case: Case) -> bool:
    """No row of anybody's, and of each term that k users hold, and of no other, how many do and everyone's mean."""
    having = [bag for bag in case.bags.values() if bag]
    holders = Counter(term for bag in having for term in bag)
    expected = {
        term: (many, Fraction(sum(bag[term] for bag in having), len(having)))
        for term, many in holders.items()
        if many >= int(case.values["k"])
    }
    if case.terms or {term for term, _, _ in case.catalogue} != expected.keys():
        return False
    return all(
        users == expected[term][0] and mean in (float(expected[term][1]), written(expected[term][1]))
        for term, users, mean in case.catalogue
    )


def typed_outside(case: Case) -> int:
    """Occurrences of terms that the catalogue does not list."""
    listed = {term for term, _, _ in case.catalogue}
    return sum(times for bag in case.bags.values() for term, times in bag.items() if term not in listed)


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


MOST = 20_000  # sets of one profile that are counted


def km_anonymity(case: Case) -> bool:
    """Each profile is one user's items under one cut, each once, and any m of them are in k profiles."""
    alone = all(len(users) == 1 for users in case.members.values())
    once = all(weight == 1 for terms in case.terms.values() for weight in terms.values())
    if not (alone and once and labels_are_nodes(case) and _is_one_cut(case) and all(case.terms.values())):
        return False
    if any(set(case.terms[name]) != set(own_items(case, name)) for name in case.terms):
        return False
    return not any(_items_above(case, user) for user in case.outside) and _are_shared(case)


def _is_one_cut(case: Case) -> bool:
    """Of the labels above a term, one is published; none only where items may be left out."""
    published = _published(case)
    found = [sum(label in published for label in path) for path in case.above.values()]
    fewest = 1 if case.values["suppressed"] == "nothing" else 0
    tree, nodes = case.knowledge.taxonomy, [case.knowledge.taxonomy.node[label] for label in published]
    return all(fewest <= n <= 1 for n in found) and not any(w in tree.path(v)[1:] for v in nodes for w in nodes)


def _published(case: Case) -> set[str]:
    return {label.lower() for terms in case.terms.values() for label in terms}


def _items_above(case: Case, user: str) -> set[str]:
    """The published items above a user's terms."""
    published = _published(case)
    return {label for term in case.bags[user] if term in case.above for label in case.above[term] if label in published}


def own_items(case: Case, name: str) -> dict[str, int]:
    return {case.spelled(label): 1 for user in case.members[name] for label in sorted(_items_above(case, user))}


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


OWN = {
    "nothing-published": Definition(nothing_published, outsiders_typed),
    "none": Definition(own_profiles, outsiders_typed, mean_profile),
    "one-profile": Definition(one_profile, outsiders_typed, mean_profile),
    "users-per-profile": Definition(users_per_profile, outsiders_typed, mean_profile),
    "p-linkability": Definition(p_linkability, outsiders_typed, mean_profile),
    "catalogue-of-terms": Definition(catalogue_of_terms, typed_outside),
    "terms-in-common": Definition(terms_in_common, typed_alone, held_profile),
    "transactional-k-anonymity": Definition(transactional, unpublished, least_profile),
    "km-anonymity": Definition(km_anonymity, unpublished, own_items),
}
