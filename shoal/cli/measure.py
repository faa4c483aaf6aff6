"""How is a release measured from the command line? shoal measure."""

import argparse
import sys
from dataclasses import asdict, fields, replace

from shoal.cli.options import log_of
from shoal.cli.tables import print_json, print_table
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.progress import bar
from shoal.evaluation.attacks.worst_off import AtRisk, RiskBy, risk_by_property, worst_off
from shoal.evaluation.measures.linkage import CHOSEN
from shoal.evaluation.measures.registry import columns, columns_named
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.notebook import load


def run(options: argparse.Namespace) -> None:
    wanted = columns_named(name.strip() for name in (options.measures or "").split(",") if name.strip())
    made = load(options.release, knowledge=_given(options))
    knowledge = made.method.knowledge
    if options.directory:  # the words stay those that the release was made with
        knowledge = replace(knowledge, dictionary_name=knowledge.dictionary, directory_file=options.directory)
        _ = knowledge.directory  # a bad file is refused before any work is done
    if made.release.catalogue is not None:
        print(
            f"{made.method.info.id} is used at searches: what its words tell is measured by `shoal evaluate`, "
            "and not here",
            file=sys.stderr,
        )
    with bar() as progress:
        log, _ = log_of(options, progress)
        release = made.measured(
            log, knowledge=knowledge, seed=options.seed, most_victims=options.victims, progress=progress
        )
        measured = measure_release(release, wanted)
        worst, why = _worst_off(release, options.worst)
    if options.json:
        more = {"worst_off": [asdict(one) for one in worst], "risk_by": [asdict(part) for part in why]}
        print_json(measured | (more if options.worst else {}))
        return
    print_table(
        [[name, value, columns()[name].title] for name, value in measured.items()], ["measure", "value", "what"]
    )
    for rows in (worst, why):
        if rows:
            print()
            print_table([list(asdict(row).values()) for row in rows], [field.name for field in fields(rows[0])])


def _given(options: argparse.Namespace) -> Knowledge:
    return Knowledge(options.taxonomy, options.dictionary, sensitive_file=options.sensitive)


def _worst_off(release: MeasuredRelease, most: int) -> tuple[list[AtRisk], list[RiskBy]]:
    """By the attack of linkage@5: names of users, which stay on this side of the wall as the assignment does."""
    if most < 0:
        raise InputError(f"--worst {most} is not allowed: give a number of users from 0")
    if most == 0 or not len(release.victims):
        return [], []
    given = (release.view, release.assignment, release.victims, release.known(CHOSEN), release.linked(CHOSEN))
    return worst_off(*given, most), risk_by_property(*given)
