"""How is a release measured from the command line? shoal measure."""

import argparse
from dataclasses import replace
from pathlib import Path

from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import read_release
from shoal.cli.options import Commands, add_knowledge_options, add_log_options, log_of
from shoal.cli.printing import bar, print_json, print_table
from shoal.corpus.knowledge import Knowledge
from shoal.evaluation.measures.registry import columns, columns_named
from shoal.evaluation.measures.release import MeasuredRelease, measure_release


def add_commands(commands: Commands) -> None:
    parser = commands.add_parser("measure", help="utility of a release, and attacks on it")
    parser.add_argument("release", type=Path, help="the folder of a release")
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--victims", type=int, default=1000, help="users that are attacked, at most (1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--measures",
        help="only these columns, with commas between; `thorough` are those that run the method again (all)",
    )
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_measure)


def run_measure(options: argparse.Namespace) -> None:
    wanted = columns_named(name.strip() for name in (options.measures or "").split(",") if name.strip())
    stored = read_release(options.release, Knowledge(options.taxonomy, options.dictionary))
    knowledge = stored.knowledge
    if options.directory:  # the words stay those that the release was made with
        knowledge = replace(knowledge, dictionary_name=knowledge.dictionary, directory_file=options.directory)
        _ = knowledge.directory  # a bad file is refused before any work is done
    with bar() as progress:
        log, _ = log_of(options, progress)
        release = MeasuredRelease(
            stored.release, stored.assignment, log, knowledge, options.seed, options.victims,
            stored.manifest.claim, stored.manifest.suppressed, progress=progress,
            method=make_method(stored.manifest.method, stored.manifest.parameters, stored.knowledge),
        )  # fmt: skip
        measured = measure_release(release, wanted)
    if options.json:
        print_json(measured)
    else:
        rows = [[name, value, columns()[name].title] for name, value in measured.items()]
        print_table(rows, ["measure", "value", "what"])
