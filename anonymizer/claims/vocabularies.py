"""Is a published vocabulary shared by k vocabularies, and does it follow from them? (Liu & Wang 2010, Definition 2.)

From outside, the bags behind a published vocabulary are unknown. But each bag holds one occurrence of every member,
and all terms in it are within epsilon of each other. So every member must be able to supply an occurrence of its own
for each published one, and all that is not represented so must be counted as suppressed.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching, maximum_flow

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.parameters import AT_LEAST_TWO, Range, Value, one_of, whole_number
from shoal.corpus.knowledge.labels import bag_members
from shoal.corpus.profiles import query_term_counts

Vocabulary = dict[str, int]


@dataclass(frozen=True, eq=False)
class Case:
    """A claim and its evidence, seen as published vocabularies (rows) and the vocabularies of their members."""

    claim: Claim
    evidence: Evidence

    @cached_property
    def published(self) -> list[Vocabulary]:
        release = self.evidence.release
        return [{label: int(n) for label, n in release.profile(row).items()} for row in range(len(release))]

    @cached_property
    def rows_of(self) -> dict[str, list[int]]:
        """The published vocabularies of each user, by name."""
        rows: dict[str, list[int]] = {name: [] for name in self.evidence.log.users.to_list()}
        assignment = self.evidence.assignment
        names = assignment.users.to_list()
        for user, row in sorted(set(zip(assignment.user.tolist(), assignment.profile.tolist(), strict=True))):
            rows[names[user]].append(row)
        return rows

    @cached_property
    def own(self) -> dict[str, list[Vocabulary]]:
        """What each user really has: the vocabulary of all their queries, or one for each session; none is empty."""
        log = self.evidence.log
        terms, matrix = query_term_counts(log, self.evidence.knowledge.words)
        leaf = [self.evidence.knowledge.taxonomy.leaf(term) is not None for term in terms]
        found: dict[str, list[Vocabulary]] = {}
        for u, name in enumerate(log.users.to_list()):
            found[name] = []
            for events in self._parts(int(log.start[u]), int(log.start[u + 1])):
                counts: Counter[str] = Counter()
                for query in log.query[events].tolist():
                    part = slice(matrix.indptr[query], matrix.indptr[query + 1])
                    for t, n in zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True):
                        if leaf[t]:
                            counts[terms[t]] += n
                if counts:
                    found[name].append(dict(counts))
        return found

    def _parts(self, first: int, last: int) -> list[slice]:
        """The events of one user as they are, or cut where the gap of the claim is exceeded."""
        if "gap" not in self.claim.values:
            return [slice(first, last)]
        time = self.evidence.log.time[first:last].tolist()
        seconds = 60 * int(self.claim.values["gap"])
        cuts = [first + x for x in range(1, len(time)) if time[x] - time[x - 1] > seconds]
        edges = [first, *cuts, last]
        return [slice(a, b) for a, b in pairwise(edges)]

    @cached_property
    def tree(self) -> "Tree":
        return Tree(self)


class Tree:
    """Distances between terms, and which terms a label can stand for, counted on the taxonomy's paths."""

    def __init__(self, case: Case) -> None:
        self.taxonomy = case.evidence.knowledge.taxonomy
        self.epsilon = int(case.claim.values["epsilon"])
        self.typical = str(case.claim.values["typical"])
        self._paths: dict[str, frozenset[int]] = {}
        self._accepted: dict[tuple[str, str], bool] = {}

    def path(self, label: str) -> frozenset[int]:
        if label not in self._paths:
            self._paths[label] = frozenset(self.taxonomy.path(self.taxonomy.node[label.lower()]))
        return self._paths[label]

    def distance(self, a: str, b: str) -> int:
        return len(self.path(a) ^ self.path(b))

    def accepts(self, label: str, term: str) -> bool:
        """Whether a bag that is published under this label may hold this term."""
        if (label, term) not in self._accepted:
            self._accepted[label, term] = self._may_hold(label, term)
        return self._accepted[label, term]

    def _may_hold(self, label: str, term: str) -> bool:
        if self.typical == "bags":
            return term in bag_members(label)
        if self.typical == "generalize":
            node = self.taxonomy.node[label.lower()]
            down = self.distance(label, term)
            return node in self.path(term) and (down == 0 or down < self.epsilon)
        return self.distance(label, term) <= self.epsilon


def verify_vocabularies(claim: Claim, evidence: Evidence) -> Verdict:
    case = Case(claim, evidence)
    for check in (_k_users, _labels_can_be, _all_who_have_one, _members_supply, _labels_come_from_members, _the_rest):
        verdict = check(case)
        if not verdict.holds:
            return verdict
    return HOLDS


def _k_users(case: Case) -> Verdict:
    k = int(case.claim.values["k"])
    members: Counter[int] = Counter(row for rows in case.rows_of.values() for row in rows)
    for row, name in enumerate(case.evidence.release.pseudonyms):
        if members[row] < k:
            return broken(f"{name} is shared by the vocabularies of {members[row]} users, fewer than k={k}")
    return HOLDS


def _labels_can_be(case: Case) -> Verdict:
    """Every label is a term or, where the claim allows it, stands for terms that are within epsilon."""
    release, tree = case.evidence.release, case.tree
    if np.any((release.weights.data <= 0) | (release.weights.data % 1 != 0)):
        return broken("a published weight is no number of bags")
    for label, general in zip(release.labels, release.generalized.tolist(), strict=True):
        parts = bag_members(label) if case.tree.typical == "bags" else [label]
        if any(part.lower() not in tree.taxonomy.node for part in parts):
            return broken(f"{label!r} is published, but the taxonomy does not know it")
        inner = tree.typical == "generalize" and tree.taxonomy.leaf(label.lower()) is None
        if not inner and any(tree.taxonomy.leaf(part) is None for part in parts):
            return broken(f"{label!r} is published, but it is no term")
        if general != (inner or len(parts) > 1):
            return broken(f"{label!r} is {'' if general else 'not '}flagged as generalized")
        for a, b in combinations(parts, 2):
            if tree.distance(a, b) > tree.epsilon:
                return broken(f"{label!r} holds {a!r} and {b!r}, {tree.distance(a, b)} edges apart")
    return HOLDS


def _all_who_have_one(case: Case) -> Verdict:
    """Nobody takes part more often than they have vocabularies, and a group that has nothing in common is one of k."""
    for name, rows in case.rows_of.items():
        own = len(case.own[name])
        if len(rows) > own:
            return broken(f"user {name!r} has {own} vocabularies, but {len(rows)} published ones")
    without = [name for name, rows in case.rows_of.items() if case.own[name] and not rows]
    if "gap" not in case.claim.values and 0 < len(without) < int(case.claim.values["k"]):
        return broken(f"user {without[0]!r} has a vocabulary and no published one, and too few others are left so")
    return HOLDS


def _members_supply(case: Case) -> Verdict:
    """Each vocabulary of a user supplies one published vocabulary, and each published one is supplied."""
    for name, rows in case.rows_of.items():
        able = np.array(
            [[_supplies(case, vocabulary, case.published[row]) for row in rows] for vocabulary in case.own[name]]
        )
        if not len(rows):
            continue
        matched = maximum_bipartite_matching(csr_array(able.astype(np.int8)), perm_type="row")
        if (matched < 0).any():
            row = rows[int(np.argmax(matched < 0))]
            pseudonym = case.evidence.release.pseudonyms[row]
            return broken(f"user {name!r} cannot supply an occurrence for every one of {pseudonym}, its vocabulary")
    return HOLDS


def _supplies(case: Case, own: Vocabulary, published: Vocabulary) -> bool:
    """Whether each published occurrence can be given an occurrence of its own."""
    if sum(published.values()) > sum(own.values()):
        return False
    fitting = {label: [term for term in own if case.tree.accepts(label, term)] for label in published}
    if any(sum(own[term] for term in fitting[label]) < copies for label, copies in published.items()):
        return False
    return _first_come(own, published, fitting) or _flows(own, published, fitting)


def _first_come(own: Vocabulary, published: Vocabulary, fitting: dict[str, list[str]]) -> bool:
    """Whether it works when each label just takes what is there: mostly it does."""
    left = dict(own)
    for label, copies in published.items():
        for term in fitting[label]:
            taken = min(copies, left[term])
            left[term] -= taken
            copies -= taken
        if copies:
            return False
    return True


def _flows(own: Vocabulary, published: Vocabulary, fitting: dict[str, list[str]]) -> bool:
    """Whether a flow from labels to terms carries all that is published."""
    place = {term: len(published) + y for y, term in enumerate(own)}
    source, sink = len(published) + len(own), len(published) + len(own) + 1
    edges = [(place[term], sink, n) for term, n in own.items()]
    for x, (label, copies) in enumerate(published.items()):
        edges.append((source, x, copies))
        edges += [(x, place[term], min(copies, own[term])) for term in fitting[label]]
    start, end, room = np.array(edges, dtype=np.int32).T
    network = csr_array((room, (start, end)), shape=(sink + 1, sink + 1))
    return bool(maximum_flow(network, source, sink).flow_value == sum(published.values()))


def _labels_come_from_members(case: Case) -> Verdict:
    """A medoid was typed by a member as often as it is published, a bag holds members' terms, an ancestor is lowest."""
    typed: list[Counter[str]] = [Counter() for _ in case.published]
    for name, rows in case.rows_of.items():
        for row in rows:
            for vocabulary in case.own[name]:
                typed[row].update(vocabulary)
    for row, published in enumerate(case.published):
        for label, copies in published.items():
            if not _follows(case.tree, label, copies, typed[row]):
                pseudonym = case.evidence.release.pseudonyms[row]
                return broken(f"{pseudonym} publishes {label!r} {copies} times, which its members' terms do not give")
    return HOLDS


def _follows(tree: Tree, label: str, copies: int, typed: Counter[str]) -> bool:
    if tree.typical == "bags":
        return all(typed[term] > 0 for term in bag_members(label))
    if tree.typical == "vote" or tree.taxonomy.leaf(label.lower()) is not None:
        return typed[label] >= copies
    below = [term for term in sorted(typed) if tree.accepts(label, term)]
    own = tree.path(label)
    return any(
        tree.path(a) & tree.path(b) == own and tree.distance(a, b) <= tree.epsilon for a, b in combinations(below, 2)
    )


def _the_rest(case: Case) -> Verdict:
    """What no published occurrence represents is counted as suppressed, no more and no less."""
    total = int(case.evidence.profiles.occurrences.sum())
    represented = sum(sum(case.published[row].values()) for rows in case.rows_of.values() for row in rows)
    suppressed = case.evidence.suppressed.occurrences
    if suppressed != total - represented:
        said = f"{suppressed} occurrences are counted as suppressed"
        return broken(f"{said}, but {total} were typed and {represented} are represented")
    return HOLDS


_VALUES: dict[str, Range[Value]] = {
    "k": AT_LEAST_TWO,
    "epsilon": whole_number(0, 12),
    "typical": one_of("vote", "bags", "generalize"),
}

VERIFIERS = (
    Verifier(
        "vocabulary-k-anonymity",
        "user",
        verify_vocabularies,
        lambda values: f"Every vocabulary is shared by at least {values['k']} users.",
        _VALUES,
    ),
    Verifier(
        "session-vocabulary-k-anonymity",
        "session",
        verify_vocabularies,
        lambda values: (
            f"Every vocabulary is shared by sessions of at least {values['k']} users, "
            f"where {values['gap']} minutes of silence end a session."
        ),
        {**_VALUES, "gap": whole_number(1, 10**6)},
    ),
)
