"""How do other programs of the same method do? Public Apriori and Partition beside ours, on the same transactions.

One takes part where SHOAL_APRIORI_PEER or SHOAL_PARTITION_PEER names a command. It is called with a file of JSON: `k`,
`m` (Apriori's), `tree` (rows of node, parent and leaves below; parents first, the root's is empty) and `transactions`
(lists of leaves). It prints {"seconds": the processor time of its algorithm, "cut": {leaf: node}} for the leaves that
it generalizes for all, or instead of `cut` "sets": of each transaction, in their order, the nodes that are published.
A few lines around a public implementation do that.
"""

import json
import os
import resource
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.anonymizer.base import ProfileMethod
from shoal.anonymizer.cuts import nodes_above
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.transactions import Transactions, transactions_of
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.clump import SETTINGS, THESIS_SIZE, seconds_of, zipf_profiles
from shoal.evaluation.run.timing import fitted_exponent, in_own_process

K, M = SETTINGS["k"], 2


@dataclass(frozen=True)
class Peer:
    """A method that others have programmed, too: who names their program, and how much sooner ours must be."""

    method: str
    variable: str
    times: int
    loss: float  # how many times the other's NCP ours may be
    in_groups: bool  # whether k transactions share what is published of each


PEERS = (
    Peer("apriori", "SHOAL_APRIORI_PEER", 50, 1, False),
    # Greedy both, but the public one expands the node that loses most, ours the one whose children save most.
    Peer("partition", "SHOAL_PARTITION_PEER", 20, 1.1, True),
)
SIZES = {False: (1_000, 4_000), True: (1_000, 10_000, THESIS_SIZE)}

Sets = Sequence[Sequence[str]]  # the nodes that are published of each transaction


@dataclass(frozen=True)
class Compared:
    """Processor seconds and NCP of ours and of another on the same transactions."""

    size: int
    ours: float
    theirs: float
    whole: float  # all that their process took, reading the question included
    our_loss: float
    their_loss: float


def run(full: bool, progress: Progress) -> list[Row]:
    rows: list[Row] = []
    for peer in PEERS:
        if not os.environ.get(peer.variable):
            named = f"none is named: {peer.variable} is empty"
            rows.append(Row(f"{peer.method} against another", "a program of yours", "a peer", named, True))
            continue
        measured = []
        for done, size in enumerate(SIZES[full]):
            progress(done, len(SIZES[full]), f"{peer.method} against another: {size:,} transactions")
            measured.append(compared(peer, size))
        rows += peer_rows(peer, measured)
    return rows


def compared(peer: Peer, size: int) -> Compared:
    profiles = zipf_profiles(size)
    question = Question(profiles, Knowledge().taxonomy)
    (ours, _), _, _ = in_own_process(seconds_of, peer.method, size)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = ask(peer, question.asked)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    theirs = told["sets"] if "sets" in told else [[told["cut"].get(x, x) for x in t] for t in question.leaves]
    if peer.in_groups:
        refuse_small_groups(peer, theirs)
    own = question.loss(published_sets(peer.method, profiles, question.transactions))
    return Compared(size, ours, told["seconds"], whole, own, question.loss(theirs))


def peer_rows(peer: Peer, measured: Sequence[Compared]) -> list[Row]:
    """At each size how many times as long another takes and what both lose, and the growth of both."""
    rows, what = [], f"{peer.method} against another"
    for at in measured:
        where, ratio = f"{at.size:,} transactions", at.theirs / at.ours
        took = f"{ratio:,.0f} times ({at.theirs:.1f} s, {at.ours * 1000:.0f} ms; its whole process {at.whole:.1f} s)"
        rows.append(Row(f"{what}, speed", where, f"at least {peer.times} times", took, ratio >= peer.times))
        limit = f"at most {'' if peer.loss == 1 else f'{peer.loss:g} times '}{at.their_loss:.4f}"
        kept = at.our_loss <= peer.loss * at.their_loss + 1e-9
        rows.append(Row(f"{what}, NCP", where, limit, f"{at.our_loss:.4f}", kept))
    if len(measured) > 1:
        sizes = [at.size for at in measured]
        ours, theirs = (fitted_exponent(sizes, [getattr(at, who) for at in measured]) for who in ("ours", "theirs"))
        where = f"{sizes[0]:,} to {sizes[-1]:,} transactions"
        rows.append(Row(f"{what}, growth", where, f"at most {theirs:.2f}", f"{ours:.2f}", ours <= theirs))
    return rows


def ask(peer: Peer, asked: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "asked.json"
        path.write_text(json.dumps(asked))
        command = [*shlex.split(os.environ[peer.variable]), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"{peer.variable} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def refuse_small_groups(peer: Peer, sets: Sets) -> None:
    fewest = min(Counter(frozenset(nodes) for nodes in sets).values())
    if fewest < K:
        raise InputError(f"{peer.variable} publishes a set of {fewest} transactions alone, not of k={K}")


def published_sets(method: str, profiles: Profiles, transactions: Transactions) -> list[list[str]]:
    """What our method publishes of each transaction."""
    made_by = make_method(method, {"k": K})
    assert isinstance(made_by, ProfileMethod)
    made = made_by.anonymize(profiles)
    profile = dict(zip(made.assignment.user.tolist(), made.assignment.profile.tolist(), strict=True))
    weights, labels = made.release.weights, made.release.labels
    sets = [[labels[i] for i in weights[[row]].indices] for row in range(len(made.release))]
    return [sets[profile[user]] for user in transactions.user.tolist()]


@dataclass(frozen=True)
class Question:
    """What both programs are asked, and what an answer loses."""

    profiles: Profiles
    taxonomy: Taxonomy

    @cached_property
    def transactions(self) -> Transactions:
        return transactions_of(self.profiles, self.taxonomy)

    @cached_property
    def leaves(self) -> list[list[str]]:
        """The leaves of each transaction, by name."""
        columns = self.transactions.columns
        name = [self.taxonomy.labels[v] for v in columns.path[columns.path_start[1:] - 1]]
        return [[name[i] for i in items] for items in np.split(columns.item, columns.start[1:-1])]

    @property
    def asked(self) -> dict[str, Any]:
        nodes = nodes_above(self.transactions, self.taxonomy)
        names = [self.taxonomy.labels[v] for v in nodes.node]
        tree = [
            [name, "" if parent < 0 else names[parent], int(self.taxonomy.leaves[v])]
            for name, parent, v in zip(names, nodes.parent.tolist(), nodes.node, strict=True)
        ]
        return {"k": K, "m": M, "tree": tree, "transactions": self.leaves}

    def loss(self, sets: Sets) -> float:
        """NCP: of each item the share of all leaves that are below the node published for it, of a leaf none."""
        held, lost = self.leaves, 0
        known: dict[tuple[frozenset[str], str], int] = {}
        for nodes, leaves in zip(map(_lowered, sets), held, strict=True):
            for leaf in leaves:
                if (nodes, leaf) not in known:
                    known[nodes, leaf] = self._lost(nodes, leaf)
                lost += known[nodes, leaf]
        return lost / int(self.taxonomy.leaves[0]) / sum(map(len, held))

    def _lost(self, nodes: frozenset[str], leaf: str) -> int:
        for v in self.taxonomy.path(self.taxonomy.node[leaf.lower()]):
            if self.taxonomy.labels[v].lower() in nodes:
                return 0 if self.taxonomy.leaves[v] == 1 else int(self.taxonomy.leaves[v])
        raise InputError(f"nothing that is published stands for {leaf!r}: {', '.join(sorted(nodes)[:5])}")


def _lowered(nodes: Sequence[str]) -> frozenset[str]:
    return frozenset(node.lower() for node in nodes)
