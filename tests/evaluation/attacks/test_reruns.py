"""Do attacks that run a method once more find what they must where the answer is known beforehand?"""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.cli import main
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.attacks.reruns import Rerun, auc, earlier_half, link_releases, membership, planted
from shoal.evaluation.attacks.victims import choose_victims
from shoal.evaluation.attacks.view import PublishedView
from shoal.evaluation.measures.registry import columns_named
from shoal.evaluation.measures.release import MeasuredRelease, measure_release

ANY = Knowledge(dictionary_name="any")
USERS = 60


def log_of(asked: Mapping[str, list[str]], timed: bool = False) -> QueryLog:
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    times = np.arange(len(rows)) if timed else None
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]), times)


def own_words(users: int = USERS) -> QueryLog:
    """People of whom nobody shares a word with another."""
    return log_of({f"u{u}": [f"word{u}x{i}" for i in range(12)] for u in range(users)})


def same_words(users: int = USERS) -> QueryLog:
    """People who all typed the same."""
    return log_of({f"u{u}": [f"word{i}" for i in range(12)] for u in range(users)})


def rerun(log: QueryLog, method: str, **values: object) -> Rerun:
    return Rerun(make_method(method, values, ANY), log, ANY)


# Membership


@pytest.mark.parametrize(("method", "values"), [("original", {}), ("random", {"k": 5}), ("everyone", {})])
def test_whoever_has_words_of_their_own_is_known_to_be_in_the_release(method: str, values: dict[str, object]) -> None:
    log = own_words()
    assert membership(rerun(log, method, **values), build_profiles(log, ANY.words), 1000) == 1


@pytest.mark.parametrize("log", [own_words(), same_words()], ids=["own words", "same words"])
def test_where_nothing_is_published_membership_is_a_guess(log: QueryLog) -> None:
    assert membership(rerun(log, "plain"), build_profiles(log, ANY.words), 1000) == 0.5


def test_where_all_are_alike_membership_is_a_guess() -> None:
    log = same_words()
    assert membership(rerun(log, "random", k=5), build_profiles(log, ANY.words), 1000) == 0.5


def test_one_profile_for_everyone_gives_members_away_by_their_rare_terms() -> None:
    """Nobody can be found in it, but all terms of a member are published, and few other people can say that."""
    log = sample_log(80)
    profiles = build_profiles(log, Knowledge().words)
    again = Rerun(make_method("everyone", {}, Knowledge()), log, Knowledge())
    assert membership(again, profiles, 1000) > 0.95


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30))
def test_the_area_under_the_curve_is_the_chance_of_the_right_order(scored: list[tuple[int, bool]]) -> None:
    score, positive = (np.array(column) for column in zip(*scored, strict=True))
    pairs = [(a > b) + (a == b) / 2 for a in score[positive] for b in score[~positive]]
    assert auc(score.astype(float), positive) == pytest.approx(np.mean(pairs) if pairs else 0.5)


# Planted


def test_fake_users_bring_out_what_misses_the_threshold_by_two_and_no_more() -> None:
    asked = {f"u{u}": ["news"] for u in range(6)}
    for users, string in ((5, "by five"), (4, "by four"), (3, "by three"), (2, "by two"), (1, "by one")):
        for u in range(users):
            asked[f"u{u}"].append(string)
    log = log_of(asked)
    again = rerun(log, "equality", k=5)
    release = again.method.run(log).release
    assert release.queries is not None
    assert set(release.queries.query) == {"news", "by five"}
    # Of the four that are kept back, those of three and of four users come out; the fakes' own copies do not count.
    assert planted(again, release, most=100) == 2 / 4


def test_where_nothing_is_kept_back_nothing_can_be_brought_out() -> None:
    log = log_of({f"u{u}": ["news", "wine"] for u in range(6)})
    again = rerun(log, "equality", k=2)
    assert planted(again, again.method.run(log).release, most=100) is None


# Later


def test_the_earlier_half_goes_by_time_and_by_place_where_there_is_none() -> None:
    asked = {"a": ["one", "two", "three"], "b": ["four"], "c": ["five", "six"]}
    early = earlier_half(log_of(asked, timed=True))
    assert (early.users.to_list(), early.queries.to_list()) == (["a"], ["one", "two", "three"])
    untimed = earlier_half(log_of(asked))
    assert untimed.users.to_list() == ["a", "b", "c"]
    assert untimed.queries.gather(untimed.query).to_list() == ["one", "two", "four", "five"]


def found_twice(log: QueryLog, method: str, m: int, **values: object) -> np.ndarray:
    again = rerun(log, method, **values)
    made = again.method.run(log)
    victims = choose_victims(build_profiles(log, ANY.words), 1000)
    return link_releases(again, PublishedView(made.release, ANY), made.assignment, victims, victims.known(m))


def test_two_random_groupings_leave_few_to_share_both() -> None:
    """Of a group of k among n, each other is in the other group, too, with chance (k - 1) / (n - 1)."""
    k = 6
    log = own_words()
    again = rerun(log, "random", k=k)
    groups = [again.method.run(part, seed=seed) for part, seed in ((log, 0), (earlier_half(log), 1))]
    of = [
        dict(zip(made.assignment.users.gather(made.assignment.user), made.assignment.profile, strict=True))
        for made in groups
    ]
    both = [(of[0][f"u{u}"], of[1][f"u{u}"]) for u in range(USERS)]
    expected = np.mean([1 / both.count(pair) for pair in both])
    success = found_twice(log, "random", 10**6, k=k).mean()
    assert success == pytest.approx(expected)
    assert success == pytest.approx(1 - (k - 1) ** 2 / (USERS - 1) / 2, abs=0.12)


def test_two_releases_of_nothing_or_of_people_who_are_alike_leave_a_guess() -> None:
    np.testing.assert_allclose(found_twice(own_words(), "plain", 5), 1 / USERS)
    np.testing.assert_allclose(found_twice(same_words(), "random", 5, k=5), 1 / USERS)


def test_a_second_release_never_helps_less_than_the_one() -> None:
    log = sample_log(60)
    method = make_method("random", {"k": 5}, Knowledge())
    made = method.run(log)
    measured = MeasuredRelease(made.release, made.assignment, log, Knowledge(), method=method)
    found = measure_release(measured, columns_named(["linkage5", "thorough"]))
    assert found["later"] > found["linkage5"]
    assert found["later_low"] <= found["later"] <= found["later_high"]
    assert "planted" not in found  # no queries are published


# Where they are asked for


def test_what_runs_the_method_again_is_measured_only_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, folder = tmp_path / "log.tsv", tmp_path / "release"
    rows = [(user, query) for user in range(8) for query in ("red wine", f"secret{user // 3}", "cheese")]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(f"{u}\t{q}\t\t\t\n" for u, q in rows))
    assert main(["anonymize", "--log", str(log), "--method", "equality", "--set", "k=4", "--out", str(folder)]) == 0
    found = []
    for more in ([], ["--measures", "thorough, linkage5"]):
        capsys.readouterr()
        assert main(["measure", str(folder), "--log", str(log), "--json", *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert {"membership", "planted", "later"} & set(found[0]) == set()
    assert set(found[1]) == {
        "linkage5",
        "linkage5_low",
        "linkage5_high",
        "membership",
        "planted",
        "later",
        "later_low",
        "later_high",
    }
    assert found[1]["planted"] == 1
    assert main(["measures", "membership"]) == 0
    assert "runs the method once more" in capsys.readouterr().out
    assert main(["measure", str(folder), "--log", str(log), "--measures", "luck"]) == 2


def test_an_evaluation_measures_them_where_it_is_asked_to(corpus_file: Path, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ["--corpus", str(corpus_file), "--log", str(log_file), "--out", str(out), "--jobs", "1"]
    assert main(["evaluate", *given, "--methods", "random:k=3", "--measures", "all,thorough"]) == 0
    row = next(
        row for row in csv.DictReader((out / "results.csv").read_text().splitlines()) if row["method"] == "random"
    )
    assert 0.5 <= float(row["membership"]) <= 1
    assert float(row["later_low"]) <= float(row["later"]) <= float(row["later_high"])
    assert float(row["server5_1"]) >= float(row["queries_only5_1"])
