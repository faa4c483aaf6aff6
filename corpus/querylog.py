"""What is a query log? Columns, one row per event, sorted by user, then by time; and its sessions, cut by a gap."""

import hashlib
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.tokens import Tokens, tokenize_column

NO_TIME = np.iinfo(np.int64).min
_STRINGS_AT_ONCE = 100_000  # of a column, where they are gone through outside of it
# Who the users are: made up, real and public by a licence, or real. What says nothing of them is of real people.
PeopleKind = Literal["simulated", "public", "real"]
PEOPLE: tuple[PeopleKind, ...] = ("simulated", "public", "real")


@dataclass(frozen=True, eq=False, repr=False)
class QueryLog:
    """Who asked what, when, and what they clicked.

    The events of user u are the rows start[u]:start[u + 1], in the order of time (file order where there is none).
    Users, queries and urls are distinct strings; the other columns hold positions in them.
    """

    users: pl.Series
    queries: pl.Series
    urls: pl.Series
    start: np.ndarray  # int64, one more than users
    query: np.ndarray  # int32 per event
    time: np.ndarray  # int64 epoch seconds per event, NO_TIME where the log has none
    click_event: np.ndarray  # int64: the event of each click, ascending
    click_url: np.ndarray  # int32: the url of each click
    people: PeopleKind = "real"

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        return (
            f"QueryLog({counted(len(self), 'query')} of {counted(len(self.users), 'user')}, {len(self.queries):,} "
            f"distinct, {counted(len(self.click_event), 'click')}, people: {self.people})"
        )

    @cached_property
    def user(self) -> np.ndarray:
        """The user of each event."""
        return np.repeat(np.arange(len(self.users), dtype=np.int32), np.diff(self.start))

    @cached_property
    def tokens(self) -> Tokens:
        """The terms of each distinct query."""
        return tokenize_column(self.queries)

    def frame(self) -> pl.DataFrame:
        """A row for each click, or for each event without one: user, query, time, click, as `read_log` takes them."""
        clicks = np.bincount(self.click_event, minlength=len(self))
        event = np.repeat(np.arange(len(self)), np.maximum(clicks, 1))
        url = np.full(len(event), -1)
        url[clicks[event] > 0] = self.click_url
        time = pl.Series(self.time[event]).replace(NO_TIME, None)
        return pl.DataFrame(
            {
                "user": self.users.gather(self.user[event]),
                "query": self.queries.gather(self.query[event]),
                "time": (time * 1_000).cast(pl.Datetime("ms")),
                "click": self.urls.gather(pl.Series(url).replace(-1, None)),
            }
        )

    @property
    def place(self) -> np.ndarray:
        """The place of each event among those of its user."""
        return np.arange(len(self)) - np.repeat(self.start[:-1], np.diff(self.start))

    def select(self, keep: np.ndarray) -> "QueryLog":
        """The log with only the events where `keep` is true. Users and queries keep their numbers."""
        kept = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
        clicks = keep[self.click_event]
        return replace(
            self,
            start=kept[self.start],
            query=self.query[keep],
            time=self.time[keep],
            click_event=kept[self.click_event[clicks]],
            click_url=self.click_url[clicks],
        )

    def for_users(self, chosen: np.ndarray) -> "QueryLog":
        """The log of these users only, in the order of the log; user numbers are made anew."""
        mask = np.zeros(len(self.users), dtype=bool)
        mask[chosen] = True
        some = self.select(mask[self.user])
        counts = np.diff(some.start)[mask]
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return replace(some, users=self.users.filter(pl.Series(mask)), start=start)

    def drawn(self, users: int, seed: int) -> "QueryLog":
        """The log of so many users drawn by the seed, as if nobody else had typed."""
        chosen = np.random.default_rng(seed).permutation(len(self.users))[:users]
        return self.for_users(np.sort(chosen)).compacted()

    def compacted(self) -> "QueryLog":
        """The same events without the queries and urls that no event of this log has.

        Numbers are given in the order of first use, so that not even their order tells of events that are gone.
        """
        asked, query = _by_first_use(self.query)
        clicked, url = _by_first_use(self.click_url)
        return replace(
            self, queries=self.queries.gather(asked), urls=self.urls.gather(clicked), query=query, click_url=url
        )

    def digest(self) -> str:
        """A sha-256 of the content, the same however the file was packed."""
        sha = hashlib.sha256()
        for strings in (self.users, self.queries, self.urls):
            sha.update(strings.str.len_bytes().to_numpy().tobytes())
            for low in range(0, len(strings), _STRINGS_AT_ONCE):  # millions of Python's strings are a gigabyte
                sha.update("".join(strings.slice(low, _STRINGS_AT_ONCE).to_list()).encode())
        for column in (self.start, self.query, self.time, self.click_event, self.click_url):
            sha.update(np.ascontiguousarray(column).data)
        return sha.hexdigest()


def counted(number: int, noun: str) -> str:
    """So many of something: 1 row, 2 rows, 1,000 queries."""
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def find_user(name: str, users: pl.Series) -> int:
    """The position of a user among those of a log. One who is not there is an error, never somebody else."""
    place = users.index_of(name)
    if place is None:
        near = get_close_matches(name, users.to_list(), 3, 0.5) or users.head(3).to_list()
        raise InputError(f"no user {name!r} among the {len(users)} of the log: there are for example {', '.join(near)}")
    return place


def make_log(
    users: pl.Series,
    queries: pl.Series,
    times: np.ndarray | None = None,
    urls: pl.Series | None = None,
    people: PeopleKind = "real",
) -> QueryLog:
    """A log from one string per row; an empty or missing url is no click. Rows may be in any order of users."""
    rows = len(users)
    time = np.full(rows, NO_TIME) if times is None else times
    url = pl.Series([""] * rows, dtype=pl.String) if urls is None else urls
    user_names, user_codes = factorize(users)
    query_names, query_codes = factorize(queries)
    url_names, url_codes = factorize(url)
    none = url_names.to_list().index("") if (url_names == "").any() else -1
    return log_from_codes(
        user_names,
        query_names,
        url_names,
        user_codes,
        query_codes,
        time,
        np.where(url_codes == none, -1, url_codes),
        people,
    )


def log_from_codes(
    users: pl.Series,
    queries: pl.Series,
    urls: pl.Series,
    user: np.ndarray,
    query: np.ndarray,
    time: np.ndarray,
    url: np.ndarray,
    people: PeopleKind = "real",
) -> QueryLog:
    """A log from coded rows (url -1: no click): sorted, and several clicks on one event made one event."""
    if not _sorted_by(user, time):
        order = np.lexsort((user,)) if (time == NO_TIME).any() else np.lexsort((time, user))
        user, query, time, url = user[order], query[order], time[order], url[order]
    clicked = np.flatnonzero(url >= 0)
    again = np.zeros(len(clicked), dtype=bool)
    again[1:] = _one_answer(clicked, user, query, time)
    if again.any():
        user, query, time = (np.delete(column, clicked[again]) for column in (user, query, time))
    return QueryLog(
        users,
        queries,
        urls,
        np.searchsorted(user, np.arange(len(users) + 1)).astype(np.int64),
        query.astype(np.int32, copy=False),
        time.astype(np.int64, copy=False),
        clicked - np.cumsum(again),
        url[clicked].astype(np.int32, copy=False),
        people,
    )


def _one_answer(clicked: np.ndarray, user: np.ndarray, query: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Whether a click is on the same answer as the one before it, in rows of clicks.

    AOL writes one row for every click on the same answer: same user, query and second, each with its url.
    """
    same = np.diff(clicked) == 1
    next_to = np.flatnonzero(same)
    row = clicked[1:].take(next_to)
    alike = time.take(row) != NO_TIME
    for column in (user, query, time):
        alike &= column.take(row) == column.take(row - 1)
    same[next_to] = alike
    return same


def _by_first_use(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct codes in the order in which they come, and each code as its place among them."""
    distinct, first, place = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return distinct[order], rank[place]


def _sorted_by(user: np.ndarray, time: np.ndarray) -> bool:
    in_time = (time[1:] >= time[:-1]) & (user[1:] == user[:-1])
    return bool(np.all(in_time | (user[1:] > user[:-1])))


def factorize(strings: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """The distinct strings in the order in which they come, and each string as its place among them."""
    names = strings.unique(maintain_order=True)
    codes = strings.replace_strict(names, np.arange(len(names), dtype=np.int32), return_dtype=pl.Int32)
    return names, codes.to_numpy()


@dataclass(frozen=True, eq=False)
class Sessions:
    """Session s holds the events start[s]:start[s + 1], all by user[s]. In the order of users, then of time."""

    start: np.ndarray  # int64, one more than sessions
    user: np.ndarray  # int32 per session

    def __len__(self) -> int:
        return len(self.user)


def cut_sessions(log: QueryLog, gap: int) -> Sessions:
    """A new session begins at a new user, and where more than `gap` minutes passed since the event before."""
    timeless = int((log.time == NO_TIME).sum())
    if timeless:
        raise InputError(
            f"{timeless} events of the log have no time, but sessions are cut by time: bring times or set gap=none"
        )
    new = np.ones(len(log), dtype=bool)
    new[1:] = (np.diff(log.user) != 0) | (np.diff(log.time) > 60 * gap)
    start = np.append(np.flatnonzero(new), len(log)).astype(np.int64)
    return Sessions(start, log.user[start[:-1]])


def sessions_as_users(log: QueryLog, sessions: Sessions) -> QueryLog:
    """The same events with each session in the place of a user, named by its number."""
    names = pl.Series(np.arange(len(sessions))).cast(pl.String)
    return replace(log, users=names, start=sessions.start)
