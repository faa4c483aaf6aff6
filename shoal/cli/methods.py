"""shoal methods: every method with its parameters, its paper, and what it does not protect."""

import argparse
import hashlib
import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.cli.tables import markdown_table, print_json
from shoal.corpus.errors import InputError
from shoal.corpus.store.folders import cache_folder
from shoal.corpus.version import VERSION

ENTRY_POINTS = "shoal.anonymizers"
Told = Mapping[str, Any]  # a method as plain data


def run(options: argparse.Namespace) -> None:
    told = told_methods()
    chosen = [_find(told, options.id)] if options.id else told
    if options.json:
        print_json([{name: value for name, value in one.items() if name != "does"} for one in chosen])
    elif options.markdown:
        print(methods_page(chosen), end="")
    else:
        for one in chosen:
            _print_method(one)


def told_methods() -> list[Told]:
    """What all methods say of themselves: kept until a file of theirs changes, since to load them takes a second.

    Where methods come from other packages, whose files may lie anywhere, it is not.
    """
    if entry_points(group=ENTRY_POINTS):
        return _load()
    kept = cache_folder() / f"methods-{_state()}.json"
    try:
        found: list[Told] = json.loads(kept.read_text(encoding="utf-8"))
    except OSError:
        found = _load()
        with suppress(OSError):  # whose cache cannot be written waits each time
            _keep(kept, json.dumps(found))
    return found


def _load() -> list[Told]:
    from shoal.anonymizer.base import FAMILIES
    from shoal.anonymizer.registry import describe, methods

    return [{**describe(method.info), "does": FAMILIES[method.info.family]} for method in methods().values()]


def _state() -> str:
    """What changes with every change of the files that methods are declared in."""
    folder = Path(anonymizer.origin or "").parent if (anonymizer := find_spec("shoal.anonymizer")) else Path()
    files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*.py"))]
    return hashlib.sha256(json.dumps([VERSION, files]).encode()).hexdigest()[:16]


def _keep(path: Path, text: str) -> None:
    """In the place of what was kept of other files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}-{os.getpid()}")
    aside.write_text(text, encoding="utf-8")
    for old in path.parent.glob("methods-*.json"):
        old.unlink(missing_ok=True)
    os.replace(aside, path)


def _find(told: Sequence[Told], id: str) -> Told:
    by_id = {one["id"]: one for one in told}
    if id not in by_id:
        raise InputError(f"unknown method {id!r}: the methods are {', '.join(by_id)}")
    return by_id[id]


def _print_method(told: Told) -> None:
    print(f"{told['id']}: {told['title']}")
    lines = [
        f"paper             {told['paper'] or '(control)'}",
        f"family            {told['family']}: {told['does']}",
        f"protects          {told['protects']}",
        f"does not protect  {told['does_not_protect']}",
    ]
    if told["most_users"] is not None:
        lines.append(f"at most           {told['most_users']:,} users: more need above 15 minutes or 12 GB")
    for p in told["parameters"]:
        private = "" if p["more_private"] == "neither" else f"; {p['more_private']} is more private"
        lines.append(f"{p['name']:<17} {p['help']} ({p['range']}; default {p['default']}{private})")
    for line in lines:
        print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent=" " * 20))
    print()


def methods_page(chosen: Sequence[Told]) -> str:
    """The page of the documents: what each method protects and does not, and its parameters."""
    parts = ["# Methods", "This page is `shoal methods --markdown`."]
    for told in chosen:
        parts += [f"## `{told['id']}`: {told['title']}", told["paper"] or "A control."]
        parts.append(
            f"- Family: {told['family']} ({told['does']})\n"
            f"- Protects: {told['protects']}\n- Does not protect: {told['does_not_protect']}"
        )
        if told["most_users"] is not None:
            parts[-1] += (
                f"\n- Takes at most: {told['most_users']:,} users; more need above 15 minutes or 12 GB, and are refused"
            )
        if told["parameters"]:
            parts.append(parameter_table(told))
    return "\n\n".join(parts) + "\n"


def parameter_table(told: Told) -> str:
    names = ("help", "range", "default", "more_private")
    rows = [(f"`{p['name']}`", *(p[name] for name in names)) for p in told["parameters"]]
    return markdown_table(rows, ["parameter", "what it does", "range", "default", "more private"])
