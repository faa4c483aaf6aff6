"""When is a published log the centroid log of its members? Algorithm 5 of Erola et al. 2011, all its outcomes together.

The sentence: each log is shared by k users and has their mean size; one assignment gives all its queries to users who
typed them, to each the quota that the size of their log asks for, those they repeated most first.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

from shoal.anonymizer.contract.literal import Bag, Case, Definition
from shoal.anonymizer.contract.literal.groups import are_at_least
from shoal.anonymizer.contract.literal.queries import listed, terms_of_queries


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


OWN = {"user-k-anonymity": Definition(user_k_anonymity, not_listed, terms_of_queries)}
