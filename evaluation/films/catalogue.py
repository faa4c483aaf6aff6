"""Which films can be found, and how? The films that anybody rated, in an order that tells nothing of their ratings."""

import json
from pathlib import Path

import numpy as np

from shoal.corpus.people.films import Ratings
from shoal.corpus.store.fetch import data_set
from shoal.corpus.store.folders import cache_folder
from shoal.evaluation.run.results import write_whole

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


def liked_texts(ratings: Ratings, film: int) -> list[str]:
    """What liking a film says of a person, as if it had been typed: its title and each of its keywords."""
    return [ratings.films.titles[film], *ratings.keywords[film]]
