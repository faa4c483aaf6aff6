"""Are other programs held against ours on the same data? Some that end at the root, and broken ones."""

import sys
from pathlib import Path

import pytest

from shoal.corpus.errors import InputError
from shoal.evaluation.bench import peers
from shoal.evaluation.bench.peers import PEERS, Compared, Peer

APRIORI, PARTITION = PEERS
ASKED = """
import json, sys
asked = json.load(open(sys.argv[1]))
assert asked["k"] == 5 and asked["m"] == 2 and asked["tree"][0][1] == ""
root, transactions = asked["tree"][0][0], asked["transactions"]
"""
ONE_CUT = "print(json.dumps({'seconds': 9.0, 'cut': {x: root for t in transactions for x in t}}))"
SETS = "print(json.dumps({'seconds': 9.0, 'sets': [[root] for _ in transactions]}))"
SMALL_GROUPS = "print(json.dumps({'seconds': 9.0, 'sets': transactions}))"


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a program that is named as the peer of both methods."""
    for peer in PEERS:
        monkeypatch.setenv(peer.variable, f"{sys.executable} {tmp_path / 'peer.py'}")
    monkeypatch.setattr(peers, "in_own_process", lambda *_: ((0.1, 0.2), 0.0, 0.0))
    return tmp_path / "peer.py"


@pytest.mark.parametrize(("peer", "answer"), [(APRIORI, ONE_CUT), (PARTITION, SETS)])
def test_a_program_that_ends_at_the_root_loses_everything_and_ours_less(peer: Peer, answer: str, named: Path) -> None:
    named.write_text(ASKED + answer)
    at = peers.compared(peer, 60)
    assert at.their_loss == 1
    assert 0 < at.our_loss < 1
    assert 0 < at.whole < 9
    speed, loss = peers.peer_rows(peer, [at])
    assert speed.reached.startswith("90 times (9.0 s, 100 ms")
    assert speed.holds
    assert loss.must_reach.endswith("1.0000")
    assert loss.holds


def test_growth_of_both_is_told_of_more_than_one_size() -> None:
    measured = [Compared(size, size / 1e4, size**2 / 1e4, 9, 0.5, 0.4) for size in (10, 100)]
    *_, loss, growth = peers.peer_rows(PARTITION, measured)
    assert (growth.must_reach, growth.reached, growth.holds) == ("at most 2.00", "1.00", True)
    assert not loss.holds  # more than a tenth above


def test_a_program_that_breaks_its_promise_or_ends_with_an_error_is_said_to(named: Path) -> None:
    named.write_text(ASKED + SMALL_GROUPS)
    with pytest.raises(InputError, match="SHOAL_PARTITION_PEER publishes a set of 1 transactions alone, not of k=5"):
        peers.compared(PARTITION, 60)
    named.write_text("raise SystemExit(3)")
    with pytest.raises(InputError, match="SHOAL_APRIORI_PEER ended with 3"):
        peers.compared(APRIORI, 60)


def test_an_answer_that_leaves_an_item_without_a_node_is_refused(named: Path) -> None:
    named.write_text(ASKED + SETS.replace("[root]", "[]"))
    with pytest.raises(InputError, match="nothing that is published stands for"):
        peers.compared(PARTITION, 60)


def test_where_none_is_named_a_line_says_how_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for peer in PEERS:
        monkeypatch.delenv(peer.variable, raising=False)
    rows = peers.run(False, lambda *_: None)
    assert ["SHOAL_PARTITION_PEER" in row.reached for row in rows] == [False, True]
    assert all(row.holds for row in rows)
