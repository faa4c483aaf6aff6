"""What must every method keep, ours or another package's? A public suite of checks.

Run it over a method of your own by `check_method(MyMethod)`, or one test per check with pytest:

    @pytest.mark.parametrize(("method", "check"), pairs([MyMethod]), ids=name_of)
    def test_my_method(method, check):
        check(method)

A check raises AssertionError with a sentence that says what was broken.
"""

import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from shoal.anonymizer.base import Anonymized, Method, Release, ReleasedQueries
from shoal.anonymizer.claims import Evidence, Verdict, find_verifier, verify
from shoal.anonymizer.contract.edits import mutants
from shoal.anonymizer.contract.sample_logs import awkward_logs, log_of, sample_log
from shoal.anonymizer.parameters import Range, Value
from shoal.anonymizer.registry import check_declaration
from shoal.anonymizer.release_files import ASSIGNMENT, read_release, write_release
from shoal.anonymizer.verify_stored import reproduce, verify_stored
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog

MethodClass = type[Method]
Check = Callable[[MethodClass], None]
TAMPERINGS = 25  # of each method


def check_method(method: MethodClass) -> None:
    """Every check of the contract; the first that fails raises AssertionError with a sentence."""
    for check in CHECKS:
        check(method)


def pairs(methods: Iterable[MethodClass]) -> list[tuple[MethodClass, Check]]:
    """Each method with each check, to parametrize a test."""
    return [(method, check) for method in methods for check in CHECKS]


def name_of(thing: object) -> str:
    """How a method or a check is called in the name of a test."""
    if isinstance(thing, type) and issubclass(thing, Method):
        return thing.info.id
    return getattr(thing, "__name__", str(thing)).removeprefix("check_")


# What is told of a method


def check_declaration_is_right(method: MethodClass) -> None:
    try:
        check_declaration(method)
    except InputError as error:
        raise AssertionError(str(error)) from error
    _must("guarantee" in (method.__doc__ or "").lower(), f"{method.info.id}: its docstring states no guarantee")


def check_settings_are_stored(method: MethodClass) -> None:
    made = method(_knowledge())
    defaults = {parameter.name: parameter.default for parameter in method.info.parameters}
    _must(made.settings == defaults, f"{method.info.id}() has {made.settings}, its defaults are {defaults}")
    for name, value in defaults.items():
        _must(getattr(made, name) == value, f"{method.info.id}().{name} is not {value!r}")
    as_text = {name: str(value) for name, value in defaults.items()}
    _must(method(_knowledge(), **as_text).settings == defaults, f"{method.info.id} refuses its defaults as text")


def check_bad_settings_are_refused(method: MethodClass) -> None:
    _refuses(method, {"no_such_parameter": 1})
    for parameter in method.info.parameters:
        for value in _values_outside(parameter.allowed):
            _refuses(method, {parameter.name: value})


def _values_outside(allowed: Range[Value]) -> list[object]:
    outside: list[object] = ["no such word", None, float("nan"), [1]]
    outside += [] if allowed.low is None else [allowed.low - 1, -float("inf")]
    outside += [] if allowed.high is None else [allowed.high + 1, float("inf")]
    return outside + ([1.5] if allowed.kind is int else [])


def _refuses(method: MethodClass, settings: dict[str, object]) -> None:
    try:
        method(_knowledge(), **settings)
    except InputError as error:
        _must("\n" not in str(error), f"{method.info.id}: an error has more than one line: {error}")
        return
    raise AssertionError(f"{method.info.id} accepts {settings}")


# What it does with an ordinary log


def check_the_same_seed_gives_the_same_release(method: MethodClass) -> None:
    if method.info.randomness == "secret":
        return  # the system may draw it, and nobody can run it again
    log = sample_log()
    one = method(_knowledge())
    first, again, other = _run(one, log, 3), _run(one, log, 3), _run(method(_knowledge()), log, 3)
    for second in (again, other):
        _must(_same(first.release, second.release), f"{method.info.id} gives two releases for one seed")
        same = all(
            np.array_equal(getattr(first.assignment, column), getattr(second.assignment, column))
            for column in ("user", "profile")
        )
        _must(same, f"{method.info.id} gives two assignments for one seed")


def check_the_input_is_unchanged(method: MethodClass) -> None:
    log = replace(sample_log())  # what is kept of a log is shared: a method that changes it spoils what others see
    profiles = build_profiles(log, _knowledge().words)
    before = log.digest(), profiles.counts.copy(), list(profiles.terms)
    method(_knowledge()).run(log, profiles=profiles, seed=1)
    _must(log.digest() == before[0], f"{method.info.id} changes the log")
    same = np.array_equal(profiles.counts.toarray(), before[1].toarray()) and profiles.terms == before[2]
    _must(same, f"{method.info.id} changes the profiles")


def check_no_user_is_named(method: MethodClass) -> None:
    log = sample_log()
    release = _run(method(_knowledge()), log, 0).release
    queries = [] if release.queries is None else release.queries.query.to_list()
    listed = [] if release.catalogue is None else release.catalogue.terms
    names = log.users.to_list()
    for text in [*release.pseudonyms, *release.labels, *queries, *listed]:
        _must(not any(name in text for name in names), f"{method.info.id} publishes {text!r}, which names a user")


def check_names_of_users_do_not_matter(method: MethodClass) -> None:
    if method.info.randomness == "secret":
        return  # another release differs whatever the names are
    log = sample_log()
    renamed = replace(log, users=pl.Series([f"someone else {i}" for i in range(len(log.users), 0, -1)]))
    releases = [_run(method(_knowledge()), some, 0).release for some in (log, renamed)]
    _must(_same(*releases), f"{method.info.id} publishes something else when users have other names")


def check_the_release_is_well_formed(method: MethodClass) -> None:
    made = _run(method(_knowledge()), sample_log(), 0)
    release, id = made.release, method.info.id
    shape = (len(release.pseudonyms), len(release.labels))
    _must(release.weights.shape == shape, f"{id}: {release.weights.shape} weights for {shape} profiles and labels")
    _must(len(release.users) == shape[0] and len(release.generalized) == shape[1], f"{id}: columns differ in length")
    _must(len(set(release.pseudonyms)) == shape[0], f"{id}: two profiles have one pseudonym")
    _must(len(set(release.labels)) == shape[1], f"{id}: a label stands twice in the vocabulary")
    _must(np.all(np.isfinite(release.weights.data)) and np.all(release.weights.data > 0), f"{id}: a weight is not > 0")
    used = np.bincount(release.weights.indices, minlength=shape[1])
    _must(np.all(used > 0), f"{id}: the vocabulary holds a label that no profile has")
    for label, general in zip(release.labels, release.generalized.tolist(), strict=True):
        _must(not general or _knowledge().stands_for(label), f"{id}: {label!r} is generalized, but of nothing")


def check_a_user_has_one_profile(method: MethodClass) -> None:
    made = _run(method(_knowledge()), sample_log(), 0)
    counts = np.bincount(made.assignment.user, minlength=1)
    sessions = find_verifier(made.claim.id).unit == "session"
    _must(sessions or counts.max() <= 1, f"{method.info.id} gives a user {counts.max()} pseudonyms")


def check_the_claim_verifies(method: MethodClass) -> None:
    log = sample_log()
    for seed in range(3):
        made = _run(method(_knowledge()), log, seed)
        sentence = _verdict(made, log).sentence
        _must(sentence.endswith(".") and "\n" not in sentence, f"{method.info.id}: the claim is one sentence")
        _must(made.claim == method(_knowledge()).claim(), f"{method.info.id} promises other than its settings say")
        _holds(method, made, log, f"seed {seed}")


def check_the_order_of_the_log_breaks_nothing(method: MethodClass) -> None:
    log = sample_log()
    order = np.random.default_rng(1).permutation(len(log.users))
    rows = [(log.users[int(u)], log.queries[int(q)]) for u in order for q in log.query[log.start[u] : log.start[u + 1]]]
    shuffled = log_of(rows)
    _holds(method, _run(method(_knowledge()), shuffled, 0), shuffled, "shuffled users")


# What it does with the rest


def check_awkward_logs_give_an_error_or_a_release(method: MethodClass) -> None:
    for name, log in awkward_logs().items():
        _error_or_release(method, {}, log, name)


def check_the_whole_range_gives_an_error_or_a_release(method: MethodClass) -> None:
    log = sample_log(24)
    for parameter in method.info.parameters:
        for value in _ends(parameter.allowed):
            _error_or_release(method, {parameter.name: value}, log, f"{parameter.name}={value}")


def _ends(allowed: Range[Value]) -> list[Value]:
    bounds = [bound for bound in (allowed.low, allowed.high) if bound is not None and allowed.kind is not str]
    return [*(allowed.kind(bound) for bound in bounds), *allowed.words]


def _error_or_release(method: MethodClass, settings: dict[str, Value], log: QueryLog, where: str) -> None:
    try:
        made = _run(method(_knowledge(), **settings), log, 0)
    except InputError as error:
        message = str(error)
        _must(message and "\n" not in message, f"{method.info.id}, {where}: an error that is not one line: {message}")
        return
    _holds(method, made, log, where)


def check_progress_is_told(method: MethodClass) -> None:
    calls: list[tuple[int, int, str]] = []
    _run(method(_knowledge()), sample_log(), 0, lambda done, total, stage: calls.append((done, total, stage)))
    _must(calls, f"{method.info.id} never tells how far it is")
    for done, total, stage in calls:
        _must(0 <= done <= total and stage, f"{method.info.id} tells {done} of {total} at {stage!r}")


def check_cancelling_is_let_through(method: MethodClass) -> None:
    calls = 0

    def cancel(done: int, total: int, stage: str) -> None:
        nonlocal calls
        calls += 1
        if calls >= patience:
            raise Cancelled

    for patience in (1, 2):
        calls = 0
        try:
            _run(method(_knowledge()), sample_log(), 0, cancel)
        except Cancelled:
            continue
        _must(calls < patience, f"{method.info.id} goes on after it was cancelled")


def check_a_stored_release_verifies(method: MethodClass) -> None:
    log, made_by = sample_log(), method(_knowledge())
    made = _run(made_by, log, 5)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        manifest = write_release(place, made, made_by, log, 5)
        mode = stat.S_IMODE((place / ASSIGNMENT).stat().st_mode)
        _must(mode == 0o600, f"{method.info.id}: others can read who has which profile ({mode:o})")
        _must(manifest.groups == len(made.release), f"{method.info.id}: the manifest counts {manifest.groups} profiles")
        stored = read_release(place, method=method)
        verdict = verify_stored(stored, log)
        other = "" if manifest.seed is None else reproduce(place, stored, log, method=method)
    _must(verdict.holds, f"{method.info.id}: the stored release breaks its claim: {verdict.counterexample}")
    _must(not other, f"{method.info.id}: run again with its seed, it writes another {other}")
    rows = [[release.profile(row).keys() for row in range(len(release))] for release in (made.release, stored.release)]
    _must(rows[0] == rows[1], f"{method.info.id}: the stored release has other terms")


def check_tampering_is_seen(method: MethodClass) -> None:
    """The verifier of the method's claim rejects what is not true of its members."""
    log = sample_log()
    made = _run(method(_knowledge()), log, 0)
    for what, mutant in mutants(made).items():
        verdict = _verdict(mutant, log)
        _must(not verdict.holds, f"{method.info.id}: its verifier accepts a release with {what}")
        _must(verdict.counterexample, f"{method.info.id}: no counterexample for {what}")


def check_no_tampering_gets_through(method: MethodClass) -> None:
    """Edited folders are refused where the literal definition of the claim is false of them, and accepted elsewhere."""
    from shoal.anonymizer.contract.tampering import faults, machine_for

    with tempfile.TemporaryDirectory() as place:
        machine = machine_for(method, Path(place))
        wrong = [] if machine is None else faults(list(machine.trials(TAMPERINGS)))
    _must(not wrong, f"{method.info.id}: " + "; ".join(f"{one.outcome}: {one.edits} ({one.said})" for one in wrong))


def _must(holds: object, sentence: str) -> None:
    """An assertion that `python -O` does not remove."""
    if not holds:
        raise AssertionError(sentence)


@lru_cache(maxsize=1)
def _knowledge() -> Knowledge:
    return Knowledge()


def _run(method: Method, log: QueryLog, seed: int, progress: Progress = silent) -> Anonymized:
    return method.run(log, seed=seed, progress=progress)


def _verdict(made: Anonymized, log: QueryLog) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, _knowledge()))


def _holds(method: MethodClass, made: Anonymized, log: QueryLog, where: str) -> None:
    verdict = _verdict(made, log)
    _must(verdict.holds, f"{method.info.id}, {where}: the claim is broken: {verdict.counterexample}")


def _same(first: Release, second: Release) -> bool:
    """Whether two releases publish the same, to the last bit."""
    columns = [(r.users, r.weights.indptr, r.weights.indices, r.weights.data, r.generalized) for r in (first, second)]
    same = all(np.array_equal(one, other) for one, other in zip(*columns, strict=True))
    same &= first.pseudonyms == second.pseudonyms and first.labels == second.labels
    same &= _catalogue_of(first) == _catalogue_of(second)
    same &= _same_rows(first.shares, second.shares)
    return same and _same_rows(first.queries, second.queries)


def _same_rows(first: ReleasedQueries | None, second: ReleasedQueries | None) -> bool:
    if first is None or second is None:
        return first is second
    pairs = [(q.pseudonym, q.query.to_list(), q.count, q.degree) for q in (first, second)]
    return all(np.array_equal(one, other) for one, other in zip(*pairs, strict=True))


def _catalogue_of(release: Release) -> list[tuple[str, int, float]] | None:
    found = release.catalogue
    if found is None:
        return None
    return list(zip(found.terms, found.users.tolist(), found.mean.tolist(), strict=True))


CHECKS: tuple[Check, ...] = (
    check_declaration_is_right,
    check_settings_are_stored,
    check_bad_settings_are_refused,
    check_the_input_is_unchanged,
    check_the_same_seed_gives_the_same_release,
    check_no_user_is_named,
    check_names_of_users_do_not_matter,
    check_the_release_is_well_formed,
    check_a_user_has_one_profile,
    check_the_claim_verifies,
    check_the_order_of_the_log_breaks_nothing,
    check_awkward_logs_give_an_error_or_a_release,
    check_the_whole_range_gives_an_error_or_a_release,
    check_progress_is_told,
    check_cancelling_is_let_through,
    check_a_stored_release_verifies,
    check_tampering_is_seen,
    check_no_tampering_gets_through,
)
