"""Are the papers' set-ups made of the log as the papers say, and drawn by the command?"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.figures.running import (
    SETUPS,
    People,
    as_typed,
    density,
    distinct_terms,
    first_terms,
    read_figures,
)

SETUP = {setup.id: setup for setup in SETUPS}


def people(*rows: tuple[str, str]) -> People:
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    return People(log, Knowledge(), "people")


def typed(log: QueryLog) -> list[str]:
    return log.queries.gather(log.query).to_list()


SOME = people(
    ("ann", "wine wine"), ("ann", "beer"), ("bob", "zzyzxq"), ("cem", "bread wine"), ("dee", "tea"), ("dee", "tea wine")
)  # fmt: skip


def test_duplicate_items_are_removed_and_each_draw_has_other_users() -> None:
    draws = list(distinct_terms(SOME, replace(SETUP["thesis-1000"], users=1, draws=2)))
    assert [draw.log.users.to_list() for draw in draws] == [["ann"], ["cem"]]  # bob has no term
    profiles = build_profiles(draws[0].log, Knowledge().words)
    assert profiles.of(0) == {"beer": 1, "wine": 1}
    assert density(draws[0].log, Knowledge()) == pytest.approx(2 / int(Knowledge().taxonomy.leaves[0]))
    assert typed(next(as_typed(SOME, replace(SETUP["ssc"], users=3))).log) == [
        "wine wine", "beer", "bread wine", "tea", "tea wine",
    ]  # fmt: skip
    with pytest.raises(InputError, match="needs 9 users with a profile, there are 3"):
        next(as_typed(SOME, replace(SETUP["ssc"], title="it", users=9)))


def test_the_first_terms_have_weight_one_and_what_comes_later_is_the_test() -> None:
    crowd = people(
        ("ann", "wine"), ("ann", "beer wine"), ("ann", "tea"), ("ann", "milk"),
        ("bob", "wine beer"), ("cem", "bread butter"), ("cem", "bread"), ("dee", "egg"),
    )  # fmt: skip
    (draw,) = first_terms(crowd, replace(SETUP["zhu-xiong"], users=9), terms=2)
    assert draw.later is not None
    assert draw.log.users.to_list() == draw.later.users.to_list() == ["ann", "cem"]  # bob asked nothing later
    profiles = build_profiles(draw.log, Knowledge().words)
    assert [profiles.of(user) for user in range(2)] == [{"beer": 1, "wine": 1}, {"bread": 1, "butter": 1}]
    assert typed(draw.later) == ["tea", "milk", "bread"]
    assert np.diff(draw.later.start).tolist() == [2, 1]


def test_the_command_draws_the_figures_of_its_set_ups(
    corpus_file: Path, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = (
        replace(SETUP["zhu-xiong"], users=9, make=partial(first_terms, terms=3), seeds=(0, 1)),
        replace(SETUP["thesis-1000"], users=16, draws=2),
    )
    monkeypatch.setattr("shoal.evaluation.figures.running.SETUPS", small)
    monkeypatch.setattr("shoal.evaluation.figures.running.PEOPLE", 1)
    given = ["--corpus", str(corpus_file), "--log", str(log_file), "--methods", "random:k=2", "--measures", "ap10"]
    assert main(["evaluate", *given, "--figures", "--jobs", "1", "--out", str(tmp_path)]) == 0
    found = read_figures(tmp_path)
    assert found is not None
    assert {row["setup"] for row in found.rows} == {"zhu-xiong", "thesis-1000"}
    report = (tmp_path / "report.md").read_text()
    assert "9 users of" in report
    assert "Figure 6.1" in report
    assert (tmp_path / "thesis-6-1.png").exists()
    assert "ap10_low" in next(row for row in found.rows if row["method"] == "linkability")
