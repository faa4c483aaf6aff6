"""shoal bench: the cost tables."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from shoal.cli.tables import markdown_table, print_json, print_table
from shoal.corpus.errors import InputError
from shoal.corpus.progress import bar
from shoal.evaluation.bench import Row, benchmarks, can_compare, machine, run_benchmark
from shoal.evaluation.run.programs import taking_part


def run(options: argparse.Namespace) -> int:
    names = _asked(options)
    if options.markdown:
        print(f"Measured: {machine()}.")
    rows = [row for name in names for row in _bench(name, options)]
    if options.json:
        print_json([asdict(row) for row in rows])
    return 0 if all(row.holds for row in rows) else 1


def _asked(options: argparse.Namespace) -> list[str]:
    """The benchmarks to run; with another program those that can run it, too, and a line that names the rest."""
    names = list(options.names or benchmarks())
    for name in names:
        if name not in benchmarks():
            raise InputError(f"unknown benchmark {name!r}: choose from {', '.join(benchmarks())}")
    if not options.against:
        return names
    taking_part(options.against)  # one that is not there is refused before anything is measured
    can = [name for name in names if can_compare(name)]
    rest = [name for name in names if name not in can]
    if options.names and rest:
        both = ", ".join(name for name in benchmarks() if can_compare(name))
        raise InputError(f"--against: {', '.join(rest)} cannot run another program; these can: {both}")
    if rest:
        print(f"Left out, since they cannot run another program: {', '.join(rest)}.", file=sys.stderr)
    return can


def _bench(name: str, options: argparse.Namespace) -> Sequence[Row]:
    """Run one benchmark and print its part of the table at once: the whole table takes an hour at full size."""
    with bar() as progress:
        rows = run_benchmark(name, options.full, progress, options.against)
    table = [[row.what, row.at, row.must_reach, row.reached, "yes" if row.holds else "NO"] for row in rows]
    header = ["at", "must reach", "reached", "holds"]
    if options.markdown:
        print(f"\n{markdown_table(table, [name, *header])}", flush=True)
    elif not options.json:
        print_table(table, [f"[{name}]", *header])
        print(flush=True)
    return rows
