"""Are the people at most risk named first, with what makes them easy to find?"""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.anonymizer.base import Assignment
from shoal.cli import main
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.evaluation.attacks.linkage import Linkage, link
from shoal.evaluation.attacks.victims import Victims, choose_victims
from shoal.evaluation.attacks.view import PublishedView
from shoal.evaluation.attacks.worst_off import AtRisk, risk_by_property, worst_off

ASKED = {"a": "beef milk", "b": "beef milk cheese", "c": "beef apple", "d": "beef milk"}


@pytest.fixture
def attacked(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> tuple[PublishedView, Assignment, Victims, Any, Linkage]:
    """Two share a profile that leaves the cheese out, one has one alone, and one has none; everything is known."""
    release, assignment = release_of([({"beef": 2, "milk": 2}, ["a", "b"]), ({"beef": 1, "apple": 1}, ["c"])])
    view, victims = PublishedView(release, food), choose_victims(profiles_of(ASKED, food), 10)
    return view, assignment, victims, victims.known(9), link(view, assignment, victims, victims.known(9))


def test_the_worst_off_stand_first_with_their_reasons(attacked: Any) -> None:
    assert worst_off(*attacked, most=3) == [
        AtRisk("c", 1.0, terms=2, group=1, rarest="apple", rarest_users=1, published=True),
        AtRisk("b", 0.5, terms=3, group=2, rarest="cheese", rarest_users=1, published=False),
        AtRisk("a", 0.5, terms=2, group=2, rarest="milk", rarest_users=3, published=True),
    ]


def test_risk_is_told_by_each_property_over_all_victims(attacked: Any) -> None:
    parts = risk_by_property(*attacked)
    names = list(dict.fromkeys(part.property for part in parts))
    assert names == ["terms of the profile", "users of the group", "users of the rarest known term"]
    for name in names:
        of_one = [part for part in parts if part.property == name]
        assert sum(part.victims for part in of_one) == 4
        assert np.mean(attacked[4].success) == pytest.approx(sum(p.mean * p.victims for p in of_one) / 4)
        assert all(first.high < second.low for first, second in pairwise(of_one))
    by_group = {(part.low, part.high): part.mean for part in parts if part.property == "users of the group"}
    assert by_group == {(0, 0): 1 / 4, (1, 1): 1, (2, 2): 1 / 2}


def test_the_command_names_the_worst_off_only_where_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, folder = tmp_path / "log.tsv", tmp_path / "release"
    rows = [("1", "apple beef"), ("2", "pear beef"), ("3", "lamb"), ("4", "beef")]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(f"{u}\t{q}\t\t\t\n" for u, q in rows))
    assert main(["anonymize", "--log", str(log), "--method", "original", "--out", str(folder)]) == 0
    given = ["measure", str(folder), "--log", str(log), "--measures", "linkage5"]
    capsys.readouterr()
    assert main([*given, "--worst", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["risk"] for one in found["worst_off"]] == [1, 1]
    assert main([*given, "--json"]) == 0
    assert "worst_off" not in json.loads(capsys.readouterr().out)
    assert main([*given, "--worst", "2"]) == 0
    assert "users of the rarest known term" in capsys.readouterr().out
    assert main([*given, "--worst", "-1"]) == 2
