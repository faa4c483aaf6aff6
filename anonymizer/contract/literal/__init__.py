"""When is a claim true, word by word? A slow definition per claim, over plain tables, apart from its verifier.

Another package adds the definition of a claim of its own by `DEFINITIONS["its-claim"] = Definition(holds, suppressed)`.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import Evidence
from shoal.anonymizer.parameters import Value
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import tokenize

Bag = Counter[str]


@dataclass(frozen=True, eq=False)
class Case:
    """What was published, who is behind it, and the log it was made from, all as plain tables."""

    values: Mapping[str, Value]
    log: QueryLog
    knowledge: Knowledge
    terms: dict[str, dict[str, float]]  # of each pseudonym
    generalized: set[str]
    members: dict[str, list[str]]  # users of each pseudonym
    queries: list[tuple[str, str, int, int]]  # pseudonym, query, count, degree
    catalogue: list[tuple[str, int, float]]  # term, users, mean
    key: str = ""  # what stands in its file

    @cached_property
    def typed(self) -> dict[str, Bag]:
        """How often each user typed each query, in lower case and with single blanks."""
        log = self.log
        typed = {name: Bag() for name in log.users.to_list()}
        names, texts = log.users.to_list(), log.queries.to_list()
        for user, query in zip(log.user.tolist(), log.query.tolist(), strict=True):
            typed[names[user]][" ".join(texts[query].lower().split())] += 1
        return typed

    @cached_property
    def bags(self) -> dict[str, Bag]:
        """The terms of each user."""
        return {user: self.terms_of(queries) for user, queries in self.typed.items()}

    def terms_of(self, queries: Mapping[str, int]) -> Bag:
        found = Bag()
        for query, times in queries.items():
            for token in tokenize(query):
                term = self.knowledge.words(token)
                if term is not None:
                    found[term] += times
        return found

    @cached_property
    def outside(self) -> list[str]:
        """Users without a published profile."""
        inside = {user for users in self.members.values() for user in users}
        return [user for user in self.typed if user not in inside]

    @cached_property
    def above(self) -> dict[str, list[str]]:
        """The labels from each leaf of the taxonomy that somebody typed up to the root, lower-cased, itself first."""
        taxonomy = self.knowledge.taxonomy
        terms = {term for bag in self.bags.values() for term in bag}
        leaves = {term: leaf for term in sorted(terms) if (leaf := taxonomy.leaf(term)) is not None}
        return {term: [taxonomy.labels[v].lower() for v in taxonomy.path(leaf)] for term, leaf in leaves.items()}

    def spelled(self, label: str) -> str:
        """How a release writes a node: a leaf in lower case, others as the taxonomy does; empty if there is none."""
        taxonomy = self.knowledge.taxonomy
        v = taxonomy.node.get(label.lower())
        return "" if v is None else taxonomy.labels[v].lower() if taxonomy.is_leaf[v] else taxonomy.labels[v]


class Undecided(Exception):
    """To decide by the definition would take too long."""


@dataclass(frozen=True)
class Definition:
    """When a claim is true of a release that is whole, and how many occurrences are suppressed then."""

    holds: Callable[[Case], bool]
    suppressed: Callable[[Case], int]
    profile: Callable[[Case, str], Mapping[str, float]] | None = None  # what a pseudonym must publish, where one thing


def definitions() -> dict[str, Definition]:
    """Definitions by the id of their claim: each module here lists its own in OWN."""
    own = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {id: made for module in own for id, made in getattr(module, "OWN", {}).items()} | DEFINITIONS


DEFINITIONS: dict[str, Definition] = {}


def is_true(claim: Claim, evidence: Evidence) -> bool:
    """Whether the definition of a claim is true of a release that is whole, the number of suppressed ones included."""
    definition, case = definitions()[claim.id], _case_of(claim, evidence)
    return definition.holds(case) and definition.suppressed(case) == evidence.suppressed.occurrences


def _case_of(claim: Claim, evidence: Evidence) -> Case:
    release, assignment, rows = evidence.release, evidence.assignment, evidence.release.queries
    names = release.pseudonyms
    members: dict[str, list[str]] = {name: [] for name in names}
    for user, row in zip(assignment.user.tolist(), assignment.profile.tolist(), strict=True):
        members[names[row]].append(assignment.users[user])
    terms = {name: release.profile(row) for row, name in enumerate(names)}
    general = {label for label, flag in zip(release.labels, release.generalized.tolist(), strict=True) if flag}
    columns = () if rows is None else (rows.pseudonym.tolist(), rows.query, rows.count.tolist(), rows.degree.tolist())
    queries = [(names[row], query, count, degree) for row, query, count, degree in zip(*columns, strict=True)]
    listed = release.catalogue
    rest = () if listed is None else (listed.terms, listed.users.tolist(), listed.mean.tolist())
    catalogue = list(zip(*rest, strict=True))
    key = "" if assignment.key is None else assignment.key.text().strip()
    return Case(claim.values, evidence.log, evidence.knowledge, terms, general, members, queries, catalogue, key)


def can_pair(wanted: Mapping[str, int], given: Mapping[str, int], fits: Callable[[str, str], bool]) -> bool:
    """Whether each wanted piece gets a piece of its own that fits it: Kuhn's algorithm, one piece at a time."""
    wants = [(name, i) for name, copies in wanted.items() for i in range(copies)]
    gives = [(name, i) for name, copies in given.items() for i in range(copies)]
    if len(wants) > len(gives):
        return False
    ways = {want: [give for give in gives if fits(want[0], give[0])] for want in wants}
    taken: dict[tuple[str, int], tuple[str, int]] = {}

    def place(want: tuple[str, int], tried: set[tuple[str, int]]) -> bool:
        for give in ways[want]:
            if give not in tried:
                tried.add(give)
                if give not in taken or place(taken[give], tried):
                    taken[give] = want
                    return True
        return False

    return all(place(want, set()) for want in wants)
