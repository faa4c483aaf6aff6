"""How is a report written as text? Markdown, with the pictures as files beside it; the main table in LaTeX, too."""

from collections.abc import Sequence

from shoal.evaluation.measures.base import Column
from shoal.evaluation.measures.registry import headline
from shoal.evaluation.report.blocks import Block, Heading, Picture, Points, Table, Text, cell, plain
from shoal.evaluation.report.points import is_control
from shoal.evaluation.run.results import Results, Row


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    return "\n\n".join([f"# {title}", *map(_block, blocks)]) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text, "code"):
            return f"```\n{text}\n```"
        case Text(text, kind):
            return f"> {text}" if kind == "label" else text
        case Points(texts):
            return "\n".join(f"- {text}" for text in texts)
        case Picture(name, _, caption):
            return f"![{plain(caption)}]({name}.png)\n\n*{plain(caption)}*"
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.header)
    numeric = [bool(column) and all(isinstance(value, int | float) for value in column) for column in columns]
    lines = [_line(table.header), "|" + "|".join("---:" if n else "---" for n in numeric) + "|"]
    lines += [_line([cell(value) for value in row]) for row in table.rows]
    return "\n".join([*([f"{table.caption}\n"] if table.caption else []), *lines])


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"


_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def to_latex(results: Results, about: str) -> str:
    """A table of all settings, the controls last."""
    columns = [column for column in headline() if any(column.name in row for row in results.rows)]
    controls = [row for row in results.rows if is_control(row)]
    methods = [row for row in results.rows if not is_control(row)]
    lines = [
        r"% needs \usepackage{booktabs}", *_origin(results),
        r"\begin{table}", r"\centering", rf"\caption{{{escaped(about)}}}",
        rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}", r"\toprule",
        " & ".join(["method", "setting", *(escaped(column.short) for column in columns)]) + r" \\", r"\midrule",
        *(_latex_line(row, columns) for row in methods),
        *([r"\midrule"] if methods and controls else []), *(_latex_line(row, columns) for row in controls),
        r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _origin(results: Results) -> list[str]:
    """Comments that say where the numbers come from."""
    made = results.provenance
    digests = ", ".join(f"{name} {digest[:12]}" for name, digest in made["digests"].items())
    return [f"% shoal {made['version']}: {' '.join(made['command'].split())}", f"% digests: {digests}"]


def escaped(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def _latex_line(row: Row, columns: Sequence[Column]) -> str:
    values = [_value(row, column) for column in columns]
    return " & ".join([escaped(row["method"]), escaped(row["params"]), *values]) + r" \\"


def _value(row: Row, column: Column) -> str:
    value = row.get(column.name)
    if value is None:
        return "--"
    text = f"{value:.0f}" if column.measure.unit == "count" else f"{value:.3f}"
    low, high = row.get(f"{column.name}_low"), row.get(f"{column.name}_high")
    return text if low is None or high is None else rf"{text} {{\scriptsize [{low:.3f}, {high:.3f}]}}"
