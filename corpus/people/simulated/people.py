"""Who searches how much, when, for which interests that drift, popular or own, new or again? Simulated, in blocks."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from shoal.corpus.columns import starts
from shoal.corpus.people.calibration import AOL_DISTINCT, AOL_REPEATED, AOL_USERS, aol_one_user
from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.progress import Progress

CLASSES = len(AOL_DISTINCT)  # one, two, three, four, five and more words
# Distinct queries among all: Table 1 for the whole log. A small log shares fewer queries, so it has more.
_DISTINCT_PER_QUERY = {1_000: 0.44, AOL_USERS: float(AOL_DISTINCT.sum() / AOL_REPEATED.sum())}
_MOST_REPEATS = 1.6  # how often a user types an own query, at most on average
_BY_ONE = 1 / 3  # of the repetitions of a query are due to one user, the others to many
# Words in a query of five or more, so that all queries hold Table 2's words on average.
_LONG = np.array([0.45, 0.25, 0.13, 0.08, 0.05, 0.04])

_LAST = 0.6  # of the repetitions are of the user's last query; the others of any earlier one


@dataclass(frozen=True)
class Plan:
    """What a log of this many users and queries must hold, per class of length."""

    share: np.ndarray  # of all queries
    distinct: np.ndarray  # how many distinct queries
    shared: np.ndarray  # how many of those at least two users type
    own: np.ndarray  # the share of queries that only their user types, the others being popular


def make_plan(users: int, queries: int) -> Plan:
    """The numbers to reach. The rest of the simulation draws freely, and is held to these."""
    share = AOL_REPEATED / AOL_REPEATED.sum()
    rate = np.interp(np.log(users), np.log(list(_DISTINCT_PER_QUERY)), list(_DISTINCT_PER_QUERY.values()))
    distinct = rate * queries * AOL_DISTINCT / AOL_DISTINCT.sum()
    one_user = aol_one_user(users)
    typed = share * queries / distinct  # how often a distinct query is typed
    repeats = np.minimum(_MOST_REPEATS, 1 + (typed - 1) * _BY_ONE)
    return Plan(share, distinct, (1 - one_user) * distinct, repeats * one_user / typed)


def draw_class(plan: Plan, size: int, rng: np.random.Generator) -> np.ndarray:
    """The class of length of each query."""
    return np.searchsorted(np.cumsum(plan.share)[:-1], rng.random(size), side="right").astype(np.int8)


def draw_words(length_class: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """How many words each query of a class holds."""
    if length_class < CLASSES - 1:
        return np.full(size, length_class + 1)
    return CLASSES + np.searchsorted(np.cumsum(_LONG)[:-1], rng.random(size), side="right")


def new_at_rate(user: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Which rows are new queries: a user's first, and others at this rate."""
    return starts(user) | (rng.random(len(user)) < rate)


def rate_for(user: np.ndarray, wanted: float) -> float:
    """The rate at which this many rows are new."""
    first = int(starts(user).sum())
    others = len(user) - first
    return float(np.clip((wanted - first) / others, 0, 1)) if others else 0.0


def repeated(user: np.ndarray, new: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each row, which of the new rows (counted in order) it types or repeats; always one of the same user."""
    count = np.cumsum(new)
    first = starts(user)
    before = (count[first] - 1)[np.cumsum(first) - 1] if len(user) else count
    any_earlier = before + np.floor(rng.random(len(user)) * (count - before)).astype(np.int64)
    return np.where(new | (rng.random(len(user)) < _LAST), count - 1, any_earlier)


MOST_INTERESTS = 4
_HOW_MANY = np.array([0.25, 0.35, 0.25, 0.15])  # users with one, two, three and four interests
_ZIPF = 0.7  # of the popularity of topics
_FAVOURITES = 6
_OWN_TASTE = 0.5  # how often a query comes from a favourite document


@dataclass(frozen=True)
class Interests:
    """The interests of a block of users: topic -1 where a user has fewer than four."""

    topic: np.ndarray  # users x 4
    favourites: np.ndarray  # users x 4 x favourites: documents
    early: np.ndarray  # users x 4: weight at the first day of the log
    late: np.ndarray  # users x 4: weight at its last day


def popularity(passages: Passages) -> np.ndarray:
    """How likely each topic is as an interest. A topic without a word to type is nobody's."""
    weight = (1.0 + np.arange(passages.topics)) ** -_ZIPF
    weight[passages.weight[passages.high[:-1]] <= passages.weight[passages.low[:-1]]] = 0
    return weight / weight.sum()


def draw_interests(users: int, passages: Passages, rng: np.random.Generator) -> Interests:
    """Interests of a block of users, by popularity, without repetition."""
    likely = popularity(passages)
    places = min(MOST_INTERESTS, int((likely > 0).sum()))
    race = rng.exponential(size=(users, len(likely))) / np.maximum(likely, 1e-300)
    topic = np.full((users, MOST_INTERESTS), -1)
    topic[:, :places] = np.argsort(race, axis=1)[:, :places]
    number = 1 + np.searchsorted(np.cumsum(_HOW_MANY)[:-1], rng.random(users), side="right")
    topic[np.arange(MOST_INTERESTS) >= number[:, None]] = -1
    has = topic >= 0
    early, late = (np.where(has, rng.gamma(0.8, size=topic.shape) + 0.05, 0) for _ in range(2))
    return Interests(topic, _favourites(topic, passages, rng), early, late)


def draw_place(interests: Interests, user: np.ndarray, moment: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which interest a session at this moment (0 to 1) is about: the weights drift from early to late."""
    weight = interests.early[user] * (1 - moment)[:, None] + interests.late[user] * moment[:, None]
    heap = np.cumsum(weight, axis=1)
    return (heap <= (rng.random(len(user)) * heap[:, -1])[:, None]).sum(axis=1).clip(0, MOST_INTERESTS - 1)


def draw_anchors(
    interests: Interests, user: np.ndarray, place: np.ndarray, passages: Passages, rng: np.random.Generator
) -> np.ndarray:
    """A position each, where a query of this interest starts: in a favourite document, or anywhere in the topic."""
    topic = interests.topic[user, place]
    favourite = interests.favourites[user, place, rng.integers(0, _FAVOURITES, len(user))]
    own = rng.random(len(user)) < _OWN_TASTE
    low = np.where(own, passages.document_low[favourite], passages.low[topic])
    high = np.where(own, passages.document_high[favourite], passages.high[topic])
    return passages.draw(low, high, rng)


def _favourites(topic: np.ndarray, passages: Passages, rng: np.random.Generator) -> np.ndarray:
    shape = (*topic.shape, _FAVOURITES)
    wide = np.repeat(np.where(topic < 0, topic.max(axis=1, keepdims=True), topic).ravel(), _FAVOURITES)
    position = passages.draw(passages.low[wide], passages.high[wide], rng)
    return passages.document[position].reshape(shape)


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
