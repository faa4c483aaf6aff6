"""What does the server hold while it runs? One index, one log with its profiles, and the releases it has read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import load_log
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.search.index import Index, index_for
from shoal.search.vectors import profile_space
from shoal.webapp.core.people import People
from shoal.webapp.core.releases import LoadedRelease, Published, publish_beside
from shoal.webapp.core.settings import Settings

_KEPT_RELEASES = 8


@dataclass(frozen=True, eq=False)
class SearchService:
    """Read-only after its start, and shared by all threads of a process."""

    index: Index
    log: QueryLog
    knowledge: Knowledge
    profiles: Profiles
    people: People

    @cached_property
    def digest(self) -> str:
        """What tells the served log from every other."""
        return self.log.digest()

    @property
    def simulated(self) -> bool:
        return self.log.people == "simulated"

    @cached_property
    def _space(self) -> csr_array:
        """Terms of the original profiles x word forms of the corpus."""
        plain = np.zeros(len(self.profiles.terms), dtype=bool)
        return csr_array(profile_space(self.profiles.terms, plain, self.index.vectors, self.knowledge))

    def own_profile(self, users: np.ndarray) -> csr_array:
        """The original profiles of some users, in the space of the documents."""
        return csr_array(self.profiles.counts[users] @ self._space)

    @cached_property
    def published(self) -> Callable[[LoadedRelease], Published]:
        """A release made ready for searching; the last few are kept, since they never change."""
        return lru_cache(_KEPT_RELEASES)(lambda loaded: publish_beside(loaded, self.profiles, self.index.vectors))


def start_service(settings: Settings, progress: Progress = silent) -> SearchService:
    """Open what `shoal setup` made, or make it now."""
    index = index_for(settings.corpus_source, progress)
    log, _ = load_log(settings.log_source, progress=progress)
    knowledge = Knowledge()
    profiles = build_profiles(log, knowledge.words)
    people = People(profiles, settings.secret_key())
    return SearchService(index, log, knowledge, profiles, people)
