"""When is a pseudonym of one topic? Each user's queries, sorted into topics by hand, are the user's profiles."""

from collections import Counter

from shoal.anonymizer.contract.literal import Bag, Case, Definition


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


OWN = {"one-topic-per-pseudonym": Definition(one_topic_each, lambda case: 0)}
