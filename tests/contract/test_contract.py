"""Does every method of the registry keep the contract, and does the contract see a method that does not?"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.claims import HOLDS, Verifier, verifiers
from shoal.anonymizer.contract import Check, MethodClass, check_method, name_of, pairs
from shoal.anonymizer.parameters import group_size
from shoal.anonymizer.publish import publish_centroids
from shoal.anonymizer.registry import make_method, methods
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from tests.other_package import forget, found_in, install


@pytest.mark.parametrize(("method", "check"), pairs(methods().values()), ids=name_of)
def test_the_contract_holds(method: MethodClass, check: Check) -> None:
    check(method)


# A method of another package, with a claim of its own

PACKAGE = '''
"""How would somebody else add a method? Neighbours in the log share a profile."""

import numpy as np

from shoal.anonymizer.base import Claim, ProfileMethod, MethodInfo
from shoal.anonymizer.claims import Verifier
from shoal.anonymizer.claims.groups import verify_users_per_profile
from shoal.anonymizer.parameters import AT_LEAST_TWO, group_size
from shoal.anonymizer.publish import publish_centroids


class Neighbours(ProfileMethod):
    """Guarantee: every profile is shared by at least k users."""

    info = MethodInfo(
        id="neighbours",
        title="Users who stand side by side in the log",
        paper="A toy, 2026",
        unit="user",
        family="group",
        protects="Who of k users has which profile.",
        does_not_protect="Anything that the order of the log tells.",
    )
    k = group_size()

    def claim(self):
        return Claim("side-by-side", {"k": self.k})

    def anonymize(self, data, *, seed=0, progress=lambda done, total, stage: None):
        users = np.flatnonzero(data.size > 0)
        self.need_users(len(users), self.k)
        progress(0, len(users), "grouping")
        group = np.full(len(data), -1)
        for number, members in enumerate(np.array_split(users, len(users) // self.k)):
            group[members] = number
        return publish_centroids(data, group, self.claim())


side_by_side = Verifier(
    "side-by-side",
    "user",
    verify_users_per_profile,
    lambda values: f"{values['k']} neighbours share a profile.",
    {"k": AT_LEAST_TWO},
)
'''
ENTRY_POINTS = """[shoal.anonymizers]
neighbours = toy_neighbours:Neighbours

[shoal.claims]
side-by-side = toy_neighbours:side_by_side
"""


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.fixture
def other_package(tmp_path: Path) -> Iterator[None]:
    install(tmp_path, "toy_neighbours", PACKAGE, ENTRY_POINTS)
    with found_in(tmp_path, "toy_neighbours"):
        yield


def test_a_method_of_another_package_is_found_and_keeps_the_contract(other_package: None) -> None:
    assert "neighbours" in methods()
    assert make_method("neighbours", {"k": "3"}).settings == {"k": 3}
    check_method(methods()["neighbours"])


# Methods that break the contract, each in one way


class Honest(ProfileMethod):
    """Guarantee: every profile is shared by at least k users."""

    info = MethodInfo(
        id="honest",
        title="Users in the order of the log",
        paper="A toy, 2026",
        unit="user",
        family="group",
        protects="Who of k users has which profile.",
        does_not_protect="Anything that the order of the log tells.",
    )
    k = group_size()

    def anonymize(self, data: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        users = np.flatnonzero(data.size > 0)
        self.need_users(len(users), self.k)
        progress(0, len(users), "grouping")
        return publish_centroids(data, self.groups(users, len(data), seed), self.claim())

    def claim(self) -> Claim:
        return Claim("users-per-profile", {"k": self.k})

    def groups(self, users: np.ndarray, total: int, seed: int) -> np.ndarray:
        group = np.full(total, -1)
        for number, members in enumerate(np.array_split(users, len(users) // self.k)):
            group[members] = number
        return group


class GroupsUnderK(Honest):
    """Guarantee: none is kept, a group of one is made."""

    def groups(self, users: np.ndarray, total: int, seed: int) -> np.ndarray:
        group = super().groups(users, total, seed)
        group[users[0]] = group.max() + 1
        return group


class ForgetsItsSeed(Honest):
    """Guarantee: k users, but never the same."""

    def groups(self, users: np.ndarray, total: int, seed: int) -> np.ndarray:
        return super().groups(np.random.default_rng().permutation(users), total, seed)


class NamesUsers(Honest):
    """Guarantee: k users, under the name of the first."""

    def anonymize(self, data: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        made = super().anonymize(data, seed=seed, progress=progress)
        first = [made.assignment.users[int(np.flatnonzero(made.assignment.profile == row)[0])] for row in range(2)]
        names = [f"group of {name}" for name in first] + made.release.pseudonyms[2:]
        return replace(made, release=replace(made.release, pseudonyms=names))


class SortsByName(Honest):
    """Guarantee: k users, but whose names are alike."""

    def anonymize(self, data: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        by_name = data.select(data.users.arg_sort().to_numpy())
        return super().anonymize(by_name, seed=seed, progress=progress)


class ChangesItsInput(Honest):
    """Guarantee: k users, of profiles that are spoilt."""

    def anonymize(self, data: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        made = super().anonymize(data, seed=seed, progress=progress)
        data.counts.data[:] = 1 + data.counts.data
        return made


class SwallowsCancelling(Honest):
    """Guarantee: k users, and no way to stop."""

    def anonymize(self, data: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        def deaf(done: int, total: int, stage: str) -> None:
            try:
                progress(done, total, stage)
            except Exception:
                return

        return super().anonymize(data, seed=seed, progress=deaf)


class SaysNothing(Honest):
    """Guarantee: k users, silently."""

    def anonymize(self, data: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        return super().anonymize(data, seed=seed)


class CrashesOnFewUsers(Honest):
    """Guarantee: k users, where there are."""

    def need_users(self, available: int, needed: int) -> None:
        """Let it go wrong later."""


class TakesAnything(Honest):
    """Guarantee: k users, whatever k."""

    def __init__(self, knowledge: object = None, **settings: object) -> None:
        super().__init__()


class AlwaysHolds(Honest):
    """Guarantee: a claim that nothing can break."""

    def claim(self) -> Claim:
        return Claim("trust-me")


def test_the_honest_toy_keeps_the_contract() -> None:
    check_method(Honest)


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (GroupsUnderK, "the claim is broken: .* fewer than k=5"),
        (ForgetsItsSeed, "two releases for one seed"),
        (NamesUsers, "which names a user"),
        (SortsByName, "when users have other names"),
        (ChangesItsInput, "changes the profiles"),
        (SwallowsCancelling, "goes on after it was cancelled"),
        (SaysNothing, "never tells how far it is"),
        (TakesAnything, "accepts"),
    ],
)
def test_the_contract_sees(method: MethodClass, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_method(method)


def test_the_contract_lets_a_crash_through() -> None:
    with pytest.raises(ValueError, match="number sections"):
        check_method(CrashesOnFewUsers)


def test_the_contract_sees_a_verifier_that_always_agrees(fresh_registry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    agreeing = Verifier("trust-me", "user", lambda claim, evidence: HOLDS, lambda values: "All is well.")
    monkeypatch.setitem(verifiers(), "trust-me", agreeing)
    with pytest.raises(AssertionError, match="its verifier accepts a release with a term that nobody used"):
        check_method(AlwaysHolds)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"protects": "Privacy"}, "one sentence"),
        ({"does_not_protect": ""}, "one sentence"),
        ({"title": ""}, "title"),
        ({"id": "Not An Id"}, "no id"),
        ({"parameters": (group_size(),)}, "declare each once"),
    ],
)
def test_the_contract_sees_an_incomplete_description(change: dict[str, object], sentence: str) -> None:
    changed = type("Changed", (Honest,), {"__doc__": Honest.__doc__, "info": replace(Honest.info, **change)})
    with pytest.raises(Exception, match=sentence):
        check_method(changed)


PUBLISHED = """
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import methods

log = sample_log()
for id, method in methods().items():
    release = method().run(log).release
    print(id, [sorted(release.profile(row).items()) for row in range(len(release))], list(release.users))
"""


def test_releases_do_not_depend_on_the_hash_seed_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    other = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    elsewhere = {**os.environ, "PYTHONHASHSEED": other}
    ran = subprocess.run([sys.executable, "-P", "-c", PUBLISHED], env=elsewhere, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    exec(PUBLISHED, {})
    here = capsys.readouterr().out.splitlines()
    assert len(here) == len(methods())
    for first, second in zip(here, ran.stdout.splitlines(), strict=True):
        assert first == second
