"""How are releases made and checked from the command line? shoal methods, anonymize and verify."""

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from anonymizer.base import Anonymized, Method, MethodInfo
from anonymizer.claims import Evidence, Verdict, broken, verify
from anonymizer.registry import find_method, make_method, methods
from anonymizer.release_files import StoredRelease, read_release, write_release
from corpus.commands import (
    Commands,
    add_knowledge_options,
    add_log_options,
    bar,
    knowledge_of,
    log_of,
    print_json,
    tell_rejected,
)
from corpus.errors import InputError
from corpus.profiles import build_profiles
from corpus.progress import Progress
from corpus.querylog import QueryLog


def add_commands(commands: Commands) -> None:
    parser = commands.add_parser("methods", help="methods, parameters, paper, what they do not protect")
    parser.add_argument("id", nargs="?", help="tell of this method only")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_methods)

    parser = commands.add_parser("anonymize", help="make a release of a log")
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--method", required=True)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the release")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_anonymize)

    parser = commands.add_parser("verify", help="re-check the claim on what was published")
    parser.add_argument("release", type=Path)
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_verify)


def run_methods(options: argparse.Namespace) -> None:
    chosen = [find_method(options.id)] if options.id else list(methods().values())
    if options.json:
        print_json([describe(method.info) for method in chosen])
        return
    for method in chosen:
        _print_method(method.info)


def describe(info: MethodInfo) -> dict[str, object]:
    """A method as plain data, for machines."""
    parameters = [
        {"name": p.name, "default": p.default, "range": p.range, "more_private": p.more_private, "help": p.help}
        for p in info.parameters
    ]
    return {
        "id": info.id, "title": info.title, "paper": info.paper, "unit": info.unit,
        "protects": info.protects, "does_not_protect": info.does_not_protect, "parameters": parameters,
    }  # fmt: skip


def _print_method(info: MethodInfo) -> None:
    print(f"{info.id}: {info.title}")
    lines = [f"paper             {info.paper or '(control)'}", f"protects          {info.protects}"]
    lines.append(f"does not protect  {info.does_not_protect}")
    for p in info.parameters:
        private = "" if p.more_private == "neither" else f"; {p.more_private} is more private"
        lines.append(f"{p.name:<17} {p.help} ({p.range}; default {p.default}{private})")
    for line in lines:
        print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent=" " * 20))
    print()


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE pairs as a table."""
    table = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise InputError(f"--set {pair}: expected NAME=VALUE, for example --set k=5")
        table[name.strip()] = value.strip()
    return table


def run_method(method: Method, log: QueryLog, seed: int, progress: Progress) -> Anonymized:
    """Give a method what it takes: the log, or the profiles made from it."""
    data = log if method.info.takes == "log" else build_profiles(log, method.knowledge.words)
    return method.anonymize(data, seed=seed, progress=progress)


def run_anonymize(options: argparse.Namespace) -> None:
    method = make_method(options.method, parse_settings(options.set), knowledge_of(options))
    with bar() as progress:
        log, rejected = log_of(options, progress)
        made = run_method(method, log, options.seed, progress)
    manifest = write_release(options.out, made, method, log, options.seed)
    tell_rejected(rejected, options.out)
    if options.json:
        print_json(asdict(manifest))
        return
    print(f"{manifest.users} users, {manifest.groups} published profiles in {options.out}")
    print(f"suppressed: {made.suppressed.occurrences} occurrences, {made.suppressed.users} users left with nothing")
    print(f"claim: {made.claim.statement} Check it by: shoal verify {options.out} --log {options.log}")


def run_verify(options: argparse.Namespace) -> int:
    given = knowledge_of(options) if options.taxonomy or options.dictionary else None
    stored = read_release(options.release, given)
    with bar() as progress:
        log, _ = log_of(options, progress)
    verdict = verify_stored(stored, log)
    if options.json:
        print_json(
            {"claim": stored.manifest.claim.id, "holds": verdict.holds, "counterexample": verdict.counterexample}
        )
    elif verdict.holds:
        print(f"holds: {stored.manifest.claim.statement}")
    else:
        print(f"BROKEN: {stored.manifest.claim.statement}")
        print(f"counterexample: {verdict.counterexample}")
    return 0 if verdict.holds else 1


def verify_stored(stored: StoredRelease, log: QueryLog) -> Verdict:
    """The verdict on a stored release: its claim first, then whether this is the log it was made from."""
    manifest = stored.manifest
    for name, value in manifest.claim.values.items():
        made_with = manifest.parameters.get(name)  # a word such as auto leaves the choice to the method
        if isinstance(made_with, int | float) and made_with != value:
            return broken(f"the claim says {name}={value}, but the release was made with {name}={made_with}")
    evidence = Evidence(stored.release, stored.assignment, manifest.suppressed, log, stored.knowledge)
    verdict = verify(manifest.claim, evidence)
    if verdict.holds and log.digest() != manifest.input:
        return broken("the log is not the one that was anonymized: its sha-256 differs from the manifest's")
    return verdict
