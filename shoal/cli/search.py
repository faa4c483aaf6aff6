"""How is a corpus searched from the command line? shoal search, plain or for one user, with reasons."""

import argparse
import textwrap
from dataclasses import asdict
from pathlib import Path

from scipy.sparse import csr_array

from shoal.anonymizer.release_files import read_release
from shoal.cli.options import Commands, add_knowledge_options, knowledge_of
from shoal.cli.printing import bar, print_json
from shoal.corpus.errors import InputError
from shoal.corpus.logs import load_log
from shoal.corpus.progress import Progress
from shoal.evaluation.finding import Answer, Found, answer, check_query, find_user, own_profile, published_profile
from shoal.search.index import Index, index_for

_REASONS = 6  # parts of a score that are printed; --json has them all


def add_commands(commands: Commands) -> None:
    parser = commands.add_parser("search", help="search a corpus, plain or with a profile")
    parser.add_argument("query", help='words, "a phrase", title:word')
    parser.add_argument("--corpus", default="news", help="a data set's name or a JSON-lines file (news)")
    parser.add_argument("--log", help="a file in the AOL format, or a data set's name: the user's own profile")
    parser.add_argument("--user", help="whose profile orders the results")
    parser.add_argument("--release", type=Path, help="a release: the published profile instead of the user's own")
    parser.add_argument("--weight", type=float, default=0.9, help="0: the engine alone, 1: the profile alone (0.9)")
    parser.add_argument("--limit", type=int, default=10, help="how many results (10)")
    parser.add_argument("--explain", action="store_true", help="why each result stands where it does")
    parser.add_argument("--engine", default="auto", help="auto, whoosh or tantivy (auto)")
    add_knowledge_options(parser)
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_search)


def run_search(options: argparse.Namespace) -> None:
    _check(options)
    with bar() as progress:
        index = index_for(options.corpus, engine=options.engine, progress=progress)
        profile, whose = _profile(options, index, progress)
        found = answer(options.query, index, profile, whose, options.weight, options.limit)
    if options.json:
        print_json(asdict(found))
    else:
        _print(found, options)
    index.close()


def _check(options: argparse.Namespace) -> None:
    check_query(options.query)
    if not 0 <= options.weight <= 1:
        raise InputError(f"--weight {options.weight}: expected a number from 0 (engine alone) to 1 (profile alone)")
    if not 1 <= options.limit <= 100:
        raise InputError(f"--limit {options.limit}: expected a number of results from 1 to 100")
    if options.user is not None and options.log is None and options.release is None:
        raise InputError(f"--user {options.user}: say where the profile is, by --log or --release")
    if options.user is None and (options.log or options.release):
        raise InputError("--log and --release need --user, whose profile orders the results")


def _profile(options: argparse.Namespace, index: Index, progress: Progress) -> tuple[csr_array | None, str]:
    """The profile that orders the results, and what it is called."""
    if options.user is None:
        return None, ""
    log = load_log(options.log, progress=progress)[0] if options.log else None
    if log is not None:
        find_user(options.user, log.users.to_list())
    if options.release is not None:
        stored = read_release(options.release)
        if log is not None and options.user not in stored.assignment.users.to_list():
            return None, ""  # a user of the log whom the method suppressed
        return published_profile(stored, options.user, index), f"the profile that {options.release.name} publishes"
    assert log is not None
    return own_profile(log, options.user, knowledge_of(options), index), f"the own profile of user {options.user}"


def _print(found: Answer, options: argparse.Namespace) -> None:
    if found.suggestion:
        print(f"did you mean: {found.suggestion}")
    if not found.results:
        print(f"no document of {options.corpus} holds any of it")
        return
    if options.user is not None:
        print(f"ordered with {found.profile}, weight {options.weight:g}")
    for result in found.results:
        _print_result(result, options)


def _print_result(result: Found, options: argparse.Namespace) -> None:
    moved = "" if result.before == result.rank else f"  (was {result.before})"
    print(f"{result.rank:>3}. {result.title or result.id}  [{result.score:.4f}]{moved}")
    print(textwrap.fill(result.snippet, 110, initial_indent="     ", subsequent_indent="     "))
    if options.explain:
        for name, parts in (("engine", result.engine), ("profile", result.profile)):
            shown = ", ".join(f"{term} {part:.4f}" for term, part in parts[:_REASONS])
            more = len(parts) - _REASONS
            rest = f", and {more} more {sum(part for _, part in parts[_REASONS:]):.4f}" if more > 0 else ""
            print(f"     {name} {sum(part for _, part in parts):.4f} = {shown}{rest}" if parts else f"     {name} 0")
