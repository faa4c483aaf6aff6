"""In which set-up did a paper draw its figures? Logs made from many people as the papers made theirs from AOL's."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles, query_term_counts
from shoal.corpus.querylog import QueryLog, make_log

PEOPLE = 60_000  # from whom every set-up takes its users: 53,058 have a profile, 720 have 150 terms and more


@dataclass(frozen=True, eq=False)
class Draw:
    """One log of a set-up: what profiles are made from, and what the same users asked later, if that is needed."""

    log: QueryLog
    later: QueryLog | None = None


@dataclass(frozen=True)
class Setup:
    """How a paper's data were made, and how ours are. Every point is a mean over draws and seeds."""

    id: str
    title: str  # what tells its panel from others
    paper: str  # the paper's data
    ours: str  # what was made the same, and what not
    users: int
    make: Callable[["People", "Setup"], Iterator[Draw]]
    draws: int = 1
    seeds: tuple[int, ...] = (0,)
    full: bool = False  # run only where all sizes are asked for


class People:
    """Many users of one log, and the terms that each of them used."""

    def __init__(self, log: QueryLog, knowledge: Knowledge, told: str) -> None:
        self.log = log
        self.knowledge = knowledge
        self.told = told  # who they are
        self.profiles: Profiles = build_profiles(log, knowledge.words)

    def with_profile(self) -> np.ndarray:
        return np.flatnonzero(self.profiles.size > 0)

    def some(self, setup: Setup) -> Iterator[np.ndarray]:
        """Different users for each draw, in the order of the log."""
        users = self.with_profile()
        if len(users) < setup.users:
            raise InputError(f"{setup.title} needs {setup.users:,} users with a profile, there are {len(users):,}")
        for draw in range(min(setup.draws, len(users) // setup.users)):
            yield users[draw * setup.users : (draw + 1) * setup.users]


def as_typed(people: People, setup: Setup) -> Iterator[Draw]:
    """The logs of so many users as they are."""
    for users in people.some(setup):
        yield Draw(people.log.for_users(users).compacted())


def distinct_terms(people: People, setup: Setup) -> Iterator[Draw]:
    """Each user's queries merged into one transaction, duplicate items removed (the thesis, 6.1.1)."""
    for users in people.some(setup):
        rows = (people.profiles.of(user) for user in users.tolist())
        yield Draw(make_log(people.log.users.gather(users), pl.Series([" ".join(row) for row in rows])))


def first_terms(people: People, setup: Setup, terms: int = 150) -> Iterator[Draw]:
    """Users who asked something after their first 150 distinct terms; each of those terms has weight 1."""
    names: list[int] = []
    texts: list[str] = []
    later = np.zeros(len(people.log), dtype=bool)
    vocabulary, holds = query_term_counts(people.log, people.knowledge.words)
    for user in np.flatnonzero(people.profiles.size >= terms).tolist():
        if len(names) == setup.users:
            break
        events = np.arange(people.log.start[user], people.log.start[user + 1])
        typed = holds[people.log.query[events]]
        event = np.repeat(np.arange(len(events)), np.diff(typed.indptr))
        _, first = np.unique(typed.indices, return_index=True)
        place = np.sort(first)[terms - 1]
        if event[place] + 1 < len(events):
            later[events[event[place] + 1 :]] = True
            names.append(user)
            texts.append(" ".join(vocabulary[t] for t in typed.indices[np.sort(first)[:terms]]))
    users = people.log.users.gather(names)
    yield Draw(make_log(users, pl.Series(texts)), people.log.select(later).for_users(np.array(names)).compacted())


def density(log: QueryLog, knowledge: Knowledge) -> float:
    """N_total / (|D| * |L|): the share of the taxonomy's leaves that a transaction holds, in the mean (Table 6.1)."""
    profiles = build_profiles(log, knowledge.words)
    return float(profiles.size.sum()) / (len(profiles) * int(knowledge.taxonomy.leaves[0]))


def _thesis(users: int, draws: int, full: bool = False) -> Setup:
    return Setup(
        id=f"thesis-{users}",
        title=f"|D| = {users:,}",
        paper="the first |D| of AOL's users, all queries of a user merged and duplicate items removed; "
        "WordNet's nouns by their first sense",
        ours="made the same way",
        users=users,
        make=distinct_terms,
        draws=draws,
        full=full,
    )


_as_typed = partial(Setup, make=as_typed, draws=5)

SETUPS = (
    Setup(
        id="zhu-xiong",
        title="720 users with 150 terms",
        paper="720 of AOL's users with 150 terms each, every term with weight 1, over TIPSTER",
        ours="users who typed 150 distinct terms and something later: the first 150 with weight 1, tested by up to 5 "
        "of the later queries each",
        users=720,
        make=first_terms,
        seeds=(0, 1, 2, 3, 4),
    ),
    _thesis(1_000, 5),
    _thesis(10_000, 3),
    _thesis(53_058, 1, full=True),
    _as_typed(
        id="ssc",
        title="1,000 users",
        paper="vocabularies of AOL's log with WordNet; how many, and over which k, only its technical report tells",
        ours="all their terms as bags",
        users=1_000,
    ),
    _as_typed(
        id="affinity",
        title="2,000 users",
        paper="5,000 random queries, ten times, in the log of AOL's 650,000 users",
        ours="all their queries, of which fewer are repeated than in a larger log, so that less is released",
        users=2_000,
    ),
    _as_typed(
        id="erola",
        title="1,000 users",
        paper="1,000 random users of AOL with 55,666 lines, classified by the Open Directory",
        ours="classified by the senses of WordNet, since the Open Directory is no more",
        users=1_000,
    ),
)


def setups(full: bool = True) -> list[Setup]:
    """In the order of the papers; `full` are those of all sizes."""
    return [setup for setup in SETUPS if full or not setup.full]
