"""Are the measures of released queries those of their equations, worked by hand?"""

import polars as pl
import pytest

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.measures.losses import OtherWords, other_words
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.evaluation.measures.released_queries import f_beta, sensitive_queries

KNOWN = Knowledge()


def log_of(*rows: tuple[str, str]) -> QueryLog:
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


LOG = log_of(
    ("a", "Paris"), ("a", "bread"), ("b", "paris"), ("b", "bread"), ("c", "Bread "), ("c", "table"), ("d", "pneumonia")
)  # fmt: skip


def made_by(method: str, log: QueryLog, k: int = 2) -> Anonymized:
    return make_method(method, {"k": k}, KNOWN).run(log)


def measured(made: Anonymized, log: QueryLog, *columns: str) -> dict[str, float]:
    whole = MeasuredRelease(made.release, made.assignment, log, KNOWN, claim=made.claim, suppressed=made.suppressed)
    return measure_release(whole, columns)


def test_sensitive_queries_are_those_below_sensitive_concepts_and_f_follows_by_hand() -> None:
    queries = distinct_queries(LOG)
    sensitive = sensitive_queries(LOG, queries, KNOWN)
    assert dict(zip(queries.texts.to_list(), sensitive.tolist(), strict=True)) == {
        "paris": True, "bread": False, "table": False, "pneumonia": True,
    }  # fmt: skip
    release = made_by("equality", LOG).release
    # paris and bread are released: precision 1/2, recall 1/2 (bread of bread and table).
    assert f_beta(release, queries, sensitive, 1.0) == pytest.approx(0.5)
    assert f_beta(release, queries, ~sensitive, 1.0) == pytest.approx(0.5)
    assert f_beta(release, queries, sensitive | True, 1.0) == 0


def test_capitals_and_blanks_change_no_f() -> None:
    plain = make_log(LOG.users.gather(LOG.user), LOG.queries.gather(LOG.query).str.strip_chars().str.to_lowercase())
    columns = ("f_beta1", "f_beta01")
    assert measured(made_by("equality", LOG), LOG, *columns) == measured(made_by("equality", plain), plain, *columns)
    assert measured(made_by("equality", LOG), LOG, *columns) == pytest.approx({"f_beta1": 0.5, "f_beta01": 0.5})


def test_profiles_and_concepts_release_no_query_to_tell_of() -> None:
    assert measured(made_by("random", LOG), LOG, "f_beta1") == {}
    assert measured(made_by("wordnet-queries", LOG), LOG, "f_beta1") == {}


def test_ncp_counts_words_that_no_dictionary_knows() -> None:
    log = log_of(("a", "the zzyzxq bread"), ("b", "the zzyzxq bread"), ("c", "qxqxq bread"), ("c", "bread"))
    made = made_by("equality", log)
    assert other_words(made.release, made.assignment, log, KNOWN) == OtherWords(occurrences=5, released=4)
    # nine words: six are released, bread of c twice and qxqxq are not
    assert measured(made, log, "ncp") == pytest.approx({"ncp": 3 / 9})
    # a profile holds bread alone: a and b keep one of three words, c two of three
    assert measured(make_method("original", {}, KNOWN).run(log), log, "ncp") == pytest.approx({"ncp": 5 / 9})


def test_ncp_without_a_word_that_the_dictionary_knows() -> None:
    log = log_of(("a", "zzyzxq"), ("b", "zzyzxq"))
    assert measured(made_by("equality", log), log, "ncp") == {"ncp": 0.0}
