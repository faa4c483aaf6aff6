"""Does the tampering machine see a verifier that accepts or refuses too much?"""

from pathlib import Path

import pytest

from shoal.anonymizer.claims import Verdict
from shoal.anonymizer.contract import tampering
from shoal.anonymizer.contract.edits import Adversary
from shoal.anonymizer.contract.form_edits import break_text
from shoal.anonymizer.methods.clump import Clump


def trials(place: Path) -> list[tampering.Trial]:
    machine = tampering.machine_for(Clump, place)
    assert machine is not None
    return list(machine.trials(40))


def test_a_true_claim_is_accepted_and_a_false_one_refused(tmp_path: Path) -> None:
    made = trials(tmp_path)
    assert tampering.faults(made) == []
    assert {one.outcome for one in made} == {"accepted rightly", "refused rightly"}


def test_a_claim_without_a_definition_is_tampered_with_in_form_and_counts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tampering, "definitions", dict)
    made = trials(tmp_path)
    assert {one.outcome for one in made} == {"refused rightly"}
    assert {one.wrong for one in made} == {"form", "counts"}


@pytest.mark.parametrize(("holds", "outcome"), [(True, "wrongly accepted"), (False, "wrongly refused")])
def test_a_verifier_that_always_says_the_same_is_seen(
    holds: bool, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tampering, "verify_stored", lambda stored, log: Verdict(holds, "", "so it says"))
    assert outcome in {one.outcome for one in trials(tmp_path)}


def test_a_breakage_that_the_next_one_mends_is_no_tampering(tmp_path: Path) -> None:
    machine = tampering.machine_for(Clump, tmp_path)
    assert machine is not None
    honest, rng, found = machine.worlds[0].honest[0], Adversary(0), set()
    for _ in range(600):
        folder = honest.copy()
        tampered = [break_text(folder, rng) for _ in range(2)][-1]
        assert tampered == (folder.files() != honest.files())
        found.add(tampered)
    assert found == {True, False}


def test_the_table_counts_every_tampering(tmp_path: Path) -> None:
    made = trials(tmp_path)
    rows = [line.split() for line in tampering.table(made).splitlines()]
    assert [row[2] for row in rows if row[:2] == ["all", "all"]] == [str(len(made))]
