"""shoal verify: is the promise of a release kept on what was published?"""

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from shoal.anonymizer.claims import Verdict
from shoal.anonymizer.verify_stored import reproduce
from shoal.cli.options import add_knowledge_options, add_log_options, knowledge_of, log_of, print_json
from shoal.corpus.progress import bar
from shoal.notebook import load


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", type=Path)
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--reproduce", action="store_true", help="run the method again and compare byte by byte")
    parser.add_argument("--previous", type=Path, metavar="DIR", help="the release that it was made after")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_verify)


def run_verify(options: argparse.Namespace) -> int:
    made = load(options.release, knowledge=knowledge_of(options))
    with bar() as progress:
        log, _ = log_of(options, progress)
        verdict = made.verify(log)
        if options.reproduce and verdict.holds and made.stored is not None:
            previous = load(options.previous).assignment if options.previous is not None else None
            other = reproduce(options.release, made.stored, log, progress, previous=previous)
            verdict = replace(verdict, holds=not other, counterexample=_other(other))
    if options.json:
        again = {"reproduced": verdict.holds} if options.reproduce else {}
        print_json({"claim": made.claim.id, **asdict(verdict), **again})
    else:
        _print(verdict, options.reproduce)
    return 0 if verdict.holds else 1


def _other(file: str) -> str:
    return f"{file} is another when the method runs again with the seed of the manifest" if file else ""


def _print(verdict: Verdict, reproduced: bool) -> None:
    print(f"{'holds' if verdict.holds else 'BROKEN'}: {verdict.sentence}")
    if not verdict.holds:
        print(f"counterexample: {verdict.counterexample}")
    elif reproduced:
        print("reproduced: the method makes every file again, byte by byte")
