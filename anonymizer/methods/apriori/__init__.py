"""How does Apriori anonymize? One cut of the taxonomy for all users, raised until any m items are shared by k of them.

M. Terrovitis, N. Mamoulis and P. Kalnis, Privacy-preserving Anonymization of Set-valued Data, 2008, as section 2.5 and
Algorithm 2.3 (AA) of A. Milani Fard's thesis tell it, with the direct anonymization (DA) that it calls in `repairs`.
"""

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.cuts import (
    DOES_NOT_PROTECT,
    PROTECTS,
    Nodes,
    holders,
    known_items,
    most_known,
    nodes_above,
    places_of_items,
    publish_cut,
    sharing_profiles,
)
from shoal.anonymizer.methods.apriori.repairs import Cut, Level, leaves_as_cut, repair
from shoal.anonymizer.transactions import Transactions, transactions_of
from shoal.corpus.columns import starts
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

LOOKS_PER_BLOCK = 200  # at items, between two calls of progress: some tenths of a second


class Apriori(ProfileMethod):
    """Guarantee: any m published items of a profile are in at least k profiles."""

    info = MethodInfo(
        id="apriori",
        title="One cut for all, so that k users share any m items",
        paper=(
            "M. Terrovitis, N. Mamoulis and P. Kalnis (2008), Privacy-preserving Anonymization of Set-valued Data, and "
            "A. Milani Fard (2010), Algorithm 2.3"
        ),
        unit="user",
        family="generalize",
        protects=PROTECTS,
        does_not_protect=DOES_NOT_PROTECT,
        cluster="what is generalized is so for all users alike, and blocks would have cuts of their own",
    )
    k = sharing_profiles()
    m = known_items()

    def claim(self) -> Claim:
        return Claim("km-anonymity", {"k": self.k, "m": self.m, "suppressed": "nothing"})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        taxonomy = self.knowledge.taxonomy
        transactions = transactions_of(profiles, taxonomy)
        self.need_users(len(transactions), self.k)
        nodes = nodes_above(transactions, taxonomy)
        cut = self.cut(transactions, nodes, progress)
        return publish_cut(profiles, transactions, nodes.node[cut.at], taxonomy, self.claim())

    def cut(self, transactions: Transactions, nodes: Nodes, progress: Progress) -> Cut:
        """AA, lines 1-9: all sets of one size are right before those of the next are looked at."""
        columns = transactions.columns
        cut = leaves_as_cut(nodes, places_of_items(columns, nodes))
        nobody = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.uint64)
        row, bits = nobody
        size = 1
        while size <= most_known(self.m, nodes) and size <= _longest(transactions, cut):
            if size == 2:  # by then, few nodes are left
                row, bits = holders(columns, nodes, cut.at)
            _repair_all(_level(size, self.k, transactions, nodes, cut, row, bits), cut, progress)
            size += 1
        return cut


def _longest(transactions: Transactions, cut: Cut) -> int:
    """How many items the longest transaction has under a cut; those that became one stand side by side."""
    node, row = cut.at[transactions.columns.item], transactions.row
    return int(np.bincount(row[starts(node, row)]).max())


def _level(
    size: int, k: int, transactions: Transactions, nodes: Nodes, cut: Cut, row: np.ndarray, bits: np.ndarray
) -> Level:
    """All items wait: those of most users first, as in the count-tree of the paper, then by label."""
    ordered = np.lexsort((nodes.label, -nodes.users))
    place = np.empty_like(ordered)
    place[ordered] = np.arange(len(ordered))
    count, right = np.zeros(len(ordered), dtype=np.int64), np.full(len(ordered), -1)
    return Level(size, k, transactions.columns, nodes, place, ordered, row, bits, cut.is_in[ordered], count, right)


def _repair_all(level: Level, cut: Cut, progress: Progress) -> None:
    begin, total = 0, int(np.count_nonzero(level.waits))
    while begin < len(level.waits):
        left = min(total, int(np.count_nonzero(level.waits)))
        progress(total - left, total, f"sets of {level.size} items")
        begin = repair(level, cut, LOOKS_PER_BLOCK, begin)
