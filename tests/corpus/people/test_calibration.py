"""Are a log's statistics those that one counts by hand?"""

import numpy as np
import polars as pl
import pytest

from shoal.corpus.people.calibration import CalibrationRow, aol_one_user, calibration, calibration_lines
from shoal.corpus.querylog import QueryLog, make_log


@pytest.fixture
def six_rows() -> QueryLog:
    """Two users. Distinct: wine (1 word, both), red wine (2), how to make wine at home (6), raw milk (2)."""
    return make_log(
        pl.Series(["1", "1", "1", "2", "2", "2"]),
        pl.Series(["wine", "wine", "red wine", "wine", "how to make wine at home", "raw milk"]),
        np.arange(6),
    )


def _ours(log: QueryLog) -> dict[str, float]:
    return {row.statistic: row.ours for row in calibration(log)}


def test_six_rows_counted_by_hand(six_rows: QueryLog) -> None:
    ours = _ours(six_rows)
    assert ours["distinct queries: 1 word"] == pytest.approx(1 / 4)
    assert ours["distinct queries: 2 words"] == pytest.approx(2 / 4)
    assert ours["distinct queries: 3 words"] == 0
    assert ours["distinct queries: 5 and more words"] == pytest.approx(1 / 4)
    assert ours["queries with repetitions: 1 word"] == pytest.approx(3 / 6)
    assert ours["queries with repetitions: 2 words"] == pytest.approx(2 / 6)
    assert ours["queries with repetitions: 5 and more words"] == pytest.approx(1 / 6)
    assert ours["words per query"] == pytest.approx((3 * 1 + 2 * 2 + 6) / 6)
    assert ours["queries per user"] == pytest.approx(3)
    assert ours["distinct queries typed by one user"] == pytest.approx(3 / 4)


def test_the_published_figures_stand_beside_them(six_rows: QueryLog) -> None:
    aol = {row.statistic: row.aol for row in calibration(six_rows)}
    distinct = [value for name, value in aol.items() if name.startswith("distinct queries:")]
    repeated = [value for name, value in aol.items() if name.startswith("queries with")]
    assert distinct == pytest.approx([0.2664, 0.2022, 0.2056, 0.1456, 0.1799], abs=2e-4)
    assert repeated == pytest.approx([0.4121, 0.2453, 0.1569, 0.0888, 0.0966], abs=2e-4)
    assert aol["queries per user"] == 44


def test_the_difference_is_relative_to_aols_figure() -> None:
    assert CalibrationRow("queries per user", 44.0, 33.0).difference == pytest.approx(-0.25)


@pytest.mark.parametrize(("users", "share"), [(10, 0.96), (1_000, 0.96), (650_000, 0.90), (2_000_000, 0.90)])
def test_the_share_of_one_user_queries_is_known_at_two_sizes(users: int, share: float) -> None:
    assert aol_one_user(users) == pytest.approx(share)


def test_between_the_two_sizes_it_falls() -> None:
    assert 0.90 < aol_one_user(100_000) < aol_one_user(10_000) < 0.96


def test_an_empty_query_counts_as_no_length() -> None:
    log = make_log(pl.Series(["1", "1"]), pl.Series(["", "wine"]), np.arange(2))
    assert _ours(log)["queries with repetitions: 1 word"] == 1


def test_the_table_shows_shares_in_percent_and_the_difference(six_rows: QueryLog) -> None:
    lines = calibration_lines(calibration(six_rows))
    assert len(lines) == 14
    assert lines[0].split() == ["statistic", "AOL", "ours", "difference"]
    assert lines[1].split()[-6:] == ["26.6", "%", "25.0", "%", "-6.2", "%"]
    assert lines[12].split()[-4:] == ["44.00", "3.00", "-93.2", "%"]
