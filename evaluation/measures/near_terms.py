"""Which published terms may stand for which others? Pairs of leaves a few edges apart in the taxonomy."""

import numpy as np
import polars as pl

from shoal.corpus.knowledge.taxonomy import Taxonomy

NEAR = 4  # edges: what Liu & Wang's method takes for relevant unless told otherwise


def near_terms(terms: np.ndarray, others: np.ndarray, taxonomy: Taxonomy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of `terms`, the positions in `others` of leaves 1 to NEAR edges away, the nearest first.

    Both are leaves, -1 where the taxonomy does not know the term. Gives start (one more than terms), position, edges.
    """
    found = [
        _above(terms, taxonomy, up).join(_above(others, taxonomy, NEAR - up + less), on="node")
        .with_columns(edges=pl.lit(NEAR + less, dtype=pl.Int64))
        for up in range(1, NEAR)
        for less in range(1 - (NEAR - up), 1)
    ]  # fmt: skip
    pairs = pl.concat(found).filter(pl.col("leaf") != pl.col("leaf_right"))
    pairs = pairs.group_by("place", "place_right").agg(pl.col("edges").min()).sort("place", "edges", "place_right")
    start = np.searchsorted(pairs["place"].to_numpy(), np.arange(len(terms) + 1)).astype(np.int64)
    return start, pairs["place_right"].to_numpy().astype(np.int64), pairs["edges"].to_numpy()


def _above(leaves: np.ndarray, taxonomy: Taxonomy, steps: int) -> pl.DataFrame:
    """The node so many steps above each leaf, where there is one."""
    node = leaves.copy()
    for _ in range(steps):
        node = np.where(node >= 0, taxonomy.parent[node], -1)
    place = np.flatnonzero(node >= 0)
    columns = {"place": place, "leaf": leaves[place], "node": node[place].astype(np.int64)}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))
