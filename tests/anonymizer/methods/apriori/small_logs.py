"""What do the tests of cuts try? Random trees with a few transactions, as a log and as plain sets."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from hypothesis import strategies as st

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.methods.apriori.literal import Log
from shoal.anonymizer.methods.clump.literal import Tree
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log


@dataclass(frozen=True, eq=False)
class SmallLog:
    """A log, what is known of its words, and its transactions that are not empty."""

    typed: QueryLog
    knowledge: Knowledge
    users: list[int]  # who have a transaction
    transactions: list[frozenset[int]]

    @property
    def log(self) -> Log:
        tree = self.knowledge.taxonomy
        return Log(Tree(tree.parent), tree.labels, self.transactions)

    def anonymize(self, method: str, **settings: object) -> Anonymized:
        return make_method(method, settings, self.knowledge).run(self.typed)

    def published(self, made: Anonymized) -> list[frozenset[int]]:
        """The nodes that are published of each transaction, none where its user has no profile."""
        row = dict(zip(made.assignment.user.tolist(), made.assignment.profile.tolist(), strict=True))
        node = self.knowledge.taxonomy.node
        profiles = [made.release.profile(row[user]) if user in row else {} for user in self.users]
        return [frozenset(node[label.lower()] for label in profile) for profile in profiles]


def edges(text: str) -> list[tuple[str, str]]:
    """Those of "Fruit: Apple Orange, Food: Fruit": (child, parent)."""
    parts = [part.split(": ") for part in text.split(", ")]
    return [(child, parent) for parent, children in parts for child in children.split(" ")]


def small_log(tree: list[tuple[str, str]], queries: list[str]) -> SmallLog:
    """Of the edges (child, parent) of a tree, and what each user typed."""
    users = pl.Series([f"u{i:02d}" for i in range(len(queries))], dtype=pl.String)
    log = make_log(users, pl.Series(queries, dtype=pl.String))
    with TemporaryDirectory() as folder:
        (Path(folder) / "tree").write_text("".join(f"{child}\t{parent}\n" for child, parent in tree))
        known = Knowledge(Path(folder) / "tree")
        leaves = [frozenset(v for word in q.split() if (v := known.taxonomy.leaf(word.lower()))) for q in queries]
        known.words("")  # read while the file is there
    some = [i for i, t in enumerate(leaves) if t]
    return SmallLog(log, known, some, [leaves[i] for i in some])


@st.composite
def small_logs(draw: st.DrawFn) -> SmallLog:
    """The parent of each node of a tree but its root, and transactions of its numbers."""
    above = [draw(st.integers(max(0, v - 4), v)) for v in range(draw(st.integers(1, 12)))]
    items = st.lists(st.integers(len(above) // 2, len(above)), max_size=4)
    transactions = draw(st.lists(items, min_size=4, max_size=14))
    tree = [(f"n{v + 1}", f"n{p}") for v, p in enumerate(above)]
    return small_log(tree, [" ".join(f"n{v}" for v in t) for t in transactions])
