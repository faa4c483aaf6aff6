"""Is a pseudonym of one user and one topic? Each user's queries are put into topics anew, and held against profiles."""

from collections import Counter

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_nothing_generalized
from shoal.anonymizer.parameters import whole_number
from shoal.corpus.tokens import tokenize

Profile = frozenset[tuple[str, float]]


def verify_topics(claim: Claim, evidence: Evidence) -> Verdict:
    """The profiles of a user are the user's queries, one for each topic; nobody is left out, nothing is suppressed."""
    release, assignment = evidence.release, evidence.assignment
    verdict = verify_nothing_generalized(release)
    if not verdict.holds:
        return verdict
    if (release.users != 1).any():
        return broken(f"{release.pseudonyms[int((release.users != 1).argmax())]} is not of one user")
    if evidence.suppressed.occurrences:
        return broken(f"{evidence.suppressed.occurrences} suppressed occurrences are counted, but none is")
    published: dict[int, list[int]] = {}
    for user, row in zip(
        assignment.rows_for(evidence.log.users).tolist(), assignment.profile.tolist(), strict=True
    ):  # fmt: skip
        published.setdefault(user, []).append(row)
    topics = _Topics(int(claim.values["topics"]), evidence)
    for user in range(len(evidence.log.users)):
        rows = published.get(user, [])
        said = Counter(frozenset(release.profile(row).items()) for row in rows)
        if said != (own := topics.profiles_of(user)):
            name = release.pseudonyms[rows[0]] if rows else "nothing"
            return broken(
                f"a user has {said.total()} pseudonyms ({name} first), but asked about {own.total()} topics, or other "
                "profiles than these pseudonyms have"
            )
    return HOLDS


class _Topics:
    """The topics of queries by a directory, looked up once for each."""

    def __init__(self, depth: int, evidence: Evidence) -> None:
        self.depth, self.log, self.knowledge = depth, evidence.log, evidence.knowledge
        self.texts = evidence.log.queries.to_list()
        self._of_query: dict[int, tuple[tuple[str, ...], Counter[str]]] = {}
        self._of_term: dict[str, tuple[str, ...]] = {}

    def profiles_of(self, user: int) -> Counter[Profile]:
        """The terms of a user's queries of each topic."""
        bags: dict[tuple[str, ...], Counter[str]] = {}
        for query in self.log.query[self.log.start[user] : self.log.start[user + 1]].tolist():
            topic, terms = self._topic(query)
            if terms:
                bags.setdefault(topic, Counter()).update(terms)
        return Counter(frozenset((term, float(times)) for term, times in bag.items()) for bag in bags.values())

    def _topic(self, query: int) -> tuple[tuple[str, ...], Counter[str]]:
        if query not in self._of_query:
            spelled = (self.knowledge.words(token) for token in tokenize(self.texts[query]))
            terms = Counter(term for term in spelled if term is not None)
            votes: Counter[tuple[str, ...]] = Counter()
            for term, times in terms.items():
                if path := self._category(term):
                    votes[path] += times
            topic = min(votes, key=lambda path: (-votes[path], path)) if votes else ()
            self._of_query[query] = topic, terms
        return self._of_query[query]

    def _category(self, term: str) -> tuple[str, ...]:
        if term not in self._of_term:
            paths = self.knowledge.directory.categories(term)
            self._of_term[term] = tuple(paths[0][: self.depth]) if paths else ()
        return self._of_term[term]


VERIFIERS = (
    Verifier(
        "one-topic-per-pseudonym",
        "session",
        verify_topics,
        lambda values: (
            "Each pseudonym is of one user and one topic, as narrow as the directory is at level "
            f"{values['topics']}, and is all that the user asked about it."
        ),
        {"topics": whole_number(1, 20)},
        by_topic=True,
    ),
)
