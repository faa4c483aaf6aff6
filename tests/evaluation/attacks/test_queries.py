"""Do released queries give people away by words that no profile keeps?"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.base import Release, ReleasedQueries
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.attacks.linkage import RareTermShare, as_words, query_linkage, rare_term_share
from shoal.evaluation.measures.released_queries import released_distinct, released_occurrences


def log_of(*rows: tuple[str, str]) -> QueryLog:
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


LOG = log_of(
    ("a", "red wine"), ("a", "red wine"), ("a", "zzyzx inn"), ("b", "Red  Wine"), ("b", "news"), ("c", "news"),
    ("c", "quaint cellar"), ("c", "news"),
)  # fmt: skip


def test_shares_of_queries_are_counted_in_lower_case_with_single_blanks() -> None:
    made = make_method("equality", {"k": 2}, Knowledge()).anonymize(LOG)
    # Of red wine, zzyzx inn, news and quaint cellar, the first and the third; 3 + 3 of 8 events.
    assert released_distinct(made.release, LOG) == 2 / 4
    assert released_occurrences(made.release, LOG) == 6 / 8


def released(*rows: tuple[int, str, int]) -> Release:
    made = make_method("equality", {"k": 2}, Knowledge()).anonymize(LOG)
    who, query, count = ([row[i] for row in rows] for i in range(3))
    queries = ReleasedQueries(
        np.array(who, dtype=np.int32), pl.Series(query, dtype=pl.String), np.array(count), np.full(len(rows), 2)
    )
    return replace(made.release, queries=queries)


def test_a_released_query_with_a_word_of_few_users_is_counted_as_often_as_it_was_asked_and_once() -> None:
    release = released((0, "red wine", 2), (0, "zzyzx inn", 1), (1, "quaint cellar", 1), (2, "the news", 4))
    assert rare_term_share(release, LOG, k=2) == RareTermShare(events=2 / 8, distinct=2 / 4)
    assert rare_term_share(release, LOG, k=3) == RareTermShare(events=1, distinct=1)
    assert rare_term_share(release, LOG, k=1) == RareTermShare(events=0, distinct=0)
    assert rare_term_share(released(), LOG, k=2) is None


def test_every_word_of_released_queries_can_be_known() -> None:
    words = as_words(released((0, "red wine", 2), (0, "the red inn", 1), (1, "news", 3)))
    assert words.profile(0) == {"red": 3, "wine": 2, "inn": 1}
    assert words.profile(1) == {"news": 3}
    assert words.profile(2) == {}


def test_a_word_that_one_pseudonym_alone_releases_leads_to_its_user() -> None:
    everything = make_method("equality", {"k": 2}, Knowledge()).anonymize(
        log_of(("a", "quaint"), ("a", "stern"), ("b", "quaint"), ("b", "bleak"), ("c", "stern"), ("c", "bleak"))
    )
    log = log_of(("a", "quaint"), ("a", "stern"), ("b", "quaint"), ("b", "bleak"), ("c", "stern"), ("c", "bleak"))
    # With one word two pseudonyms tie; with both there is one left. No profile keeps these words.
    assert query_linkage(everything.release, everything.assignment, log, victims=10, m=1, seed=0) == 0.5
    assert query_linkage(everything.release, everything.assignment, log, victims=10, m=2, seed=0) == pytest.approx(1)
