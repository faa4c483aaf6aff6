"""What changed between two evaluations? shoal compare, and whether it is more than noise."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from shoal.cli.tables import print_json, print_table
from shoal.evaluation.measures.registry import columns
from shoal.evaluation.report.blocks import listed, percent
from shoal.evaluation.run.changes import MEASURES, Changes, changes
from shoal.evaluation.run.results import Row, read_results


def run(options: argparse.Namespace) -> None:
    found = changes(read_results(options.before), read_results(options.after))
    if options.json:
        print_json(asdict(found))
    else:
        _print_changes(found)


def _print_changes(found: Changes) -> None:
    if found.setup:
        print("declared otherwise:")
        print_table([[row["what"], str(row["before"]), str(row["after"])] for row in found.setup], _HEADER)
    else:
        print("Both were declared alike, on the same data and by the same code.")
    for name, only in (("before", found.only_before), ("after", found.only_after)):
        if only:
            print(f"\nonly {name}: {', '.join(only)}")
    for measure, *_ in MEASURES:
        print(f"\n{told(measure, [row for row in found.settings if row['measure'] == measure])}")
    clear = [row for row in found.settings if row["is_more_than_noise"]]
    if clear:
        names = ("setting", "measure", "before", "after", "difference", "low", "high", "p_holm")
        print_table([[row[name] for name in names] for row in clear], names)
    for row in found.answers:
        print(f"\nBest at {percent(row['risk'])} risk: {_answer(row)}")


_HEADER = ("what", "before", "after")


def told(measure: str, rows: Sequence[Row]) -> str:
    """How many settings have more, less, or nothing that is more than noise."""
    title = columns()[measure].short
    if not rows:
        return f"{title}: no setting is in both."
    clear = [row for row in rows if row["is_more_than_noise"]]
    more = sum(row["difference"] > 0 for row in clear)
    people = {row["people"] for row in rows if row["people"]}
    how = f"paired over {max(people)} people" if people else "not paired: nothing is kept of each person"
    return (
        f"{title}: of {len(rows)} settings in both, {more} have more and {len(clear) - more} less than before; "
        f"{len(rows) - len(clear)} differ by no more than noise ({how}, corrected by Holm)."
    )


def _answer(row: Row) -> str:
    before, after = listed(row["before"]), listed(row["after"])
    if before == after:
        return f"{before}, as before."
    return f"{after}; before, {before}." + ("" if row["agree"] else " The two contradict each other.")
