"""How is a corpus searched from the command line? shoal search, plain or for one user, with reasons."""

import argparse
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import SystemRandom

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import profile_of
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import read_release
from shoal.cli.options import LOG, add_knowledge_options, add_log_options, bar, knowledge_of, log_of, print_json
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog, find_user
from shoal.corpus.searches import Blend, Chooser, Device
from shoal.evaluation.protocol.blending import average_row
from shoal.search.index import Index, index_for
from shoal.search.personal import CANDIDATES, DEFAULT_WEIGHT, PLAIN, Average, Found, Result, search
from shoal.search.query import MAX_CHARACTERS, parse_query
from shoal.search.vectors import own_profiles, profile_space

_PERSONAL = "personal"  # the name of the ranking by the user's profile
_REASONS = 6  # parts of a score that are printed; --json has them all


@dataclass(frozen=True)
class Shown:
    """One result as it is printed; `before` is its rank without a profile, from 1."""

    rank: int
    before: int
    id: str
    title: str
    snippet: str
    score: float
    engine: tuple[tuple[str, float], ...]
    profile: tuple[tuple[str, float], ...]
    everyone: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Answer:
    """The results of a query, whose profile ordered them, and what may have been meant."""

    query: str
    profile: str
    weight: float  # of it
    suggestion: str
    results: tuple[Shown, ...]


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
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_search)


def run_search(options: argparse.Namespace) -> None:
    _check(options)
    with bar() as progress:
        index = index_for(options.corpus, engine=options.engine, progress=progress)
        profile, whose = _profile(options, index, progress)
        average = _average(options, index)
        averages = {} if average is None else {_PERSONAL: average}
        profiles = {} if profile is None else {_PERSONAL: profile}
        found = search(index, options.query, profiles, options.weight, averages)
        answer = _answer(found, whose, options.limit)
    if options.json:
        print_json(asdict(answer))
    else:
        _print(answer, options)
    index.close()


def _check(options: argparse.Namespace) -> None:
    if not parse_query(options.query):
        raise InputError(
            f"nothing to search for in {options.query[:40]!r}: give at least one word of letters or digits "
            f"(the first {MAX_CHARACTERS:,} characters are read)"
        )
    if options.weight is not None and not 0 <= options.weight <= 1:
        raise InputError(f"--weight {options.weight}: expected a number from 0 (engine alone) to 1 (profile alone)")
    if not 1 <= options.limit <= CANDIDATES:
        raise InputError(f"--limit {options.limit}: expected a number of results from 1 to {CANDIDATES}")
    if options.user is not None and options.log is None and options.release is None:
        raise InputError(f"--user {options.user}: say where the profile is, by --log or --release")
    if options.user is None and (options.log or options.release):
        raise InputError("--log and --release need --user, whose profile orders the results")


def _profile(options: argparse.Namespace, index: Index, progress: Progress) -> tuple[csr_array | Chooser | None, str]:
    """What orders the results, in the space of the documents, and what it is called."""
    if options.user is None:
        return None, ""
    log = log_of(options, progress)[0] if options.log else None
    if log is not None:
        find_user(options.user, log.users)
    if options.release is not None:
        return _published_profile(options, index, log), f"the profile that {options.release.name} publishes"
    assert log is not None
    return _own_profile(options, index, log), f"the own profile of user {options.user}"


def _own_profile(options: argparse.Namespace, index: Index, log: QueryLog) -> csr_array:
    one = log.for_users(np.array([find_user(options.user, log.users)]))
    return own_profiles(build_profiles(one, knowledge_of(options).words), index.vectors)


def _published_profile(options: argparse.Namespace, index: Index, log: QueryLog | None) -> Chooser:
    """What the release's method uses for a user of the log, who may have been suppressed, or of the release."""
    stored = read_release(options.release)
    if log is None:
        find_user(options.user, stored.assignment.users)
    release, manifest = stored.release, stored.manifest
    method = make_method(manifest.method, manifest.parameters, stored.knowledge)
    space = profile_space(release.labels, release.generalized, index.vectors, stored.knowledge)
    published = csr_array(profile_of(options.user, release, stored.assignment) @ space)
    own = csr_array(published.shape) if log is None else _own_profile(options, index, log)
    device = Device(own, published, SystemRandom())
    return lambda search: method.choose(search, device, release)


def _average(options: argparse.Namespace, index: Index) -> Average | None:
    """What ranks beside the profiles of a release that says what they weigh."""
    stored = read_release(options.release) if options.release is not None else None
    if stored is None or stored.manifest.blend is None or stored.release.catalogue is None:
        return None
    return Average(average_row(stored.release.catalogue, index.vectors), Blend(**stored.manifest.blend))


def _answer(found: Found, whose: str, limit: int) -> Answer:
    name = next(reversed(found.rankings))
    shown = tuple(_shown(result, found, name) for result in found.results([name], slice(limit))[name])
    suggestion = found.index.engine.suggest(found.query) or ""
    weight = found.rankings[name].blend.profile
    return Answer(found.query, whose if found.profiles[name].nnz else "no profile", weight, suggestion, shown)


def _shown(result: Result, found: Found, name: str) -> Shown:
    document, reason = found.index.documents[result.document], found.reason(name, result.document)
    assert reason is not None
    return Shown(
        result.rank,
        result.ranks[PLAIN],
        document.id,
        document.title,
        str(result.snippet),
        result.score,
        reason.engine,
        reason.profile,
        reason.everyone,
    )


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
