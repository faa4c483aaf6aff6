"""Are the ratings of real people joined to the right films?"""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from shoal.corpus.documents import load_documents
from shoal.corpus.logs import load_log, people_of
from shoal.corpus.logs.aol import read_log
from shoal.corpus.people.films import LIKED, Ratings, load_ratings, names_of, write_likes, year_of
from shoal.corpus.store.datasets import DATA_SETS


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return load_ratings()


def test_the_films_are_the_documents_in_their_order(ratings: Ratings) -> None:
    assert ratings.films.digest() == load_documents("films").digest()
    assert len(ratings.genres) == len(ratings.keywords) == len(ratings.films)


def test_the_join_finds_most_films_and_ratings(ratings: Ratings) -> None:
    assert len(np.unique(ratings.film)) == 1_564
    assert len(ratings) == 97_579
    assert len(ratings) + ratings.left_out == 100_000


def test_nearly_everybody_is_unique_on_four_columns(ratings: Ratings) -> None:
    people = ratings.people
    assert len(people) == DATA_SETS["films"].users
    seen = Counter(zip(people.age.tolist(), people.sex, people.occupation, people.zip_code, strict=True))
    assert sum(count == 1 for count in seen.values()) == 929


def test_the_columns_are_sorted_and_in_range(ratings: Ratings) -> None:
    order = np.lexsort((ratings.time, ratings.user))
    assert np.array_equal(order, np.arange(len(ratings)))
    assert (ratings.user.dtype, ratings.film.dtype) == (np.int32, np.int32)
    assert set(ratings.rating.tolist()) == {1, 2, 3, 4, 5}
    assert set(ratings.user.tolist()) == set(range(943))
    first, last = (datetime.fromtimestamp(int(t), UTC).year for t in (ratings.time.min(), ratings.time.max()))
    assert (first, last) == (1997, 1998)


def test_nobody_rates_a_film_twice(ratings: Ratings) -> None:
    pairs = ratings.user.astype(np.int64) * len(ratings.films) + ratings.film
    assert len(np.unique(pairs)) == len(ratings)


def test_a_known_rating_reached_its_film(ratings: Ratings) -> None:
    """The first line of the file: person 196 gave item 242, Kolya (1996), three stars."""
    person = ratings.people.ids.index("196")
    rows = np.flatnonzero((ratings.user == person) & (ratings.time == 881250949))
    found = [(ratings.films.titles[ratings.film[row]], int(ratings.rating[row])) for row in rows]
    assert ("Kolya", 3) in found


def test_genres_and_keywords_are_words(ratings: Ratings) -> None:
    story = ratings.films.titles.index("Toy Story")
    assert ratings.genres[story] == ("Animation", "Comedy", "Family")
    assert {"toy", "friendship", "toy comes to life"} <= set(ratings.keywords[story])
    assert any("based on children's book" in words for words in ratings.keywords)
    assert all(name and "\\x" not in name for names in ratings.keywords for name in names)


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Postino, Il (The Postman)", ["ilpostino", "thepostman"]),
        ("Usual Suspects, The", ["theusualsuspects"]),
        ("Léon", ["leon"]),
        ("Wallace & Gromit", ["wallaceandgromit"]),
        ("!!!", []),
    ],
)
def test_a_title_gives_its_names(title: str, names: list[str]) -> None:
    assert names_of(title) == names


@pytest.mark.parametrize(("date", "year"), [("1995-10-30", 1995), ("1995", 1995), ("", None), ("V", None)])
def test_a_date_gives_its_year(date: str, year: int | None) -> None:
    assert year_of(date) == year


def test_what_people_liked_is_a_log_of_people_who_are_public(ratings: Ratings, tmp_path: Path) -> None:
    few = {name: getattr(ratings, name)[:300] for name in ("user", "film", "rating", "time")}
    some = replace(ratings, **few)
    write_likes(some, tmp_path / "log.tsv")
    log, rejected = read_log(tmp_path / "log.tsv")
    liked = some.rating >= LIKED
    assert (log.people, len(rejected)) == ("public", 0)
    assert len(log.users) == len(np.unique(some.user[liked]))
    assert len(log.click_event) == liked.sum()
    assert len(log) == sum(1 + len(some.keywords[film]) for film in some.film[liked])


def test_the_name_films_means_the_log_of_its_people(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\tpeople: public\n7\tnoir\t1998-01-01 10:00:00\t\t\n")
    monkeypatch.setattr("shoal.corpus.people.films.films_log", lambda progress: path)
    (tmp_path / "films").mkdir()  # a folder of that name is no log
    monkeypatch.chdir(tmp_path)
    assert people_of("films") == "public"
    assert len(load_log("films")[0]) == 1
