"""When do published concepts stand for queries of k users? The claim concept-k-anonymity, by trying all ways."""

from collections import Counter
from collections.abc import Mapping, Sequence

from shoal.anonymizer.claims import Evidence, Values
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.tokens import tokenize


def concept_k_anonymity(values: Values, evidence: Evidence) -> bool:
    """Whether all of it is true of a release that is whole otherwise."""
    release, rows = evidence.release, evidence.release.queries
    if rows is None or (release.users != 1).any():
        return False
    sharing = Counter(rows.query.to_list())
    columns = zip(rows.pseudonym.tolist(), rows.query.to_list(), rows.count.tolist(), rows.degree.tolist(), strict=True)
    listed: dict[int, Counter[str]] = {row: Counter() for row in range(len(release))}
    for row, concept, count, degree in columns:
        wrong = concept in listed[row] or count < 1 or not is_public(concept, evidence)
        if wrong or not int(values["k"]) <= degree == sharing[concept]:
            return False
        listed[row][concept] = count
    if evidence.suppressed.occurrences != len(evidence.log) - sum(bag.total() for bag in listed.values()):
        return False
    return all(
        bag and release.profile(row) == bag and can_supply(bag, _typed(evidence, row), evidence.knowledge)
        for row, bag in listed.items()
    )


def is_public(concept: str, evidence: Evidence) -> bool:
    """A node below the root, as the taxonomy spells it (a leaf in lower case), and generalized unless it is a leaf."""
    release, taxonomy = evidence.release, evidence.knowledge.taxonomy
    generalized = concept in release.labels and release.generalized[release.labels.index(concept)]
    for node, label in enumerate(taxonomy.labels):
        if (label.lower() if taxonomy.is_leaf[node] else label) == concept:
            return node != 0 and generalized != taxonomy.is_leaf[node]
    return False


def can_supply(concepts: Mapping[str, int], queries: Sequence[str], knowledge: Knowledge) -> bool:
    """Whether each concept gets as many of the queries as it says, each query being given to one at most."""
    if not any(concepts.values()):
        return True
    if not queries:
        return False
    first, *others = queries
    without = (
        {**concepts, concept: count - 1}
        for concept, count in concepts.items()
        if count and is_below(first, concept, knowledge)
    )
    return any(can_supply(rest, others, knowledge) for rest in (*without, concepts))


def is_below(query: str, concept: str, knowledge: Knowledge) -> bool:
    """Whether a term of the query is the concept or a leaf below it."""
    leaves = knowledge.taxonomy.leaves_below(concept)
    return any(knowledge.words(token) in leaves for token in tokenize(query))


def _typed(evidence: Evidence, row: int) -> list[str]:
    """Every event of the user behind a pseudonym."""
    log, assignment = evidence.log, evidence.assignment
    user = assignment.users[int(assignment.user[assignment.profile.tolist().index(row)])]
    return [log.queries[q] for u, q in zip(log.user.tolist(), log.query.tolist(), strict=True) if log.users[u] == user]
