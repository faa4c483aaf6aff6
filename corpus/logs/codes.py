"""How do the strings of a log become codes? Block by block, each distinct string held once, in the order they come."""

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
    """Strings as codes; each distinct one is held once."""

    def __init__(self) -> None:
        self._kind = pl.Categorical(pl.Categories.random())
        self._blocks: list[pl.Series] = []

    def add(self, strings: pl.Series) -> None:
        # A column at a time: in a query of several columns threads wait for each other at every string.
        self._blocks.append(strings.cast(self._kind))

    def coded(self) -> tuple[pl.Series, np.ndarray]:
        """The distinct strings in the order in which they came, and each string as its place among them."""
        strings = pl.concat(self._blocks, rechunk=True)
        self._blocks.clear()
        code = strings.to_physical().to_numpy().view(np.int32)
        first = _first_positions(code)
        names, place = strings.gather(first).cast(pl.String), np.arange(len(first), dtype=np.int32)
        if not np.array_equal(code[first], place):
            new = np.empty(int(code.max()) + 1, dtype=np.int32)
            new[code[first]] = place
            code = new[code]
        return names, code


def _first_positions(code: np.ndarray) -> np.ndarray:
    """Where each code appears first, ascending. Codes are nearly always handed out in this very order."""
    highest = np.maximum.accumulate(code)
    rises = np.append(0, np.flatnonzero(highest[1:] > highest[:-1]) + 1)
    return rises if len(rises) == highest[-1] + 1 else np.sort(np.unique(code, return_index=True)[1])
