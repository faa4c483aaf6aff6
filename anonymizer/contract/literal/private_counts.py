"""When can noisy counts be true? Of what users have, at or above the threshold, and no further off than noise goes."""

from math import exp, log

from shoal.anonymizer.contract.literal import Bag, Case, Definition


def private_queries(case: Case) -> bool:
    """One profile of all users, made of the published queries, whose counts may be true."""
    users = Bag(query for queries in case.typed.values() for query in queries if query)
    counts = {query: count for _, query, count, _ in case.queries}
    if len(counts) < len(case.queries) or any(count != degree for _, _, count, degree in case.queries):
        return False
    fits = all(case.terms[name] == terms_of_counts(case, name) for name in case.terms)
    return fits and _is_one_for_all(case) and _may_be(case, counts, users)


def private_terms(case: Case) -> bool:
    """One profile of all users, whose weights are counts that may be true."""
    if not _is_one_for_all(case):
        return False
    (counts,) = case.terms.values()
    users = Bag(term for bag in case.bags.values() for term in bag)
    return all(weight == int(weight) for weight in counts.values()) and _may_be(case, counts, users)


def _is_one_for_all(case: Case) -> bool:
    alike = [sorted(users) for users in case.members.values()] == [sorted(case.typed)]
    return alike and not case.generalized


def _may_be(case: Case, counts: dict[str, int] | dict[str, float], users: Bag) -> bool:
    epsilon, delta = float(case.values["epsilon"]), float(case.values["delta"])
    many = int(case.values["per_user"])
    threshold = 2
    while _chance(threshold, epsilon / many, many) > delta * (1 + 1e-9):
        threshold += 1
    furthest = int(-log(1e-12) * many / epsilon) + 1
    return all(users[text] and threshold <= count <= users[text] + furthest for text, count in counts.items())


def _chance(threshold: int, rate: float, many: int) -> float:
    """That some of so many counts of 1 are published: noise of threshold - 1 or more, by the geometric series."""
    each = exp(-rate * (threshold - 1)) / (1 + exp(-rate))
    return 1 - (1 - each) ** many


def terms_of_counts(case: Case, name: str) -> dict[str, int]:
    return dict(case.terms_of({query: count for _, query, count, _ in case.queries}))


def nothing(case: Case) -> int:
    return 0


OWN = {
    "private-query-counts": Definition(private_queries, nothing, terms_of_counts),
    "private-term-counts": Definition(private_terms, nothing),
}
