"""Which topics is a term about? Ranked category paths of terms, and users counted by category at each level."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.progress import Progress, silent

if TYPE_CHECKING:
    from shoal.corpus.profiles import Profiles

CategoryPath = tuple[str, ...]  # from the most general category down; the root that holds everything is no category


class TopicDirectory(Protocol):
    """What the Open Directory Project is to Erola et al. (2011), section 2.2: a term gives ranked categories."""

    def categories(self, term: str) -> list[CategoryPath]:
        """The categories of a term, the best first; none for a term that the directory does not know."""
        ...


@dataclass(frozen=True, eq=False)
class SenseDirectory:
    """WordNet (or a taxonomy file) as a directory: the ranked senses of a term, each with its path from the top."""

    senses: Callable[[str], np.ndarray]
    hypernym: np.ndarray  # the sense above each sense, -1 at the top
    names: Sequence[str]
    _paths: dict[int, CategoryPath] = field(default_factory=dict, repr=False)

    def categories(self, term: str) -> list[CategoryPath]:
        paths = (self._path(sense) for sense in self.senses(term).tolist())
        return [path for path in paths if path]

    def _path(self, sense: int) -> CategoryPath:
        """All below the root: like the ODP's Top, the root holds every term and so tells nobody apart."""
        if sense not in self._paths:
            upwards = []
            node = sense
            while self.hypernym[node] >= 0:
                upwards.append(self.names[node])
                node = int(self.hypernym[node])
            self._paths[sense] = tuple(reversed(upwards))
        return self._paths[sense]


@dataclass(frozen=True, eq=False)
class LevelCategories:
    """The categories that some terms have at one level: entry (t, c) is 1 where term t has category c."""

    names: list[CategoryPath]
    of_terms: csr_array  # terms x categories


def term_categories(
    terms: Sequence[str],
    directory: TopicDirectory,
    levels: int,
    categories: int,
    progress: Progress = silent,
) -> list[LevelCategories]:
    """For each level, the categories there of each term: those of its `categories` best paths, cut at the level.

    A path that ends above a level gives nothing there; two paths that are still one at a level count once.
    """
    number: list[dict[CategoryPath, int]] = [{} for _ in range(levels)]
    entries: list[tuple[list[int], list[int]]] = [([], []) for _ in range(levels)]
    for t, term in enumerate(terms):
        if t % 2000 == 0:
            progress(t, len(terms), "looking up topics")
        best = directory.categories(term)[:categories]
        for level, ((rows, columns), seen) in enumerate(zip(entries, number, strict=True), start=1):
            for category in dict.fromkeys(path[:level] for path in best if len(path) >= level):
                rows.append(t)
                columns.append(seen.setdefault(category, len(seen)))
    return [
        LevelCategories(list(seen), _ones(rows, columns, (len(terms), len(seen))))
        for (rows, columns), seen in zip(entries, number, strict=True)
    ]


def classification_matrices(
    profiles: "Profiles", directory: TopicDirectory, levels: int, categories: int, progress: Progress = silent
) -> list[csr_array]:
    """Algorithm 1 of Erola et al.: for each level l, how often each user's terms fall in each category, users x C_l."""
    found = term_categories(profiles.terms, directory, levels, categories, progress)
    return [csr_array(profiles.counts @ level.of_terms) for level in found]


def _ones(rows: list[int], columns: list[int], shape: tuple[int, int]) -> csr_array:
    return csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)
