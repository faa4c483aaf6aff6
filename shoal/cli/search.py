"""How is a corpus searched from the command line? shoal search, plain or for one user, with reasons."""

import argparse
import textwrap
from dataclasses import asdict, replace
from pathlib import Path

from shoal.cli.options import LOG, add_knowledge_options, add_log_options, bar, knowledge_of, log_of, print_json
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.evaluation.run.results import write_whole
from shoal.experiments import Answer, Shown, check_search, open_corpus
from shoal.notebook import Profile, load, own_profile
from shoal.search.personal import DEFAULT_WEIGHT

_REASONS = 6  # parts of a score that are printed; --json has them all


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", help='words, "a phrase", title:word, -word for without')
    parser.add_argument("--corpus", default="news", help="a data set's name or a JSON-lines file (news)")
    add_log_options(parser, required=False, help=f"{LOG}: the user's own profile")
    parser.add_argument("--user", help="whose profile orders the results")
    parser.add_argument("--release", type=Path, help="a release: the published profile instead of the user's own")
    parser.add_argument(
        "--weight",
        type=float,
        help=f"0: the engine alone, 1: the profile alone (what the release says, or {DEFAULT_WEIGHT})",
    )
    parser.add_argument("--limit", type=int, default=10, help="how many results (10)")
    parser.add_argument("--explain", action="store_true", help="why each result stands where it does")
    parser.add_argument("--engine", default="auto", help="auto, whoosh or tantivy (auto)")
    add_knowledge_options(parser)
    parser.add_argument("--trec", type=Path, metavar="RUN", help="also write the results as a TREC run, as topic 1")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_search)


def run_search(options: argparse.Namespace) -> None:
    _check(options)
    with bar() as progress:
        corpus = open_corpus(options.corpus, engine=options.engine, progress=progress)
        answer = corpus.search(options.query, _profile(options, progress), options.weight, options.limit)
    if options.trec is not None:
        write_whole(options.trec, answer.trec())
    if options.json:
        print_json(asdict(answer))
    else:
        _print(answer, options)
    corpus.close()


def _check(options: argparse.Namespace) -> None:
    check_search(options.query, options.weight, options.limit)
    if options.user is not None and options.log is None and options.release is None:
        raise InputError(f"--user {options.user}: say where the profile is, by --log or --release")
    if options.user is None and (options.log or options.release):
        raise InputError("--log and --release need --user, whose profile orders the results")


def _profile(options: argparse.Namespace, progress: Progress) -> Profile | None:
    """What orders the results: the user's own profile, or the one that a release publishes of them."""
    if options.user is None:
        return None
    log = log_of(options, progress)[0] if options.log else None
    if options.release is None:
        assert log is not None
        return own_profile(log, options.user, knowledge_of(options))
    published = load(options.release, log).profile_of(options.user)
    return replace(published, name=f"the profile that {options.release.name} publishes")


def _print(answer: Answer, options: argparse.Namespace) -> None:
    if answer.suggestion:
        print(f"did you mean: {answer.suggestion}")
    if not answer.results:
        print(f"no document of {options.corpus} holds any of it")
        return
    if options.user is not None:
        print(f"ordered with {answer.profile}, weight {answer.weight:g}")
    for result in answer.results:
        _print_result(result, options)


def _print_result(result: Shown, options: argparse.Namespace) -> None:
    moved = "" if result.before == result.rank else f"  (was {result.before})"
    print(f"{result.rank:>3}. {result.title or result.id}  [{result.score:.4f}]{moved}")
    print(textwrap.fill(result.snippet, 110, initial_indent="     ", subsequent_indent="     "))
    if options.explain:
        everyone = [("everyone", result.everyone)] if result.everyone else []
        for name, parts in (("engine", result.engine), ("profile", result.profile), *everyone):
            shown = ", ".join(f"{term} {part:.4f}" for term, part in parts[:_REASONS])
            more = len(parts) - _REASONS
            rest = f", and {more} more {sum(part for _, part in parts[_REASONS:]):.4f}" if more > 0 else ""
            print(f"     {name} {sum(part for _, part in parts):.4f} = {shown}{rest}" if parts else f"     {name} 0")
