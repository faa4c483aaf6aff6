"""Who searches how much, when, and for which of their interests? All simulated users, made block by block."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from shoal.corpus.people.simulated.interests import Interests, draw_anchors, draw_interests, draw_place
from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.people.simulated.query_kinds import Plan, draw_class, make_plan
from shoal.corpus.progress import Progress

FIRST_SECOND = 1_141_171_200  # 2006-03-01 00:00:00
DAYS = 92  # to 2006-05-31
LAST_SECOND = FIRST_SECOND + DAYS * 86_400 - 1

_SIGMA = 1.2  # of the lognormal number of queries: half of the users type fewer than 22, one in 1,000 over 850
_SESSION = 3.0  # queries in a session, on average
_QUIET = 2 * 3_600  # no session starts in the last two hours, so that it can end before the log does
_HOURS = np.array(
    [30, 20, 13, 9, 7, 8, 13, 22, 33, 42, 48, 51, 52, 53, 53, 54, 56, 58, 61, 65, 68, 66, 56, 43], dtype=float
)
_BLOCK = 10_000  # users; the log of a seed does not change with the number of cores or the memory


@dataclass(frozen=True)
class People:
    """The users, their sessions and their events, without the words yet. Events are sorted by user and time."""

    plan: Plan
    interests: Interests
    start: np.ndarray  # int64: the events of user u are start[u]:start[u + 1]
    session_place: np.ndarray  # which of the user's interests
    session_topic: np.ndarray
    session_anchor: np.ndarray  # where the session's queries start
    session: np.ndarray  # int32 per event
    time: np.ndarray  # int64 per event
    length_class: np.ndarray  # int8 per event
    own: np.ndarray  # per event: only its user types that query

    @property
    def user(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))


def draw_people(users: int, mean: float, passages: Passages, seed: int, progress: Progress) -> People:
    """All users. Each block has its own random numbers, so blocks could be made apart."""
    number = queries_per_user(users, mean, np.random.default_rng([seed, 0]))
    plan = make_plan(users, int(number.sum()))
    blocks = []
    for low in range(0, users, _BLOCK):
        progress(low, users, "simulated users")
        rng = np.random.default_rng([seed, 1, low // _BLOCK])
        blocks.append(_draw_block(number[low : low + _BLOCK], plan, passages, rng))
    progress(users, users, "simulated users")
    before = np.cumsum([0, *(len(columns["topic"]) for _, columns in blocks)])
    for (_, columns), earlier in zip(blocks, before, strict=False):
        columns["session"] += np.int32(earlier)
    whole = {name: np.concatenate([columns.pop(name) for _, columns in blocks]) for name in list(blocks[0][1])}
    return People(
        plan=plan,
        interests=_joined([interests for interests, _ in blocks]),
        start=np.concatenate([[0], np.cumsum(number)]).astype(np.int64),
        session_place=whole["place"],
        session_topic=whole["topic"],
        session_anchor=whole["anchor"],
        session=whole["session"],
        time=whole["time"],
        length_class=whole["length_class"],
        own=whole["own"],
    )


def _draw_block(
    number: np.ndarray, plan: Plan, passages: Passages, rng: np.random.Generator
) -> tuple[Interests, dict[str, np.ndarray]]:
    interests = draw_interests(len(number), passages, rng)
    when = sessions(number, rng)
    place = draw_place(interests, when.user, when.begin, rng)
    length_class = draw_class(plan, len(when.time), rng)
    return interests, {
        "place": place.astype(np.int8),
        "topic": interests.topic[when.user, place].astype(np.int16),
        "anchor": draw_anchors(interests, when.user, place, passages, rng).astype(np.int32),
        "session": when.session.astype(np.int32),
        "time": when.time,
        "length_class": length_class,
        "own": rng.random(len(when.time)) < plan.own[length_class],
    }


def _joined(blocks: list[Interests]) -> Interests:
    return Interests(
        np.concatenate([block.topic for block in blocks]).astype(np.int16),
        np.concatenate([block.favourites for block in blocks]),
        np.concatenate([block.early for block in blocks]).astype(np.float32),
        np.concatenate([block.late for block in blocks]).astype(np.float32),
    )


@dataclass(frozen=True)
class Sessions:
    """When a block of users searches. Sessions and events are sorted by user and then by time."""

    user: np.ndarray  # of each session
    begin: np.ndarray  # of each session, 0 at the first second of the log and 1 at its end
    session: np.ndarray  # of each event
    time: np.ndarray  # of each event, epoch seconds, strictly increasing within a user


def queries_per_user(users: int, mean: float, rng: np.random.Generator) -> np.ndarray:
    """How many queries each user types: lognormal quantiles in random order, so that small logs fit as large ones."""
    shape = np.exp(_SIGMA * ndtri((np.arange(users) + 0.5) / users))
    scale = mean / shape.mean()
    for _ in range(20):  # rounding up to one query lifts the mean: scale against it
        number = np.maximum(1, np.rint(scale * shape))
        scale *= mean / number.mean()
    return rng.permutation(number.astype(np.int64))


def sessions(number: np.ndarray, rng: np.random.Generator) -> Sessions:
    """The sessions of a block of users, given how many queries each one types."""
    user = np.repeat(np.arange(len(number)), number)
    opens = rng.random(len(user)) < 1 / _SESSION
    opens[np.cumsum(number) - number] = True
    session = np.cumsum(opens) - 1
    session_user = user[opens]
    start = _session_starts(session_user, len(number), rng)
    pause = np.where(opens, 0, 1 + np.exp(rng.normal(4.0, 1.0, len(user)))).astype(np.int64)
    elapsed = np.cumsum(pause)
    time = start[session] + elapsed - elapsed[opens][session]
    time = _strictly_increasing(time, user, np.repeat(np.cumsum(number), number))
    begin = (start - FIRST_SECOND) / (DAYS * 86_400)
    return Sessions(session_user, begin, session, time)


def _session_starts(user: np.ndarray, users: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted within each user: some day of the weeks in which the user is there, at some waking hour."""
    span = rng.uniform(0.4, 1.0, users)
    first = rng.random(users) * (1 - span)
    day = np.floor((first[user] + span[user] * rng.random(len(user))) * DAYS)
    hour = np.searchsorted(np.cumsum(_HOURS) / _HOURS.sum(), rng.random(len(user)), side="right")
    second = np.minimum(hour, 23) * 3_600 + rng.integers(0, 3_600, len(user))
    start = np.minimum(day * 86_400 + second, DAYS * 86_400 - _QUIET).astype(np.int64)
    return FIRST_SECOND + start[np.lexsort((start, user))]


def _strictly_increasing(time: np.ndarray, user: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Sessions that run into each other wait; no user types two queries in one second, or after the end."""
    row = np.arange(len(time))
    apart = user * (4 * DAYS * 86_400)  # lifts each user above those before, so one running maximum serves all
    time = np.maximum.accumulate(time + apart - row) - apart + row
    return np.minimum(time, LAST_SECOND - (after - 1 - row))
