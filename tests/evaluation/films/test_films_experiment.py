"""Is the experiment on films airtight, and does it say what it found?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.cli import main
from shoal.corpus.documents.document import Document, in_columns
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.people.films import People, Ratings
from shoal.evaluation.experiment.settings import parse_methods
from shoal.evaluation.films.experiment import FilmResults, read_films, run_films, write_films
from shoal.evaluation.films.film_report import film_blocks, headline
from shoal.evaluation.films.workload import (
    Design,
    catalogue_file,
    catalogue_order,
    first_of_each,
    make_workload,
    possible_queries,
    profile_log,
    split,
)
from shoal.search.index import index_for

FILMS, PEOPLE, RATED = 120, 24, 40
TASTES = (["horse", "sheriff", "desert", "saloon"], ["wedding", "neighbour", "joke", "clown"])
AIRTIGHT: list[Design] = ["held out", "one moment"]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    """People who like even films or odd ones, all of one genre. Film i has a keyword of its own, only-i."""
    rng = np.random.default_rng(5)
    about = [rng.choice(TASTES[i % 2], 3, replace=False).tolist() for i in range(FILMS)]
    documents = [Document(f"f{i}", f"The {a} {i}", f"a film about a {b}") for i, (a, b, _) in enumerate(about)]
    film = np.concatenate([rng.permutation(FILMS)[:RATED] for _ in range(PEOPLE)]).astype(np.int32)
    user = np.repeat(np.arange(PEOPLE, dtype=np.int32), RATED)
    liked = (film % 2 == user % 2) == (rng.random(len(film)) < 0.9)
    # Three ratings in the same second, as people rate a page at once.
    time = (user % 5) * 7 + np.tile(np.arange(RATED) // 3, PEOPLE)
    same = [["x"] * PEOPLE] * 3
    return Ratings(
        films=in_columns("films", documents),
        people=People([f"p{i}" for i in range(PEOPLE)], np.full(PEOPLE, 30), *same),
        user=user,
        film=film,
        rating=np.where(liked, 5, 2).astype(np.int8),
        time=time.astype(np.int64),
        genres=[("Drama",)] * FILMS,
        keywords=[(f"only-{i}", *words[1:]) for i, words in enumerate(about)],
        left_out=0,
    )


def films_named(ratings: Ratings, design: Design, seed: int) -> set[int]:
    """The films that the profiles of a split are made of, by their own keywords."""
    typed = profile_log(ratings, split(ratings, design, seed)).queries.to_list()
    return {int(query.removeprefix("only-")) for query in typed if query.startswith("only-")}


@pytest.mark.parametrize("design", AIRTIGHT)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_profile_is_made_of_a_film_that_is_tested(ratings: Ratings, design: Design, seed: int) -> None:
    tested = set(np.flatnonzero(split(ratings, design, seed).test_film).tolist())
    assert len(tested) == FILMS // 2
    assert films_named(ratings, design, seed)
    assert not films_named(ratings, design, seed) & tested


def test_the_loose_design_is_caught_by_the_same_check(ratings: Ratings) -> None:
    tested = set(np.flatnonzero(split(ratings, "loose", 0).test_film).tolist())
    assert films_named(ratings, "loose", 0) & tested


def test_every_profile_ends_before_its_owners_test_begins(ratings: Ratings) -> None:
    early = first_of_each(ratings)
    for person in range(PEOPLE):
        mine = ratings.user == person
        assert ratings.time[mine & early].max() < ratings.time[mine & ~early].min()
        assert 0.6 <= early[mine].mean() <= 0.7


def test_with_one_moment_for_all_no_profile_knows_anything_later_than_any_test(ratings: Ratings) -> None:
    early = split(ratings, "one moment", 0).early
    assert ratings.time[early].max() < ratings.time[~early].min()


def test_what_others_rate_later_changes_no_profile(ratings: Ratings) -> None:
    parts = split(ratings, "held out", 0)
    turned = np.where(parts.early, ratings.rating, 6 - ratings.rating).astype(np.int8)
    later = replace(ratings, rating=turned)
    assert profile_log(ratings, parts).digest() == profile_log(later, split(later, "held out", 0)).digest()


def test_the_order_of_the_films_tells_nothing_of_their_ratings(ratings: Ratings) -> None:
    other = replace(ratings, rating=ratings.rating[::-1].copy(), time=ratings.time[::-1].copy())
    order = catalogue_order(ratings)
    assert order.tolist() == catalogue_order(other).tolist()
    assert sorted(order.tolist()) == list(range(FILMS)) != order.tolist()


@pytest.mark.parametrize("design", ["held out", "one moment", "loose"])
def test_candidates_are_unseen_films_and_relevant_ones_were_liked_later(ratings: Ratings, design: Design) -> None:
    index = index_for(catalogue_file(ratings))
    work = make_workload(ratings, index, Knowledge(), design, 0)
    index.close()
    parts, order = split(ratings, design, 0), catalogue_order(ratings)
    names = work.train.users.to_list()
    (truth,) = work.truths
    assert truth.total.min() >= 1
    for row, user in enumerate(work.queries.user):
        mine = ratings.user == int(names[user].removeprefix("p"))
        candidates = order[work.queries.documents[row][work.queries.documents[row] >= 0]]
        assert parts.test_film[candidates].all()
        assert not set(candidates.tolist()) & set(ratings.film[mine & parts.early].tolist())
        liked = set(ratings.film[mine & ~parts.early & (ratings.rating >= 4)].tolist())
        relevant = order[work.queries.documents[row][truth.relevant[row]]]
        assert set(relevant.tolist()) == liked & set(candidates.tolist())


def test_queries_are_genres_and_common_keywords(ratings: Ratings) -> None:
    names = possible_queries(ratings)
    assert {"Drama", "horse"} <= set(names)
    assert not any(name.startswith("only-") for name in names)


@pytest.fixture(scope="module")
def results(ratings: Ratings, tmp_path_factory: pytest.TempPathFactory) -> FilmResults:
    settings = parse_methods("random:k=3;linkability:p=1")
    return run_films(tmp_path_factory.mktemp("films"), settings, (0, 1), 1, ratings=ratings)


def test_people_who_like_one_genre_are_helped_by_their_own_profile(results: FilmResults) -> None:
    rows = {row["method"]: row for row in results.rows if row["design"] == "held out"}
    assert list(rows) == ["random", "linkability", "plain", "everyone", "original", "device"]
    assert rows["device"]["ap10"] == rows["original"]["ap10"]
    assert rows["original"]["ap10"] > rows["everyone"]["ap10"]
    assert rows["original"]["ap10_low"] <= rows["original"]["ap10"] <= rows["original"]["ap10_high"]
    assert (rows["original"]["help_kept"], rows["plain"]["help_kept"]) == (1, 0)
    assert rows["plain"]["linkage5"] == pytest.approx(1 / PEOPLE)
    against = [row["against"] for row in results.comparisons if (row["design"], row["method"]) == ("loose", "random")]
    assert against == ["plain", "everyone", "original"]


def test_the_same_seeds_give_the_same_numbers(ratings: Ratings, results: FilmResults, tmp_path: Path) -> None:
    again = run_films(tmp_path, parse_methods("random:k=3;linkability:p=1"), (0, 1), 1, ratings=ratings)
    assert again == results
    write_films(tmp_path, again)
    assert read_films(tmp_path) == results
    assert read_films(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    ("difference", "p", "told"),
    [(0.02, 0.001, "serves a person better"), (0.02, 0.3, "No group"), (-0.02, 0.001, "No group")],
)
def test_the_headline_follows_the_test(results: FilmResults, difference: float, p: float, told: str) -> None:
    def turned(row: dict[str, object]) -> dict[str, object]:
        chosen = row["method"] == "linkability" and row["against"] == "original"
        return row | {"difference": difference, "p_holm": p} if chosen else row

    other = replace(results, comparisons=[turned(row) for row in results.comparisons])
    assert told in headline(other)
    assert len(film_blocks(other)) >= 6


def test_options_of_logs_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["evaluate", "--films", "--corpus", "news", "--out", str(tmp_path)]) == 2
    assert "--films and --corpus do not go together" in capsys.readouterr().err
