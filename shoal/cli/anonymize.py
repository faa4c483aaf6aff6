"""shoal anonymize: make a release of a log."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from shoal.anonymizer.claims import sentence
from shoal.anonymizer.manifest import LARGEST
from shoal.anonymizer.registry import make_method
from shoal.cli.options import (
    CORPUS,
    add_knowledge_options,
    add_log_options,
    knowledge_of,
    log_of,
    print_json,
    tell_read,
)
from shoal.corpora import open_corpus
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import bar
from shoal.corpus.querylog import counted
from shoal.notebook import anonymize, load, refuse_existing


def add_options(parser: argparse.ArgumentParser) -> None:
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--method", required=True)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    parser.add_argument("--seed", type=seed, help="a whole number from 0 on (0); none where it must stay secret")
    parser.add_argument("--previous", type=Path, metavar="DIR", help="an earlier release, whose groups stay")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the release")
    parser.add_argument(
        "--corpus",
        help=f"{CORPUS}: learn what a profile weighs in its rankings, too",
    )
    parser.add_argument("--force", action="store_true", help="replace a release that is there already")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_anonymize)


def seed(text: str) -> int:
    """A seed of random numbers, or an error that argparse shows."""
    if not text.isdecimal() or len(text) > len(str(LARGEST)) or int(text) >= LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE pairs as a table."""
    table = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise InputError(f"--set {pair}: expected NAME=VALUE, for example --set k=5")
        table[name.strip()] = value.strip()
    return table


def run_anonymize(options: argparse.Namespace) -> None:
    refuse_existing(options.out, options.force)  # before any work is done
    method = make_method(options.method, parse_settings(options.set), knowledge_of(options))
    if options.sensitive and not method.info.sensitive:
        raise InputError(f"{method.info.id} knows no sensitive terms and treats all alike: leave --sensitive away")
    if options.previous is not None:
        method = method.after(load(options.previous).assignment)
    with bar() as progress:
        log, rejected = log_of(options, progress)
        made = anonymize(log, method, seed=options.seed, progress=progress)
        if options.corpus is not None:
            made = made.blended(open_corpus(options.corpus, progress=progress).index, progress)
    manifest = made.save(options.out, force=options.force)
    tell_read(rejected, options.out.with_name(f"{options.out.name}-rejected.tsv"))
    if options.json:
        print_json(manifest.as_json())
        return
    profiles = counted(manifest.groups, "published profile")
    print(f"{counted(manifest.users, 'user')}, {profiles} in {options.out}")
    hidden = counted(made.suppressed.occurrences, "occurrence")
    print(f"suppressed: {hidden}, {counted(made.suppressed.users, 'user')} left with nothing")
    if method.info.sensitive:
        print(method.knowledge.sensitive.told(build_profiles(log, method.knowledge.words)))
    if made.blend is not None:
        print(f"where it ranks, a profile weighs {made.blend.profile:g} and everyone's average {made.blend.everyone:g}")
    given = f" --sensitive {options.sensitive}" if options.sensitive else ""
    print(f"to be checked by `shoal verify {options.out} --log {options.log}{given}`: {sentence(made.claim)}")
