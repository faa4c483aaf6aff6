"""How does Partition group users? From the root down, expanding one node at a time while k users stay alike.

Y. He and J. F. Naughton, Anonymization of Set-Valued Data via Top-Down, Local Generalization, 2009, as Algorithm 2.4
of A. Milani Fard's thesis tells it. `bags=yes` is the LG(bag) of J. Liu and K. Wang, 2010, section V-A.
"""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.methods.partition.drilldown import State, Tree, drill_down, fewest_copies, new_state
from shoal.anonymizer.parameters import Parameter, group_size, one_of
from shoal.anonymizer.transactions import Transactions, publish_generalized, transactions_of
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

ITEMS_PER_BLOCK = 2_000_000  # visited between two calls of progress: some tenths of a second


class Partition(ProfileMethod):
    """Guarantee: the terms of at least k users generalize to the same set of items, which is what is published."""

    info = MethodInfo(
        id="partition",
        title="Top-down local generalization",
        paper="Y. He and J. F. Naughton (2009), Anonymization of Set-Valued Data via Top-Down, Local Generalization",
        unit="user",
        family="generalize",
        protects="Who of k users has which profile: after generalization the profiles of all members are the same.",
        does_not_protect=(
            "What all members of a group have in common is published, so it is known of each of them, sensitive or "
            "not; and no member typed a term of the taxonomy that is below none of the published items."
        ),
        cluster="blocks",
    )
    k = group_size()
    bags = Parameter(
        "no", one_of("no", "yes"), "whether as many copies of an item are kept as every member can supply", "neither"
    )

    def claim(self) -> Claim:
        duplicates = "keep" if self.bags == "yes" else "drop"
        return Claim("transactional-k-anonymity", {"k": self.k, "published": "cut", "duplicates": duplicates})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        taxonomy = self.knowledge.taxonomy
        transactions = transactions_of(profiles, taxonomy)
        self.need_users(len(transactions), self.k)
        state = self._drill_down(transactions, taxonomy, progress)
        copies = _copies_all_can_supply(transactions, state, len(taxonomy))
        if self.bags == "no":
            copies.data[:] = 1
        return publish_generalized(profiles, transactions, state.done, copies, taxonomy, self.claim())

    def _drill_down(self, transactions: Transactions, taxonomy: Taxonomy, progress: Progress) -> State:
        tree = Tree(taxonomy.end, taxonomy.depth, taxonomy.leaves)
        state = new_state(transactions.columns)
        gain = np.full(len(taxonomy), -1, dtype=np.int64)
        finished = 0
        while state.waiting[0] > 0:
            progress(finished, len(transactions), "partitioning")
            finished += drill_down(transactions.columns, tree, state, self.k, gain, ITEMS_PER_BLOCK)
        return state


def _copies_all_can_supply(transactions: Transactions, state: State, nodes: int) -> csr_array:
    """Groups x nodes: of each node of a group's cut, the fewest items that a member has below it."""
    start = np.concatenate([[0], np.cumsum(np.bincount(state.done))])
    entries = fewest_copies(np.argsort(state.done, kind="stable"), start, transactions.columns, state)
    return csr_array(entries, shape=(len(start) - 1, nodes))
