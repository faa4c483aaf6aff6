"""When is nobody connected with a sensitive term? Privacy degree, coherence, uncertainty, word by word.

When is a pseudonym of one topic? Each user's queries, sorted into topics by hand, are the user's profiles.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

from shoal.anonymizer.contract.literal import Bag, Case, Definition, Undecided
from shoal.anonymizer.contract.literal.groups import are_weights, written


def private_terms(case: Case) -> set[str]:
    return {term for bag in case.bags.values() for term in bag if term in case.knowledge.sensitive.terms}


def hidden_terms(case: Case) -> set[str]:
    """The sensitive terms that more than 1/p of the users who typed any term typed."""
    bags = [bag for bag in case.bags.values() if bag]
    p = int(case.values["p"])
    return {term for term in private_terms(case) if sum(term in bag for bag in bags) * p > len(bags)}


def _degree_profile(case: Case, name: str) -> dict[str, Fraction]:
    """The public terms of a user, and of the sensitive ones the share among those who publish the same of them."""
    private, hidden = private_terms(case), hidden_terms(case)
    parts = {other: {s: w for s, w in terms.items() if s in private} for other, terms in case.terms.items()}
    crowd = [user for other, part in parts.items() if part == parts[name] for user in case.members[other]]
    shares = {s: Fraction(sum(s in case.bags[user] for user in crowd), len(crowd)) for s in private - hidden}
    own = case.bags[case.members[name][0]]
    exact = {term: Fraction(times) for term, times in own.items() if term not in private}
    return exact | {s: share for s, share in shares.items() if share}


def privacy_degree(case: Case) -> bool:
    if case.generalized or not all(len(users) == 1 and case.bags[users[0]] for users in case.members.values()):
        return False
    if any(bag.keys() - hidden_terms(case) for bag in (case.bags[user] for user in case.outside)):
        return False
    private, p = private_terms(case), int(case.values["p"])
    exact = {name: _degree_profile(case, name) for name in case.terms}
    small = all(share * p <= 1 for profile in exact.values() for s, share in profile.items() if s in private)
    return small and all(are_weights(case.terms[name], exact[name]) for name in case.terms)


def degree_profile(case: Case, name: str) -> Mapping[str, float]:
    return {term: written(x) for term, x in _degree_profile(case, name).items()}


def typed_hidden(case: Case) -> int:
    hidden = hidden_terms(case)
    return sum(times for bag in case.bags.values() for term, times in bag.items() if term in hidden)


def published_of(case: Case, name: str) -> dict[str, float]:
    """The terms of a row's user that are published of anybody, or are sensitive, each once."""
    shown = {term for terms in case.terms.values() for term in terms} | private_terms(case)
    return dict.fromkeys(sorted(shown & case.bags[case.members[name][0]].keys()), 1)


def are_own_sets(case: Case) -> bool:
    """Each user who has such a term has a row of them, and nobody else has one."""
    if case.generalized or not all(len(users) == 1 for users in case.members.values()):
        return False
    shown = {term for terms in case.terms.values() for term in terms} | private_terms(case)
    if any(case.bags[user].keys() & shown for user in case.outside):
        return False
    own = {name: published_of(case, name) for name in case.terms}
    return all(own[name] and case.terms[name] == own[name] for name in case.terms)


def unpublished(case: Case) -> int:
    """Occurrences of terms that no published item stands for."""
    return sum(bag.total() for bag in case.bags.values()) - sum(len(terms) for terms in case.terms.values())


def coherence(case: Case) -> bool:
    """Definition 2.3.1 on the published rows: no set of up to p public terms of a row is a mole."""
    private, rows = private_terms(case), [set(terms) for terms in case.terms.values()]
    h, k, p = Fraction(str(case.values["h"])), int(case.values["k"]), int(case.values["p"])
    sets = {beta for row in rows for size in range(1, p + 1) for beta in combinations(sorted(row - private), size)}
    for beta in sets:
        holders = [row for row in rows if row.issuperset(beta)]
        if len(holders) < k or any(sum(e in row for row in holders) > h * len(holders) for e in private):
            return False
    return are_own_sets(case)


def standing_for(case: Case, term: str) -> set[str]:
    """The published labels that a term may be behind: itself, and above a public one those that are generalized."""
    shown = {label for terms in case.terms.values() for label in terms}
    itself = {term} & (shown - case.generalized)
    if term in case.knowledge.sensitive.terms or case.values["published"] == "terms":
        return itself
    spelled = {case.spelled(label) for label in case.above.get(term, [])[1:]}
    return itself | (spelled & shown & case.generalized)


def items_of(case: Case, name: str) -> dict[str, float]:
    """What a row must publish: all that stands for a term of its user, each once."""
    bag = case.bags[case.members[name][0]]
    return dict.fromkeys(sorted({label for term in bag for label in standing_for(case, term)}), 1)


def _are_true_items(case: Case) -> bool:
    if not all(len(users) == 1 for users in case.members.values()):
        return False
    tree = case.knowledge.taxonomy
    inner = [tree.node.get(label.lower()) for label in case.generalized]
    if any(v is None or tree.is_leaf[v] for v in inner) or case.generalized != set(map(case.spelled, case.generalized)):
        return False
    if case.generalized and case.values["published"] == "terms":
        return False
    behind = {term: standing_for(case, term) for bag in case.bags.values() for term in bag}
    if any(len(labels) > 1 for labels in behind.values()):
        return False
    if any(behind[term] for user in case.outside for term in case.bags[user]):
        return False
    return all(case.terms[name] and case.terms[name] == items_of(case, name) for name in case.terms)


_LONGEST_ROW = 14  # whose parts can all be looked at


def uncertainty(case: Case) -> bool:
    """No part of a row, of as many items as are known at most, is in rows of which more than rho have a secret."""
    rows, rho = [frozenset(terms) for terms in case.terms.values()], Fraction(str(case.values["rho"]))
    longest = max(map(len, rows), default=0)
    bound = longest if case.values["antecedent"] == "any" else int(case.values["antecedent"])
    if not _are_true_items(case):
        return False
    if bound > 3 and longest > _LONGEST_ROW:
        raise Undecided
    private = (private_terms(case) & {label for row in rows for label in row}) - case.generalized
    for known in {q for row in rows for size in range(1, bound + 1) for q in combinations(sorted(row), size)}:
        holders = [row for row in rows if row.issuperset(known)]
        if any(sum(e in row for row in holders) > rho * len(holders) for e in private.difference(known)):
            return False
    return True


def one_topic_each(case: Case) -> bool:
    """The profiles of each user are those of the user's topics, no more and no fewer."""
    if case.generalized or any(len(users) != 1 for users in case.members.values()):
        return False
    held: dict[str, list[dict[str, float]]] = {user: [] for user in case.typed}
    for name, users in case.members.items():
        held[users[0]].append(case.terms[name])
    return all(_alike(held[user], list(_by_topic(case, user).values())) for user in case.typed)


def _alike(some: list[dict[str, float]], others: list[Bag]) -> bool:
    """Whether two lists hold the same tables, in whatever order."""
    return sorted(sorted(one.items()) for one in some) == sorted(sorted(one.items()) for one in others)


def _by_topic(case: Case, user: str) -> dict[tuple[str, ...], Bag]:
    topics: dict[tuple[str, ...], Bag] = {}
    for query, times in case.typed[user].items():
        terms = case.terms_of({query: 1})
        votes: Counter[tuple[str, ...]] = Counter()
        for term, many in terms.items():
            for path in case.knowledge.directory.categories(term)[:1]:
                votes[path[: int(case.values["topics"])]] += many
        best = sorted(path for path in votes if votes[path] == max(votes.values()))
        topic = best[0] if best else ()
        for term, many in terms.items():
            topics.setdefault(topic, Bag())[term] += many * times
    return topics


OWN = {
    "privacy-degree": Definition(privacy_degree, typed_hidden, degree_profile),
    "coherence": Definition(coherence, unpublished, published_of),
    "uncertainty": Definition(uncertainty, unpublished, items_of),
    "one-topic-per-pseudonym": Definition(one_topic_each, lambda case: 0),
}
