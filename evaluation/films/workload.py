"""What is asked, of which films, and what would the person like? The catalogue, and the workload of one split.

What may a profile know, and what must it not? The ratings before, the ratings after, and the films held out.
"""

import hashlib
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.people.films import LIKED, Ratings, liked_texts
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog, make_log
from shoal.corpus.store.fetch import data_set
from shoal.corpus.store.folders import cache_folder
from shoal.evaluation.protocol.precision import TestQueries
from shoal.evaluation.protocol.truth import Truth
from shoal.evaluation.protocol.workload import Workload
from shoal.evaluation.run.cache import code_digest
from shoal.evaluation.run.results import write_whole
from shoal.search.index import Index
from shoal.search.personal import CANDIDATES

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


FEWEST_FILMS = 20  # candidates of a query that counts
FEWEST_HOLDING = 10  # rated films that hold a keyword, for it to be a query
PER_PERSON = 5
# Drawn once: equal scores keep the order of the corpus, and the data base's own order follows how well known films are.
_ORDER_SEED = 20100322


def catalogue_order(ratings: Ratings) -> np.ndarray:
    """The rated films (rows of `ratings.films`) as they stand in the corpus."""
    return np.random.default_rng(_ORDER_SEED).permutation(np.unique(ratings.film))


def catalogue_file(ratings: Ratings) -> Path:
    """The corpus of the rated films, kept in the cache: title, and overview, keywords and genres as text."""
    path = cache_folder() / "films" / f"catalogue-{data_set('films').version}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(_line(ratings, int(film)) for film in catalogue_order(ratings))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
    return path


def _line(ratings: Ratings, film: int) -> str:
    films = ratings.films
    text = " . ".join([films.texts[film], *ratings.keywords[film], *ratings.genres[film]])
    return json.dumps({"id": films.ids[film], "title": films.titles[film], "text": text}, ensure_ascii=False) + "\n"


@dataclass(frozen=True, eq=False)
class Asked:
    """A person's test query: its candidates, which of them the person liked later."""

    person: int
    query: int
    documents: np.ndarray
    relevant: np.ndarray


def possible_queries(ratings: Ratings) -> list[str]:
    """All genres, and the keywords that enough rated films hold."""
    rated = np.unique(ratings.film)
    genres = {genre for film in rated for genre in ratings.genres[film]}
    keywords = [keyword for film in rated for keyword in set(ratings.keywords[film])]
    names, counts = np.unique(np.array(keywords), return_counts=True)
    return sorted(genres | {str(name) for name, count in zip(names, counts, strict=True) if count >= FEWEST_HOLDING})


def profile_log(ratings: Ratings, parts: Split) -> QueryLog:
    """What people liked early, as a log: the title and the keywords of each film, at the time of its rating."""
    rows = np.flatnonzero(parts.profile_ratings(ratings))
    texts = {film: liked_texts(ratings, film) for film in np.unique(ratings.film[rows]).tolist()}
    typed = [texts[film] for film in ratings.film[rows].tolist()]
    many = [len(queries) for queries in typed]
    people = np.repeat(ratings.user[rows], many)
    return make_log(
        pl.Series([ratings.people.ids[person] for person in people], dtype=pl.String),
        pl.Series([query for queries in typed for query in queries], dtype=pl.String),
        np.repeat(ratings.time[rows], many),
        people="public",
    )


def make_workload(
    ratings: Ratings, index: Index, known: Knowledge, design: Design, seed: int, progress: Progress = silent
) -> Workload:
    """All that the methods are measured with: no test film and no later rating is in its `train`."""
    parts = split(ratings, design, seed)
    train = profile_log(ratings, parts)
    row_of = {name: row for row, name in enumerate(train.users.to_list())}
    names = possible_queries(ratings)
    asked = [
        one for one in _asked(ratings, parts, index, names, seed, progress) if ratings.people.ids[one.person] in row_of
    ]
    if not asked:
        raise InputError("no person liked a film that a query finds: nothing can be measured on these ratings")
    user = np.array([row_of[ratings.people.ids[one.person]] for one in asked], dtype=np.int32)
    documents = np.stack([one.documents for one in asked])
    relevant = np.stack([one.relevant for one in asked])
    queries = TestQueries(user, np.array([one.query for one in asked], dtype=np.int32), documents, 0, pl.Series(names))
    truth = Truth("", np.arange(len(asked)), user, relevant, relevant.sum(axis=1))
    size = build_profiles(train, known.words).size[truth.users]
    no_test = make_log(pl.Series([], dtype=pl.String), pl.Series([], dtype=pl.String))
    digest = hashlib.sha256(f"{design}|{seed}|{train.digest()}|{_code()}".encode())
    for array in (user, documents, relevant):
        digest.update(np.ascontiguousarray(array).data)
    return Workload(train, no_test, queries, (truth,), size, 0, digest.hexdigest())


def _code() -> str:
    return code_digest("corpus", "search", "anonymizer", "evaluation")


def _asked(
    ratings: Ratings, parts: Split, index: Index, names: list[str], seed: int, progress: Progress
) -> list[Asked]:
    """Up to five queries of each person, drawn from those that find a film which the person liked later."""
    found = _found(index, names, progress)
    place = np.full(len(ratings.films), -1)
    order = catalogue_order(ratings)
    place[order] = np.arange(len(order))
    test, later = parts.test_film[order], parts.liked_later(ratings)
    rng = np.random.default_rng([seed, 4])
    chosen: list[Asked] = []
    for person in range(len(ratings.people)):
        mine = ratings.user == person
        liked = np.zeros(len(order), dtype=bool)
        liked[place[ratings.film[mine & later]]] = True
        open_to = test.copy()
        open_to[place[ratings.film[mine & parts.early]]] = False  # what was seen is no find
        useful = [q for q, documents in enumerate(found) if _counts(documents[open_to[documents]], liked)]
        for q in sorted(rng.permutation(useful)[:PER_PERSON].tolist()) if liked.any() else []:
            chosen.append(_one(person, q, found[q][open_to[found[q]]][:CANDIDATES], liked))
    return chosen


def _found(index: Index, names: list[str], progress: Progress) -> list[np.ndarray]:
    """All films that each query finds, the engine's best first."""
    found = []
    for done, name in enumerate(names):
        progress(done, len(names), "finding candidates")
        found.append(index.engine.candidates(name, len(index)).documents)
    return found


def _counts(documents: np.ndarray, liked: np.ndarray) -> bool:
    return len(documents) >= FEWEST_FILMS and bool(liked[documents[:CANDIDATES]].any())


def _one(person: int, query: int, documents: np.ndarray, liked: np.ndarray) -> Asked:
    padded = np.full(CANDIDATES, -1, dtype=np.int64)
    padded[: len(documents)] = documents
    return Asked(person, query, padded, np.where(padded >= 0, liked[padded], False))
