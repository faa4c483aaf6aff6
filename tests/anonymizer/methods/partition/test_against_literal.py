"""Is the fast Partition the literal one? Random taxonomies and logs against Algorithm 2.4 in plain sets."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.methods.clump.literal import Tree
from shoal.anonymizer.methods.partition.literal import partition
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import make_log
from tests.examples import examples


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """A random tree (the parent of each node but the root), and transactions of its numbers."""
    above = [draw(st.integers(max(0, v - 4), v)) for v in range(draw(st.integers(1, 14)))]
    items = st.lists(st.integers(len(above) // 2, len(above)), max_size=5)
    return above, draw(st.lists(items, min_size=4, max_size=20))


def copies(known: Knowledge, members: list[list[int]], cut: frozenset[int]) -> dict[int, int]:
    """Of each node of the cut, as many as every member can supply."""
    supply = [Counter(v for x in t for v in known.taxonomy.path(x) if v in cut) for t in members]
    return {v: min(count[v] for count in supply) for v in cut}


@examples(400)
@given(logs(), st.integers(2, 4), st.sampled_from(["no", "yes"]))
def test_partition_is_the_literal_algorithm(example: tuple[list[int], list[list[int]]], k: int, bags: str) -> None:
    above, transactions = example
    users = pl.Series([f"u{i:02d}" for i in range(len(transactions))], dtype=pl.String)
    log = make_log(users, pl.Series([" ".join(f"n{v}" for v in t) for t in transactions], dtype=pl.String))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tree"
        path.write_text("".join(f"n{v + 1}\tn{p}\n" for v, p in enumerate(above)))
        known = Knowledge(path)
        leaves = [[v for x in t if (v := known.taxonomy.leaf(f"n{x}")) is not None] for t in transactions]
        some = [i for i, t in enumerate(leaves) if t]
        if len(some) < k:
            return
        made = make_method("partition", {"k": k, "bags": bags}, known).anonymize(build_profiles(log, known.words))
    expected = {}
    for part in partition(Tree(known.taxonomy.parent), [frozenset(leaves[i]) for i in some], k):
        members = [some[t] for t in part.members]
        full = copies(known, [leaves[i] for i in members], part.cut)
        expected[tuple(members)] = full if bags == "yes" else dict.fromkeys(full, 1)
    found = {}
    for row in range(len(made.release)):
        names = tuple(sorted(made.assignment.user[made.assignment.profile == row].tolist()))
        found[names] = {known.taxonomy.node[x.lower()]: int(n) for x, n in made.release.profile(row).items()}
    assert found == expected
