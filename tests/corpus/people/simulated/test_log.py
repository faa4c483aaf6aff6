"""Do simulated users look like AOL's, and are they the same for a seed?"""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.corpus.documents import load_documents
from shoal.corpus.documents.document import Document, Documents, in_columns
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.logs import default_log
from shoal.corpus.logs.aol import read_log
from shoal.corpus.people.calibration import calibration
from shoal.corpus.people.simulated import SimulatedLog, simulate_log, write_log
from shoal.corpus.people.simulated.people import FIRST_SECOND, LAST_SECOND
from shoal.corpus.querylog import QueryLog
from shoal.corpus.store.fetch import bring
from shoal.corpus.tokens import tokenize

FEW = [
    Document("a", "Wine", "Red wine and white wine from old grapes of the valley", "http://wine.example/a", ""),
    Document("b", "Milk", "Raw milk and fresh cheese from the mountain farm", "", ""),
    Document("c", "Shoes", "Leather shoes, winter jackets and warm boots for the mountain", "", ""),
]
SCRIPT = """
import sys
from shoal.corpus.documents.document import in_columns
from shoal.corpus.documents import load_documents
from shoal.corpus.people.simulated import simulate_log, write_log
write_log(simulate_log(in_columns("few-news", list(load_documents("news"))[::20]), 60, seed=5), sys.argv[1])
"""


@pytest.fixture(scope="module")
def news() -> Documents:
    return load_documents("news")


@pytest.fixture(scope="module")
def some_news(news: Documents) -> Documents:
    """A third of the articles, for what does not need them all."""
    return in_columns("some-news", list(news)[::3])


@pytest.fixture(scope="module")
def few_news(news: Documents) -> Documents:
    """So few that a log of them is made in no time."""
    return in_columns("few-news", list(news)[::20])


@pytest.fixture(scope="module")
def simulated(news: Documents) -> SimulatedLog:
    return simulate_log(news, 1_000)


@pytest.fixture(scope="module")
def path(simulated: SimulatedLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("log") / "log.tsv"
    write_log(simulated, file)
    return file


@pytest.fixture(scope="module")
def log(path: Path) -> QueryLog:
    return read_log(path)[0]


def _figures(log: QueryLog) -> dict[str, tuple[float, float]]:
    return {row.statistic: (row.ours, row.difference) for row in calibration(log)}


def _of(simulated: SimulatedLog, folder: Path) -> QueryLog:
    write_log(simulated, folder / "log.tsv")
    return read_log(folder / "log.tsv")[0]


def _assert_calibrated(log: QueryLog) -> None:
    figures = _figures(log)
    share, _ = figures.pop("distinct queries typed by one user")
    assert 0.88 <= share <= 0.97
    assert all(abs(difference) <= 0.15 for _, difference in figures.values()), figures


def test_a_thousand_users_have_aols_statistics(log: QueryLog) -> None:
    _assert_calibrated(log)
    assert _figures(log)["distinct queries typed by one user"][0] == pytest.approx(0.96, abs=0.01)


@pytest.mark.parametrize(("users", "seed"), [(300, 1), (5_000, 3)])
def test_few_and_many_users_have_them_with_any_seed(
    some_news: Documents, users: int, seed: int, tmp_path: Path
) -> None:
    _assert_calibrated(_of(simulate_log(some_news, users, seed), tmp_path))


def test_the_number_of_queries_of_a_user_is_heavy_tailed(log: QueryLog) -> None:
    number = np.diff(log.start)
    assert number.min() >= 1
    assert np.median(number) < 0.6 * number.mean()
    assert number.max() > 10 * number.mean()


def test_what_is_written_is_what_was_simulated(simulated: SimulatedLog, path: Path) -> None:
    log, rejected = read_log(path)
    assert len(rejected) == 0
    assert log.users.to_list() == [str(user) for user in simulated.users]
    assert np.array_equal(log.start, simulated.start)
    assert np.array_equal(log.time, simulated.time)
    assert log.queries.gather(log.query).to_list() == simulated.texts.gather(simulated.query).to_list()
    assert np.array_equal(log.click_event, simulated.clicks.event)
    assert log.urls.gather(log.click_url).to_list() == simulated.documents.gather(simulated.clicks.document).to_list()


def test_the_file_is_in_aols_format(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert lines[0].split("\t") == ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL", "people: simulated"]
    assert all(line.count("\t") == 4 for line in lines[1:])
    user, _, time, rank, url = next(line for line in lines[1:] if not line.endswith("\t")).split("\t")
    assert user.isdigit()
    assert rank.isdigit()
    assert len(time) == len("2006-03-01 07:17:12")
    assert url.startswith("http")


def test_other_readers_of_the_format_get_every_row_by_the_names_of_aol(path: Path, log: QueryLog) -> None:
    rows = path.read_text().count("\n") - 1
    with path.open(newline="") as file:
        by_name = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    frame = pl.read_csv(path, separator="\t", quote_char=None)
    assert len(by_name) == len(frame) == rows
    assert {row["AnonID"] for row in by_name} == set(frame["AnonID"].cast(pl.String)) == set(log.users)
    assert (
        {row["ClickURL"] for row in by_name if row["ClickURL"]}
        == set(frame["ClickURL"].drop_nulls())
        == set(log.urls.gather(log.click_url))
    )


def test_queries_are_typed_in_three_months_one_after_the_other(simulated: SimulatedLog) -> None:
    assert simulated.time.min() >= FIRST_SECOND
    assert simulated.time.max() <= LAST_SECOND
    inside = np.ones(len(simulated), dtype=bool)
    inside[simulated.start[:-1]] = False
    assert (np.diff(simulated.time)[inside[1:]] > 0).all()


def test_what_users_typed_is_what_their_log_says(simulated: SimulatedLog, path: Path) -> None:
    typed, written = simulated.typed(), read_log(path)[0]
    once = np.ones(len(written), dtype=bool)  # a query with several clicks has several rows
    once[1:] = (np.diff(written.user) != 0) | (np.diff(written.time) != 0)
    assert typed.users.to_list() == written.users.to_list()
    assert typed.queries.gather(typed.query).equals(written.queries.gather(written.query[once]), check_names=False)
    assert (typed.time == written.time[once]).all()
    assert (typed.start == written.select(once).start).all()


def test_one_seed_gives_one_log_whatever_the_hash_seed(few_news: Documents, tmp_path: Path) -> None:
    elsewhere = {**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
    subprocess.run([sys.executable, "-P", "-c", SCRIPT, str(tmp_path / "there")], check=True, env=elsewhere)
    write_log(simulate_log(few_news, 60, seed=5), tmp_path / "here")
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


def test_another_seed_gives_another_log(few_news: Documents) -> None:
    one, other = simulate_log(few_news, 30, seed=1), simulate_log(few_news, 30, seed=2)
    assert one.texts.gather(one.query).to_list() != other.texts.gather(other.query).to_list()


def test_clicks_fit_an_interest_of_their_user(simulated: SimulatedLog) -> None:
    user = np.repeat(np.arange(len(simulated.users)), np.diff(simulated.start))[simulated.clicks.event]
    topic = simulated.document_topic[simulated.clicks.document]
    assert len(topic) > 0.3 * len(simulated)
    assert (simulated.interests[user] == topic[:, None]).any(axis=1).all()


def test_a_user_has_one_to_four_interests_and_topics_differ_in_popularity(simulated: SimulatedLog) -> None:
    number = (simulated.interests >= 0).sum(axis=1)
    assert set(number) == {1, 2, 3, 4}
    fans = np.bincount(simulated.interests[simulated.interests >= 0])
    assert len(fans) >= 40
    assert fans[:5].mean() > 3 * fans[-5:].mean()


def test_interests_drift(simulated: SimulatedLog) -> None:
    event_user = np.repeat(np.arange(len(simulated.users)), np.diff(simulated.start))[simulated.clicks.event]
    topic = simulated.document_topic[simulated.clicks.document]
    early = simulated.time[simulated.clicks.event] < (FIRST_SECOND + LAST_SECOND) / 2
    shares = []
    for user in np.flatnonzero((simulated.interests >= 0).sum(axis=1) >= 2):
        one, two = (np.bincount(topic[(event_user == user) & half], minlength=80) for half in (early, ~early))
        if one.sum() > 30 and two.sum() > 30:
            shares.append(np.abs(one / one.sum() - two / two.sum()).sum() / 2)
    assert len(shares) > 10
    assert np.mean(shares) > 0.15


def test_users_repeat_themselves_and_refine_their_queries(log: QueryLog) -> None:
    queries = log.queries.to_list()
    again = refined = 0
    for user in range(len(log.users)):
        typed = [queries[q] for q in log.query[log.start[user] : log.start[user + 1]]]
        again += len(typed) - len(set(typed))
        refined += sum(any(longer.startswith(q + " ") for longer in set(typed)) for q in set(typed))
    assert again > 0.3 * len(log)
    assert refined > 0.03 * len(log)


def test_some_words_are_misspelt_and_most_are_words_of_the_documents(log: QueryLog, news: Documents) -> None:
    known = set(tokenize(" ".join(news.titles) + " " + " ".join(news.texts)))
    words = log.queries.gather(log.query).str.split(" ").explode().to_list()
    strange = sum(word not in known for word in words) / len(words)
    assert 0.005 < strange < 0.1


def test_users_with_a_common_interest_share_words(simulated: SimulatedLog) -> None:
    words = [
        set(simulated.texts.gather(simulated.query[low:high]).str.split(" ").explode().to_list())
        for low, high in zip(simulated.start[:200], simulated.start[1:201], strict=True)
    ]
    alike, apart = [], []
    for one in range(200):
        for two in range(one):
            common = set(simulated.interests[one]) & set(simulated.interests[two]) - {-1}
            overlap = len(words[one] & words[two]) / min(len(words[one]), len(words[two]))
            (alike if common else apart).append(overlap)
    assert np.mean(alike) > 2 * np.mean(apart)


def test_most_queries_find_enough_documents_to_rerank(log: QueryLog, news: Documents) -> None:
    frequency: dict[str, int] = {}
    for title, text in zip(news.titles, news.texts, strict=True):
        for word in set(tokenize(title + " " + text)):
            frequency[word] = frequency.get(word, 0) + 1
    sample = log.queries.gather(log.query[::20]).to_list()
    # A query finds at least what its commonest word finds.
    enough = sum(max(frequency.get(word, 0) for word in tokenize(query)) >= 60 for query in sample)
    assert enough > 0.65 * len(sample)


def test_web_queries_are_typed_by_users_with_that_interest(some_news: Documents) -> None:
    web = ["What's new in north korea", "kim jong missile test?", "xyzzy plugh", "brexit"]
    simulated = simulate_log(some_news, 300, web_queries=web)
    typed = set(simulated.texts.gather(simulated.query).to_list())
    assert {"what's new in north korea", "kim jong missile test"} <= typed
    assert "xyzzy plugh" not in typed


@pytest.mark.parametrize("users", [1, 2, 50])
def test_a_corpus_of_three_documents_and_a_single_user_work(users: int, tmp_path: Path) -> None:
    simulated = simulate_log(in_columns("few", FEW), users)
    assert len(simulated.users) == users
    log = _of(simulated, tmp_path)
    assert len(log) == 44 * users
    assert set(log.urls.to_list()) <= {"http://wine.example/a", "b", "c", ""}


def test_documents_without_words_are_refused() -> None:
    with pytest.raises(InputError, match="content words"):
        simulate_log(in_columns("none", [Document("a", "the", "of 12", "", "")]), 5)


def test_no_users_are_refused(some_news: Documents) -> None:
    with pytest.raises(InputError, match="at least 1"):
        simulate_log(some_news, 0)


def test_a_folder_that_is_not_there_is_refused(simulated: SimulatedLog, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        write_log(simulated, tmp_path / "nowhere" / "log.tsv")


def test_a_cancelled_run_leaves_no_file(simulated: SimulatedLog, tmp_path: Path) -> None:
    def stop(done: int, total: int, stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        write_log(simulated, tmp_path / "log.tsv", stop)
    assert list(tmp_path.iterdir()) == []


def test_progress_reaches_its_total_in_every_stage(few_news: Documents) -> None:
    told: dict[str, tuple[int, int]] = {}

    def note(done: int, total: int, stage: str) -> None:
        assert told.get(stage, (0, 0))[0] <= done <= total
        told[stage] = (done, total)

    simulate_log(few_news, 20, progress=note)
    assert {"topics", "simulated users", "queries", "clicks"} <= set(told)
    assert all(done == total for done, total in told.values())


def test_the_default_log_says_simulated_and_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").symlink_to(bring("news").parent)
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    path = default_log("news", users=20)
    made = path.stat().st_mtime_ns
    assert default_log("news", users=20).stat().st_mtime_ns == made
    log, _ = read_log(path)
    assert (len(log.users), log.people) == (20, "simulated")


def test_a_log_of_an_unknown_data_set_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="news"):
        default_log("nothing")


def test_queries_hold_neither_tabs_nor_quotes(simulated: SimulatedLog) -> None:
    assert not simulated.texts.str.contains(r"[\t\n\"]").any()
    assert simulated.texts.dtype == pl.String
