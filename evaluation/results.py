"""What came out? One row per method and setting, how it compares with the controls, and the files that say so."""

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

COLUMNS = (
    "method", "params", "users", "queries", "ap10", "ap10_low", "ap10_high", "kept", "p10", "ndcg10", "mrr",
    "linkage1", "linkage3", "linkage5", "linkage10", "inference5", "anonymity_min", "anonymity_median",
    "bLM", "ncp", "ggd", "suppressed", "seconds", "peak_mb",
)  # fmt: skip
COSTS = ("seconds", "peak_mb")
_BY_PROFILE = ("users", "queries", "ap10", "ap10_low", "ap10_high", "kept", "p10", "ndcg10", "mrr")
# The same against what people clicked, which `kept` has no meaning for.
BY_CLICKS = (
    "users_clicks", "queries_clicks", "ap10_clicks", "ap10_clicks_low", "ap10_clicks_high", "p10_clicks",
    "ndcg10_clicks", "mrr_clicks",
)  # fmt: skip
PRECISION = (*_BY_PROFILE, *BY_CLICKS)
RELEASE_MEASURES = (
    *(name for name in COLUMNS[2:] if name not in (*COSTS, *PRECISION)),
    "linkage_test", "prosecutor", "journalist", "marketer", "inference1", "inference3", "inference10",
    "uniqueness1", "uniqueness3", "uniqueness5", "uniqueness10", "anonymity_mean", "alone", "users_with_nothing",
    "ggd_per_occurrence", "recall", "sDist", "length", "level", "srp1", "srp2", "srp3", "srp4", "srp5",
    "released_distinct", "released_occurrences", "query_linkage5", "rare_term_share",
    "linking_mean", "linking_max", "shared_max",
)  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """All that an experiment found. Only `costs` differ from run to run."""

    experiment: dict[str, Any]
    data: dict[str, Any]  # what was measured on: users, events, what was left out
    rows: list[Row]
    comparisons: list[Row]
    losers: list[Row]
    failures: list[Row]
    costs: list[Row]
    target: list[Row]


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The columns that some row has: the design's, those against clicks, all other measures, then the rest."""
    there = {name for row in rows for name in row}
    first = [name for name in dict.fromkeys((*COLUMNS, *BY_CLICKS, *RELEASE_MEASURES)) if name in there]
    return first + sorted(there.difference(first))


def write_results(folder: Path, results: Results, timings: bool = False) -> None:
    """results.csv, results.json, comparisons.csv, timings.csv and, in target mode, target.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    costs = {(row["method"], row["params"]): row for row in results.costs}
    rows = [{**row, **_cost(costs, row)} for row in results.rows] if timings else results.rows
    tables = {"results": rows, "comparisons": results.comparisons, "timings": results.costs, "target": results.target}
    for name, table in tables.items():
        if table:
            write_whole(folder / f"{name}.csv", csv_text(table, _order(name, table)))
    content = {name: value for name, value in asdict(results).items() if name != "costs"}
    write_whole(folder / "results.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _cost(costs: Mapping[tuple[str, str], Row], row: Row) -> Row:
    cost = costs[row["method"], row["params"]]
    return {name: cost[name] for name in COSTS}


def _order(name: str, table: Sequence[Row]) -> list[str]:
    return columns_of(table) if name == "results" else list(dict.fromkeys(key for row in table for key in row))


def csv_text(rows: Sequence[Row], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_whole(path: Path, text: str) -> None:
    """A text file that is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def rounded(value: float) -> float:
    """Six digits: what is written must not depend on the order in which a machine adds. Counts stay as they are."""
    return value if isinstance(value, int) else float(f"{value:.6g}")
