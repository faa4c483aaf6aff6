"""Is another program's Apriori held against ours on the same data? One that ends at the root, and a broken one."""

import sys
from pathlib import Path

import pytest

from shoal.corpus.errors import InputError
from shoal.evaluation.bench import itemsets
from shoal.evaluation.bench.itemsets import PEER, Work

ALL_AT_THE_ROOT = """
import json, sys
asked = json.load(open(sys.argv[1]))
assert asked["k"] == 5 and asked["m"] == 2 and asked["tree"][0][1] == ""
leaves = {x for t in asked["transactions"] for x in t}
print(json.dumps({"seconds": 9.0, "cut": {x: asked["tree"][0][0] for x in leaves}}))
"""


def test_a_program_that_ends_at_the_root_loses_at_least_what_ours_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "peer.py").write_text(ALL_AT_THE_ROOT)
    monkeypatch.setenv(PEER, f"{sys.executable} {tmp_path / 'peer.py'}")
    monkeypatch.setattr(itemsets, "seconds_of", lambda work: (0.1, 3))
    speed, loss = itemsets.peer_rows(Work("apriori", 2, 60))
    assert (speed.reached, speed.holds) == ("90 times (9.0 s, 100 ms)", True)
    assert (loss.must_reach, loss.holds) == ("at most 1.0000", True)
    assert 0 < float(loss.reached) < 1


def test_a_program_that_breaks_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PEER, f"{sys.executable} -c 'raise SystemExit(3)'")
    with pytest.raises(InputError, match=f"{PEER} ended with 3"):
        itemsets.ask_peer({})
