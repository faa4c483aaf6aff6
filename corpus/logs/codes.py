"""How do the strings of a log become codes? Block by block, each distinct string held once, in the order they come."""

import secrets

import numpy as np
import polars as pl

from shoal.corpus.querylog import NO_TIME, PeopleKind, QueryLog, log_from_codes


class Encoder:
    """Takes the rows of a log some at a time, and gives the log."""

    def __init__(self) -> None:
        self.rows = 0
        self._users, self._queries, self._urls = Distinct(), Distinct(), Distinct()
        self._blocks: list[tuple[np.ndarray, ...]] = []

    def add(self, rows: pl.DataFrame) -> None:
        """Rows with a user, a query, when, and a url (none or empty: no click)."""
        if not len(rows):
            return
        self.rows += len(rows)
        user, query, url = (rows[name] for name in ("user", "query", "url"))
        seen = rows.select(
            (pl.col("user") != pl.col("user").shift()).fill_null(True).alias("start"),
            (pl.col("url") != "").fill_null(False).alias("clicked"),
            pl.col("when").dt.epoch("s").fill_null(NO_TIME).alias("time"),
        )
        start = np.flatnonzero(seen["start"])
        self._users.add(user.gather(start))  # once for all rows of a user that follow each other
        self._queries.add(query)
        clicked = seen["clicked"].to_numpy()
        named = clicked.copy()
        named[clicked.argmin()] = True  # no click is a name, too, where it comes first: digests of logs count it
        self._urls.add(url.filter(pl.Series(named)).fill_null(""))
        self._blocks.append((np.diff(start, append=len(rows)), clicked, named, seen["time"].to_numpy()))

    def log(self, people: PeopleKind) -> QueryLog:
        run, clicked, named, seconds = map(np.concatenate, zip(*self._blocks, strict=True))
        self._blocks.clear()
        users, user = self._users.coded()
        queries, query = self._queries.coded()
        urls, code = self._urls.coded()
        url = np.full(len(clicked), -1, dtype=np.int32)
        url[named] = code
        url[~clicked] = -1
        return log_from_codes(users, queries, urls, np.repeat(user, run), query, seconds, url, people)


class Distinct:
    """Strings as codes; each distinct one is held once.

    Numbers are sorted several times as fast as strings are looked up: equal strings are found by two hashes of 64 bits,
    with random seeds, so that nobody can write a log in which different ones have the same.
    """

    def __init__(self) -> None:
        self._seeds = secrets.randbits(63), secrets.randbits(63)
        self._names: list[pl.Series] = []
        self._hashes: list[tuple[np.ndarray, np.ndarray]] = []  # of the names
        self._codes: list[np.ndarray] = []  # of each block, into its own names

    def add(self, strings: pl.Series) -> None:
        if not len(strings):
            return
        one, other = (strings.hash(seed).to_numpy() for seed in self._seeds)
        first, code = _coded(one, other)
        self._names.append(strings.gather(first))
        self._hashes.append((one[first], other[first]))
        self._codes.append(code)

    def coded(self) -> tuple[pl.Series, np.ndarray]:
        """The distinct strings in the order in which they came, and each string as its place among them."""
        first, place = _coded(*map(np.concatenate, zip(*self._hashes, strict=True)))
        names = pl.concat(self._names).gather(first)
        places = np.split(place, np.cumsum([len(some) for some in self._names])[:-1])
        code = np.concatenate([among[code] for among, code in zip(places, self._codes, strict=True)])
        for kept in (self._names, self._hashes, self._codes):
            kept.clear()
        return names, code


def _coded(hashes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct pair of hashes comes first, ascending, and each pair as its place among these."""
    order = np.argsort(hashes)
    one, other = hashes[order], others[order]
    if ((one[1:] == one[:-1]) & (other[1:] != other[:-1])).any():  # two strings meet in one hash: hardly ever
        order = np.lexsort((others, hashes))
        one, other = hashes[order], others[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (one[1:] != one[:-1]) | (other[1:] != other[:-1])
    first = np.minimum.reduceat(order, np.flatnonzero(new))
    by_first = np.argsort(first)
    place = np.empty(len(first), dtype=np.int32)
    place[by_first] = np.arange(len(first), dtype=np.int32)
    code = np.empty(len(order), dtype=np.int32)
    code[order] = place[np.cumsum(new) - 1]
    return first[by_first], code
