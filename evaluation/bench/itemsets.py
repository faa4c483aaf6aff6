"""What does k^m-anonymity cost? Apriori and HgHs, and another program's Apriori beside ours where there is one.

Another implementation of Apriori takes part where SHOAL_APRIORI_PEER names a command. It is called with a file of JSON:
`k`, `m`, `tree` (rows of node, parent and leaves below; parents first, the root's is empty) and `transactions` (lists
of leaves), and prints {"seconds": ..., "cut": {leaf: node}} for the leaves that it generalizes. A few lines around a
public implementation do that.
"""

import json
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.anonymizer.base import ProfileMethod
from shoal.anonymizer.cuts import nodes_above
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.transactions import transactions_of
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.clump import MEGABYTES, MINUTES, THESIS_SIZE, zipf_profiles
from shoal.evaluation.run.timing import in_own_process

SMALL_SIZE = 1_000
K = 5
PEER = "SHOAL_APRIORI_PEER"
TIMES_A_PEER = 50


@dataclass(frozen=True)
class Work:
    method: str
    m: int
    size: int


SMALL = (Work("apriori", 2, SMALL_SIZE), Work("apriori", 3, SMALL_SIZE), Work("hghs", 2, SMALL_SIZE))
FULL = (*SMALL, Work("apriori", 2, THESIS_SIZE), Work("hghs", 2, THESIS_SIZE))


def run(full: bool, progress: Progress) -> list[Row]:
    rows, works = [], FULL if full else SMALL
    for done, work in enumerate(works):
        progress(done, len(works), f"{work.method}, m={work.m}: {work.size:,} transactions")
        rows.append(_cost_row(work))
        if os.environ.get(PEER) and work.method == "apriori" and work.m == 2:
            rows += peer_rows(work)
    return rows


def _cost_row(work: Work) -> Row:
    (seconds, items), _, megabytes = in_own_process(seconds_of, work)
    return Row(
        f"{work.method}, k={K} m={work.m}",
        f"{work.size:,} transactions",
        f"{MINUTES} min, {MEGABYTES:,} MB",
        f"{seconds:.2f} s of processor time, {megabytes:,.0f} MB, {items:,} items left",
        seconds <= 60 * MINUTES and megabytes <= MEGABYTES,
    )


def seconds_of(work: Work) -> tuple[float, int]:
    """Processor seconds of one release, the best of three where it is quick, and how many items are published.

    Compiling and reading WordNet are not counted.
    """
    method = make_method(work.method, {"k": K, "m": work.m})
    assert isinstance(method, ProfileMethod)
    method.anonymize(zipf_profiles(50))
    profiles, items = zipf_profiles(work.size), 0
    runs: list[float] = []
    while not runs or (len(runs) < 3 and runs[0] < 10):
        before = time.process_time()
        items = len(method.anonymize(profiles).release.labels)
        runs.append(time.process_time() - before)
    return min(runs), items


def peer_rows(work: Work) -> list[Row]:
    """The ratio of processor seconds, and the NCP of both cuts, on the same transactions and tree."""
    taxonomy, profiles = Knowledge().taxonomy, zipf_profiles(work.size)
    ours, _ = seconds_of(work)
    asked, loss = _question(work, profiles, taxonomy)
    told = ask_peer(asked)
    method = make_method("apriori", {"k": K, "m": work.m})
    assert isinstance(method, ProfileMethod)
    published = method.anonymize(profiles).release.labels
    own_loss, peer_loss = loss(_cut_by_labels(published, taxonomy)), loss(told["cut"])
    ratio, at = told["seconds"] / ours, f"{work.size:,} transactions"
    seconds = f"{ratio:,.0f} times ({told['seconds']:.1f} s, {ours * 1000:.0f} ms)"
    return [
        Row("apriori against another, speed", at, f"at least {TIMES_A_PEER} times", seconds, ratio >= TIMES_A_PEER),
        Row(
            "apriori against another, NCP",
            at,
            f"at most {peer_loss:.4f}",
            f"{own_loss:.4f}",
            own_loss <= peer_loss + 1e-9,
        ),
    ]


def _question(
    work: Work, profiles: Profiles, taxonomy: Taxonomy
) -> tuple[dict[str, Any], Callable[[dict[str, str]], float]]:
    """What another program is asked, and the NCP of the cut that it answers."""
    transactions = transactions_of(profiles, taxonomy)
    columns, nodes = transactions.columns, nodes_above(transactions, taxonomy)
    names = [taxonomy.labels[v] for v in nodes.node]
    leaf = [taxonomy.labels[v] for v in columns.path[columns.path_start[1:] - 1]]
    tree = [
        [name, "" if parent < 0 else names[parent], int(taxonomy.leaves[v])]
        for name, parent, v in zip(names, nodes.parent.tolist(), nodes.node, strict=True)
    ]
    held = np.split(columns.item, columns.start[1:-1])
    occurrences = np.bincount(columns.item, minlength=len(leaf))
    penalty = dict(zip(names, (nodes.penalty / taxonomy.leaves[0]).tolist(), strict=True))

    def loss(cut: dict[str, str]) -> float:
        return float(occurrences @ [penalty[cut.get(name, name)] for name in leaf] / occurrences.sum())

    return {"k": K, "m": work.m, "tree": tree, "transactions": [[leaf[i] for i in t] for t in held]}, loss


def ask_peer(asked: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "asked.json"
        path.write_text(json.dumps(asked))
        done = subprocess.run([*shlex.split(os.environ[PEER]), str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"{PEER} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _cut_by_labels(labels: list[str], taxonomy: Taxonomy) -> dict[str, str]:
    """The label of each leaf below what is published."""
    nodes = [taxonomy.node[label.lower()] for label in labels]
    below = [(v, w) for v in nodes for w in range(v, int(taxonomy.end[v])) if taxonomy.is_leaf[w]]
    return {taxonomy.labels[w]: taxonomy.labels[v] for v, w in below}
