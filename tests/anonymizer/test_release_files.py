"""Does a release come back from disk as it was, and is a spoilt one refused with a reason?"""

import json
import stat
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, Method, ReleasedQueries, Suppressed
from shoal.anonymizer.claims import sentence
from shoal.anonymizer.contract.sample_logs import log_of, sample_log
from shoal.anonymizer.methods.random import Random
from shoal.anonymizer.publish import publish
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import reproduce, verify_stored
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
    assert manifest["seed"] == 3
    assert manifest["digests"]["log"] == LOG.digest()
    assert manifest["digests"]["profiles.jsonl"] == sha256((folder / "profiles.jsonl").read_bytes()).hexdigest()
    assert set(manifest["digests"]) == {"log", "code", "taxonomy", "dictionary", "wordnet", "profiles.jsonl"}
    assert manifest["claim"] == {"id": "users-per-profile", "values": {"k": 4}}
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
    texts = ["", '"quoted', "c++ | a|b", "вино 酒", "plain", "=1+1", "+1", "-1", "@x", "'tis", "''", "＝1"]
    rows = np.zeros(len(texts), dtype=np.int32)
    numbers = np.arange(1, len(texts) + 1)
    queries = ReleasedQueries(rows, pl.Series(texts), numbers, numbers + 4)
    one = np.zeros(1, dtype=np.int32)
    method = make_method("equality", {})
    made = publish(
        pl.Series(["x"]), (one, one), csr_array(np.array([[1.0, 0.5]])), ["food.n.01", "wine"],
        method.claim(), Suppressed(), np.array([True, False]), queries,
    )  # fmt: skip
    log = log_of([("x", "wine")])
    write_release(tmp_path / "release", made, method, log, 0)
    stored = read_release(tmp_path / "release").release
    assert dict(zip(stored.labels, stored.generalized.tolist(), strict=True)) == {"food.n.01": True, "wine": False}
    assert stored.queries is not None
    table = dict(zip(stored.queries.query.to_list(), stored.queries.count.tolist(), strict=True))
    assert table == dict(zip(texts, numbers.tolist(), strict=True))
    cells = [line.split("\t")[1] for line in (tmp_path / "release" / "queries.tsv").read_text().splitlines()[1:]]
    assert not any(cell[:1] in tuple('=+-@"＝＋－＠') for cell in cells if cell)
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
    with pytest.raises(InputError, match="this is another log"):
        verify_stored(read_release(folder), again)


def edit(file: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda folder: (folder / file).write_text(change((folder / file).read_text())) and None


def first_profile(**changes: object) -> Callable[[Path], None]:
    def change(text: str) -> str:
        first, rest = text.split("\n", 1)
        return json.dumps({**json.loads(first), **changes}) + "\n" + rest

    return edit("profiles.jsonl", change)


def manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A spoiler that edits the manifest; a lambda may return whatever its last expression gives."""

    def spoil(folder: Path) -> None:
        path = folder / "manifest.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return spoil


def both(**values: object) -> Callable[[Path], None]:
    """A value changed in the claim and in the parameters, so that they agree."""
    return manifest(lambda m: (m["claim"]["values"].update(values), m["parameters"].update(values)))


def put(name: str, content: str = "") -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


DEEP = "[" * 100_000 + "]" * 100_000
SPOILERS: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: (folder / "manifest.json").unlink(), "no release at"),
    (lambda folder: (folder / "profiles.jsonl").unlink(), "profiles.jsonl is missing"),
    (lambda folder: (folder / "assignment.tsv").unlink(), "assignment.tsv is missing"),
    (edit("manifest.json", lambda text: text[:-20]), "is no manifest"),
    (edit("manifest.json", lambda text: "[]"), "is no manifest"),
    (edit("manifest.json", lambda text: DEEP), "nested too deeply"),
    (edit("manifest.json", lambda text: text.replace("{", '{"seed": 3, ', 1)), "a key stands twice"),
    (edit("manifest.json", lambda text: text + " " * 2_000_000), "longer than"),
    (edit("manifest.json", lambda text: text.replace('"k": 4', '"k": NaN')), "NaN is no number"),
    (edit("manifest.json", lambda text: text.replace('"k": 4', '"k": ' + "9" * 5000)), "is no manifest"),
    (manifest(lambda m: m.update(note="trust me")), "'note' does not belong there"),
    (manifest(lambda m: m["claim"].update(statement="1000 users")), "'statement' does not belong there"),
    (manifest(lambda m: m["claim"]["values"].update(unit="session")), "has no value 'unit'"),
    (manifest(lambda m: m["claim"].update(id="none", values={})), "but the settings promise users-per-profile k=4"),
    (manifest(lambda m: m["claim"].update(id="magic")), "no verifier for the claim 'magic'"),
    (manifest(lambda m: m["claim"]["values"].update(k=3)), "says users-per-profile k=3, but the settings promise"),
    (manifest(lambda m: m["claim"].update(values={"k": [4]})), "expected a whole number from 2"),
    (manifest(lambda m: m["claim"].update(values=None)), "the claim has no values"),
    *((both(k=k), "k=.* expected a whole number from 2") for k in (1, 4.0, 5.9, True, "4", "two", None, [4], 10**30)),
    (manifest(lambda m: m.update(parameters={})), "'k' is missing"),
    (manifest(lambda m: m.update(parameters="k=4")), "expected keys and values"),
    (manifest(lambda m: m["parameters"].update(q=1)), "'q' does not belong there"),
    (manifest(lambda m: m.update(method="magic")), "unknown method 'magic'"),
    (manifest(lambda m: m.update(method="clump")), "is no manifest"),
    (manifest(lambda m: m.pop("seed")), "'seed' is missing"),
    *((manifest(lambda m, seed=seed: m.update(seed=seed)), "whole number from 0") for seed in (-1, 3.0, "3", True)),
    *((manifest(lambda m, n=n: m.update(users=n)), "whole number from 0") for n in (-1, 20.0, "20", None)),
    (manifest(lambda m: m["suppressed"].update(occurrences=-13)), "whole number from 0"),
    (manifest(lambda m: m["suppressed"].pop("users")), "'users' is missing"),
    (manifest(lambda m: m["digests"].update(log="abc")), "no sha-256 of log"),
    (manifest(lambda m: m["digests"].update(members="0" * 64)), "'members' does not belong there"),
    (manifest(lambda m: m["digests"].pop("code")), "'code' is missing"),
    (manifest(lambda m: m["digests"].pop("profiles.jsonl")), "has not the digests of profiles.jsonl"),
    (manifest(lambda m: m["digests"].update({"queries.tsv": "0" * 64})), "has not the digests"),
    (manifest(lambda m: m["digests"].update(taxonomy="0" * 64)), "this is another taxonomy"),
    (manifest(lambda m: m["digests"].update(dictionary="0" * 64)), "this is another dictionary"),
    (manifest(lambda m: m["digests"].pop("wordnet")), "this is another wordnet"),
    (manifest(lambda m: m.update(version="all users are safe")), "is no version"),
    (put("members.tsv", "p0001\tann\n"), "'members.tsv' does not belong into a release of random"),
    (put("queries.tsv", "pseudonym\tquery\tcount\tdegree\np0001\twine\t1\t5\n"), "'queries.tsv' does not belong"),
    (put("taxonomy.tsv", "wine\tdrink\n"), "'taxonomy.tsv' does not belong"),
    (lambda folder: (folder / ".hidden").mkdir(), "'.hidden' does not belong"),
    (put("two\nlines", ""), r"'two\\nlines' does not belong"),
    (lambda folder: (folder / "profiles.jsonl").rename(folder.parent / "x")
     and (folder / "profiles.jsonl").symlink_to(folder.parent / "x"), "is no file of its own"),
    (edit("profiles.jsonl", lambda text: text + "{oops\n"), "line 6: no published profile"),
    (edit("profiles.jsonl", lambda text: text + "\n"), "line 6: no published profile"),
    (edit("profiles.jsonl", lambda text: text + text), "line 6: the pseudonym 'p0001', expected p0006"),
    (edit("profiles.jsonl", lambda text: "\n".join(text.split("\n")[1::-1] + text.split("\n")[2:])), "expected p0001"),
    (first_profile(id="user-3-4-5"), "the pseudonym 'user-3-4-5', expected p0001"),
    (first_profile(members=["1", "2"]), "'members' does not belong there"),
    *((first_profile(terms={"wine": weight}), "line 1: no published profile")
      for weight in (float("nan"), float("inf"), -1, 0, "much", True, None, 10**400, 1e300, [1])),
    (first_profile(terms={"": 1}), "expected text"),
    (first_profile(terms={"\ud800": 1}), "line 1: no published profile"),
    (first_profile(terms=["wine"]), "line 1: no published profile"),
    (first_profile(terms={"wine": 1, "WINE": 1}), "'wine' and 'WINE', which are one label"),
    *((first_profile(users=users), "expected a whole number from 1") for users in (2.5, 4.0, -1, 0, True, "4")),
    (first_profile(generalized="wine"), "generalized is no list"),
    (first_profile(generalized=["zzyzxq"]), "generalized is no list of its terms"),
    (first_profile(terms={"weather": 1}, generalized=["weather", "weather"]), "lists a term twice"),
    (first_profile(terms={"weather": 1}, generalized=["weather"]), "generalized here or elsewhere"),
    (edit("profiles.jsonl", lambda text: text.replace('"users"', '"users": 4, "users"', 1)), "a key stands twice"),
    (edit("assignment.tsv", lambda text: text + "someone\tp9999\n"), "names 'p9999'"),
    (edit("assignment.tsv", lambda text: text + "someone\n"), "has not all columns"),
    (edit("assignment.tsv", lambda text: text + "a\tp0001\tb\n"), "is no file of user, id"),
    (edit("assignment.tsv", lambda text: text + text.splitlines()[1] + "\n"), "twice"),
    (edit("assignment.tsv", lambda text: text.replace("\n", "\r\n")), "is no file of user, id"),
    (edit("assignment.tsv", lambda text: text.rstrip("\n")), "a line does not end"),
    (edit("assignment.tsv", lambda text: text.replace("user\tid", "id\tuser", 1)), "is no file of user, id"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "reason"), SPOILERS)
def test_a_spoilt_release_is_refused_with_a_reason(tmp_path: Path, spoil: Callable[[Path], None], reason: str) -> None:
    folder, _, _ = written(tmp_path)
    spoil(folder)
    with pytest.raises(InputError, match=reason) as error:
        read_release(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: [line[0], "=" + line[1], *line[2:]], "against the rule"),
        (lambda line: [line[0], "'" + line[1], *line[2:]], "against the rule"),
        *((lambda line, n=n: [*line[:2], n, line[3]], "no whole number") for n in ("0", "-1", "1.0", "+1", "01", "")),
        *((lambda line, n=n: [*line[:3], n], "no whole number") for n in ("0", "nine", "9" * 30, " 5")),
        (lambda line: ["p9999", *line[1:]], "names 'p9999'"),
    ],
)
def test_a_spoilt_table_of_queries_is_refused(
    tmp_path: Path, change: Callable[[list[str]], list[str]], reason: str
) -> None:
    method = make_method("equality", {"k": 3})
    write_release(tmp_path / "release", method.run(LOG), method, LOG, 0)
    path = tmp_path / "release" / "queries.tsv"
    header, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([header, "\t".join(change(first.split("\t"))), *rest]) + "\n")
    with pytest.raises(InputError, match=reason):
        read_release(tmp_path / "release")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (edit("profiles.jsonl", lambda text: text.replace(": ", ":  ", 1)), "is not the file that was published"),
        (manifest(lambda m: m["digests"].update({"profiles.jsonl": "0" * 64})), "is not the file that was published"),
        (manifest(lambda m: m.update(users=19)), "counts 19 users, but the log has 20"),
        (manifest(lambda m: m.update(groups=4)), "counts 4 groups, but 5 profiles are published"),
        (manifest(lambda m: m["suppressed"].update(users=1)), "have no profile"),
    ],
)
def test_what_is_counted_or_digested_wrongly_breaks_the_promise(
    tmp_path: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    folder, _, _ = written(tmp_path)
    spoil(folder)
    verdict = verify_stored(read_release(folder), LOG)
    assert not verdict.holds
    assert reason in verdict.counterexample
    assert verdict.sentence == sentence(Claim("users-per-profile", {"k": 4}))


def test_the_taxonomy_that_is_given_must_be_that_of_the_release(tmp_path: Path) -> None:
    tree, other = tmp_path / "food.tsv", tmp_path / "other.tsv"
    tree.write_text("Apple\tFruit\nPear\tFruit\nFruit\tFood\n")
    other.write_text("Apple\tFruit\nPear\tFood\nFruit\tFood\n")
    log = log_of([(f"user{i}", "apple pear") for i in range(4)])
    method = make_method("clump", {"k": 2}, Knowledge(tree))
    write_release(tmp_path / "release", method.run(log), method, log, 0)
    assert verify_stored(read_release(tmp_path / "release", Knowledge(tree)), log).holds
    with pytest.raises(InputError, match="this is another taxonomy"):
        read_release(tmp_path / "release", Knowledge(other))
    (tmp_path / "release" / "taxonomy.tsv").write_text(other.read_text())
    with pytest.raises(InputError, match="this is another taxonomy"):
        read_release(tmp_path / "release")


@pytest.mark.parametrize("id", ["random", "clump", "equality", "plain"])
def test_a_method_makes_its_release_again(tmp_path: Path, id: str) -> None:
    method = make_method(id, {})
    folder = tmp_path / "release"
    write_release(folder, method.run(LOG, seed=3), method, LOG, 3)
    stored = read_release(folder)
    assert reproduce(folder, stored, LOG) == ""
    manifest(lambda m: m.update(version="0.0.9", digests={**m["digests"], "code": "0" * 64}))(folder)
    edit("manifest.json", lambda text: json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n")(folder)
    assert reproduce(folder, read_release(folder), LOG) == ""


def test_what_another_seed_made_is_not_made_again(tmp_path: Path) -> None:
    folder, _, _ = written(tmp_path)
    manifest(lambda m: m.update(seed=4))(folder)
    assert reproduce(folder, read_release(folder), LOG) == "assignment.tsv"


class Secretive(Random):
    """Guarantee: as of its base; whoever knew its seed could undo it."""

    info = replace(Random.info, id="secretive", randomness="secret")


def test_a_seed_that_must_stay_secret_is_not_written_and_nobody_runs_it_again(tmp_path: Path) -> None:
    method, folder = Secretive(k=4), tmp_path / "release"
    write_release(folder, method.run(LOG, seed=3), method, LOG, 3)
    assert "seed" not in json.loads((folder / "manifest.json").read_text())
    stored = read_release(folder, method=Secretive)
    assert verify_stored(stored, LOG).holds
    with pytest.raises(InputError, match="the randomness of secretive stays secret"):
        reproduce(folder, stored, LOG, method=Secretive)
    manifest(lambda m: m.update(seed=3))(folder)
    with pytest.raises(InputError, match="'seed' is there, but must stay secret"):
        read_release(folder, method=Secretive)


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
