"""Is every row of a log file read, or rejected with its line and reason?"""

import gzip
import stat
from pathlib import Path

import numpy as np
import pytest

from shoal.corpus.errors import InputError
from shoal.corpus.logs import files as logfile
from shoal.corpus.logs.aol import read_log

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


def written(folder: Path, text: str | bytes, name: str = "log.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_rows_are_read_with_or_without_header_clicks_and_trailing_columns(tmp_path: Path) -> None:
    rows = "7\tdog food\t2006-03-01 10:00:00\t2\thttp://a\n7\tcat\t2006-03-01 09:00:00\r\n8\tdog food\t\t\t\n"
    for text in (rows, HEADER + rows):
        log, rejected = read_log(written(tmp_path, text))
        assert len(rejected) == 0
        assert log.users.to_list() == ["7", "8"]
        assert [log.queries[int(q)] for q in log.query] == ["dog food", "cat", "dog food"]
        assert log.urls.gather(log.click_url).to_list() == ["http://a"]


def test_a_log_says_in_its_heading_who_its_users_are_and_is_of_real_people_if_it_does_not(tmp_path: Path) -> None:
    row, heading = "7\tdog food\t2006-03-01 10:00:00\t\t\n", HEADER.rstrip("\n")
    for people in ("simulated", "public", "real"):
        for end in ("\n", "\r\n"):
            text = f"{heading}\tpeople: {people}{end}{row}"
            log, rejected = read_log(written(tmp_path, text))
            assert (log.people, len(log), len(rejected)) == (people, 1, 0)
            assert read_log(written(tmp_path, gzip.compress(text.encode()), "log.tsv.gz"))[0].people == people
            assert log.digest() == read_log(written(tmp_path, row))[0].digest()
    for text in (row, HEADER + row, f"{heading}\tnotes\n{row}", row + f"{heading}\tpeople: simulated\n"):
        path = written(tmp_path, text, "simulated-users.tsv")
        assert read_log(path)[0].people == "real"
    with pytest.raises(InputError, match="people: simulated, people: public, people: real"):
        read_log(written(tmp_path, f"{heading}\tpeople: nobody\n{row}"))


def test_who_the_users_are_stays_with_every_part_of_a_log(tmp_path: Path) -> None:
    text = HEADER.rstrip("\n") + "\tpeople: public\n7\tdog\t\t\t\n8\tcat\t\t\t\n"
    log, _ = read_log(written(tmp_path, text))
    assert log.select(log.user == 0).people == "public"
    assert log.for_users(np.array([1])).compacted().people == "public"


def test_events_are_sorted_by_time_where_all_have_one(tmp_path: Path) -> None:
    log, _ = read_log(written(tmp_path, "7\tlate\t2006-03-02 00:00:00\t\t\n7\tearly\t2006-03-01 00:00:00\t\t\n"))
    assert [log.queries[int(q)] for q in log.query] == ["early", "late"]


def test_a_packed_log_is_the_same_log(tmp_path: Path) -> None:
    text = HEADER + "".join(f"{i % 7}\tquery {i}\t2006-03-01 10:00:00\t\t\n" for i in range(500))
    packed = tmp_path / "log.tsv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_log(packed)[0].digest() == read_log(written(tmp_path, text))[0].digest()


def test_blocks_of_any_size_give_the_same_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEADER + "".join(f"{i % 7}\tquery é {i}\t2006-03-01 10:00:00\t1\tu{i}\n" for i in range(50)) + "bad"
    path = written(tmp_path, text)
    whole, bad = read_log(path)
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr(logfile, "BLOCK_BYTES", size)
        log, rejected = read_log(path)
        assert log.digest() == whole.digest()
        assert rejected.rows.equals(bad.rows)


def test_users_whose_rows_are_scattered_are_put_together_and_no_click_is_named_where_it_comes_first(
    tmp_path: Path,
) -> None:
    rows = [("7", "a", 1, "u"), ("8", "b", 2, ""), ("7", "a", 1, "v"), ("7 ", "c", 0, ""), ("8", "a", 3, "u")]
    text = "".join(f"{user}\t{query}\t2006-03-01 10:00:0{second}\t\t{url}\n" for user, query, second, url in rows)
    log, _ = read_log(written(tmp_path, text))
    assert (log.users.to_list(), log.urls.to_list()) == (["7", "8"], ["u", "", "v"])
    assert log.queries.gather(log.query).to_list() == ["c", "a", "b", "a"]
    assert (log.start.tolist(), log.click_event.tolist()) == ([0, 2, 4], [1, 1, 3])
    assert log.urls.gather(log.click_url).to_list() == ["u", "v", "u"]


def test_bad_rows_are_kept_apart_with_their_line_and_reason(tmp_path: Path) -> None:
    text = HEADER + (
        "1\tgood\t2006-03-01 10:00:00\t\t\nno tabs\n\tno user\t2006-03-01 10:00:00\t\t\n1\t \t\t\t\n"
        "1\tq\tyesterday\t\t\n1\tq\t\tfirst\thttp://a\n1\tq\t\t\t\textra\n\n2\tgood\t\t\t\n"
    )
    log, rejected = read_log(written(tmp_path, text))
    assert len(log) == 2
    assert rejected.rows["line_number"].to_list() == [3, 4, 5, 6, 7, 8]
    assert [reason.split(",")[0][:12] for reason in rejected.rows["reason"]] == [
        "wrong number", "no user id", "no query", "time not of ", "item rank is", "wrong number",
    ]  # fmt: skip


def test_blanks_around_a_user_or_a_query_are_left_out_and_nothing_else_than_blanks_is_none(tmp_path: Path) -> None:
    rows = [(" 7", "wine "), ("7", "\u00a0wine"), ("7", " \u3000"), (" ", "wine"), ("8", "wine")]
    text = HEADER + "".join(f"{user}\t{query}\t2006-03-01 10:00:00\t\t\n" for user, query in rows)
    log, rejected = read_log(written(tmp_path, text))
    assert (log.users.to_list(), log.queries.to_list(), len(log)) == (["7", "8"], ["wine"], 3)
    assert rejected.rows.select("line_number", "reason").rows() == [(4, "no query"), (5, "no user id")]


def test_rejected_rows_are_for_the_owner_only(tmp_path: Path) -> None:
    _, rejected = read_log(written(tmp_path, "1\tgood\t\t\t\nbad row\n"))
    rejected.write(tmp_path / "rejected.tsv")
    assert stat.S_IMODE((tmp_path / "rejected.tsv").stat().st_mode) == 0o600
    assert (tmp_path / "rejected.tsv").read_text().splitlines()[1].startswith("2\twrong number of columns")


def test_strict_stops_at_the_first_bad_row(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: wrong number of columns"):
        read_log(written(tmp_path, "1\tgood\t\t\t\nbad row\n"), strict=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (HEADER.encode(), "is empty"),
        (b"\x00\x01\x02" * 100, "is not text"),
        (b"a,b,c\nd,e,f\n", "no readable row"),
    ],
)
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_log(written(tmp_path, content))


def test_a_missing_or_truncated_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no log at"):
        read_log(tmp_path / "nowhere.tsv")
    cut = gzip.compress((HEADER + "1\tq\t\t\t\n" * 1000).encode())[:-20]
    with pytest.raises(InputError, match="cannot be read"):
        read_log(written(tmp_path, cut, "log.tsv.gz"))


def test_letters_that_are_no_utf8_do_not_stop_the_reading(tmp_path: Path) -> None:
    log, _ = read_log(written(tmp_path, b"1\tcaf\xe9 noir\t\t\t\n"))
    assert log.queries.to_list() == ["caf� noir"]


def test_a_file_that_unpacks_to_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "BLOCK_BYTES", 1 << 16)
    bomb = written(tmp_path, gzip.compress(b"u1\twine\n" + b"a" * (3 << 20)), "bomb.tsv.gz")
    with pytest.raises(InputError, match=r"line 2 is longer than 1,048,576 bytes"):
        read_log(bomb)


def test_a_file_that_unpacks_to_far_more_than_a_log_would_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfile, "BLOCK_BYTES", 1 << 16)
    rows = b"u1\twine\t2006-03-01 10:00:00\t\t\n" * 100_000
    bomb = written(tmp_path, gzip.compress(rows), "bomb.tsv.gz")
    assert len(read_log(bomb)[0]) == 100_000  # small enough for any machine
    monkeypatch.setattr(logfile, "ALWAYS_UNPACKED", 1 << 20)
    with pytest.raises(InputError, match="more than 200 times its size"):
        read_log(bomb)
