"""When do released queries hold? Query k-anonymity, k-theta-affinity and concepts of k users, query by query.

When is a published log the centroid log of its members? Algorithm 5 of Erola et al. 2011, all its outcomes together.

The sentence: each log is shared by k users and has their mean size; one assignment gives all its queries to users who
typed them, to each the quota that the size of their log asks for, those they repeated most first.

When can noisy counts be true? Of what users have, at or above the threshold, and no further off than noise goes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, floor, log

from shoal.anonymizer.contract.literal import Bag, Case, Definition, can_pair
from shoal.anonymizer.contract.literal.groups import are_at_least
from shoal.anonymizer.methods.affinity.literal import anonymity_degrees, support_by_coverage


def unreleased(case: Case) -> int:
    """Every event that no released query stands for."""
    return len(case.log) - sum(count for _, _, count, _ in case.queries)


def query_k_anonymity(case: Case) -> bool:
    """What k users typed is released of all of them, with their number as its degree, and nothing else."""
    users = Counter(query for queries in case.typed.values() for query in queries)
    k = int(case.values["k"])
    wanted = {query: number for query, number in users.items() if number >= k and query}
    return _are_of_single_users(case) and _released_as_typed(case) and _degrees(case) == wanted and _profiles_fit(case)


def affinity_k_anonymity(case: Case) -> bool:
    """As above, with the degrees of the paper; with exact=no, of some queries, with a degree up to that."""
    if not (_are_of_single_users(case) and _released_as_typed(case) and _profiles_fit(case)):
        return False
    k, published = int(case.values["k"]), _degrees(case)
    degree = _affinity_degrees(case)
    if case.values["exact"] == "no":
        return all(k <= number <= degree[query] for query, number in published.items())
    return published == {query: number for query, number in degree.items() if number >= k}


def _affinity_degrees(case: Case) -> dict[str, int]:
    events = tuple(
        (user, query) for user, queries in case.typed.items() for query, times in queries.items() for _ in range(times)
    )
    theta, support = float(case.values["theta"]), str(case.values["support"])
    return _degrees_of(events, theta, support, int(case.values["word_users"]))


@lru_cache(maxsize=64)
def _degrees_of(events: tuple[tuple[str, str], ...], theta: float, support: str, word_users: int) -> dict[str, int]:
    asked = list(events)
    number = support_by_coverage(asked) if support == "auto" else int(support)
    return anonymity_degrees(asked, theta, number, word_users)


def _are_of_single_users(case: Case) -> bool:
    """Each pseudonym is one user's and has a released query; none lists a query twice."""
    pairs = [(name, query) for name, query, _, _ in case.queries]
    single = all(len(users) == 1 for users in case.members.values())
    return single and len(set(pairs)) == len(pairs) and {name for name, _ in pairs} == set(case.members)


def _released_as_typed(case: Case) -> bool:
    """A released query is released of all who typed it, as often as they did."""
    released = {(case.members[name][0], query): count for name, query, count, _ in case.queries}
    texts = {query for _, query in released}
    typed = {(user, q): n for user, queries in case.typed.items() for q, n in queries.items() if q in texts}
    return "" not in texts and released == typed


def _degrees(case: Case) -> dict[str, int]:
    """The published degree of each query; -1 where there are several."""
    found: dict[str, int] = {}
    for _, query, _, degree in case.queries:
        found[query] = degree if found.get(query, degree) == degree else -1
    return found


def _profiles_fit(case: Case) -> bool:
    """A profile holds the terms of its released queries."""
    return not case.generalized and all(case.terms[name] == terms_of_queries(case, name) for name in case.terms)


def terms_of_queries(case: Case, name: str) -> dict[str, int]:
    return dict(case.terms_of(listed(case, name)))


def listed(case: Case, name: str) -> Bag:
    """The queries of a pseudonym, and how often they are published."""
    found = Bag()
    for other, query, count, _ in case.queries:
        found[query] += count if other == name else 0
    return +found


def concept_k_anonymity(case: Case) -> bool:
    """k users have each concept, and each of them typed as many queries below it, none of which counts twice."""
    if not _are_of_single_users(case) or not _concepts_are_nodes(case):
        return False
    users = Counter(concept for _, concept, _, _ in case.queries)
    k = int(case.values["k"])
    if not all(degree == users[concept] >= k for _, concept, _, degree in case.queries):
        return False
    own = {name: listed(case, name) for name in case.terms}
    return all(case.terms[name] == own[name] and _are_typed(case, name, own[name]) for name in own)


def _concepts_are_nodes(case: Case) -> bool:
    tree = case.knowledge.taxonomy
    for concept in {concept for _, concept, _, _ in case.queries}:
        node = tree.node.get(concept.lower(), 0)
        if node == 0 or concept != case.spelled(concept) or (concept in case.generalized) == bool(tree.is_leaf[node]):
            return False
    return True


def _are_typed(case: Case, name: str, concepts: dict[str, int]) -> bool:
    def below(concept: str, query: str) -> bool:
        terms = case.terms_of({query: 1})
        return any(concept.lower() in case.above[term] for term in terms if term in case.above)

    return can_pair(concepts, case.typed[case.members[name][0]], below)


def user_k_anonymity(case: Case) -> bool:
    logs = {name: listed(case, name) for name in case.terms}
    pairs = [(name, query) for name, query, _, _ in case.queries]
    if not are_at_least(case, int(case.values["k"])) or len(set(pairs)) < len(pairs) or case.generalized:
        return False
    if any(degree != len(case.members[name]) for name, _, _, degree in case.queries):
        return False
    return all(
        case.terms[name] == dict(case.terms_of(log))
        and all(case.terms_of({query: 1}) for query in log)
        and _is_centroid_log(log, [_with_terms(case, user) for user in case.members[name]])
        for name, log in logs.items()
    )


def not_listed(case: Case) -> int:
    """Every event whose query is not in the log that its user shares."""
    kept = sum(
        case.typed[user][query]
        for name in case.terms
        for user in case.members[name]
        for query in listed(case, name)
        if case.terms_of({query: 1})
    )
    return len(case.log) - kept


def _with_terms(case: Case, user: str) -> dict[str, int]:
    return {query: times for query, times in case.typed[user].items() if case.terms_of({query: 1})}


def _is_centroid_log(log: Bag, members: Sequence[Mapping[str, int]]) -> bool:
    sizes = [sum(own.values()) for own in members]
    if not all(sizes) or log.total() != floor(Fraction(sum(sizes), len(sizes)) + Fraction(1, 2)):
        return False
    bounds = [entering(own, sum(sizes), len(sizes)) for own in members]
    quotas = [(size // len(sizes), ceil(Fraction(size, len(sizes)))) for size in sizes]
    return _can_share_out(dict(log), bounds, quotas)


def entering(own: Mapping[str, int], total: int, members: int) -> dict[str, tuple[int, int]]:
    """How often each query of a member can be theirs in the log: what Algorithm 5 can pass over, and what it can reach.

    x = |Q| / total * repetitions of a query enter, rounded down or up, the most repeated first, until the quota is
    full; if all of them together can fall short of it, the list is walked again.
    """
    size = sum(own.values())
    x = {query: Fraction(size * times, total) for query, times in own.items()}
    fewest, most = size // members, ceil(Fraction(size, members))
    again = sum(floor(share) for share in x.values()) < most
    found = {}
    for query, times in own.items():
        before = sum(ceil(x[other]) for other in own if own[other] >= times and other != query)
        ahead = sum(floor(x[other]) for other in own if own[other] > times)
        low = min(floor(x[query]), max(0, fewest - before))
        found[query] = low, min(times if again else ceil(x[query]), max(0, most - ahead))
    return found


def _can_share_out(
    log: dict[str, int], bounds: Sequence[Mapping[str, tuple[int, int]]], quotas: Sequence[tuple[int, int]]
) -> bool:
    """Member after member, every way to give as many queries as the quota asks for, remembering what was left."""
    left = {tuple(sorted(log.items()))}
    for own, (least, most) in zip(bounds, quotas, strict=True):
        if any(low > log.get(query, 0) for query, (low, _) in own.items()):
            return False
        left = {rest for state in left for rest in _given(dict(state), own, least, most)}
    return any(all(count == 0 for _, count in state) for state in left)


def _given(
    log: dict[str, int], own: Mapping[str, tuple[int, int]], least: int, most: int
) -> set[tuple[tuple[str, int], ...]]:
    found: set[tuple[tuple[str, int], ...]] = set()
    queries = [query for query in own if query in log]

    def give(i: int, total: int) -> None:
        if total > most:
            return
        if i == len(queries):
            if total >= least:
                found.add(tuple(sorted(log.items())))
            return
        low, high = own[queries[i]]
        for copies in range(low, min(high, log[queries[i]]) + 1):
            log[queries[i]] -= copies
            give(i + 1, total + copies)
            log[queries[i]] += copies

    give(0, 0)
    return found


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
    "query-k-anonymity": Definition(query_k_anonymity, unreleased, terms_of_queries),
    "affinity-k-anonymity": Definition(affinity_k_anonymity, unreleased, terms_of_queries),
    "concept-k-anonymity": Definition(concept_k_anonymity, unreleased, listed),
    "user-k-anonymity": Definition(user_k_anonymity, not_listed, terms_of_queries),
    "private-query-counts": Definition(private_queries, nothing, terms_of_counts),
    "private-term-counts": Definition(private_terms, nothing),
}
