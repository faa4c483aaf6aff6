"""Is whatever is given for a log either read, with its bad rows kept apart, or refused on one line with exit code 2?"""

import gzip
import io
from pathlib import Path

import polars as pl
import pytest
import zstandard

from shoal.cli import main

HEADING = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROW = b"7\tdog food\t2006-03-01 10:00:00\t\t\n"
CSV = b"user,query,time\n"


def parquet(**columns: object) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)  # type: ignore[arg-type]
    return buffer.getvalue()


WHOLE = parquet(user=["1", "2"], query=["a", "b"])
REFUSED = {
    "nothing": b"",
    "a blank line": b"\n",
    "blanks": b" \n\t\n",
    "a heading alone": HEADING,
    "a heading without an end": HEADING.rstrip(),
    "a mark alone": b"\xef\xbb\xbf",
    "a mark and a heading": b"\xef\xbb\xbf" + HEADING,
    "zeros": b"\0" * 100,
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)),
    "a zip archive": b"PK\x03\x04\x14\0\0\0\x08\0",
    "bytes of all kinds": bytes(range(256)) * 4,
    "one word": b"word",
    "prose": b"This is a letter, not a log.\nIt has two lines.\n",
    "one column": b"a\nb\nc\n",
    "two columns without a heading": b"7\tdog\n8\tcat\n",
    "six columns without a heading": b"7\tdog\t\t\t\tx\n" * 3,
    "three words with commas": b"a,b,c\nd,e,f\n",
    "no known name": b"Suche\tKunde\tZeit\nwine\t7\t2006-03-01 10:00:00\n",
    "a heading without a query": b"AnonID\tNotes\tQueryTime\n7\tx\t2006-03-01 10:00:00\n",
    "a heading without a user": b"query,time,rank\nwine,2006-03-01,1\n",
    "no user in any row": CSV + b",wine,2006-03-01\n" * 3,
    "no query in any row": CSV + b"7,,2006-03-01\n" * 3,
    "no time that is one": CSV + b"7,wine,01/03/2006\n" * 3,
    "numbers that are no time": CSV + b"7,wine,20060301\n" * 3,
    "a month that is none": CSV + b"7,wine,2006-13-45 10:00:00\n",
    "a quote without an end": CSV + b'"7,wine,2006-03-01\n',
    "UTF-16": "user\tquery\n7\twine\n".encode("utf-16"),
    "UTF-16 without a mark": "user\tquery\n7\twine\n".encode("utf-16-le"),
    "a cut .gz": gzip.compress(HEADING + ROW * 1000)[:-20],
    "a broken .gz": gzip.compress(HEADING + ROW * 1000)[:40] + b"x" * 40,
    "the head of a .gz": b"\x1f\x8b\x08",
    "an empty .gz": gzip.compress(b""),
    "a cut .zst": zstandard.compress(HEADING + ROW * 1000)[:-8],
    "a broken .zst": zstandard.compress(HEADING + ROW * 1000)[:20] + b"x" * 40,
    "the head of a .zst": b"\x28\xb5\x2f\xfd",
    "a cut Parquet file": WHOLE[:-9],
    "a broken Parquet file": WHOLE[:30] + b"x" * 60 + WHOLE[90:],
    "the head of a Parquet file": b"PAR1",
    "the head and the tail of one": b"PAR1\xff\xff\xff\x7fPAR1",
    "Parquet without rows": parquet(user=pl.Series([], dtype=pl.String), query=pl.Series([], dtype=pl.String)),
    "Parquet without a query": parquet(user=["1"], price=[2.5]),
    "Parquet with lists": parquet(user=["1"], query=[["a", "b"]]),
    "a JSON list": b'[{"user": 1, "query": "a"}]',
    "JSON without a query": b'{"user": 1, "price": 2}\n',
    "JSON that ends too soon": b'{"user": 1, "query": "a"\n',
    "JSON without end": b'{"user":' * 5000 + b"\n",
    "JSON values of other kinds": b'{"user": [1], "query": {"a": 2}}\n',
}
LARGE = {  # made when they are asked for
    "a line longer than a query": lambda: HEADING + b"7\t" + b"a" * (33 << 20),
    "a .zst that fills a memory": lambda: zstandard.compress(ROW * 3_000_000),
    "Parquet that fills a memory": lambda: parquet(
        user=pl.repeat("1", 20_000_000, eager=True), query=pl.repeat("a", 20_000_000, eager=True)
    ),
}
REJECTED = {
    "a row cut off": HEADING + ROW + b"8\tca",
    "a quote in one row": CSV + b'7,wine,2006-03-01\n8,"red,2006-03-01\n9,beer,2006-03-02\n',
    "JSON with a bad line": b'{"user": 7, "query": "wine"}\n{"user": 8\nnull\n',
    "half a letter in JSON": b'{"user": 7, "query": "wine"}\n{"user": true, "query": "\\ud800"}\n',
    "a formula and a tab": CSV + b'7,wine,2006-03-01\n8,"a\tb",2006-03-01\n',
    "a heading again": HEADING + ROW + HEADING,
}


def anonymize(path: Path, out: Path, *more: str) -> int:
    return main(["anonymize", "--log", str(path), "--method", "everyone", "--out", str(out), *more])


@pytest.mark.parametrize("kind", [*REFUSED, *LARGE])
def test_what_is_no_log_is_refused_on_one_line(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_bytes(REFUSED[kind] if kind in REFUSED else LARGE[kind]())
    assert anonymize(tmp_path / "log", tmp_path / "out") == 2
    out, error = capfd.readouterr()
    assert (out, error.count("\n"), error[:7]) == ("", 1, "shoal: ")
    assert {path.name for path in tmp_path.iterdir()} == {"log"}


@pytest.mark.parametrize("kind", REJECTED)
def test_bad_rows_are_kept_apart_and_counted(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_bytes(REJECTED[kind])
    assert anonymize(tmp_path / "log", tmp_path / "out") == 0
    told = capfd.readouterr().err
    assert "could not be read, see" in told
    assert "Traceback" not in told
    assert (tmp_path / "out-rejected.tsv").read_text().count("\n") in (2, 3)
    assert anonymize(tmp_path / "log", tmp_path / "strict", "--strict") == 2


@pytest.mark.parametrize(
    "given", ["user", "user=a,thing=b", "user=Kunde,query=Suche", "user=1,query=1", "user=9,query=1"]
)
def test_columns_that_are_not_there_are_refused_by_name(
    given: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").write_bytes(HEADING + ROW)
    assert anonymize(tmp_path / "log", tmp_path / "out", "--columns", given) == 2
    assert capfd.readouterr().err.count("\n") == 1
    assert anonymize(tmp_path / "log", tmp_path / "out", "--encoding", "klingon") == 2
    assert "--encoding klingon" in capfd.readouterr().err
