"""Who liked which film, and when? The ratings of 943 real people, joined to the `films` documents, also as a log."""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from shoal.corpus.documents.document import Documents, in_columns
from shoal.corpus.documents.readers import FilmRecord, read_film_records, read_keywords
from shoal.corpus.logs.aol import heading
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.fetch import bring, data_set
from shoal.corpus.store.folders import cache_folder

LIKED = 4  # of 5
_VERSION = 1  # of what films_log leaves in the cache
_PARENTHESES = re.compile(r"\(([^)]*)\)")
_LAST_ARTICLE = re.compile(r"^(.*), (the|a|an|les|la|le|l'|il|el|der|die|das)$", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True)
class People:
    """Row u is the person that `Ratings.user` calls u. These columns alone make most of them unique."""

    ids: list[str]
    age: np.ndarray  # int16
    sex: list[str]
    occupation: list[str]
    zip_code: list[str]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Ratings:
    """One row per person and film, sorted by person, then time. Ratings of films not found are left out."""

    films: Documents
    people: People
    user: np.ndarray  # int32, row of `people`
    film: np.ndarray  # int32, row of `films`
    rating: np.ndarray  # int8, 1 to 5
    time: np.ndarray  # int64, seconds since 1970
    genres: list[tuple[str, ...]]  # per film
    keywords: list[tuple[str, ...]]  # per film
    left_out: int  # ratings whose film has no document, or that the person gave again later

    def __len__(self) -> int:
        return len(self.user)


def load_ratings(progress: Progress = silent) -> Ratings:
    """The MovieLens 100k ratings of the films that title and year find among the documents."""
    folder = bring("films", progress)
    records = list(read_film_records(folder, progress))
    keywords = read_keywords(folder, progress)
    people = _people(folder / "ml-100k.user")
    events = _table(folder / "ml-100k.inter")
    kept = _events(events, people.ids, join(folder / "ml-100k.item", records))
    return Ratings(
        films=in_columns("films", (record.document for record in records)),
        people=people,
        user=kept["user"].to_numpy(),
        film=kept["film"].to_numpy(),
        rating=kept["rating"].to_numpy(),
        time=kept["time"].to_numpy(),
        genres=[record.genres for record in records],
        keywords=[keywords.get(record.document.id, ()) for record in records],
        left_out=events.height - kept.height,
    )


def join(items: Path, records: list[FilmRecord]) -> dict[str, int]:
    """Rated item to film: a name in common and the same year, else the year before or after.

    Release years differ by one between countries. Of several such films the one with most votes is meant.
    """
    films: dict[tuple[str, int], int] = {}
    for film in sorted(range(len(records)), key=lambda film: -records[film].votes):
        for key in _keys(records[film]):
            films.setdefault(key, film)
    table = _table(items)
    rated = zip(table["item_id"], table["movie_title"], table["release_year"], strict=True)
    found = ((item, _film(title, year_of(year), films)) for item, title, year in rated)
    return {item: film for item, film in found if film is not None}


def _keys(record: FilmRecord) -> Iterator[tuple[str, int]]:
    year = year_of(record.document.date)
    if year is not None:
        for name in names_of(record.document.title) + names_of(record.original_title):
            yield name, year


def _film(title: str, year: int | None, films: dict[tuple[str, int], int]) -> int | None:
    if year is None:
        return None
    for near in (year, year - 1, year + 1):
        for name in names_of(title):
            if (name, near) in films:
                return films[name, near]
    return None


def names_of(title: str) -> list[str]:
    """`Postino, Il (The Postman)` is called `ilpostino` and `thepostman`."""
    names = [_PARENTHESES.sub(" ", title), *_PARENTHESES.findall(title)]
    return list(dict.fromkeys(filter(None, map(_plain, names))))


def _plain(name: str) -> str:
    """Only letters and digits, without case and accents, the article in front."""
    name = _LAST_ARTICLE.sub(r"\2 \1", " ".join(name.split()))
    folded = unicodedata.normalize("NFKD", name.casefold().replace("&", "and"))
    return "".join(letter for letter in folded if letter.isalnum())


def year_of(date: str) -> int | None:
    """The year a date begins with, if it has one."""
    found = _YEAR.match(date)
    return None if found is None else int(found[0])


def _table(path: Path) -> pl.DataFrame:
    """A tab-separated file whose header says `name:type`; every column is read as text."""
    table = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    return table.rename({name: name.split(":")[0] for name in table.columns})


def _people(path: Path) -> People:
    table = _table(path)
    return People(
        ids=table["user_id"].to_list(),
        age=table["age"].cast(pl.Int16).to_numpy(),
        sex=table["gender"].to_list(),
        occupation=table["occupation"].to_list(),
        zip_code=table["zip_code"].to_list(),
    )


def _events(events: pl.DataFrame, people: list[str], film_of: dict[str, int]) -> pl.DataFrame:
    """The ratings as numbers. A film that was rated twice, under two item ids, counts as it was rated last."""
    row_of = {person: row for row, person in enumerate(people)}
    columns = events.select(
        user=pl.col("user_id").replace_strict(row_of, return_dtype=pl.Int32),
        film=pl.col("item_id").replace_strict(film_of, default=None, return_dtype=pl.Int32),
        rating=pl.col("rating").cast(pl.Int8),
        time=pl.col("timestamp").cast(pl.Int64),
    )
    ordered = columns.drop_nulls("film").sort("user", "time", "film", "rating")
    return ordered.unique(["user", "film"], keep="last", maintain_order=True)


def liked_texts(ratings: Ratings, film: int) -> list[str]:
    """What liking a film says of a person, as if it had been typed: its title and each of its keywords."""
    return [ratings.films.titles[film], *ratings.keywords[film]]


def films_log(progress: Progress = silent) -> Path:
    """The log of the people who rated films, which is public: made once, then kept."""
    path = cache_folder() / "logs" / f"people-of-films-{data_set('films').version}-{_VERSION}.tsv"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_likes(load_ratings(progress), path)
    return path


def write_likes(ratings: Ratings, path: Path) -> None:
    """What people liked, in AOL's format: a film's title, which is clicked, and its keywords, when it was rated."""
    liked = ratings.rating >= LIKED
    rows = zip(ratings.user[liked].tolist(), ratings.film[liked].tolist(), ratings.time[liked].tolist(), strict=True)
    typed = {film: [" ".join(text.split()) for text in liked_texts(ratings, film)] for film in np.unique(ratings.film)}
    aside = path.with_name(f".{path.name}-{os.getpid()}")
    with aside.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{heading('public')}\n")
        for user, film, time in rows:
            moment = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")
            clicks = [f"1\t{ratings.films.urls[film]}", *["\t"] * (len(typed[film]) - 1)]
            for text, click in zip(typed[film], clicks, strict=True):
                file.write(f"{ratings.people.ids[user]}\t{text}\t{moment}\t{click}\n")
    os.replace(aside, path)
