"""How would one microaggregate slowly, to the letter? Algorithms 1 to 5 and Equation 4 of Erola et al. (2011)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from shoal.corpus.knowledge.directory import CategoryPath, TopicDirectory

Log = Sequence[Sequence[str]]  # the queries of one user, each as its terms
Matrix = Mapping[tuple[int, CategoryPath], int]


def classification_matrix(logs: Sequence[Log], directory: TopicDirectory, level: int, categories: int) -> Matrix:
    """Algorithm 1, one level: how often each category is found in the queries of each user."""
    matrix: Counter[tuple[int, CategoryPath]] = Counter()
    for user, queries in enumerate(logs):
        for query in queries:
            for term in query:
                paths = directory.categories(term)[:categories]
                for category in {path[:level] for path in paths if len(path) >= level}:
                    matrix[user, category] += 1
    return matrix


def incidence_matrix(logs: Sequence[Log], directory: TopicDirectory, levels: int, categories: int) -> list[list[int]]:
    """Algorithm 2: for every level, category and pair of users, add the smaller of their counts."""
    users = range(len(logs))
    incidence = [[0 for _ in users] for _ in users]
    for level in range(1, levels + 1):
        matrix = classification_matrix(logs, directory, level, categories)
        for category in {category for _, category in matrix}:
            for u in users:
                for v in users:
                    incidence[u][v] += min(matrix.get((u, category), 0), matrix.get((v, category), 0))
    return incidence


def partition(incidence: Sequence[Sequence[int]], k: int) -> list[list[int]]:
    """Algorithms 3 and 4, run while at least k users are left; the others then join the most similar clusters."""
    left = list(range(len(incidence)))
    clusters: list[list[int]] = []
    while len(left) >= k:
        pair = max(combinations(left, 2), key=lambda p: (incidence[p[0]][p[1]], -p[0], -p[1]))
        cluster = list(pair)
        while len(cluster) < k:
            others = [u for u in left if u not in cluster]
            cluster.append(max(others, key=lambda u: (sum(incidence[u][v] for v in cluster), -u)))
        left = [u for u in left if u not in cluster]
        clusters.append(cluster)
    homes = [max(range(len(clusters)), key=lambda z: (sum(incidence[u][v] for v in clusters[z]), -z)) for u in left]
    for user, home in zip(left, homes, strict=True):
        clusters[home].append(user)
    return clusters


def whole_quotas(sizes: Sequence[int], tie: Sequence[float]) -> list[int]:
    """Equation 3 in whole queries: together the mean size (half rounds up), the largest fractions rounded up."""
    k = len(sizes)
    exact = [Fraction(size, k) for size in sizes]
    quota = [int(q) for q in exact]
    rest = int(sum(exact) + Fraction(1, 2)) - sum(quota)
    for i in sorted(range(k), key=lambda i: (quota[i] - exact[i], tie[i]))[:rest]:
        quota[i] += 1
    return quota


def centroid_part(repetitions: Sequence[int], size: int, total: int, quota: int, chance: Sequence[float]) -> list[int]:
    """Algorithm 5 for one user, whose queries come sorted by repetitions: how often each enters the centroid log."""
    contribution = Fraction(size, total)
    entered = [0] * len(repetitions)
    for i, times in enumerate(repetitions):
        x = contribution * times
        copies = int(x) + (1 if chance[i] < x - int(x) else 0)
        entered[i] = min(copies, quota - sum(entered))
    while sum(entered) < quota:
        for i, times in enumerate(repetitions):
            if entered[i] < times and sum(entered) < quota:
                entered[i] += 1
    return entered


def semantic_remain(original: Matrix, centroid: Matrix) -> Fraction:
    """SRP (Equation 4) at one level: what the original has in common with the centroid, over all of the original."""
    own: Counter[CategoryPath] = Counter()
    published: Counter[CategoryPath] = Counter()
    for (_, category), times in original.items():
        own[category] += times
    for (_, category), times in centroid.items():
        published[category] += times
    return Fraction(sum((own & published).values()), sum(own.values()))
