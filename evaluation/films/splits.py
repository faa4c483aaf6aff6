"""What may a profile know, and what must it not? The ratings before, the ratings after, and the films held out."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from shoal.corpus.people.films import LIKED, Ratings

EARLY = 0.7  # of each person's ratings
Design = Literal["held out", "one moment", "loose"]
DESIGNS: dict[Design, str] = {
    "held out": "profiles from each person's first 70 % of ratings, on one half of the films; tested on later ratings, "
    "on the other half",
    "one moment": "the same, but one moment for all people parts before from after: no profile holds anything that is "
    "later than any test",
    "loose": "no film is held out: what others liked early may be what is tested. Not airtight, shown to see what that "
    "does",
}


@dataclass(frozen=True, eq=False)
class Split:
    """Masks over ratings, and over films (rows of `ratings.films`)."""

    early: np.ndarray  # ratings that profiles may be made of, by time
    profile_film: np.ndarray  # films that profiles may be made of
    test_film: np.ndarray  # films that are candidates, and whose later ratings are the truth

    def profile_ratings(self, ratings: Ratings) -> np.ndarray:
        return self.early & (ratings.rating >= LIKED) & self.profile_film[ratings.film]

    def liked_later(self, ratings: Ratings) -> np.ndarray:
        return ~self.early & (ratings.rating >= LIKED) & self.test_film[ratings.film]


def split(ratings: Ratings, design: Design, seed: int) -> Split:
    """The split of one seed, which draws the halves of the films."""
    rated = np.unique(ratings.film)
    early = before_one_moment(ratings) if design == "one moment" else first_of_each(ratings)
    halves = np.zeros((2, len(ratings.films)), dtype=bool)
    if design == "loose":
        halves[:, rated] = True
    else:
        shuffled = np.random.default_rng([seed, 3]).permutation(rated)
        for half, films in zip(halves, np.array_split(shuffled, 2), strict=True):
            half[films] = True
    return Split(early, halves[0], halves[1])


def first_of_each(ratings: Ratings) -> np.ndarray:
    """The first 70 % of each person's ratings, less those of the second in which the test begins.

    People rate whole pages of films within a second, so that an order within it means nothing.
    """
    start = np.searchsorted(ratings.user, np.arange(len(ratings.people) + 1))
    early = np.zeros(len(ratings), dtype=bool)
    for low, high in pairwise(start):
        if low < high:
            times = ratings.time[low:high]
            cut = times[min(len(times) - 1, int(np.ceil(EARLY * len(times))))]
            early[low:high] = times < cut
    return early


def before_one_moment(ratings: Ratings) -> np.ndarray:
    """The ratings before the median one."""
    return ratings.time < np.sort(ratings.time)[len(ratings) // 2]
