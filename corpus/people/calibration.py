"""How much does a log look like AOL's? Its statistics beside the published ones."""

from dataclasses import dataclass

import numpy as np

from shoal.corpus.columns import distinct
from shoal.corpus.querylog import QueryLog

LENGTHS = ("1 word", "2 words", "3 words", "4 words", "5 and more words")
# Carpineto & Romano 2014, Table 1: numbers of queries of each length, distinct and with repetitions.
AOL_DISTINCT = np.array([2_705_784, 2_053_326, 2_088_671, 1_479_143, 1_827_818])
AOL_REPEATED = np.array([11_909_026, 7_089_861, 4_536_990, 2_568_638, 2_793_846])
AOL_WORDS = 67_567_111  # Table 2, unigrams with repetitions
AOL_USERS = 650_000  # section 1
AOL_QUERIES_PER_USER = 44.0
# Distinct queries typed by one user only: section 1 for the whole log; a sample of 1,000 users shares fewer.
AOL_ONE_USER = {1_000: 0.96, AOL_USERS: 0.90}


@dataclass(frozen=True)
class CalibrationRow:
    """One statistic of AOL's log and of ours; shares are between 0 and 1."""

    statistic: str
    aol: float
    ours: float

    @property
    def difference(self) -> float:
        """Relative to AOL's figure."""
        return self.ours / self.aol - 1

    @property
    def is_share(self) -> bool:
        return self.aol < 1


def calibration(log: QueryLog) -> list[CalibrationRow]:
    """The published statistics, each beside that of the log; nothing is known here but the log."""
    words = words_per_query(log)
    distinct, repeated = _length_shares(words), _length_shares(words[log.query])
    users = int((np.diff(log.start) > 0).sum())
    lengths = [
        CalibrationRow(f"{what}: {name}", float(aol), float(ours))
        for what, published, measured in (
            ("distinct queries", AOL_DISTINCT / AOL_DISTINCT.sum(), distinct),
            ("queries with repetitions", AOL_REPEATED / AOL_REPEATED.sum(), repeated),
        )
        for name, aol, ours in zip(LENGTHS, published, measured, strict=True)
    ]
    return [
        *lengths,
        CalibrationRow("words per query", AOL_WORDS / int(AOL_REPEATED.sum()), _mean_words(words[log.query])),
        CalibrationRow("queries per user", AOL_QUERIES_PER_USER, len(log) / max(users, 1)),
        CalibrationRow("distinct queries typed by one user", aol_one_user(users), _one_user(log)),
    ]


def calibration_lines(rows: list[CalibrationRow]) -> list[str]:
    """The table as a person reads it."""
    lines = [f"{'statistic':<42}{'AOL':>9}{'ours':>9}{'difference':>12}"]
    for row in rows:
        aol, ours = (f"{100 * v:.1f} %" if row.is_share else f"{v:.2f}" for v in (row.aol, row.ours))
        lines.append(f"{row.statistic:<42}{aol:>9}{ours:>9}{100 * row.difference:>+10.1f} %")
    return lines


def aol_one_user(users: int) -> float:
    """AOL's share of distinct queries typed by one user only, between its two known points for this many users."""
    sizes = np.log(list(AOL_ONE_USER))
    return float(np.interp(np.log(max(users, 1)), sizes, list(AOL_ONE_USER.values())))


def words_per_query(log: QueryLog) -> np.ndarray:
    """Words between blanks in each distinct query."""
    return log.queries.str.count_matches(r"\S+").to_numpy().astype(np.int64)


def _length_shares(words: np.ndarray) -> np.ndarray:
    """The share of each length among the queries that hold a word at all."""
    numbers = np.bincount(np.minimum(words[words > 0], len(LENGTHS)), minlength=len(LENGTHS) + 1)[1:]
    return numbers / max(int(numbers.sum()), 1)


def _mean_words(words: np.ndarray) -> float:
    return float(words[words > 0].mean()) if (words > 0).any() else 0.0


def _one_user(log: QueryLog) -> float:
    pairs = distinct(log.query.astype(np.int64) * len(log.users) + log.user)
    users = np.bincount(pairs // max(len(log.users), 1), minlength=len(log.queries))
    return float((users == 1).sum() / max(int((users > 0).sum()), 1))
