"""On which logs is a method tried? An ordinary small one, and those that break what nobody thought of."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.querylog import QueryLog, make_log

INTERESTS = (
    ("red wine", "wine cheese", "white wine bottle", "beer brewery", "cheese recipe", "vineyard tour"),
    ("used car", "car insurance", "truck tires", "car engine repair", "motorcycle helmet", "car dealer"),
    ("flight hotel", "cheap flight", "hotel island beach", "island ferry", "museum ticket", "beach resort"),
    ("football score", "football team", "baseball glove", "tennis racket", "football stadium", "soccer ball"),
    ("heart disease", "doctor hospital", "diabetes diet", "back pain", "hospital nurse", "cancer treatment"),
)
_ILLNESSES = ("cancer", "diabetes", "asthma", "malaria", "cancer epilepsy")
EVERYBODY = ("weather", "news", "map", "music video")
_START = 1_141_171_200  # 2006-03-01, the first day of AOL's log
_HOUR = 3600


def sample_log(users: int = 40, seed: int = 7) -> QueryLog:
    """Users with an interest each, some queries that everybody types, and one of their own; ids like AOL's."""
    rng = np.random.default_rng(seed)
    own = rng.choice(_words(), users, replace=False)
    rows: list[tuple[str, str]] = []
    for user in range(users):
        interest = INTERESTS[user % len(INTERESTS)]
        queries = [*rng.choice(interest, 4, replace=False), *rng.choice(EVERYBODY, 2, replace=False), own[user]]
        rows += [(f"{90417700 + 37 * user}", str(query)) for query in queries]
    return log_of(rows)


def log_of(rows: list[tuple[str, str]]) -> QueryLog:
    """A log from (user, query) rows, an hour apart."""
    users, queries = ([row[column] for row in rows] for column in (0, 1))
    times = _START + _HOUR * np.arange(len(rows), dtype=np.int64)
    return make_log(pl.Series(users, dtype=pl.String), pl.Series(queries, dtype=pl.String), times)


@cache
def _words() -> np.ndarray:
    """The words of WordNet without digits and hyphens."""
    return np.array([word for word in load_wordnet().words if word.isalpha()])


@cache
def awkward_logs() -> dict[str, QueryLog]:
    """Logs on which a method gives a clear error or a correct release."""
    words = _words().tolist()
    many = " ".join(words[:: len(words) // 10_000][:10_000])
    ordinary = [(f"user{i}", query) for i in range(12) for query in INTERESTS[i % 2][i % 3 :]]
    return {
        "an empty log": log_of([]),
        "one user": log_of([("user", query) for query in INTERESTS[0]]),
        "two users": log_of([("first", "red wine"), ("second", "red wine")]),
        "four users": log_of([(f"user{i}", f"{query}") for i in range(4) for query in INTERESTS[i]]),
        "users who are all equal": log_of([(f"user{i}", query) for i in range(12) for query in INTERESTS[0]]),
        "users who share no term": log_of([(f"user{i}", f"{words[701 * i]} {words[701 * i + 9]}") for i in range(12)]),
        "one query per user": log_of([(f"user{i}", INTERESTS[i % 2][0]) for i in range(12)]),
        "the same query many times": log_of([*ordinary, *[("user0", "red wine")] * 200]),
        "terms that are all sensitive": log_of([(f"user{i}", f"{_ILLNESSES[i % 5]} pain") for i in range(15)]),
        "terms that no taxonomy knows": log_of([(f"user{i}", f"zzyzxq{i % 3} qxqxq") for i in range(12)]),
        "users of whom some have no known term": log_of([*ordinary, ("stranger", "qxqxq"), ("silent", "the of a")]),
        "one user with 10,000 terms": log_of([*ordinary, ("reader", many)]),
        "queries of signs and other scripts": log_of(
            [*ordinary, ("user0", "+++"), ("user1", '"'), ("user2", "вино 酒 κρασί"), ("user3", "c++ | a|b")]
        ),
    }


GOODS = (
    "wine Alcohol, vino Alcohol, raw-milk Milk, homo-milk Milk, jackets Clothes, pants Clothes, boots Footwear, "
    "shoes Footwear, Alcohol Edibles, Milk Edibles, Clothes Apparel, Footwear Apparel, Edibles Goods, Apparel Goods"
)


def tampering_logs(folder: Path) -> list[tuple[QueryLog, Knowledge]]:
    """Small logs with repeated queries and users without a term, under WordNet and under Liu & Wang's tree of goods.

    Of each, some terms are private, and most are public.
    """
    tree, private = folder / "goods.tsv", folder / "private.tsv"
    private.write_text("".join(f"{term}\n" for term in ("beer", "helmet", "ferry", "vineyard", "vino", "pants")))
    edges = [edge.split(" ") for edge in GOODS.split(", ")]
    tree.write_text("".join(f"{child}\t{parent}\n" for child, parent in edges))
    goods = [child for child, _ in edges if child.islower()]
    rng = np.random.default_rng(5)
    interests = [rng.choice([*INTERESTS[u % 3], *EVERYBODY], 6).tolist() for u in range(15)]
    shopping = [[" ".join(rng.choice(goods[u % 3 :], 2)) for _ in range(3)] for u in range(15)]
    known = Knowledge(sensitive_file=private)
    return [(_repeating_log(interests), known), (_repeating_log(shopping), replace(known, taxonomy_file=tree))]


def _repeating_log(queries: list[list[str]]) -> QueryLog:
    """The queries of each user in sessions of three, the first again and again, and two users without a term."""
    rows = [(f"{5000 + 13 * u}", query) for u, own in enumerate(queries) for query in [*own, own[0], own[0]]]
    log = log_of([*rows, ("7001", "qxqxq zzyzxq"), ("7002", "+++")])
    number = np.arange(len(log))
    return replace(log, time=_START + _HOUR * (number // 3) + number % 3)
