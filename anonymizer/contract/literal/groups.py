"""When does a group share its mean? The controls, the p-linkability of Zhu & Xiong, section 3.2, Common and Murmur."""

from collections import Counter
from fractions import Fraction

from shoal.anonymizer.contract.literal import Case, Definition

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


OWN = {
    "nothing-published": Definition(nothing_published, outsiders_typed),
    "none": Definition(own_profiles, outsiders_typed, mean_profile),
    "one-profile": Definition(one_profile, outsiders_typed, mean_profile),
    "users-per-profile": Definition(users_per_profile, outsiders_typed, mean_profile),
    "p-linkability": Definition(p_linkability, outsiders_typed, mean_profile),
    "catalogue-of-terms": Definition(catalogue_of_terms, typed_outside),
    "terms-in-common": Definition(terms_in_common, typed_alone, held_profile),
}
