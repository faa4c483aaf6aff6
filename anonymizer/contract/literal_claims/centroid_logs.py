"""When are published logs centroid logs of k users each? The claim user-k-anonymity, by trying every assignment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

from shoal.anonymizer.claims import Evidence, Values
from shoal.corpus.knowledge.dictionary import Dictionary
from shoal.corpus.tokens import tokenize

Bag = Counter[str]  # query -> how often


def user_k_anonymity(values: Values, evidence: Evidence) -> bool:
    """Whether all of it is true of a release that is whole otherwise."""
    release, words = evidence.release, evidence.knowledge.words
    if release.queries is None or release.generalized.any():
        return False
    typed, kept = _typed(evidence), 0
    for row in range(len(release)):
        members = [_with_terms(typed[name], words) for name in _members(evidence, row)]
        listed = _listed(evidence, row)
        if len(members) < int(values["k"]) or listed is None or not all(members):
            return False
        if not is_centroid_log(listed, members) or release.profile(row) != _terms(listed, words):
            return False
        kept += sum(times for bag in members for query, times in bag.items() if query in listed)
    return evidence.suppressed.occurrences == len(evidence.log) - kept


def is_centroid_log(listed: Mapping[str, int], members: Sequence[Bag]) -> bool:
    """Whether some assignment of all listed queries to members gives each its quota, within the bounds of each."""
    sizes = [bag.total() for bag in members]
    if sum(listed.values()) != floor(Fraction(sum(sizes), len(sizes)) + Fraction(1, 2)):
        return False
    bounds = [entering(bag, sum(sizes), len(sizes)) for bag in members]
    if any(low > 0 and query not in listed for bound in bounds for query, (low, _) in bound.items()):
        return False
    quotas = [(size // len(sizes), ceil(Fraction(size, len(sizes)))) for size in sizes]
    return _can_share_out(list(listed.items()), bounds, quotas)


def entering(bag: Bag, total: int, members: int) -> dict[str, tuple[int, int]]:
    """How often, at least and at most, Algorithm 5 takes each query of a member. `total` is the sum of |Q|."""
    size = bag.total()
    quota_down, quota_up = size // members, ceil(Fraction(size, members))
    x = {query: Fraction(size, total) * times for query, times in bag.items()}
    bounds = {}
    for query, times in bag.items():
        rivals = sum(ceil(x[other]) for other in bag if other != query and bag[other] >= times)
        must_come_first = sum(floor(x[other]) for other in bag if bag[other] > times)
        walked_again = sum(floor(y) for y in x.values()) < quota_up
        low = max(0, min(floor(x[query]), quota_down - rivals))
        high = max(0, min(times if walked_again else ceil(x[query]), quota_up - must_come_first))
        bounds[query] = low, high
    return bounds


def _can_share_out(
    listed: list[tuple[str, int]], bounds: Sequence[Mapping[str, tuple[int, int]]], left: Sequence[tuple[int, int]]
) -> bool:
    """Try all ways for the first query, then for the others; `left` is what each member may still give."""
    if not listed:
        return all(low <= 0 <= high for low, high in left)
    (query, count), *others = listed
    ranges = [bound.get(query, (0, 0)) for bound in bounds]
    return any(
        _can_share_out(others, bounds, [(low - n, high - n) for (low, high), n in zip(left, way, strict=True)])
        for way in _ways(count, ranges)
        if all(high >= n for (_, high), n in zip(left, way, strict=True))
    )


def _ways(count: int, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """All ways to write `count` as a sum with one number from each range."""
    if not ranges:
        if count == 0:
            yield ()
        return
    (low, high), *others = ranges
    for n in range(low, min(high, count) + 1):
        for rest in _ways(count - n, others):
            yield (n, *rest)


def _typed(evidence: Evidence) -> dict[str, Bag]:
    log = evidence.log
    typed: dict[str, Bag] = {name: Counter() for name in log.users.to_list()}
    for user, query in zip(log.user.tolist(), log.query.tolist(), strict=True):
        typed[log.users[user]][" ".join(log.queries[query].lower().split())] += 1
    return typed


def _members(evidence: Evidence, row: int) -> list[str]:
    pairs = zip(evidence.assignment.user.tolist(), evidence.assignment.profile.tolist(), strict=True)
    return [evidence.assignment.users[user] for user, profile in pairs if profile == row]


def _listed(evidence: Evidence, row: int) -> dict[str, int] | None:
    """The queries of a log, or None if one is listed twice, never, or with a wrong degree."""
    rows = evidence.release.queries
    assert rows is not None
    columns = zip(rows.pseudonym.tolist(), rows.query.to_list(), rows.count.tolist(), rows.degree.tolist(), strict=True)
    own = [(query, count, degree) for pseudonym, query, count, degree in columns if pseudonym == row]
    members = len(_members(evidence, row))
    good = len({query for query, _, _ in own}) == len(own) and all(n > 0 and d == members for _, n, d in own)
    return {query: count for query, count, _ in own} if good else None


def _with_terms(bag: Bag, words: Dictionary) -> Bag:
    return Counter({query: times for query, times in bag.items() if any(words(token) for token in tokenize(query))})


def _terms(listed: Mapping[str, int], words: Dictionary) -> Bag:
    terms: Bag = Counter()
    for query, count in listed.items():
        for token in tokenize(query):
            if (term := words(token)) is not None:
                terms[term] += count
    return terms
