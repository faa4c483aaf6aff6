"""Who searches when, and for which of their interests? All users, made block by block."""

from dataclasses import dataclass

import numpy as np

from shoal.corpus.people.simulated.activity import queries_per_user, sessions
from shoal.corpus.people.simulated.interests import Interests, draw_anchors, draw_interests, draw_place
from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.people.simulated.query_kinds import Plan, draw_class, make_plan
from shoal.corpus.progress import Progress

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
