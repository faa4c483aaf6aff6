"""Does every attacker reach its closed form on random groups, 1 on original profiles, and chance where nothing is out?

People are made so that the answer is known: they share no word (own), or all words (alike), or those of a family.
"""

from math import comb

import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.attacks.victims import KNOWN
from shoal.evaluation.measures.attackers import SEARCHES
from shoal.evaluation.measures.linkage import CHOSEN
from shoal.evaluation.measures.registry import columns_named
from shoal.evaluation.measures.release import MeasuredRelease, measure_release

ANY = Knowledge(dictionary_name="any")
USERS, GROUP, WORDS = 200, 5, 12
ATTACKS = ["linkage", "inference", "uniqueness", "server5_", "queries_only5_", "terms_alone", "thorough"]


def people(families: int, typed_together: bool = False) -> QueryLog:
    """Users in families of equal size: all of a family type the same words, and no other family types them."""
    words = [[f"family{u % families}word{i}" for i in range(WORDS)] for u in range(USERS)]
    queries = [[" ".join(own)] * WORDS if typed_together else own for own in words]
    rows = [(f"u{u}", query) for u, own in enumerate(queries) for query in own]
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


def released(log: QueryLog, method: str, **values: object) -> Anonymized:
    return make_method(method, values, ANY).run(log)


def attacked(log: QueryLog, method: str, **values: object) -> dict[str, float]:
    made = make_method(method, values, ANY)
    found = made.run(log)
    measured = MeasuredRelease(found.release, found.assignment, log, ANY, later_log=log, method=made)
    return measure_release(measured, columns_named(ATTACKS))


def holds(found: dict[str, float], column: str, expected: float) -> None:
    """The closed form is the value, or within its interval where a draw decides."""
    low, high = found.get(f"{column}_low", found[column]), found.get(f"{column}_high", found[column])
    assert low - 1e-9 <= expected <= high + 1e-9, (column, found[column], low, high, expected)


@pytest.fixture(scope="module")
def own_in_groups() -> dict[str, float]:
    return attacked(people(USERS), "random", k=GROUP)


@pytest.mark.parametrize("m", KNOWN)
def test_a_known_word_of_their_own_leads_to_a_group_and_no_further(own_in_groups: dict[str, float], m: int) -> None:
    holds(own_in_groups, f"linkage{m}", 1 / GROUP)
    holds(own_in_groups, f"uniqueness{m}", 1)
    # Of the words of a group that are not known all weigh the same; so do those of the release.
    unknown = WORDS - m
    in_group, anywhere = min(10, GROUP * WORDS - m) / (GROUP * WORDS - m), 10 / (USERS * WORDS - m)
    holds(own_in_groups, f"inference{m}", (in_group - anywhere) * unknown / 10)


@pytest.mark.parametrize("s", SEARCHES)
def test_the_server_recognizes_who_types_a_known_word_and_else_knows_the_group(
    own_in_groups: dict[str, float], s: int
) -> None:
    typed = 1 - comb(WORDS - CHOSEN, s) / comb(WORDS, s)  # chance that a known word is among those searched for
    holds(own_in_groups, f"server5_{s}", typed + (1 - typed) / GROUP)
    holds(own_in_groups, f"queries_only5_{s}", typed + (1 - typed) / USERS)


def test_words_of_their_own_give_members_away_and_two_groupings_nearly_everyone(
    own_in_groups: dict[str, float],
) -> None:
    assert own_in_groups["membership"] == 1
    assert own_in_groups["terms_alone"] == 1
    # Each of the k - 1 others of one group is in the other, too, with chance (k - 1) / (n - 1), and then they tie.
    together = (GROUP - 1) / (USERS - 1)
    shared = [comb(GROUP - 1, j) * together**j * (1 - together) ** (GROUP - 1 - j) / (1 + j) for j in range(GROUP)]
    assert own_in_groups["later"] == pytest.approx(sum(shared), abs=3 * np.sqrt(together * GROUP / USERS))


def test_whoever_is_like_all_others_is_found_by_chance_in_random_groups() -> None:
    found = attacked(people(1, typed_together=True), "random", k=GROUP)
    for name in (
        *(f"linkage{m}" for m in KNOWN),
        "later",
        *(f"{a}5_{s}" for a in ("server", "queries_only") for s in SEARCHES),
    ):
        assert found[name] == pytest.approx(1 / USERS), name
    assert {found[f"{name}{m}"] for name in ("inference", "uniqueness") for m in KNOWN} == {0}
    assert (found["membership"], found["terms_alone"]) == (0.5, 0)


@pytest.mark.parametrize("families", [20, 50])
def test_of_a_family_the_group_with_most_of_it_is_named(families: int) -> None:
    """A word stands for the family: the groups that hold most of its members tie, and one of k is named."""
    log = people(families)
    made = released(log, "random", k=GROUP)
    group = dict(zip(made.assignment.users.gather(made.assignment.user), made.assignment.profile, strict=True))
    expected = 0.0
    for u in range(USERS):
        groups = [group[f"u{v}"] for v in range(USERS) if v % families == u % families]
        most = max(map(groups.count, groups))
        best = {g for g in groups if groups.count(g) == most}
        expected += (group[f"u{u}"] in best) / len(best) / GROUP / USERS
    found = attacked(log, "random", k=GROUP)
    for m in KNOWN:
        assert found[f"linkage{m}"] == pytest.approx(expected)


def test_original_profiles_are_found_and_a_release_of_nothing_leaves_a_guess() -> None:
    log = people(USERS)
    original, plain = attacked(log, "original"), attacked(log, "plain")
    for name in (*(f"linkage{m}" for m in KNOWN), *(f"uniqueness{m}" for m in KNOWN), "later", "membership"):
        assert original[name] == 1, name
    for name in (*(f"linkage{m}" for m in KNOWN), "later"):
        assert plain[name] == pytest.approx(1 / USERS), name
    assert {plain[f"{name}{m}"] for name in ("inference", "uniqueness") for m in KNOWN} == {0}
    assert plain["membership"] == 0.5
    for s in SEARCHES:
        assert original[f"server5_{s}"] == 1
        assert plain[f"server5_{s}"] == plain[f"queries_only5_{s}"] == original[f"queries_only5_{s}"]
