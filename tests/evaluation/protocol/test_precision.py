"""Does the protocol measure what it says, on a log whose answers are known?"""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.anonymizer.methods.everyone import Everyone
from shoal.anonymizer.methods.original import Original
from shoal.anonymizer.methods.plain import Plain
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import load_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.searches import Device, Search
from shoal.evaluation.protocol.precision import TestQueries, Trial, choose_queries
from shoal.evaluation.protocol.truth import truth_of_clicks, truth_of_profiles
from shoal.evaluation.protocol.workload import split_by_time
from shoal.search.index import Index, index_for
from shoal.search.vectors import own_profiles

KNOWN = Knowledge()


@pytest.fixture(scope="module")
def index(corpus_file: Path) -> Index:
    return index_for(corpus_file)


@pytest.fixture(scope="module")
def queries(log_file: Path, index: Index) -> TestQueries:
    return choose_queries(split_by_time(load_log(str(log_file))[0])[1], index, 2)


def ap10(method: type[Plain | Original | Everyone], log_file: Path, queries: TestQueries, index: Index) -> np.ndarray:
    profiles = build_profiles(split_by_time(load_log(str(log_file))[0])[0], KNOWN.words)
    trial = Trial(queries, profiles.users, own_profiles(profiles, index.vectors), index)
    truth = truth_of_profiles(queries, trial.own, index)
    made = method().anonymize(profiles)
    return truth.scores(trial.cosines(method(), made.release, made.assignment))["ap10"]


def test_the_own_profile_ranks_perfectly(log_file: Path, queries: TestQueries, index: Index) -> None:
    assert ap10(Original, log_file, queries, index).tolist() == [1.0] * 24


class Whim(Plain):
    """Says a random word of the own profile at each search, and remembers it."""

    def choose(self, search: Search, device: Device, release: Release) -> csr_array:
        words = search.space.names(device.own.indices)
        return search.row({device.said.setdefault(search.query, device.random.choice(words)): 1.0})


def test_what_a_method_chooses_at_each_search_is_measured_and_the_same_for_the_same_seed(
    log_file: Path, queries: TestQueries, index: Index
) -> None:
    profiles = build_profiles(split_by_time(load_log(str(log_file))[0])[0], KNOWN.words)
    trial = Trial(queries, profiles.users, own_profiles(profiles, index.vectors), index)
    made = Whim().anonymize(profiles)
    first, again, other = (trial.cosines(Whim(), made.release, made.assignment, seed) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    truth = truth_of_profiles(queries, trial.own, index)
    plain = truth.scores(trial.cosines(Plain(), made.release, made.assignment))["ap10"].mean()
    assert plain < truth.scores(first)["ap10"].mean()


def test_no_profile_and_the_average_profile_rank_worse(log_file: Path, queries: TestQueries, index: Index) -> None:
    assert ap10(Plain, log_file, queries, index).mean() < 0.85
    assert ap10(Everyone, log_file, queries, index).mean() < 0.85


def test_the_relevant_documents_are_those_of_the_users_own_topic(
    log_file: Path, queries: TestQueries, index: Index
) -> None:
    profiles = build_profiles(split_by_time(load_log(str(log_file))[0])[0], KNOWN.words)
    truth = truth_of_profiles(queries, own_profiles(profiles, index.vectors), index)
    assert truth.relevant.sum(axis=1).tolist() == [30] * len(queries)
    for user, documents, relevant in zip(queries.user, queries.documents, truth.relevant, strict=True):
        own = documents % 4 == user % 4
        assert (relevant & own).sum() == min(30, own.sum())


def test_each_user_asks_at_most_so_many_queries_and_others_are_drawn_with_another_seed(
    log_file: Path, index: Index
) -> None:
    test = split_by_time(load_log(str(log_file))[0])[1]
    first, again, other = (choose_queries(test, index, 2, seed) for seed in (0, 0, 1))
    assert np.bincount(first.user).max() == 2
    assert np.array_equal(first.query, again.query)
    assert not np.array_equal(first.query, other.query)


def test_a_query_with_too_few_candidates_is_left_out_and_counted(log_file: Path, index: Index, tmp_path: Path) -> None:
    rows = [f"{user}\t{query}\t2006-03-01 10:0{i}:00\t\t" for user in "ab" for i, query in enumerate(
        ["wine", "bread", "fish", "cheese", "kitchen" if user == "a" else "zyzzyva"])]  # fmt: skip
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(rows) + "\n")
    chosen = choose_queries(split_by_time(load_log(str(path))[0])[1], index, 5)
    assert (len(chosen), chosen.left_out) == (1, 1)


def test_clicks_that_name_documents_are_a_truth_of_their_own(
    log_file: Path, queries: TestQueries, index: Index
) -> None:
    truth = truth_of_clicks(queries, split_by_time(load_log(str(log_file))[0])[1], index)
    assert truth is not None
    assert len(truth.row) == len(queries)
    assert truth.total.min() >= 1
    for user, documents, relevant in zip(truth.user, queries.documents, truth.relevant, strict=True):
        clicked = documents[relevant]
        assert set(clicked.tolist()) <= {user % 4 + 4 * minute for minute in (7, 8, 9)}
