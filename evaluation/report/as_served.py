"""How are people served? Not by a profile alone but by a blend: what each setting keeps in it, and where it fails."""

from collections.abc import Sequence

from shoal.evaluation.measures.precision import OUTSIDE
from shoal.evaluation.report.blocks import Block, Table, Text, listed
from shoal.evaluation.report.own_methods import against_papers
from shoal.evaluation.report.points import having, is_control, name_of
from shoal.evaluation.run.results import Results, Row

_RISK, _BOUND = "linkage5", 0.05


def served(results: Results) -> list[Block]:
    """A sentence and a short table on the ranking that people are served; nothing where it was not measured."""
    every = having([*results.rows, *results.besides], "ap10", "ap10_served", "kept_served")
    plain = next((row for row in every if row["method"] == "plain"), None)
    rows = [row for row in having(results.rows, "ap10", "ap10_served") if not is_control(row)]
    if plain is None or not rows:
        return []
    ours = against_papers(results.rows, "kept_served", results.data["users"])
    said = [Text(f"**Our own methods, as people are served.** {ours}")] if ours else []
    return [Text(" ".join(filter(None, _sentences(rows, plain)))), *said, _table([*rows, plain])]


def _sentences(rows: Sequence[Row], plain: Row) -> list[str]:
    better = [row for row in rows if row["ap10_served"] >= row["ap10"] - 0.0005]
    first = (
        "**As people are served.** Nobody need rank by a profile alone: beside everyone's average (of terms of 20 or "
        "more people) and the engine's order, with weights learned on an earlier part of the log, "
        f"{len(better)} of {len(rows)} settings serve as well as alone or better. Without personal data such a blend "
        f"has AP@10 {plain['ap10_served']:.3f}, from which `kept_served` is counted."
    )
    return [first, _best(rows), _worse(rows, plain)]


def _best(rows: Sequence[Row]) -> str:
    safe = [row for row in having(rows, _RISK) if row[_RISK] <= _BOUND and row["method"] not in OUTSIDE]
    best = max(safe, key=lambda row: row["kept_served"], default=None)
    if best is None:
        return ""
    bounds = f"[{best['kept_served_low']:.2f}, {best['kept_served_high']:.2f}]" if "kept_served_low" in best else ""
    return (
        f"Of the settings by which at most one in twenty is found, `{name_of(best)}` keeps most so: "
        f"{best['kept_served']:.2f} {bounds}".strip()
        + "."
    )


def _worse(rows: Sequence[Row], plain: Row) -> str:
    """Weights are learned on earlier queries; on these they may fail."""
    worse = [f"`{name_of(row)}` ({row['ap10_served']:.3f})" for row in rows if row["ap10_served"] < plain["ap10"]]
    if not worse:
        return "On these later queries none serves worse than the engine alone."
    return f"On these later queries {listed(worse)} serve worse than the engine alone ({plain['ap10']:.3f})."


def _table(rows: Sequence[Row]) -> Table:
    lines = tuple(
        (name_of(row), row["ap10"], row["ap10_served"], row["kept_served"], row.get(_RISK, ""))
        for row in sorted(rows, key=lambda row: -row["kept_served"])
    )
    header = ("setting", "AP@10 alone", "AP@10 served", "kept, served", "linkage@5")
    return Table(header, lines, "Every setting by its profile alone and as it is served.", folded=True)
