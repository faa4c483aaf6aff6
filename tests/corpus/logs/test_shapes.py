"""Is a log the same log in every shape, and is what cannot be read said, in one line, with what to do?"""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas
import polars as pl
import pytest
import zstandard

from shoal.corpus.errors import InputError
from shoal.corpus.logs import LogFormat, files_of, load_log, log_of_frame, people_of
from shoal.corpus.logs.columns import parse_columns

NAMES = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
ROWS = [
    ("7", "dog food", "2006-03-01 10:00:00", "2", "http://a"),
    ("7", 'says "hello", twice', "2006-03-01 10:05:09", "", ""),
    ("8", "café; tea | milk", "2006-04-30 23:59:59", "", ""),
    ("u9", "dog food", "2006-03-02 00:00:00", "1", "http://b"),
    ("7", "007", "2006-03-03 12:00:00", "", ""),
]
LINES = ["\t".join(row) for row in (NAMES, *ROWS)]
OTHER = (1, 4, 0, 2, 3)


def seconds(time: str) -> int:
    return int(datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp())


def quoted(row: tuple[str, ...], separator: str = ",") -> str:
    return separator.join('"' + cell.replace('"', '""') + '"' for cell in row)


def text(lines: list[str], end: str = "\n") -> bytes:
    return (end.join(lines) + end).encode()


def other_times(write: Callable[[str], str]) -> list[str]:
    return [LINES[0], *("\t".join((u, q, write(t), r, c)) for u, q, t, r, c in ROWS)]


def parquet(folder: Path) -> bytes:
    frame = pl.DataFrame(ROWS, schema=NAMES, orient="row").with_columns(
        pl.col("QueryTime").str.to_datetime(), pl.col("ItemRank").cast(pl.Float64, strict=False)
    )
    frame.write_parquet(folder / "made.parquet")
    return (folder / "made.parquet").read_bytes()


def json_lines() -> list[str]:
    return [json.dumps({"user": u, "q": q, "timestamp": seconds(t), "url": c or None}) for u, q, t, _, c in ROWS]


SHAPES: dict[str, Callable[[Path], bytes]] = {
    "the order of AOL": lambda _: text(LINES),
    "no heading": lambda _: text(LINES[1:]),
    "another order": lambda _: text(["\t".join(row[i] for i in OTHER) for row in (NAMES, *ROWS)]),
    "quoted CSV": lambda _: text([quoted(row) for row in (NAMES, *ROWS)]),
    "semicolons in another order": lambda _: text(
        [quoted(tuple(row[i] for i in OTHER), ";") for row in (NAMES, *ROWS)]
    ),
    "bars": lambda _: text(["|".join(NAMES), *(quoted(row, "|") for row in ROWS)]),
    "Parquet": parquet,
    "CRLF and a byte-order mark": lambda _: b"\xef\xbb\xbf" + text(LINES, "\r\n"),
    "gz": lambda _: gzip.compress(text(LINES)),
    "zst in two frames": lambda _: b"".join(zstandard.compress(part) for part in (text(LINES)[:40], text(LINES)[40:])),
    "epoch seconds": lambda _: text(other_times(lambda t: str(seconds(t)))),
    "epoch milliseconds": lambda _: text(other_times(lambda t: f"{seconds(t)}000")),
    "ISO with T and Z": lambda _: text(other_times(lambda t: t.replace(" ", "T") + ".250Z")),
    "ISO with an offset": lambda _: text(
        other_times(lambda t: datetime.fromtimestamp(seconds(t) + 5400, UTC).strftime("%Y-%m-%dT%H:%M:%S+01:30"))
    ),
    "JSON lines": lambda _: text(json_lines()),
    "a column more": lambda _: text(["Notes\t" + LINES[0], *("x\t" + line for line in LINES[1:])]),
}


@pytest.fixture(scope="module")
def digest(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    path.write_bytes(text(LINES))
    return load_log(str(path))[0].digest()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_log_in_any_shape_is_one_log(shape: str, digest: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(SHAPES[shape](tmp_path))
    log, rejected = load_log(str(path))
    assert (log.digest(), len(rejected)) == (digest, 0)
    assert log.people == people_of(str(path)) == "real"


def frames() -> dict[str, Any]:
    made = pandas.DataFrame(ROWS, columns=list(NAMES))
    times = pandas.to_datetime(made["QueryTime"])
    polars = pl.DataFrame(ROWS, schema=NAMES, orient="row")
    return {
        "pandas": made,
        "pandas with times and missing values": made.assign(
            QueryTime=times, ClickURL=made["ClickURL"].replace("", None)
        ),
        "pandas with a time zone": made.assign(QueryTime=times.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
        "polars": polars,
        "polars, lazy": polars.lazy(),
        "polars with a time zone": polars.with_columns(
            pl.col("QueryTime").str.to_datetime(time_zone="UTC").dt.convert_time_zone("Asia/Tokyo")
        ),
        "tuples": ROWS,
        "dictionaries": [dict(zip(NAMES, row, strict=True)) for row in ROWS],
        "columns": {name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)},
    }


@pytest.mark.parametrize("kind", frames())
def test_the_same_log_in_a_frame_is_the_same_log(kind: str, digest: str) -> None:
    log, rejected = log_of_frame(frames()[kind])
    assert (log.digest(), len(rejected)) == (digest, 0)


def test_an_arrow_table_is_read_by_the_protocol_that_all_of_them_share(digest: str) -> None:
    class Table:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pl.DataFrame(ROWS, schema=NAMES, orient="row").__arrow_c_stream__(requested_schema)

    assert log_of_frame(Table())[0].digest() == digest


def test_numbers_of_a_frame_are_ids_as_a_file_would_hold_them() -> None:
    log, _ = log_of_frame(pandas.DataFrame({"user": [7.0, 8.0], "query": [1, 2], "rank": [float("nan"), 1.0]}))
    assert (log.users.to_list(), log.queries.to_list()) == (["7", "8"], ["1", "2"])


def test_several_files_a_folder_and_a_pattern_are_one_log(digest: str, tmp_path: Path) -> None:
    for name, lines in (("a.tsv", LINES[:3]), ("b.csv", [quoted(row) for row in (NAMES, *ROWS[2:])])):
        (tmp_path / name).write_bytes(text(lines))
    (tmp_path / "notes.md").write_text("not a log")
    (tmp_path / "rest.tsv.gz").write_bytes(gzip.compress(b"7\tbad\n"))
    log, rejected = load_log(str(tmp_path))
    assert log.digest() == digest
    assert rejected.rows["reason"].to_list() == ["rest.tsv.gz: wrong number of columns, expected 5"]
    for several in (f"{tmp_path}/[ab].*", f"{tmp_path}/a.tsv,{tmp_path}/b.csv"):
        assert load_log(several)[0].digest() == digest
    with pytest.raises(InputError, match="no file there"):
        files_of(f"{tmp_path}/*.pq")


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        ("user=Kunde,query=Suche,time=Zeit,click=Ziel,rank=", ["Suche;Zeit;Kunde;Ziel;query"]),
        ("user=3,query=1,time=2,click=4", ["Suche;Zeit;Kunde;Ziel;query"]),
        ("user=3,query=1,time=2,click=4", []),
    ],
)
def test_columns_are_what_the_user_says(columns: str, lines: list[str], digest: str, tmp_path: Path) -> None:
    rows = [f"{quoted((q, t, u, c), ';')};x" for u, q, t, _, c in ROWS]
    (tmp_path / "log.csv").write_bytes(text([*lines, *rows]))
    given = LogFormat(parse_columns(columns))
    assert load_log(str(tmp_path / "log.csv"), format=given)[0].digest() == digest


def test_a_heading_with_unknown_names_is_asked_about_and_never_guessed(tmp_path: Path) -> None:
    for heading in ("Suche\tKunde\tZeit", "AnonID\tSuche\tZeit", "Suche\tuser\ttime"):
        (tmp_path / "log.tsv").write_text(f"{heading}\nwine\t7\t2006-03-01 10:00:00\n")
        with pytest.raises(InputError, match="which are user and query"):
            load_log(str(tmp_path / "log.tsv"))


def test_letters_of_another_encoding_are_counted_guessed_and_read_when_told(digest: str, tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    path.write_bytes(text(LINES).decode().encode("cp1252"))
    log, rejected = load_log(str(path))
    assert (log.queries.to_list()[2], rejected.damaged, rejected.encoding) == (
        "caf� tea | milk".replace("�", "�;"),
        1,
        "cp1252",
    )
    for encoding in ("cp1252", "utf-16"):
        path.write_bytes(text(LINES).decode().encode(encoding))
        assert load_log(str(path), format=LogFormat(encoding=encoding))[0].digest() == digest
    with pytest.raises(InputError, match="--encoding utf-16"):
        load_log(str(path))
    path.write_bytes("1\tпривет мир\t\t\t\n".encode("cp1251"))
    assert load_log(str(path))[1].encoding == "cp1251"


def test_the_reader_says_what_it_understood(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("date;uid;searchquery\n2006-03-01;7;wine\nsoon;7;wine\n2006-03-01;;wine\n")
    _, rejected = load_log(str(path))
    assert rejected.understood == (
        "1 query of 1 user, from 2006-03-01 to 2006-03-01 (semicolons; user=uid, query=searchquery, time=date)"
    )
    assert list(rejected.reasons().values()) == [1, 1]


def test_who_the_users_are_is_said_by_the_heading_of_any_shape(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('query,user,"people: simulated"\nwine,7,\n')
    (tmp_path / "b.csv").write_text("query,user,people: public\nwine,7\n")
    assert load_log(str(tmp_path / "a.csv"))[0].people == "simulated"
    assert load_log(str(tmp_path))[0].people == people_of(str(tmp_path)) == "public"
    assert log_of_frame({"user": ["7"], "query": ["wine"], "people: simulated": [None]})[0].people == "simulated"
