"""Does equality release what k users typed, and nothing else?"""

import polars as pl

from shoal.anonymizer.methods.equality import Equality
from shoal.corpus.querylog import make_log

ASKED = {
    "ann": ["Tiger Woods", "tiger woods yacht", "wine"],
    "bob": ["tiger  woods", "tiger woods wife"],
    "cid": ["tiger woods", "tiger woods", "woods tiger", "wine"],
}


def test_queries_of_k_users_are_released_with_their_number_of_users() -> None:
    rows = [(user, query) for user, queries in ASKED.items() for query in queries]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    made = Equality(k=2).anonymize(log)
    queries = made.release.queries
    assert queries is not None
    found = sorted(zip(queries.query, queries.count.tolist(), queries.degree.tolist(), strict=True))
    assert found == [
        ("tiger woods", 1, 3),
        ("tiger woods", 1, 3),
        ("tiger woods", 2, 3),
        ("wine", 1, 2),
        ("wine", 1, 2),
    ]
    assert made.suppressed.occurrences == 3
    assert made.suppressed.users == 0
    profiles = sorted(sorted(made.release.profile(row).items()) for row in range(3))
    assert profiles == [
        [("tiger", 1), ("wine", 1), ("woods", 1)], [("tiger", 1), ("woods", 1)],
        [("tiger", 2), ("wine", 1), ("woods", 2)],
    ]  # fmt: skip
