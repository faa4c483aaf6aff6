"""What does WNGEN at the level of single queries do, step by step? Sets of queries, split along a tree of dicts."""

from collections import Counter
from collections.abc import Mapping

from shoal.corpus.knowledge.taxonomy import Taxonomy

Asked = Mapping[str, Counter[str]]  # query -> user -> times


def generalize(asked: Asked, terms: Mapping[str, set[int]], taxonomy: Taxonomy, k: int) -> dict[str, int]:
    """The node of each query; 0, the root, for those that are not published. `terms` are leaves of the taxonomy."""
    concept = dict.fromkeys(asked, 0)
    _specialize(0, [query for query in asked if terms[query]], asked, terms, taxonomy, k, concept)
    return concept


def _loss(node: int, taxonomy: Taxonomy) -> int:
    return 0 if taxonomy.is_leaf[node] else len(taxonomy.leaves_below(taxonomy.labels[node]))


def _users(queries: list[str], asked: Asked) -> set[str]:
    return {user for query in queries for user in asked[query]}


def _specialize(
    node: int, cluster: list[str], asked: Asked, terms: Mapping[str, set[int]], taxonomy: Taxonomy, k: int,
    concept: dict[str, int],
) -> None:  # fmt: skip
    for query in cluster:
        concept[query] = node
    children = [v for v in range(len(taxonomy)) if taxonomy.parent[v] == node]
    below = {w: {q for q in cluster if any(node_in(leaf, w, taxonomy) for leaf in terms[q])} for w in children}
    spared = {w: _loss(node, taxonomy) - _loss(w, taxonomy) for w in children}
    gain = {w: spared[w] * sum(asked[q].total() for q in below[w]) for w in children}
    hopeless = {w: len(_users(sorted(below[w]), asked)) < k for w in children}
    parts: dict[int, list[str]] = {w: [] for w in children}
    for query in cluster:
        options = [w for w in children if query in below[w]]
        if options:
            parts[min(options, key=lambda w: (hopeless[w], -gain[w], w))].append(query)
    going = {w: part for w, part in parts.items() if len(_users(part, asked)) >= k}
    leftover = [q for w, part in parts.items() if w not in going for q in part]
    if going and leftover and node != 0 and not _borrow(leftover, going, spared, asked, list(asked), k):
        return
    for w, part in going.items():
        _specialize(w, part, asked, terms, taxonomy, k, concept)


def _borrow(
    leftover: list[str], going: dict[int, list[str]], spared: Mapping[int, int], asked: Asked, order: list[str], k: int
) -> bool:
    """Move queries into the leftover until it has k users; whether it got them."""
    offers = [(asked[q].total() * spared[w], order.index(q), w, q) for w, part in going.items() for q in part]
    for _, _, w, query in sorted(offers):
        have = _users(leftover, asked)
        if len(have) >= k:
            break
        rest = [q for q in going[w] if q != query]
        if set(asked[query]) - have and len(_users(rest, asked)) >= k:
            leftover.append(query)
            going[w] = rest
    return len(_users(leftover, asked)) >= k


def node_in(leaf: int, node: int, taxonomy: Taxonomy) -> bool:
    return node in taxonomy.path(leaf)
