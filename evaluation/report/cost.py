"""What does a setting cost? Time and memory, on a page of their own, since they differ from run to run."""

from pathlib import Path

from evaluation.report.blocks import Block, Heading, Table, Text
from evaluation.report.html import to_html
from evaluation.results import Results, Row, write_whole


def write_cost(folder: Path, results: Results) -> list[str]:
    """cost.html, where anything was timed."""
    if not results.costs:
        return []
    write_whole(folder / "cost.html", to_html("What the settings cost", cost_blocks(results), {}))
    return ["cost.html"]


def cost_blocks(results: Results) -> list[Block]:
    users = results.data["users"]
    lines = tuple((r["method"], r["params"], r["seconds"], _speed(users, r), r["peak_mb"]) for r in results.costs)
    slowest = max(results.costs, key=lambda row: row["seconds"])
    return [
        Text(
            f"All {len(lines)} settings together took {sum(row['seconds'] for row in results.costs):.1f} seconds for "
            f"{users} users; the slowest was `{slowest['method']} {slowest['params']}` with {slowest['seconds']:.1f}. "
            "Measured with as many settings at once as there are processes, each method loaded and compiled before."
        ),
        Heading("Each setting", 2),
        Table(("method", "setting", "seconds", "users per second", "peak memory, MB"), lines),
    ]


def _speed(users: int, row: Row) -> float | str:
    return users / row["seconds"] if row["seconds"] > 0 else ""
