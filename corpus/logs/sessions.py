"""Where does one session end and the next begin? A log cut by a gap in time (Liu & Wang 2010, Definition 1)."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.querylog import NO_TIME, QueryLog


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
