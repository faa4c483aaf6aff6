"""Does a large release come back from Parquet as from text, and is a spoilt table refused with a reason?"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from shoal.anonymizer import release_tables
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import reproduce, verify_stored
from shoal.corpus.errors import InputError

LOG = sample_log(20)


def written(folder: Path, id: str, large: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(release_tables, "LARGE", large)
    method = make_method(id, {})
    write_release(folder, method.run(LOG), method, LOG, 0)
    return folder


@pytest.mark.parametrize("id", ["equality", "clump", "wordnet-queries", "random", "plain"])
def test_a_release_is_the_same_as_text_and_as_tables(id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "table", id, 0, monkeypatch)
    assert (folder / "profiles.parquet").exists()
    assert not (folder / "profiles.jsonl").exists()
    table, text = read_release(folder), read_release(written(tmp_path / "text", id, 10**9, monkeypatch))
    assert table.release.pseudonyms == text.release.pseudonyms
    assert table.release.users.tolist() == text.release.users.tolist()
    rows = range(len(text.release))
    assert [table.release.profile(row) for row in rows] == [text.release.profile(row) for row in rows]
    assert set(table.release.nodes.values()) == set(text.release.nodes.values())
    if text.release.queries is not None:
        assert table.release.queries is not None
        assert table.release.queries.query.to_list() == text.release.queries.query.to_list()
        assert table.release.queries.degree.tolist() == text.release.queries.degree.tolist()
    monkeypatch.setattr(release_tables, "LARGE", 0)
    assert verify_stored(table, LOG).counterexample == ""
    assert reproduce(folder, table, LOG) == ""


Edit = Callable[[pl.DataFrame], pl.DataFrame]
SPOILT: dict[str, tuple[Edit, str]] = {
    "a column more": (lambda t: t.with_columns(pl.lit("x").alias("name")), "its columns are others"),
    "an empty cell": (lambda t: t.with_columns(pl.lit(None, dtype=pl.String).alias("id")), "a cell is empty"),
    "a weight of 0": (lambda t: t.with_columns(pl.col("weights") * 0.0), "not above 0"),
    "nobody": (lambda t: t.with_columns(pl.col("users") * 0), "not above 0"),
    "a term twice": (lambda t: t.with_columns(pl.concat_list("terms", "terms").alias("terms")), "one weight for each"),
    "another pseudonym": (lambda t: t.with_columns(pl.format("{}x", "id").alias("id")), "expected p0001"),
    "a foreign flag": (lambda t: t.with_columns(pl.lit(["zebra"]).alias("generalized")), "one weight for each"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_table_is_refused_with_a_reason(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "release", "random", 0, monkeypatch)
    edit, reason = SPOILT[what]
    edit(pl.read_parquet(folder / "profiles.parquet")).write_parquet(folder / "profiles.parquet")
    with pytest.raises(InputError, match=reason) as refused:
        read_release(folder)
    assert "\n" not in str(refused.value)


def test_a_table_that_was_changed_is_not_the_published_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "release", "random", 0, monkeypatch)
    path = folder / "profiles.parquet"
    pl.read_parquet(path).with_columns(pl.col("weights") * 2).write_parquet(path)
    assert "not the file that was published" in verify_stored(read_release(folder), LOG).counterexample
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["digests"]["profiles.parquet"] = sha256(path.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert not verify_stored(read_release(folder), LOG).holds


def test_text_beside_a_table_does_not_belong_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "release", "random", 0, monkeypatch)
    (folder / "profiles.jsonl").write_text("")
    with pytest.raises(InputError, match="does not belong"):
        read_release(folder)
