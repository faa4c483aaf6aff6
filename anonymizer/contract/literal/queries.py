"""When do released queries hold? Query k-anonymity, k-theta-affinity and concepts of k users, query by query."""

from collections import Counter
from functools import lru_cache

from shoal.anonymizer.contract.literal import Bag, Case, Definition, can_pair
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


OWN = {
    "query-k-anonymity": Definition(query_k_anonymity, unreleased, terms_of_queries),
    "affinity-k-anonymity": Definition(affinity_k_anonymity, unreleased, terms_of_queries),
    "concept-k-anonymity": Definition(concept_k_anonymity, unreleased, listed),
}
