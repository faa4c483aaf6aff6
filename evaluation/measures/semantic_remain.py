"""Are a user's topics still there? The semantic remain percentage (Erola et al., Eq. 4), level by level."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.directory import LevelCategories, TopicDirectory, term_categories
from shoal.corpus.profiles import Profiles
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.occurrences import profiles_held
from shoal.evaluation.measures.release import MeasuredRelease

LEVELS = 5
CATEGORIES = 5
_ENTRIES = 4_000_000  # of the matrix of users and what they hold, at once


def srp(
    release: Release,
    assignment: Assignment,
    profiles: Profiles,
    knowledge: Knowledge,
    levels: int = LEVELS,
    categories: int = CATEGORIES,
) -> list[float | None]:
    """For each level, the mean over users of rho / chi.

    chi counts how often a user's terms fall in a category of the level, rho how many of those the published profile
    has, too: the sum over categories of the smaller count. Nothing in common, in groups of k, gives 1/k (Eq. 5). A user
    without a profile keeps 0; one whose terms have no category at a level is left out there, and a level at which
    nobody's have one has no share.
    """
    held = profiles_held(assignment, profiles, len(release))
    terms = sorted({*profiles.terms, *release.labels})
    own, published = _over(profiles.counts, profiles.terms, terms), _over(release.weights, release.labels, terms)
    topics = _Topics(tuple(sorted(knowledge.digests.items())), knowledge.directory)
    found = _categories(tuple(terms), topics, levels, categories)
    return [_remaining(csr_array(own @ level.of_terms), csr_array(published @ level.of_terms), held) for level in found]


@dataclass(frozen=True)
class _Topics:
    """A directory that is told from others by what its files hold: one may change under the same name."""

    digests: tuple[tuple[str, str], ...]
    directory: TopicDirectory = field(compare=False)


@lru_cache(maxsize=2)
def _categories(terms: tuple[str, ...], topics: _Topics, levels: int, categories: int) -> list[LevelCategories]:
    """Kept, because all releases of one log have the same terms."""
    return term_categories(terms, topics.directory, levels, categories)


def _remaining(own: csr_array, published: csr_array, held: csr_array) -> float | None:
    chi = np.asarray(own.sum(axis=1)).ravel()
    rho = np.zeros(len(chi))
    # A published profile that many share is wide, and would stand once for each of them: some users at a time.
    widest = max(int(np.diff(published.indptr).max(initial=1)), 1)
    for start in range(0, len(chi), block := max(_ENTRIES // widest, 1)):
        users = slice(start, start + block)
        rho[users] = own[users].minimum(csr_array(held[users] @ published)).sum(axis=1)
    some = chi > 0
    return float((rho[some] / chi[some]).mean()) if some.any() else None


def _over(matrix: csr_array, labels: list[str], terms: list[str]) -> csr_array:
    """The same rows over another order of columns."""
    column = {term: t for t, term in enumerate(terms)}
    place = np.array([column[label] for label in labels], dtype=np.int64)
    entries = (matrix.data.astype(float), place[matrix.indices], matrix.indptr)
    return csr_array(entries, shape=(matrix.shape[0], len(terms)))


def _levels(measured: MeasuredRelease) -> list[float | None]:
    measured.progress(1, 2, "comparing topics")
    return srp(measured.release, measured.assignment, measured.profiles, measured.knowledge)


def _at_level(measured: MeasuredRelease, level: int) -> float | None:
    """Topics are those of terms as they were typed: a generalized label has none."""
    if not len(measured.release) or measured.release.generalized.any():
        return None
    return measured.once(_levels)[level - 1]


semantic_remain = ReleaseMeasure(
    name="srp",
    title="Topics kept, level {level}",
    says="The share of a user's topics, at level {level} of the directory, that the published profile still has.",
    formula="sum over categories of the smaller of a user's count and the published profile's, divided by the user's; "
    "mean over users. Nothing in common, in groups of k, gives 1/k",
    heading="utility",
    better="higher",
    low=0,
    high=1,
    unit="share",
    paper="Erola et al. 2011, Eq. 4",
    at=tuple(range(1, LEVELS + 1)),
    parameter="level",
    compute=_at_level,
)
