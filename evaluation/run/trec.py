"""How do others score an experiment? Its rankings as TREC runs, what is relevant as qrels, and its queries as topics.

A topic is a person's query: p17.2 is the second query of person 17, a number that says nothing of the name in the log.
people.tsv and profiles.tsv, by which `shoal search` makes the same runs, are the log's and for its owner only.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import ir_measures
import numpy as np
import polars as pl
from ir_measures import AP, RR, NumRel, P, nDCG

from shoal.corpus.errors import InputError
from shoal.corpus.logs.aol import save_log
from shoal.evaluation.measures.base import DEPTH
from shoal.evaluation.protocol.truth import Truth
from shoal.evaluation.run.outcomes import Run
from shoal.evaluation.run.results import Results, Row, csv_text, write_whole
from shoal.search.trec import TrecRun, field, names_of

FOLDER = "trec"
_TOPIC = re.compile(r"p\d+\.\d+")
_MEASURES = {"p10": P @ DEPTH, "ndcg10": nDCG @ DEPTH, "mrr": RR}


class TrecFiles:
    """Writes what an experiment ranked, once it has run with the orders kept."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run, self.folder = run, folder
        self.queries, self.index = run.workload.queries, run.laboratory.index

    @cached_property
    def topics(self) -> list[str]:
        """A name for each test query."""
        users = np.unique(self.queries.user)
        number = np.random.default_rng([self.run.experiment.seeds[0], 11]).permutation(len(users)) + 1
        person = number[np.searchsorted(users, self.queries.user)].tolist()
        seen = dict.fromkeys(person, 0)
        names = []
        for one in person:
            seen[one] += 1
            names.append(f"p{one}.{seen[one]}")
        return names

    @cached_property
    def _documents(self) -> dict[int, str]:
        """The name of every candidate."""
        different = np.unique(self.queries.documents[self.queries.documents >= 0]).tolist()
        return dict(zip(different, names_of(self.index, different), strict=True))

    def write(self, results: Results) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for truth in self.run.workload.truths:
            name = f"qrels{truth.suffix.replace('_', '-')}.txt"
            write_whole(self.folder / name, "".join(self._qrels(truth)))
        texts = self.queries.texts.gather(self.queries.query).to_list()
        _write_pairs(self.folder / "topics.tsv", "query", zip(self.topics, texts, strict=True), 0o644)
        people = self.run.workload.train.users.gather(self.queries.user).to_list()
        _write_pairs(self.folder / "people.tsv", "user", zip(self.topics, people, strict=True), 0o600)
        save_log(self.run.workload.train, self.folder / "profiles.tsv")
        rows = [row for named in results.rows if "failure" not in named for row in self._runs(named)]
        write_whole(self.folder / "runs.csv", csv_text(rows, ("file", "method", "params", "seed", "ranking")))

    def _qrels(self, truth: Truth) -> Iterator[str]:
        row, document = truth.pairs(self.queries)
        names = names_of(self.index, document)
        for topic, name in zip(truth.row[row].tolist(), names, strict=True):
            yield f"{self.topics[topic]} 0 {field(name)} 1\n"

    def _runs(self, named: Row) -> Iterator[Row]:
        """Write the runs of one row of the results, one for each seed and ranking."""
        setting, seeds = self.run.measured[f"{named['method']} {named['params']}".strip()], self.run.experiment.seeds
        for seed in seeds:
            for ranking, order in self.run.laboratory.orders(setting, seed).items():
                ends = ([f"seed={seed}"] if len(seeds) > 1 else []) + ([ranking] if ranking != "alone" else [])
                name = "-".join(re.sub(r"[^\w.=-]+", "-", part) for part in (str(setting), *ends))
                self._ranked(order, name).save(self.folder / f"{name}.run")
                yield {"file": f"{name}.run", **_named(named), "seed": seed, "ranking": ranking}

    def _ranked(self, order: np.ndarray, name: str) -> TrecRun:
        ranked = np.take_along_axis(self.queries.documents, order.astype(np.int64), axis=1)
        found = [tuple(self._documents[document] for document in row if document >= 0) for row in ranked.tolist()]
        scores = tuple(1 - np.arange(len(row)) / len(row) for row in found)
        return TrecRun(tuple(self.topics), tuple(found), scores, name)


def _named(row: Row) -> Row:
    return {name: row[name] for name in ("method", "params")}


def _write_pairs(path: Path, second: str, pairs: Iterable[tuple[str, str]], mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
        file.writelines(f"{one}\t{other}\n" for one, other in [("topic", second), *pairs])


def score_run(qrels: str | Path, run: str | Path) -> dict[str, float]:
    """What ir_measures says of a run, by the names and definitions of results.csv.

    ``AP@10`` is divided by the relevant documents that fit into ten ranks, and not by all of them. Every person counts
    the same: the means over the queries of each come first. Topics that name no person (`p17.2` does) count one by one.

    >>> news.run({"1": "kitchen dinner"}).save(run_file)
    >>> shoal.score_run(qrels_file, run_file)  # of the document that is found first
    {'ap10': 1.0, 'p10': 0.1, 'ndcg10': 1.0, 'mrr': 1.0}
    """
    judged, ranked = (_read(path, what) for path, what in ((qrels, "qrels"), (run, "run")))
    measures = [AP @ DEPTH, NumRel, *_MEASURES.values()]
    values = pl.DataFrame(
        [(one.query_id, str(one.measure), float(one.value)) for one in ir_measures.iter_calc(measures, judged, ranked)],
        schema={"topic": pl.String, "measure": pl.String, "value": pl.Float64},
        orient="row",
    ).pivot("measure", index="topic", values="value")
    fitting = pl.col("NumRel").clip(1, DEPTH)
    columns = [(pl.col(str(AP @ DEPTH)) * pl.col("NumRel") / fitting).alias("ap10")]
    columns += [pl.col(str(measure)).alias(name) for name, measure in _MEASURES.items()]
    person = pl.Series("person", list(map(_person, values["topic"].to_list())))
    means = values.select(columns).with_columns(person).group_by("person").mean().drop("person")
    return means.mean().row(0, named=True)


def _person(topic: str) -> str:
    return topic.partition(".")[0] if _TOPIC.fullmatch(topic) else f"topic {topic}"


def _read(path: str | Path, what: str) -> Sequence[ir_measures.Qrel | ir_measures.ScoredDoc]:
    read = ir_measures.read_trec_qrels if what == "qrels" else ir_measures.read_trec_run
    try:
        lines = list(read(str(path)))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as TREC {what}: give a file of {_LINES[what]}") from error
    if not lines:
        raise InputError(f"{path} is empty: expected TREC {what}, lines of {_LINES[what]}")
    return lines


_LINES = {"qrels": "topic, 0, document and relevance", "run": "topic, Q0, document, rank, score and name"}
