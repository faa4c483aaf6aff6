"""shoal verify: is the promise of a release kept on what was published?"""

import argparse
from dataclasses import asdict
from pathlib import Path

from shoal.anonymizer.release_files import read_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.cli.options import Commands, add_knowledge_options, add_log_options, knowledge_of, log_of
from shoal.cli.printing import bar, print_json


def add_commands(commands: Commands) -> None:
    parser = commands.add_parser("verify", help="re-check the claim on what was published")
    parser.add_argument("release", type=Path)
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_verify)


def run_verify(options: argparse.Namespace) -> int:
    given = knowledge_of(options) if options.taxonomy or options.dictionary else None
    stored = read_release(options.release, given)
    with bar() as progress:
        log, _ = log_of(options, progress)
    verdict = verify_stored(stored, log)
    if options.json:
        print_json({"claim": stored.manifest.claim.id, **asdict(verdict)})
    elif verdict.holds:
        print(f"holds: {verdict.sentence}")
    else:
        print(f"BROKEN: {verdict.sentence}")
        print(f"counterexample: {verdict.counterexample}")
    return 0 if verdict.holds else 1
