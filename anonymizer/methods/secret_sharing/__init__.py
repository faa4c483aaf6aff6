"""Secret sharing: can a query be read only when k users asked it? Shamir's shares, one for each user of a query.

Shamir's secret sharing over the prime field of 2^61 - 1, for millions of queries at once.

A query is cut into blocks of 7 bytes, each a number below the prime. A polynomial of degree k - 1 has the block at 0
and random numbers besides; a share is its value at the point of a user.
"""

from collections.abc import Iterable
from itertools import chain

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo, Release, ReleasedQueries, Suppressed
from shoal.anonymizer.distinct_queries import DistinctQueries, distinct_queries, only_columns
from shoal.anonymizer.parameters import Parameter, whole_number
from shoal.anonymizer.publish import publish
from shoal.anonymizer.secret_numbers import secret_numbers, secret_order
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog

PRIME = (1 << 61) - 1
BLOCK = 7  # bytes: 56 bits are below the prime whatever they are
_END = 0x80  # after the last byte of a query, then zeros: so that no two texts have the same blocks


def as_blocks(texts: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of all texts as numbers: text i has blocks[start[i]:start[i + 1]]."""
    size = texts.str.len_bytes().to_numpy().astype(np.int64)
    start = np.concatenate([[0], np.cumsum(size // BLOCK + 1)])
    content = np.frombuffer("".join(texts.to_list()).encode(), dtype=np.uint8)
    return start, _blocks(content, np.concatenate([[0], np.cumsum(size)]), start)


@njit(cache=True)
def _blocks(content: np.ndarray, byte: np.ndarray, start: np.ndarray) -> np.ndarray:
    blocks = np.zeros(start[-1], dtype=np.uint64)
    for text in range(len(start) - 1):
        size = byte[text + 1] - byte[text]
        for i in range(size + 1):
            letter = np.uint64(content[byte[text] + i]) if i < size else np.uint64(_END)
            blocks[start[text] + i // BLOCK] |= letter << np.uint64(8 * (i % BLOCK))
    return blocks


@njit(cache=True)
def multiply(a: np.uint64, b: np.uint64) -> np.uint64:
    """a * b modulo 2^61 - 1 in 64 bits: both are cut at bit 31, and what is above bit 61 is added below it."""
    low, middle = np.uint64((1 << 31) - 1), np.uint64((1 << 30) - 1)
    a_high, a_low = a >> np.uint64(31), a & low
    b_high, b_low = b >> np.uint64(31), b & low
    cross = a_low * b_high + a_high * b_low  # below 2^62
    total = (a_high * b_high << np.uint64(1)) + (cross >> np.uint64(30)) + a_low * b_low
    return reduce(reduce(total) + ((cross & middle) << np.uint64(31)))


@njit(cache=True)
def reduce(a: np.uint64) -> np.uint64:
    """A number below 2^64 modulo 2^61 - 1."""
    prime = np.uint64(PRIME)
    folded = (a & prime) + (a >> np.uint64(61))
    return folded - prime if folded >= prime else folded


def shares_at(
    point: np.ndarray, query: np.ndarray, start: np.ndarray, powers: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The values of the polynomials of a query at a point, by Horner; row i has values[value_start[i]:...].

    The numbers of all blocks come by powers, the highest first, so that those of one are held at a time.
    """
    value_start = np.concatenate([[0], np.cumsum(np.diff(start)[query])])
    values = np.zeros(value_start[-1], dtype=np.uint64)
    for numbers in powers:
        _times_point_plus(values, value_start, point, query, start, numbers)
    return value_start, values


@njit(cache=True)
def _times_point_plus(
    values: np.ndarray, value_start: np.ndarray,
    point: np.ndarray, query: np.ndarray, start: np.ndarray, numbers: np.ndarray,
) -> None:  # fmt: skip
    for row in range(len(query)):
        for i in range(value_start[row + 1] - value_start[row]):
            value = value_start[row] + i
            values[value] = reduce(multiply(values[value], point[row]) + numbers[start[query[row]] + i])


def _coefficients(seed: int, power: int, count: int) -> np.ndarray:
    numbers = secret_numbers(seed, f"coefficients {power}", count) & np.uint64(PRIME)
    numbers[numbers == PRIME] = 0  # one number of 2^61 is twice as likely as the others
    return numbers


_STAGE = "sharing queries"
_AT_ONCE = 1_000_000  # shares that are written as text together, so that only their columns are held


class SecretSharing(LogMethod):
    """Adar 2007, section 4; thesis 2.2.

    Guarantee: a query can be read when k users asked it, and fewer shares say nothing of it but its length in blocks of
    7 bytes. Strings are compared in lower case and with single blanks, as by `equality`, which releases what is read.
    """

    info = MethodInfo(
        id="secret-sharing",
        title="Shares of queries, readable when k users asked",
        paper="E. Adar: User 4XXXXX9: Anonymizing query logs. Query Log Analysis Workshop at WWW, 2007",
        unit="query",
        family="hash",
        protects="What fewer than k users asked: their shares together say nothing of the words of a query.",
        does_not_protect=(
            "What a user's readable queries tell together; how many queries a user asked, how often each, how long "
            "they are and which other users asked them; and a log in which an attacker planted users: k - 1 of "
            "them learn who else types what they type."
        ),
        randomness="secret",
        cluster="the shares of a query lie on one polynomial, whoever asked it",
    )
    k = Parameter(5, whole_number(2, 1000), "the number of users whose shares of a query together read it", "higher")

    def claim(self) -> Claim:
        return Claim("threshold-shares", {"k": self.k})

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        self.need_users(len(log.users), self.k)
        progress(0, 3, _STAGE)
        queries = distinct_queries(log)
        asked = only_columns(queries.asked, queries.users > 0)  # the empty string is no query
        users = np.flatnonzero(np.diff(asked.indptr))
        users = users[secret_order(seed, "users", len(users))]
        asked = csr_array(asked[users])
        progress(1, 3, _STAGE)
        made = self._published(log, queries, asked, users)
        progress(2, 3, _STAGE)
        shares = self._shares(queries, asked, made.assignment.profile, seed)
        progress(3, 3, _STAGE)
        return _with_shares(made, shares)

    def _published(self, log: QueryLog, queries: DistinctQueries, asked: csr_array, users: np.ndarray) -> Anonymized:
        """What can be read: the queries of at least k users, and profiles of these alone."""
        readable = only_columns(asked, queries.users >= self.k)
        labels, terms = query_term_counts(log, self.knowledge.words)
        weights = csr_array(readable @ csr_array(terms[queries.source])).astype(float)
        rows = _rows(readable)
        text, count = queries.texts.gather(readable.indices), readable.data.astype(np.int64)
        read = ReleasedQueries(rows, text, count, queries.users[readable.indices].astype(np.int64))
        suppressed = Suppressed(len(log) - int(count.sum()), len(log.users) - len(users))
        members = (users, np.arange(len(users)))
        return publish(log.users, members, weights, labels, self.claim(), suppressed, queries=read)

    def _shares(self, queries: DistinctQueries, asked: csr_array, place: np.ndarray, seed: int) -> ReleasedQueries:
        """One share of each query for each user who asked it: query/point/values, the point that of the user."""
        start, blocks = as_blocks(queries.texts)
        name = secret_order(seed, "queries", len(queries))
        pseudonym = place[_rows(asked)]
        order = np.lexsort((name[asked.indices], pseudonym))
        query, pseudonym, count = asked.indices[order], pseudonym[order], asked.data[order].astype(np.int64)
        point = 1 + secret_order(seed, "points", asked.shape[0])[pseudonym]
        powers = chain((_coefficients(seed, power, len(blocks)) for power in range(1, self.k)), [blocks])
        value_start, values = shares_at(point.astype(np.uint64), query.astype(np.int64), start, powers)
        del blocks, order  # the texts take as much memory again
        parts = [pl.Series(dtype=pl.String)]
        for low in range(0, len(query), _AT_ONCE):
            some = slice(low, low + _AT_ONCE)
            at = value_start[low : low + _AT_ONCE + 1]
            parts.append(_written(name[query[some]], point[some], at, values))
        texts = pl.concat(parts)
        return ReleasedQueries(pseudonym.astype(np.int32), texts, count, queries.users[query].astype(np.int64))


def _rows(matrix: csr_array) -> np.ndarray:
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))


def _with_shares(made: Anonymized, shares: ReleasedQueries) -> Anonymized:
    release = made.release
    told = Release(
        release.pseudonyms, release.users, release.labels, release.generalized, release.weights, release.queries,
        shares=shares,
    )  # fmt: skip
    return Anonymized(told, made.assignment, made.claim, made.suppressed)


def _written(query: np.ndarray, point: np.ndarray, start: np.ndarray, values: np.ndarray) -> pl.Series:
    """query/point/value.value..., all shares with the same number of values at once."""
    many = np.diff(start)
    parts, places = [pl.Series(dtype=pl.String)], [np.empty(0, dtype=np.int64)]
    for blocks in np.unique(many).tolist():
        rows = np.flatnonzero(many == blocks)
        value = [pl.Series(f"{b}", values[start[rows] + b]).cast(pl.String) for b in range(blocks)]
        frame = pl.DataFrame([pl.Series("query", query[rows]), pl.Series("point", point[rows]), *value])
        ends = pl.concat_str([pl.col(f"{b}") for b in range(blocks)], separator=".")
        parts.append(frame.select(pl.concat_str(["query", "point", ends], separator="/")).to_series().alias(""))
        places.append(rows)
    back = np.empty(len(many), dtype=np.int64)
    back[np.concatenate(places)] = np.arange(len(many))
    return pl.concat(parts).gather(back)
