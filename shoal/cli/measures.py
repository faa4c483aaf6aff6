"""shoal measures: every measure with its formula, range, direction and paper."""

import argparse
import textwrap
from collections.abc import Sequence

from shoal.cli.tables import print_json
from shoal.evaluation.measures.base import HEADINGS, Measure
from shoal.evaluation.measures.registry import describe, find_measure, measures

_THOROUGH = "runs the method once more: only where it is asked for, by --measures with its name or `thorough`"


def run(options: argparse.Namespace) -> None:
    chosen = [find_measure(options.name)] if options.name else list(measures().values())
    if options.json:
        print_json([describe(measure) for measure in chosen])
    elif options.markdown:
        print(measures_page(chosen), end="")
    else:
        for measure in chosen:
            _print_measure(measure)


def _print_measure(measure: Measure) -> None:
    told = describe(measure)
    print(f"{measure.name}: {told['title']}")
    better = "" if measure.better == "neither" else f"; {measure.better} is better"
    lines = [
        f"says              {told['says']}",
        f"formula           {told['formula']}",
        f"range             {measure.range}{better}",
        f"about             {measure.heading}",
        *([f"paper             {measure.paper}"] if measure.paper else []),
        *([f"cost              {_THOROUGH}"] if measure.thorough else []),
        f"columns           {', '.join(column.name for column in measure.columns)}",
    ]
    for line in lines:
        print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent=" " * 20))
    print()


def measures_page(chosen: Sequence[Measure]) -> str:
    """The page of the documents: a section for each heading, and in it one for each measure."""
    parts = ["# What is measured", "Every column of `results.csv`. This page is `shoal measures --markdown`."]
    for heading in HEADINGS:
        found = [measure for measure in chosen if measure.heading == heading]
        if found:
            parts += [f"## {heading.capitalize()}", *(_section(measure) for measure in found)]
    return "\n\n".join(parts) + "\n"


def _section(measure: Measure) -> str:
    told = describe(measure)
    better = "neither way is better" if measure.better == "neither" else f"{measure.better} is better"
    lines = [
        f"- Formula: {told['formula']}",
        f"- Range: {measure.range}; {better}",
        *([f"- Paper: {measure.paper}"] if measure.paper else []),
        *([f"- Cost: {_THOROUGH}"] if measure.thorough else []),
        f"- Columns: {', '.join(f'`{column.name}`' for column in measure.columns)}",
    ]
    return f"### {told['title']}\n\n{told['says']}\n\n" + "\n".join(lines)
