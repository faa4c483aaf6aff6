"""How is something printed? The one table, also for documents, and JSON."""

import json
from collections.abc import Sequence


def print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))


def print_table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> None:
    """The one table printer: columns as wide as they need, numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(header), *cells]) for i in range(len(header))]
    right = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    for line in [list(header), ["-" * width for width in widths], *cells]:
        parts = [text.rjust(w) if r else text.ljust(w) for text, w, r in zip(line, widths, right, strict=True)]
        print("  ".join(parts).rstrip())


def markdown_table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> str:
    """The same for the documents."""
    lines = [" | ".join(str(cell).replace("|", "\\|") for cell in line) for line in (header, *rows)]
    return "\n".join([f"| {lines[0]} |", "|" + "---|" * len(header), *(f"| {line} |" for line in lines[1:])])


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
