"""Do generalized profiles hold? Each is what k users have in common: a common generalization, the least, or a cut."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_at_least_k, verify_left_out
from shoal.anonymizer.parameters import AT_LEAST_TWO, one_of
from shoal.corpus.knowledge.taxonomy import Taxonomy

MEMBERS_PER_BLOCK = 20_000  # bounds the memory of a check


@dataclass(frozen=True, eq=False)
class Table:
    """How many copies of which node in which group; `key` is group * nodes + node, ascending and distinct."""

    key: np.ndarray
    copies: np.ndarray  # int64

    def between(self, low: int, high: int) -> "Table":
        part = slice(*np.searchsorted(self.key, [low, high]))
        return Table(self.key[part], self.copies[part])


@dataclass(frozen=True, eq=False)
class Items:
    """The items of the members of some groups, one row per distinct item of a member."""

    users: np.ndarray  # the row of each member in the profiles
    member: np.ndarray
    group: np.ndarray
    leaf: np.ndarray
    count: np.ndarray


def verify_transactional(claim: Claim, evidence: Evidence) -> Verdict:
    """Groups of k, and every profile exactly what its members make of it."""
    few = verify_at_least_k(int(claim.values["k"]), evidence)
    if not few.holds:
        return few
    published = _published(evidence)
    if isinstance(published, Verdict):
        return published
    for items, first, last in _blocks(evidence):
        part = published.between(first * len(evidence.knowledge.taxonomy), last * len(evidence.knowledge.taxonomy))
        verdict = _check_block(claim, evidence, items, part)
        if not verdict.holds:
            return verdict
    return _suppression_is_counted(evidence, published)


def _published(evidence: Evidence) -> Table | Verdict:
    """The published copies by node."""
    release, taxonomy, nodes = evidence.release, evidence.knowledge.taxonomy, published_nodes(evidence)
    if isinstance(nodes, Verdict):
        return nodes
    weights = release.weights.tocoo()
    part = np.flatnonzero((weights.data != np.floor(weights.data)) | (weights.data >= 2**53))
    if len(part):
        row, label = release.pseudonyms[weights.row[part[0]]], release.labels[weights.col[part[0]]]
        return broken(f"{row} publishes {label!r} with weight {weights.data[part[0]]:g}, which is no number of copies")
    key = weights.row.astype(np.int64) * len(taxonomy) + nodes[weights.col]
    order = np.argsort(key, kind="stable")
    return Table(key[order], weights.data[order].astype(np.int64))


def published_nodes(evidence: Evidence) -> np.ndarray | Verdict:
    """The node of the taxonomy that each label is."""
    release, taxonomy = evidence.release, evidence.knowledge.taxonomy
    nodes = np.empty(len(release.labels), dtype=np.int64)
    for i, label in enumerate(release.labels):
        v = taxonomy.node.get(label.lower(), 0)
        if label != _spelled(v, taxonomy) or bool(release.generalized[i]) == bool(taxonomy.is_leaf[v]):
            kind = "inner node" if release.generalized[i] else "leaf"
            return broken(f"{label!r} is published as if it were a {kind} of the taxonomy, which it is not")
        nodes[i] = v
    return nodes


def _spelled(v: int, taxonomy: Taxonomy) -> str:
    """A term is a leaf in lower case, a generalized label an inner node as the taxonomy spells it."""
    return taxonomy.labels[v].lower() if taxonomy.is_leaf[v] else taxonomy.labels[v]


def _blocks(evidence: Evidence) -> Iterator[tuple[Items, int, int]]:
    """The items of the members of the groups first:last, some groups at a time."""
    profiles, taxonomy = evidence.profiles, evidence.knowledge.taxonomy
    leaf_of_term = np.array([-1 if (v := taxonomy.leaf(t)) is None else v for t in profiles.terms], dtype=np.int64)
    by_group = np.argsort(evidence.assignment.profile, kind="stable")
    rows = evidence.assignment.rows_for(profiles.users)[by_group]
    start = np.concatenate([[0], np.cumsum(evidence.release.users)])
    first = 0
    while first < len(evidence.release):
        last = max(first + 1, int(np.searchsorted(start, start[first] + MEMBERS_PER_BLOCK, side="right")) - 1)
        chosen = rows[start[first] : start[last]]
        group = np.repeat(np.arange(first, last), evidence.release.users[first:last])
        bags = profiles.counts[chosen]
        member = np.repeat(np.arange(len(chosen)), np.diff(bags.indptr))
        leaf = leaf_of_term[bags.indices]
        known = leaf >= 0
        count = bags.data[known].astype(np.int64)
        yield Items(chosen, member[known], group[member[known]], leaf[known], count), first, last
        first = last


def _check_block(claim: Claim, evidence: Evidence, items: Items, published: Table) -> Verdict:
    taxonomy = evidence.knowledge.taxonomy
    hollow = np.flatnonzero(np.bincount(items.member, minlength=len(items.users)) == 0)
    if len(hollow):
        name = evidence.profiles.users[int(items.users[hollow[0]])]
        return broken(f"user {name!r} fills a group, but has no term that the taxonomy knows")
    row, node = _climb(items.leaf, taxonomy)
    if claim.values["published"] == "common-generalization":
        most = _fewest(items, row, node, evidence)
        return _is_common(evidence, published, most, once=claim.values["duplicates"] == "drop")
    if claim.values["published"] == "cut":
        hit = np.isin(items.group[row] * len(taxonomy) + node, published.key)
        covered = _every_item_covered_once(evidence, items, np.bincount(row[hit], minlength=len(items.leaf)))
        if not covered.holds:
            return covered
        expected = _fewest(items, row[hit], node[hit], evidence)
    else:
        expected = _without_children(_fewest(items, row, node, evidence), taxonomy)
    if claim.values["duplicates"] == "drop":
        expected = Table(expected.key, np.minimum(expected.copies, 1))
    return _same(evidence, published, expected)


def _climb(leaf: np.ndarray, taxonomy: Taxonomy) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (row of `leaf`, node at or above that leaf)."""
    row, node = np.arange(len(leaf)), leaf
    rows, nodes = [], []
    while len(node):
        rows.append(row)
        nodes.append(node)
        row, node = row[node > 0], taxonomy.parent[node[node > 0]].astype(np.int64)
    return np.concatenate(rows or [row]), np.concatenate(nodes or [node])


def _fewest(items: Items, row: np.ndarray, node: np.ndarray, evidence: Evidence) -> Table:
    """m_S(v): the fewest items that a member of the group has at or below v, where every member has one."""
    nodes = len(evidence.knowledge.taxonomy)
    per_member, back = np.unique(items.member[row] * nodes + node, return_inverse=True)
    count = np.bincount(back, weights=items.count[row], minlength=len(per_member)).astype(np.int64)
    group_of = np.zeros(int(items.member.max(initial=-1)) + 1, dtype=np.int64)
    group_of[items.member] = items.group
    key = group_of[per_member // nodes] * nodes + per_member % nodes
    order = np.argsort(key, kind="stable")
    key, first, having = np.unique(key[order], return_index=True, return_counts=True)
    fewest = np.minimum.reduceat(count[order], first) if len(first) else count
    all_have = having == evidence.release.users[key // nodes]
    return Table(key[all_have], fewest[all_have])


def _without_children(m: Table, taxonomy: Taxonomy) -> Table:
    """Copies of v in the least common generalization: m(v) less the m of its children."""
    nodes = len(taxonomy)
    group, node = m.key // nodes, m.key % nodes
    below = node > 0
    parent = np.searchsorted(m.key, group[below] * nodes + taxonomy.parent[node[below]])
    copies = m.copies - np.bincount(parent, weights=m.copies[below], minlength=len(m.key)).astype(np.int64)
    return Table(m.key[copies > 0], copies[copies > 0])


def _is_common(evidence: Evidence, published: Table, most: Table, once: bool) -> Verdict:
    """Definition 3.1.1 for all members: items of a profile stand for distinct items of each.

    In a tree that is so exactly if no node has more of the profile's items at or below it than some member has.
    """
    nodes = len(evidence.knowledge.taxonomy)
    item, node = _climb(published.key % nodes, evidence.knowledge.taxonomy)
    key, back = np.unique(published.key[item] // nodes * nodes + node, return_inverse=True)
    copies = np.minimum(published.copies, most.copies.max(initial=0) + 1)  # no sum of these is beyond a whole number
    stands = np.bincount(back, weights=copies[item], minlength=len(key)).astype(np.int64)
    can = np.zeros(len(key), dtype=np.int64)
    can[np.isin(key, most.key)] = most.copies[np.isin(most.key, key)]
    wrong = np.flatnonzero(stands > can)
    if len(wrong) == 0 and not (once and (published.copies > 1).any()):
        return HOLDS
    if len(wrong) == 0:
        twice = int(np.argmax(published.copies > 1))
        return _differs(evidence, int(published.key[twice]), int(published.copies[twice]), 1)
    name, label = _named(evidence, int(key[wrong[0]]))
    return broken(
        f"{name} publishes {stands[wrong[0]]} items at or below {label!r}, but a member has only {can[wrong[0]]} there"
    )


def _every_item_covered_once(evidence: Evidence, items: Items, times: np.ndarray) -> Verdict:
    """`times` holds, for each item, how many published nodes are at or above it."""
    wrong = np.flatnonzero(times != 1)
    if len(wrong) == 0:
        return HOLDS
    name = evidence.release.pseudonyms[items.group[wrong[0]]]
    term = evidence.knowledge.taxonomy.labels[items.leaf[wrong[0]]]
    number = "no item" if times[wrong[0]] == 0 else f"{times[wrong[0]]} items"
    return broken(f"a member of {name} has the term {term.lower()!r}, for which {number} of its profile may stand")


def _same(evidence: Evidence, published: Table, expected: Table) -> Verdict:
    """The two tables are equal; otherwise the first node where they differ."""
    key = np.union1d(published.key, expected.key)
    said, made = np.zeros(len(key), dtype=np.int64), np.zeros(len(key), dtype=np.int64)
    said[np.searchsorted(key, published.key)] = published.copies
    made[np.searchsorted(key, expected.key)] = expected.copies
    wrong = np.flatnonzero(said != made)
    if len(wrong) == 0:
        return HOLDS
    return _differs(evidence, int(key[wrong[0]]), int(said[wrong[0]]), int(made[wrong[0]]))


def _differs(evidence: Evidence, key: int, said: int, made: int) -> Verdict:
    name, label = _named(evidence, key)
    members = evidence.release.users[key // len(evidence.knowledge.taxonomy)]
    return broken(
        f"{name} publishes {label!r} with weight {said}, but what its {members} members have in common makes {made}"
    )


def _named(evidence: Evidence, key: int) -> tuple[str, str]:
    group, node = divmod(key, len(evidence.knowledge.taxonomy))
    return evidence.release.pseudonyms[group], evidence.knowledge.taxonomy.labels[node]


def _suppression_is_counted(evidence: Evidence, published: Table) -> Verdict:
    """Of every member, each published copy stands for one occurrence; the others are suppressed."""
    group = published.key // len(evidence.knowledge.taxonomy)
    kept = int((published.copies * evidence.release.users[group]).sum())
    missing = int(evidence.profiles.occurrences.sum()) - kept
    return verify_left_out(missing, "are not published", evidence)


_SENTENCES = {
    "least-common-generalization": "the least common generalization of the profiles of {k} users or more",
    "common-generalization": "a common generalization of the profiles of {k} users or more, not always the least one",
    "cut": "what the profiles of {k} users or more generalize to, the same for all",
}
_COPIES = {
    "keep": "where an item may stand several times",
    "drop": "each item once",
}


def _sentence(values: Values) -> str:
    published = _SENTENCES[str(values["published"])].format(k=values["k"])
    return f"Every profile is {published}, {_COPIES[str(values['duplicates'])]}."


VERIFIERS = (
    Verifier(
        "transactional-k-anonymity",
        "user",
        verify_transactional,
        _sentence,
        {
            "k": AT_LEAST_TWO,
            "published": one_of(*_SENTENCES),
            "duplicates": one_of(*_COPIES),
        },
    ),
)
