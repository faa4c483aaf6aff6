"""What does k-theta-affinity say, word by word? A graph over (query, user) pairs, every pair of them compared."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import log2, sqrt

from shoal.corpus.tokens import STOP_WORDS, tokenize

Asked = list[tuple[str, str]]  # (user, query), one per event
Vertex = tuple[str, str]  # (query, user)


def normal(query: str) -> str:
    return " ".join(query.lower().split())


def ngrams(query: str, length: int) -> list[str]:
    words = tokenize(query)
    return [" ".join(words[i : i + length]) for i in range(len(words) - length + 1)]


def support_by_coverage(asked: Asked) -> int:
    """The smallest support, at least 2, whose concepts are at most 73 % of all unigrams, as in Table 2."""
    typed = Counter(word for _, query in asked for word in tokenize(query))
    users = Counter(word for word, _ in {(word, user) for user, query in asked for word in tokenize(query)})
    support = 2
    while (
        100 * sum(typed[word] for word in typed if users[word] >= support and word not in STOP_WORDS)
        > 73 * typed.total()
    ):
        support += 1
    return support


def concept_weights(asked: Asked, support: int) -> dict[str, float]:
    """Section 3.1, Equations 1 to 3."""
    counts = {n: Counter(gram for _, query in asked for gram in ngrams(query, n)) for n in (1, 2, 3)}
    users = {n: Counter(gram for gram, _ in {(g, u) for u, q in asked for g in ngrams(q, n)}) for n in (1, 2, 3)}
    holding = Counter(word for _, query in asked for word in set(tokenize(query)))

    def p(gram: str) -> float:
        n = len(gram.split())
        return counts[n][gram] / counts[n].total()

    weights = {}
    for gram in sorted(gram for n in users for gram, number in users[n].items() if number >= support):
        words = gram.split()
        if all(word in STOP_WORDS for word in words):
            continue
        if len(words) == 1:
            weights[gram] = log2(holding[gram] + 1)
        elif len(words) == 2:
            weights[gram] = log2(p(gram) / (p(words[0]) * p(words[1])) + 1)
        else:
            x, y, z = words
            apart = p(x) * p(y) * p(z) + p(x) * p(f"{y} {z}") + p(f"{x} {y}") * p(z)
            weights[gram] = log2(p(gram) / apart + 1)
    return weights


def concepts_of(query: str, weights: Mapping[str, float]) -> dict[str, float]:
    """Section 3.2: the vector of a query."""
    grams = {gram for n in (1, 2, 3) for gram in ngrams(query, n)}
    return {gram: weights[gram] for gram in sorted(grams) if gram in weights}


def cosine(p: Mapping[str, float], q: Mapping[str, float]) -> float:
    """Equation 4."""
    dot = sum(p[gram] * q[gram] for gram in p if gram in q)
    return dot / sqrt(sum(w * w for w in p.values()) * sum(w * w for w in q.values()))


def are_affine(p: Mapping[str, float], q: Mapping[str, float], theta: float) -> bool:
    return cosine(p, q) >= theta - 1e-12


def rare_words(asked: Asked, cut: Callable[[str], list[str]], word_users: int) -> set[str]:
    """Section 3.2, and 5: the words that fewer than so many users typed, words being what `cut` makes of a query."""
    users = Counter(word for word, _ in {(word, user) for user, query in asked for word in cut(normal(query))})
    return {word for word in users if users[word] < word_users}


def affinity_edges(
    asked: Asked, theta: float, support: int, word_users: int = 2
) -> tuple[list[Vertex], dict[Vertex, set[Vertex]]]:
    """The graph: its vertices are the pairs of a query that takes part and a user who asked it."""
    weights = concept_weights(asked, support)
    rare = rare_words(asked, str.split, word_users), rare_words(asked, tokenize, word_users)
    vertices = sorted(
        (q, u)
        for q, u in {(normal(query), user) for user, query in asked}
        if concepts_of(q, weights) and not (rare[0] & set(q.split()) or rare[1] & set(tokenize(q)))
    )
    vectors = {q: concepts_of(q, weights) for q, _ in vertices}
    near = {(p, q): p == q or are_affine(vectors[p], vectors[q], theta) for p in vectors for q in vectors}
    return vertices, {v: {w for w in vertices if w != v and near[v[0], w[0]]} for v in vertices}


def generalized_core_numbers(vertices: Iterable[Vertex], neighbours: Mapping[Vertex, set[Vertex]]) -> dict[Vertex, int]:
    """Section 3.3: again and again, remove the vertex with the fewest distinct other users among living neighbours."""
    living, core, level = set(vertices), {}, 0

    def degree(v: Vertex) -> int:
        return len({user for query, user in neighbours[v] if (query, user) in living} - {v[1]})

    while living:
        v = min(sorted(living), key=degree)
        level = max(level, degree(v))
        core[v] = level
        living.remove(v)
    return core


def grown_graph(query: str, vectors: Mapping[str, Mapping[str, float]], theta: float, v_max: int) -> list[str]:
    """Section 3.4: G_q. Neighbours are taken in as they are scored: the closest first, then in the order of strings."""
    graph = [query]
    for member in graph:
        affinity = {other: cosine(vectors[member], vectors[other]) for other in vectors if other not in graph}
        near = [other for other in affinity if are_affine(vectors[member], vectors[other], theta)]
        near.sort(key=lambda other: (-round(affinity[other], 9), other))
        graph += near[: v_max - len(graph)]
    return graph


def anonymity_degrees(
    asked: Asked, theta: float, support: int, word_users: int = 2, v_max: int | None = None
) -> dict[str, int]:
    """The anonymity degree of each query (end of section 3.3, or of 3.4 with v_max); 0 for one that is dropped."""
    weights = concept_weights(asked, support)
    plain = Counter(query for query, _ in {(normal(q), u) for u, q in asked})
    vertices, neighbours = affinity_edges(asked, theta, support, word_users)
    degree = {query: 0 if concepts_of(query, weights) or not query else plain[query] for query in plain}
    if v_max is None:
        for (query, _), number in generalized_core_numbers(vertices, neighbours).items():
            degree[query] = number + 1
        return degree
    vectors = {query: concepts_of(query, weights) for query, _ in vertices}
    for query in vectors:
        graph = grown_graph(query, vectors, theta, v_max)
        core = generalized_core_numbers([v for v in vertices if v[0] in graph], neighbours)
        degree[query] = 1 + next(number for (other, _), number in core.items() if other == query)
    return degree
