"""How is a report shown as text? Markdown, with the pictures as files beside it."""

from collections.abc import Sequence

from shoal.evaluation.report.blocks import Block, Heading, Picture, Points, Table, Text, cell, plain


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
