"""shoal bench: the cost tables."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from shoal.cli.options import print_json, print_table
from shoal.corpus.errors import InputError
from shoal.corpus.progress import bar
from shoal.evaluation.bench import Row, benchmarks, run_benchmark


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks (all)")
    parser.add_argument("--full", action="store_true", help="the sizes of the papers and of all of AOL")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_bench)


def run_bench(options: argparse.Namespace) -> int:
    names = options.names or benchmarks()
    for name in names:
        if name not in benchmarks():
            raise InputError(f"unknown benchmark {name!r}: choose from {', '.join(benchmarks())}")
    rows = [row for name in names for row in _bench(name, options)]
    if options.json:
        print_json([asdict(row) for row in rows])
    return 0 if all(row.holds for row in rows) else 1


def _bench(name: str, options: argparse.Namespace) -> Sequence[Row]:
    """Run one benchmark and print its part of the table at once: the whole table takes an hour at full size."""
    with bar() as progress:
        rows = run_benchmark(name, options.full, progress)
    if not options.json:
        table = [[row.what, row.at, row.must_reach, row.reached, "yes" if row.holds else "NO"] for row in rows]
        print_table(table, [f"[{name}]", "at", "must reach", "reached", "holds"])
        print(flush=True)
    return rows
