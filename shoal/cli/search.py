"""How is a corpus searched from the command line? shoal search: a query with reasons, or topics as a TREC run."""

import argparse
import textwrap
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache

from shoal.cli.arguments import SHOWN
from shoal.cli.options import choose_cluster, knowledge_of, log_of
from shoal.cli.tables import print_json, print_table
from shoal.corpora import Answer, Corpus, Shown, check_search, open_corpus
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, bar
from shoal.corpus.querylog import counted
from shoal.notebook import Profile, load, own_profile
from shoal.search.personal import CANDIDATES
from shoal.search.trec import read_pairs, read_topics

_REASONS = 6  # parts of a score that are printed; --json has them all


def run(options: argparse.Namespace) -> None:
    _check(options)
    choose_cluster(options)
    with bar() as progress:
        corpus = open_corpus(options.corpus, engine=options.engine, progress=progress)
        profile_of = _profiles(options, progress)
        if options.topics is not None:
            _run_topics(corpus, profile_of, options, progress)
        else:
            profile = profile_of(options.user) if options.user is not None else None
            answer = corpus.search(options.query, profile, options.weight, options.limit or SHOWN)
    if options.topics is None:
        _tell(answer, options)
    corpus.close()


def _check(options: argparse.Namespace) -> None:
    if (options.query is None) == (options.topics is None):
        raise InputError("give a query, or a file of them by --topics: one of the two")
    if options.topics is None:
        check_search(options.query, options.weight, SHOWN if options.limit is None else options.limit)
        if options.people is not None or options.qrels is not None:
            raise InputError("--people and --qrels are for many queries: give them by --topics")
    elif options.trec is None:
        raise InputError("--topics needs --trec RUN, the file that the rankings are written to")
    whose = options.user if options.people is None else options.people
    if options.user is not None and options.people is not None:
        raise InputError("--user and --people do not go together: one profile for all topics, or one for each")
    if whose is not None and options.log is None and options.release is None:
        raise InputError(f"--user {whose}: say where the profile is, by --log or --release")
    if whose is None and (options.log or options.release):
        raise InputError("--log and --release need --user, whose profile orders the results (or --people, for topics)")


def _profiles(options: argparse.Namespace, progress: Progress) -> Callable[[str], Profile]:
    """What orders the results of a user: their own profile, or the one that a release publishes of them."""
    log = log_of(options, progress)[0] if options.log else None
    if options.release is None:
        knowledge = knowledge_of(options)

        def own(user: str) -> Profile:
            assert log is not None
            return own_profile(log, user, knowledge)

        return own
    made, name = load(options.release, log), f"the profile that {options.release.name} publishes"
    return lambda user: replace(made.profile_of(user), name=name)


def _run_topics(
    corpus: Corpus, profile_of: Callable[[str], Profile], options: argparse.Namespace, progress: Progress
) -> None:
    """Write the run of all topics, and what ir_measures says of it where the relevant documents are given."""
    from shoal.evaluation.run.trec import score_run

    topics = read_topics(options.topics)
    people = dict.fromkeys(topics, options.user)
    if options.people is not None:
        people |= read_pairs(options.people, "topic<TAB>user", "user")
    of_user = cache(profile_of)
    run = corpus.run(
        topics,
        lambda topic: None if people[topic] is None else of_user(people[topic]),
        options.weight,
        CANDIDATES if options.limit is None else options.limit,
        progress,
    )
    run.save(options.trec)
    scores = score_run(options.qrels, options.trec) if options.qrels is not None else {}
    if options.json:
        print_json({"topics": len(run.topics), "results": len(run), "run": str(options.trec), **scores})
        return
    print(f"{counted(len(run), 'result')} of {counted(len(run.topics), 'topic')} in {options.trec}")
    if scores:
        print_table([list(scores.values())], list(scores))


def _tell(answer: Answer, options: argparse.Namespace) -> None:
    if options.trec is not None:
        options.trec.write_text(answer.trec(), encoding="utf-8")
    if options.json:
        print_json(asdict(answer))
    else:
        _print(answer, options)


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
