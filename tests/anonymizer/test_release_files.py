"""Does a release come back from disk as it was, and is a spoilt one refused with a reason?"""

import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, Method, ReleasedQueries, Suppressed
from shoal.anonymizer.contract.sample_logs import log_of, sample_log
from shoal.anonymizer.publish import publish
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge

LOG = sample_log(20)


def written(folder: Path) -> tuple[Path, Anonymized, Method]:
    method = make_method("random", {"k": 4})
    made = method.run(LOG, seed=3)
    write_release(folder / "release", made, method, LOG, 3)
    return folder / "release", made, method


def test_a_release_comes_back_as_it_was(tmp_path: Path) -> None:
    folder, made, _ = written(tmp_path)
    stored = read_release(folder)
    assert stored.release.pseudonyms == made.release.pseudonyms
    assert stored.release.users.tolist() == made.release.users.tolist()
    for row in range(len(made.release)):
        assert stored.release.profile(row) == pytest.approx(made.release.profile(row), rel=1e-8)
    names = [stored.assignment.users[int(u)] for u in stored.assignment.user]
    expected = [made.assignment.users[int(u)] for u in made.assignment.user]
    assert dict(zip(names, stored.assignment.profile.tolist(), strict=True)) == dict(
        zip(expected, made.assignment.profile.tolist(), strict=True)
    )
    assert verify_stored(stored, LOG).holds


def test_the_manifest_says_how_it_was_made(tmp_path: Path) -> None:
    folder, made, _ = written(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["method"] == "random"
    assert manifest["parameters"] == {"k": 4}
    assert manifest["claim"]["id"] == "users-per-profile"
    assert manifest["seed"] == 3
    assert manifest["input"] == LOG.digest()
    assert (manifest["users"], manifest["groups"]) == (20, len(made.release))
    assert manifest["suppressed"] == {"occurrences": 0, "users": 0}


def test_only_the_owner_reads_the_assignment(tmp_path: Path) -> None:
    folder, _, _ = written(tmp_path)
    assert stat.S_IMODE((folder / "assignment.tsv").stat().st_mode) == 0o600
    assert (folder / "assignment.tsv").read_text().startswith("user\tid\n")


def test_public_files_name_no_user(tmp_path: Path) -> None:
    folder, _, _ = written(tmp_path)
    public = (folder / "profiles.jsonl").read_text() + (folder / "manifest.json").read_text()
    assert not any(name in public for name in LOG.users.to_list())


def test_twice_the_same_release_is_twice_the_same_bytes(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a")[0], written(tmp_path / "b")[0]
    for file in sorted(path.name for path in first.iterdir()):
        assert (first / file).read_bytes() == (second / file).read_bytes()


def test_a_release_replaces_a_release_but_nothing_else(tmp_path: Path) -> None:
    folder, made, method = written(tmp_path)
    (folder / "queries.tsv").write_text("left over")
    write_release(folder, made, method, LOG, 3)
    assert not (folder / "queries.tsv").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="is there already and is no release"):
        write_release(mine, made, method, LOG, 3)
    assert (mine / "thesis.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "release"]


def test_generalized_terms_and_queries_come_back(tmp_path: Path) -> None:
    texts = ["", '"quoted', "c++ | a|b", "вино 酒", "plain"]
    rows = np.zeros(len(texts), dtype=np.int32)
    numbers = np.arange(1, len(texts) + 1)
    queries = ReleasedQueries(rows, pl.Series(texts), numbers, numbers + 4)
    one = np.zeros(1, dtype=np.int32)
    made = publish(
        pl.Series(["x"]), (one, one), csr_array(np.array([[1.0, 0.5]])), ["food.n.01", "wine"],
        Claim("none"), Suppressed(), np.array([True, False]), queries,
    )  # fmt: skip
    log = log_of([("x", "wine")])
    write_release(tmp_path / "release", made, make_method("original", {}), log, 0)
    stored = read_release(tmp_path / "release").release
    assert dict(zip(stored.labels, stored.generalized.tolist(), strict=True)) == {"food.n.01": True, "wine": False}
    assert stored.queries is not None
    table = dict(zip(stored.queries.query.to_list(), stored.queries.count.tolist(), strict=True))
    assert table == dict(zip(texts, numbers.tolist(), strict=True))
    assert (stored.queries.degree - stored.queries.count).tolist() == [4] * len(texts)


def test_the_taxonomy_file_is_kept_with_the_release(tmp_path: Path) -> None:
    tree = tmp_path / "food.tsv"
    tree.write_text("Apple\tFruit\nPear\tFruit\nBeef\tFood\nFruit\tFood\n")
    log = log_of([(f"user{i}", query) for i in range(4) for query in ("apple pear", "Beef")])
    method = make_method("random", {"k": 2}, Knowledge(tree))
    write_release(tmp_path / "release", method.run(log), method, log, 0)
    tree.unlink()
    stored = read_release(tmp_path / "release")
    assert stored.knowledge.dictionary == "taxonomy"
    assert verify_stored(stored, log).holds


def test_another_log_is_not_the_one_that_was_anonymized(tmp_path: Path) -> None:
    folder, _, _ = written(tmp_path)
    again = replace(LOG, time=LOG.time + 1)
    verdict = verify_stored(read_release(folder), again)
    assert not verdict.holds
    assert "is not the one that was anonymized" in verdict.counterexample


def edit(file: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda folder: (folder / file).write_text(change((folder / file).read_text())) and None


def first_profile(**changes: object) -> Callable[[Path], None]:
    def change(text: str) -> str:
        first, rest = text.split("\n", 1)
        return json.dumps({**json.loads(first), **changes}) + "\n" + rest

    return edit("profiles.jsonl", change)


def claim_values(values: object) -> Callable[[Path], None]:
    def change(text: str) -> str:
        manifest = json.loads(text)
        manifest["claim"]["values"] = values
        return json.dumps(manifest)

    return edit("manifest.json", change)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "no release at"),
        (lambda folder: (folder / "profiles.jsonl").unlink(), "profiles.jsonl cannot be read"),
        (lambda folder: (folder / "assignment.tsv").unlink(), "is no file of user, id columns"),
        (edit("manifest.json", lambda text: text[:-20]), "is no manifest"),
        (edit("manifest.json", lambda text: "[]"), "is no manifest"),
        (claim_values({"k": [4]}), "is no manifest"),
        (claim_values(None), "is no manifest"),
        (edit("profiles.jsonl", lambda text: text + "{oops\n"), "line 6: no published profile"),
        (edit("profiles.jsonl", lambda text: text + text), "holds a pseudonym twice"),
        (first_profile(terms={"wine": float("nan")}), "line 1: no published profile"),
        (first_profile(terms={"wine": -1}), "line 1: no published profile"),
        (first_profile(terms={"wine": 0}), "line 1: no published profile"),
        (first_profile(terms={"wine": "much"}), "line 1: no published profile"),
        (first_profile(terms=["wine"]), "line 1: no published profile"),
        (first_profile(users=2.5), "line 1: no published profile"),
        (first_profile(users=-1), "line 1: no published profile"),
        (first_profile(generalized="wine"), "line 1: no published profile"),
        (edit("assignment.tsv", lambda text: text + "someone\tp9999\n"), "names 'p9999'"),
        (edit("assignment.tsv", lambda text: text + "someone\n"), "names ''"),
        (edit("assignment.tsv", lambda text: text.replace("user\tid", "id\tuser", 1)), "is no file of user, id"),
    ],
)  # fmt: skip
def test_a_spoilt_release_is_refused_with_a_reason(tmp_path: Path, spoil: Callable[[Path], None], reason: str) -> None:
    folder, _, _ = written(tmp_path)
    spoil(folder)
    with pytest.raises(InputError, match=reason) as error:
        read_release(folder)
    assert "\n" not in str(error.value)


def test_a_release_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shoal.anonymizer.release_files as files

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(files, "_write_assignment", fail)
    with pytest.raises(OSError, match="the disk is full"):
        written(tmp_path)
    assert list(tmp_path.iterdir()) == []
