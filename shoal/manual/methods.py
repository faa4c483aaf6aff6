"""The page of each method, made from its declaration: what it does in a picture, parameters, guarantee, figures."""

import csv
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from shoal.anonymizer.base import FAMILIES, Family, Method, MethodInfo
from shoal.anonymizer.registry import describe as declared
from shoal.anonymizer.registry import methods
from shoal.cli.methods import parameter_table
from shoal.cli.tables import markdown_table
from shoal.evaluation.measures.registry import columns
from shoal.manual.example import SENSITIVE, Example, run_example
from shoal.manual.picture import describe, picture

FIGURES = "figures.csv"  # results.csv of the run that the pages tell of
_SHOWN = ("ap10", "kept", "kept_served", "linkage5", "inference5", "anonymity_min")
SIMULATED = (
    "1,000 **simulated users** over the `news` corpus (`make figures`). Real people are harder: see "
    "[limits](../../limits.md)."
)
LEGEND = (
    "Filled words are published as they were typed, dashed ones under a more general name, crossed-out ones not at "
    "all, or unreadable. The lines, who is behind which profile, are secret. A fish is a person. "
    f"To methods that protect sensitive words, *{SENSITIVE}* is one."
)


def write_methods(folder: Path, pictures: Path, documents: Path) -> None:
    """A page and a picture for every registered method, and the page that leads to them."""
    found = methods()
    for id in found:
        example = run_example(id)
        if example.made is not None:
            (pictures / f"{id}.html").write_text(picture(example), encoding="utf-8")
        (folder / f"{id}.md").write_text(method_page(example, documents), encoding="utf-8")
    (folder / "index.md").write_text(overview(found), encoding="utf-8")


def overview(found: Mapping[str, type[Method]]) -> str:
    """All methods in one table, each with what it protects."""
    parts = ["# Methods", "What each does to five people who search for food, what it promises and what it does not."]
    for family, said in FAMILIES.items():
        rows = [(f"[`{m.info.id}`]({m.info.id}.md)", m.info.title, m.info.protects) for m in _of(found, family)]
        if rows:
            parts += [
                f"## {family.capitalize()}: {said}",
                markdown_table(rows, ["method", "what it is", "it protects"]),
            ]
    parts.append("\n".join(["```{toctree}", ":hidden:", "", *found, "```"]))
    return "\n\n".join(parts) + "\n"


def _of(found: Mapping[str, type[Method]], family: Family) -> list[type[Method]]:
    return [method for method in found.values() if method.info.family == family]


def method_page(example: Example, documents: Path) -> str:
    """One method: declaration, picture, what the verifier says, our figures, and what is written of it besides."""
    info = example.method.info
    parts = [f"# `{info.id}`: {info.title}", info.paper or "A control, to hold the others against."]
    parts += [f"Family: {info.family}, {FAMILIES[info.family]}.", "## What it does", *_in_a_picture(example)]
    parts += ["## What it protects, and what it does not", f"**Protects.** {info.protects}"]
    parts.append(f"**Does not protect.** {info.does_not_protect}")
    if info.most_users is not None:
        parts.append(
            f"**Takes at most** {info.most_users:,} users: more need above 15 minutes or 12 GB, and are refused."
        )
    parts += ["## What is promised", *_promise(example)]
    parts += ["## Parameters", parameter_table(declared(info)) if info.parameters else "It has none."]
    parts += ["## Our figures", *_figures(info, documents)]
    return "\n\n".join(parts) + "\n\n" + essay(documents / f"{info.id}.md")


def _in_a_picture(example: Example) -> list[str]:
    settings = f" ({example.settings})" if example.settings else ""
    if example.made is None:
        return [describe(example)]
    told = f"The food example, anonymized by `{example.method.info.id}`{settings}. {describe(example)}"
    return [told, f"```{{raw}} html\n:file: ../pictures/{example.method.info.id}.html\n```", LEGEND]


def _promise(example: Example) -> list[str]:
    if example.made is None:
        return ["The verifier has nothing to say of a release that was refused."]
    said = example.made.verify().sentence
    return [f"Of the picture above, `shoal verify` says, in words made of the values that it checked: *{said}*"]


def _figures(info: MethodInfo, documents: Path) -> list[str]:
    rows = [row for row in figures(documents / FIGURES) if row["method"] == info.id]
    if not rows:
        return ["Not measured yet: `shoal evaluate` does it, beside all others."]
    held = [name for name in _SHOWN if any(row.get(name) for row in rows)]
    header = ["setting", *(columns()[name].title for name in held)]
    table = [(row["params"] or "none", *(_rounded(row[name]) for name in held)) for row in rows]
    return [SIMULATED, markdown_table(table, header), "What the numbers mean is in [measures](../../measures.md)."]


@cache
def figures(path: Path) -> Sequence[dict[str, str]]:
    """The rows of a run's results.csv; none where there was no run."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _rounded(text: str) -> str:
    return f"{float(text):.3g}" if text else "–"


def essay(path: Path) -> str:
    """What people wrote of a method beside its declaration, without its title."""
    if not path.exists():
        return ""
    return re.sub(r"\A# .*\n+", "## In detail\n\n", path.read_text(encoding="utf-8")).replace("\n## ", "\n### ")
