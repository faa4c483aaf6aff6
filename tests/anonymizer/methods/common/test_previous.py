"""Do groups stay together from one release to the next, where k and t allow, and does that protect?"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.base import Anonymized, Assignment
from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.methods.common import Common
from shoal.anonymizer.methods.random import Random
from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import NO_TIME, QueryLog, make_log
from shoal.evaluation.attacks.reruns import Rerun, earlier_half, link_releases
from shoal.evaluation.attacks.victims import choose_victims
from shoal.evaluation.attacks.view import PublishedView

KNOWLEDGE = Knowledge(dictionary_name="any")


def method(k: int = 3, t: int = 2) -> Common:
    return Common(KNOWLEDGE, k=k, t=t)


def log_of(asked: dict[str, str]) -> QueryLog:
    return make_log(pl.Series(list(asked), dtype=pl.String), pl.Series(list(asked.values()), dtype=pl.String))


def groups_of(made: Anonymized) -> set[frozenset[str]]:
    names = made.assignment.users.gather(made.assignment.user).to_list()
    rows = made.assignment.profile.tolist()
    return {frozenset(name for name, row in zip(names, rows, strict=True) if row == one) for one in set(rows)}


def holds(made: Anonymized, log: QueryLog) -> bool:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE)).holds


DRINKERS = dict.fromkeys(("ann", "bob", "cem"), "wine beer")
DRIVERS = dict.fromkeys(("dan", "eve", "fay"), "car truck")


@cache  # not while tests are looked for, which every worker does, with nothing compiled
def earlier() -> Anonymized:
    return method().run(log_of(DRINKERS | DRIVERS))


def test_who_was_together_stays_together_whatever_they_ask_later() -> None:
    changed = {**DRINKERS, **DRIVERS, "cem": "car truck beer", "dan": "wine beer truck car"}
    later = method().after(earlier().assignment).run(log_of(changed), seed=7)
    assert groups_of(later) == groups_of(earlier())
    assert holds(later, log_of(changed))


def test_newcomers_have_groups_of_their_own_and_fewer_than_k_wait() -> None:
    crowd = DRINKERS | DRIVERS | dict.fromkeys(("gil", "hal"), "wine beer")
    waiting = method().after(earlier().assignment).run(log_of(crowd))
    assert groups_of(waiting) == groups_of(earlier())
    assert waiting.suppressed.users == 2
    assert holds(waiting, log_of(crowd))
    crowd |= {"ida": "wine beer"}
    enough = method().after(earlier().assignment).run(log_of(crowd))
    assert groups_of(enough) == groups_of(earlier()) | {frozenset(("gil", "hal", "ida"))}
    assert holds(enough, log_of(crowd))


def test_a_group_under_k_or_with_nothing_in_common_any_more_is_made_anew() -> None:
    left = {name: asked for name, asked in (DRINKERS | DRIVERS).items() if name != "ann"} | {"gil": "wine"}
    later = method().after(earlier().assignment).run(log_of(left))
    assert groups_of(later) == {frozenset(DRIVERS), frozenset(("bob", "cem", "gil"))}
    mixed = Assignment(
        pl.Series(["ann", "dan", "gil"]), np.arange(3, dtype=np.int32), np.zeros(3, dtype=np.int32)
    )  # who were together by another method, and share no term
    crowd = DRINKERS | DRIVERS | {"gil": "hotel wine"}
    remade = method(t=3).after(mixed).run(log_of(crowd))
    assert frozenset(("ann", "dan", "gil")) not in groups_of(remade)
    assert holds(remade, log_of(crowd))


def test_two_releases_tell_less_where_groups_stay() -> None:
    log = sample_log(80)
    log = replace(log, time=np.full(len(log), NO_TIME))  # so that the earlier half is of everybody
    profiles = build_profiles(log, KNOWLEDGE.words)
    victims = choose_victims(profiles, 80)
    again = Rerun(method(4, 2), log, KNOWLEDGE)
    earlier = method(4, 2).run(earlier_half(log), seed=1)
    found = {}
    for name, one in (("anew", method(4, 2)), ("sticky", method(4, 2).after(earlier.assignment))):
        made = one.run(log)
        view = PublishedView(made.release, KNOWLEDGE)
        found[name] = float(link_releases(again, view, made.assignment, victims, victims.known(5)).mean())
    assert found["sticky"] < found["anew"]


def test_a_method_that_keeps_no_groups_and_users_with_several_profiles_are_refused() -> None:
    with pytest.raises(InputError, match="leave --previous away"):
        Random().after(earlier().assignment)
    twice = Assignment(pl.Series(["ann"]), np.zeros(2, dtype=np.int32), np.arange(2, dtype=np.int32))
    with pytest.raises(InputError, match="several profiles each"):
        method().after(twice).run(log_of(DRINKERS))


def test_the_commands_keep_groups_and_make_such_a_release_again(tmp_path: Path) -> None:
    def write(name: str, asked: dict[str, str]) -> str:
        rows = "".join(f"{user}\t{query}\t2006-03-01 10:00:00\t\t\n" for user, query in asked.items())
        (tmp_path / name).write_text(f"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n{rows}")
        return str(tmp_path / name)

    first = write("first.tsv", DRINKERS | DRIVERS)
    second = write("second.tsv", {**DRINKERS, **DRIVERS, "cem": "car truck beer", "dan": "wine beer truck"})
    settings = ["--method", "common", "--set", "k=3", "--set", "t=2"]
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    assert main(["anonymize", "--log", first, *settings, "--out", old]) == 0
    assert main(["anonymize", "--log", second, *settings, "--previous", old, "--out", new]) == 0
    assert main(["verify", new, "--log", second, "--reproduce", "--previous", old]) == 0
    assert main(["anonymize", "--log", second, "--method", "random", "--previous", old, "--out", new]) == 2
