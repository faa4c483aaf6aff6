"""What does the server hold while it runs? One index, the releases it has read, and the people it may show."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from secrets import SystemRandom

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.errors import NotFound
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import PeopleKind, QueryLog
from shoal.corpus.searches import Chooser, Device
from shoal.search.index import Index, index_for
from shoal.search.vectors import profile_space
from shoal.webapp.core.logs import ServedLog
from shoal.webapp.core.people import People, Person
from shoal.webapp.core.releases import LoadedRelease, Published, publish_beside
from shoal.webapp.core.settings import Settings

_KEPT_RELEASES = 8
_KEPT_DEVICES = 256


@dataclass(frozen=True, eq=False)
class Crowd:
    """The people of a log whom everybody may see: simulated ones, or public by their licence."""

    log: QueryLog
    profiles: Profiles
    people: People


@dataclass(frozen=True, eq=False)
class SearchService:
    """Read-only after its start, and shared by all threads of a process.

    Where the people are real, the process holds neither their log nor who has which pseudonym: whatever would need
    them is not there, for anybody.
    """

    index: Index
    knowledge: Knowledge
    digest: str  # what tells the served log from every other
    people_kind: PeopleKind
    crowd: Crowd | None

    @property
    def simulated(self) -> bool:
        return self.people_kind == "simulated"

    @property
    def log(self) -> QueryLog:
        return self._shown().log

    @property
    def profiles(self) -> Profiles:
        return self._shown().profiles

    @property
    def people(self) -> People:
        return self._shown().people

    def _shown(self) -> Crowd:
        if self.crowd is None:
            raise NotFound("the people of this log are real, and nobody can be looked at: search without a person")
        return self.crowd

    @property
    def featured(self) -> tuple[Person, ...]:
        """Some people to begin with; nobody where they are real."""
        return self.crowd.people.featured if self.crowd is not None else ()

    @cached_property
    def _space(self) -> csr_array:
        """Terms of the original profiles x word forms of the corpus."""
        plain = np.zeros(len(self.profiles.terms), dtype=bool)
        return csr_array(profile_space(self.profiles.terms, plain, self.index.vectors, self.knowledge))

    def own_profile(self, users: np.ndarray) -> csr_array:
        """The original profiles of some users, in the space of the documents."""
        return csr_array(self.profiles.counts[users] @ self._space)

    @cached_property
    def own_row(self) -> Callable[[int], csr_array]:
        """The same of one user; those of the last few who were looked at are kept."""
        return lru_cache(_KEPT_DEVICES)(lambda user: self.own_profile(np.array([user])))

    @cached_property
    def everyone(self) -> csr_array:
        """What everybody's profiles have in common, in the space of the documents: the sum."""
        return csr_array(csr_array(self.profiles.counts.sum(axis=0).reshape(1, -1)) @ self._space)

    @cached_property
    def published(self) -> Callable[[LoadedRelease], Published]:
        """A release made ready for searching; the last few are kept, since they never change."""
        profiles = self.crowd.profiles if self.crowd is not None else None
        return lru_cache(_KEPT_RELEASES)(lambda loaded: publish_beside(loaded, profiles, self.index.vectors))

    def chooser(self, published: Published, profiles: np.ndarray, user: int | None = None) -> Chooser:
        """What re-ranks a search of a user of the log, or of somebody unknown with these published profiles."""
        if user is not None:
            device = self._devices(published, user)
        else:
            nobody = csr_array((1, self.index.vectors.width))
            device = Device(nobody, published.in_corpus(profiles), SystemRandom())
        return lambda search: published.method.choose(search, device, published.release)

    @cached_property
    def _devices(self) -> Callable[[Published, int], Device]:
        """The device of a user that everybody may see, whose part the server plays. It remembers what it said."""
        return lru_cache(_KEPT_DEVICES)(
            lambda published, user: Device(
                self.own_row(user), published.in_corpus(published.profiles_of(user)), SystemRandom()
            )
        )


def start_service(settings: Settings, served: ServedLog, progress: Progress = silent) -> SearchService:
    """Open what `shoal setup` made, or make it now."""
    index, knowledge = index_for(settings.corpus_source, progress), Knowledge()
    crowd = None
    if served.people != "real":
        log = served.read()
        profiles = build_profiles(log, knowledge.words)
        crowd = Crowd(log, profiles, People(profiles, settings.secret_key()))
    return SearchService(index, knowledge, served.digest, served.people, crowd)
