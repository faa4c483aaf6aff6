"""What does k-theta-affinity say, word by word? A graph over (query, user) pairs, every pair of them compared."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import log2, sqrt

from shoal.corpus.tokens import STOP_WORDS, tokenize

Asked = list[tuple[str, str]]  # (user, query), one per event
Vertex = tuple[str, str]  # (query, user)


def normal(query: str) -> str:
    return " ".join(query.lower().split())


def ngrams(query: str, length: int) -> list[str]:
    words = tokenize(query)
    return [" ".join(words[i : i + length]) for i in range(len(words) - length + 1)]


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


def affinity_edges(asked: Asked, theta: float, support: int) -> tuple[list[Vertex], dict[Vertex, set[Vertex]]]:
    """The graph: its vertices are the pairs of a query that takes part and a user who asked it."""
    weights = concept_weights(asked, support)
    word_users = Counter(word for word, _ in {(w, u) for u, q in asked for w in tokenize(q)})
    vertices = sorted(
        {(normal(q), u) for u, q in asked if concepts_of(q, weights) and all(word_users[w] > 1 for w in tokenize(q))}
    )
    vectors = {q: concepts_of(q, weights) for q, _ in vertices}
    near = {
        (p, q): p == q or cosine(vectors[p], vectors[q]) >= theta - 1e-12
        for p in vectors
        for q in vectors
    }  # fmt: skip
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


def anonymity_degrees(asked: Asked, theta: float, support: int) -> dict[str, int]:
    """The anonymity degree of each query (end of section 3.3); 0 for one that is dropped."""
    weights = concept_weights(asked, support)
    plain = Counter(query for query, _ in {(normal(q), u) for u, q in asked})
    core = generalized_core_numbers(*affinity_edges(asked, theta, support))
    degree = {query: 0 if concepts_of(query, weights) else plain[query] for query in plain}
    for (query, _), number in core.items():
        degree[query] = number + 1
    return degree
