"""shoal methods: every method with its parameters, its paper, and what it does not protect."""

import argparse
import textwrap
from collections.abc import Sequence

from shoal.anonymizer.base import FAMILIES, MethodInfo
from shoal.anonymizer.registry import describe, find_method, methods
from shoal.cli.options import markdown_table, print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="tell of this method only")
    parser.add_argument("--markdown", action="store_true", help="as the page docs/methods.md")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_methods)


def run_methods(options: argparse.Namespace) -> None:
    chosen = [find_method(options.id)] if options.id else list(methods().values())
    if options.json:
        print_json([describe(method.info) for method in chosen])
        return
    if options.markdown:
        print(methods_page([method.info for method in chosen]), end="")
        return
    for method in chosen:
        _print_method(method.info)


def _print_method(info: MethodInfo) -> None:
    print(f"{info.id}: {info.title}")
    lines = [
        f"paper             {info.paper or '(control)'}",
        f"family            {info.family}: {FAMILIES[info.family]}",
        f"protects          {info.protects}",
        f"does not protect  {info.does_not_protect}",
    ]
    for p in info.parameters:
        private = "" if p.more_private == "neither" else f"; {p.more_private} is more private"
        lines.append(f"{p.name:<17} {p.help} ({p.range}; default {p.default}{private})")
    for line in lines:
        print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent=" " * 20))
    print()


def methods_page(chosen: Sequence[MethodInfo]) -> str:
    """The page of the documents: what each method protects and does not, and its parameters."""
    parts = ["# Methods", "This page is `shoal methods --markdown`."]
    for info in chosen:
        parts += [f"## `{info.id}`: {info.title}", info.paper or "A control."]
        parts.append(
            f"- Family: {info.family} ({FAMILIES[info.family]})\n"
            f"- Protects: {info.protects}\n- Does not protect: {info.does_not_protect}"
        )
        if info.parameters:
            parts.append(parameter_table(info))
    return "\n\n".join(parts) + "\n"


def parameter_table(info: MethodInfo) -> str:
    rows = [(f"`{p.name}`", p.help, p.range, p.default, p.more_private) for p in info.parameters]
    return markdown_table(rows, ["parameter", "what it does", "range", "default", "more private"])
