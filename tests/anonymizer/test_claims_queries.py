"""Do the verifiers of released queries accept what is true and reject what is not?"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.base import Anonymized, Assignment, Method, ReleasedQueries, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.methods.affinity import Affinity
from shoal.anonymizer.methods.equality import Equality
from shoal.anonymizer.methods.wordnet_queries import WordnetQueries
from shoal.anonymizer.parameters import Value
from shoal.corpus.errors import InputError
from shoal.corpus.querylog import QueryLog, make_log

WORDS = "wine beer milk dog cat horse music guitar piano france spain london car engine phone case".split()


def random_log(seed: int, users: int = 12, events: int = 160) -> QueryLog:
    """Popular phrases, refined by a word or two; some words are one user's own."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(events):
        user = int(rng.integers(users))
        words = [WORDS[i] for i in np.minimum(rng.zipf(1.4, rng.integers(1, 4)) - 1, len(WORDS) - 1)]
        if rng.random() < 0.1:
            words.append(f"own{user}")
        rows.append((f"u{user}", " ".join(words)))
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


def small_log() -> QueryLog:
    """Four users ask for red wine; three refine it; each also has something of their own."""
    asked = {
        "ann": ["red wine", "red wine", "red wine cellar france", "bordeaux"],
        "bob": ["Red  Wine", "red wine cellar france paris", "dog"],
        "cid": ["red wine", "paris", "cat"],
        "dan": ["red wine", "red wine cellar france", "bordeaux", "cat"],
    }
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


AFFINITY = Affinity(k=3, theta=0.8, support=2)
GROWN = Affinity(k=3, exact="no", v_max=3, theta=0.6, support=2)
METHODS: list[Method] = [Equality(k=3), AFFINITY, Affinity(k=3, theta=0.8), GROWN, WordnetQueries(k=3)]


def judge(made: Anonymized, log: QueryLog, method: Method) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, method.knowledge))


def with_rows(made: Anonymized, keep: np.ndarray | None = None, **columns: object) -> Anonymized:
    """The release with some of its query rows, or with other values in them."""
    queries = made.release.queries
    assert queries is not None
    mask = np.ones(len(queries.query), dtype=bool) if keep is None else keep
    new = ReleasedQueries(
        queries.pseudonym[mask], queries.query.filter(pl.Series(mask)), queries.count[mask], queries.degree[mask]
    )
    return replace(made, release=replace(made.release, queries=replace(new, **columns)))


def with_row(made: Anonymized, pseudonym: int, query: str, count: int, degree: int) -> Anonymized:
    """The release with one more query row, its count taken from the suppressed ones."""
    queries = made.release.queries
    assert queries is not None
    more = ReleasedQueries(
        np.append(queries.pseudonym, np.int32(pseudonym)), pl.concat([queries.query, pl.Series([query])]),
        np.append(queries.count, count), np.append(queries.degree, degree),
    )  # fmt: skip
    left = replace(made.suppressed, occurrences=made.suppressed.occurrences - count)
    return replace(made, release=replace(made.release, queries=more), suppressed=left)


def without_query(made: Anonymized, query: str, pseudonym: int | None = None) -> Anonymized:
    """The release without the rows of a query, counted as suppressed, as if it had never been released."""
    queries = made.release.queries
    assert queries is not None
    gone = (queries.query == query).to_numpy() & ((pseudonym is None) | (queries.pseudonym == pseudonym))
    suppressed = replace(made.suppressed, occurrences=made.suppressed.occurrences + int(queries.count[gone].sum()))
    return replace(with_rows(made, ~gone), suppressed=suppressed)


def query_rows(made: Anonymized) -> list[tuple[int, str, int, int]]:
    q = made.release.queries
    assert q is not None
    return list(zip(q.pseudonym.tolist(), q.query.to_list(), q.count.tolist(), q.degree.tolist(), strict=True))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_true_releases_are_accepted(method: Method) -> None:
    for seed in range(25):
        log = random_log(seed)
        verdict = judge(method.anonymize(log), log, method)
        assert verdict.holds, verdict.counterexample


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_query_that_nobody_typed_is_rejected(method: Method) -> None:
    log = random_log(0)
    verdict = judge(with_row(method.anonymize(log), 0, "zzyzxq secretword", 1, 9), log, method)
    assert not verdict.holds
    assert "zzyzxq secretword" in verdict.counterexample


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_term_that_no_released_query_holds_is_rejected(method: Method) -> None:
    log = random_log(1)
    made = method.anonymize(log)
    weights = made.release.weights.copy()
    weights.data[0] += 1
    assert not judge(replace(made, release=replace(made.release, weights=weights)), log, method).holds


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_pseudonyms_of_two_users_exchanged_are_rejected(method: Method) -> None:
    log = random_log(2)
    made = method.anonymize(log)
    profile = made.assignment.profile.copy()
    profile[[0, 1]] = profile[[1, 0]]
    moved = Assignment(made.assignment.users, made.assignment.user, profile)
    assert not judge(replace(made, assignment=moved), log, method).holds


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_count_that_is_too_high_is_rejected(method: Method) -> None:
    log = random_log(3)
    made = method.anonymize(log)
    assert made.release.queries is not None
    count = made.release.queries.count.copy()
    count[0] += 100
    assert not judge(with_rows(made, count=count), log, method).holds


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_user_who_is_said_to_have_released_a_query_no_times_is_rejected(method: Method) -> None:
    log = random_log(3)
    made = method.anonymize(log)
    rows = query_rows(made)
    _, query, _, degree = rows[0]
    other = next(p for p, _, _, _ in rows if (p, query) not in {(q[0], q[1]) for q in rows})
    more = with_row(made, other, query, 0, degree)
    assert more.release.queries is not None
    raised = np.where((more.release.queries.query == query).to_numpy(), degree + 1, more.release.queries.degree)
    assert "0 times" in judge(with_rows(more, degree=raised), log, method).counterexample


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_row_left_out_but_not_counted_is_rejected(method: Method) -> None:
    log = random_log(4)
    made = method.anonymize(log)
    pseudonym, query, _, _ = query_rows(made)[0]
    mutant = replace(without_query(made, query, pseudonym), suppressed=made.suppressed)
    assert not judge(mutant, log, method).holds


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_degree_that_is_too_high_is_rejected(method: Method) -> None:
    log = random_log(5)
    made = method.anonymize(log)
    assert made.release.queries is not None
    verdict = judge(with_rows(made, degree=made.release.queries.degree + 1), log, method)
    assert not verdict.holds
    assert "degree" in verdict.counterexample


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_profile_without_queries_is_rejected(method: Method) -> None:
    log = random_log(6)
    made = method.anonymize(log)
    first = {query for pseudonym, query, _, _ in query_rows(made) if pseudonym == 0}
    for query in sorted(first):
        made = without_query(made, query, 0)
    verdict = judge(made, log, method)
    assert not verdict.holds
    assert "no released query" in verdict.counterexample


def test_a_query_of_k_minus_one_users_is_rejected() -> None:
    log, method = small_log(), Equality(k=3)
    made = method.anonymize(log)
    assert {row[1] for row in query_rows(made)} == {"red wine"}
    loose = Equality(k=2).anonymize(log)
    assert "cat" in {row[1] for row in query_rows(loose)}
    verdict = judge(replace(loose, claim=made.claim), log, method)
    assert not verdict.holds
    assert "fewer than k=3" in verdict.counterexample


def test_a_query_whose_protectors_were_removed_is_rejected() -> None:
    log, method = small_log(), AFFINITY
    made = method.anonymize(log)
    degree = {query: d for _, query, _, d in query_rows(made)}
    assert degree["red wine cellar france paris"] == 3  # by the two users of the query without Paris
    assert judge(made, log, method).holds
    verdict = judge(without_query(made, "red wine cellar france"), log, method)
    assert not verdict.holds
    assert "'red wine cellar france' is not released" in verdict.counterexample


@pytest.mark.parametrize("method", [Equality(k=3), AFFINITY], ids=repr)
def test_a_query_that_is_held_back_is_rejected_of_one_user_or_of_all(method: Method) -> None:
    log = random_log(12)
    made = method.anonymize(log)
    for query in sorted({row[1] for row in query_rows(made)}):
        owners = [row[0] for row in query_rows(made) if row[1] == query]
        assert not judge(without_query(made, query), log, method).holds
        assert not judge(without_query(made, query, owners[0]), log, method).holds


@pytest.mark.parametrize("method", [Equality(k=3), AFFINITY, GROWN], ids=repr)
def test_a_query_that_is_smuggled_in_with_no_degree_is_rejected(method: Method) -> None:
    rows = [(user, "visa") for user in "abcd"] + [("a", "xyzzy9 8842")]  # no word of a profile
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    made = method.anonymize(log)
    owner = made.assignment.profile[made.assignment.users.to_list().index("a")]
    assert judge(made, log, method).holds
    assert not judge(with_row(made, int(owner), "xyzzy9 8842", 1, 0), log, method).holds


def test_each_degree_is_exact() -> None:
    for seed in range(4):
        log = random_log(seed, events=80)
        made = AFFINITY.anonymize(log)
        queries = made.release.queries
        assert queries is not None
        for query in queries.query.unique().to_list():
            for step in (-1, 1):
                degree = queries.degree + step * (queries.query == query).to_numpy()
                assert not judge(with_rows(made, degree=degree), log, AFFINITY).holds


def test_a_degree_in_a_grown_graph_may_be_lower_than_the_exact_one_but_not_higher() -> None:
    log = random_log(13)
    made, exact = GROWN.anonymize(log), Affinity(k=3, theta=0.6, support=2).anonymize(log)
    degree = {query: d for _, query, _, d in query_rows(exact)}
    queries = made.release.queries
    assert queries is not None
    best = np.array([degree[query] for query in queries.query])
    assert (queries.degree < best).any()
    assert judge(with_rows(made, degree=best), log, GROWN).holds
    assert judge(with_rows(made, degree=np.full_like(best, 3)), log, GROWN).holds
    assert not judge(with_rows(made, degree=best + 1), log, GROWN).holds
    assert not judge(with_rows(made, degree=np.full_like(best, 2)), log, GROWN).holds


@pytest.mark.parametrize(
    "values", [{"support": 5}, {"theta": 1.0}, {"k": 4}, {"word_users": 3}, {"k": 2}, {"support": "auto"}], ids=repr
)
def test_a_claim_of_other_values_than_those_of_the_release_is_rejected(values: dict[str, Value]) -> None:
    log = random_log(14)
    made = AFFINITY.anonymize(log)
    other = replace(made.claim, values={**made.claim.values, **values})
    assert not judge(replace(made, claim=other), log, AFFINITY).holds


@pytest.mark.parametrize("value", ["k", "theta", "support", "word_users", "exact"])
def test_a_claim_that_leaves_a_value_out_is_an_error(value: str) -> None:
    log = random_log(14)
    made = AFFINITY.anonymize(log)
    less = {name: said for name, said in made.claim.values.items() if name != value}
    with pytest.raises(InputError, match=f"says nothing of '{value}'"):
        judge(replace(made, claim=replace(made.claim, values=less)), log, AFFINITY)


def test_the_sentence_does_not_say_that_k_users_typed_a_query() -> None:
    log = random_log(15)
    said = judge(AFFINITY.anonymize(log), log, AFFINITY).sentence
    assert "3 users in all typed it or a query affine to it" in said
    assert "exact degree" in said
    assert "lower bound" in judge(GROWN.anonymize(log), log, GROWN).sentence


def test_a_query_with_a_word_that_only_one_user_typed_is_rejected() -> None:
    rows = [(user, "visa") for user in "abcd"] + [("a", "visa xyz123")]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    method = Affinity(k=3, support=2)
    made = method.anonymize(log)
    assert {row[1] for row in query_rows(made)} == {"visa"}
    owner = made.assignment.profile[made.assignment.users.to_list().index("a")]
    verdict = judge(with_row(made, int(owner), "visa xyz123", 1, 4), log, method)
    assert not verdict.holds
    assert "xyz123" in verdict.counterexample


def test_a_query_with_an_address_that_only_one_user_typed_is_rejected_though_its_terms_are_common() -> None:
    rows = [(user, query) for user in "abcd" for query in ("jane", "doe", "visa")] + [("a", "visa jane.doe")]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    method = Affinity(k=3, support=2, theta=0.1)
    made = method.anonymize(log)
    assert {row[1] for row in query_rows(made)} == {"visa", "jane", "doe"}
    owner = made.assignment.profile[made.assignment.users.to_list().index("a")]
    verdict = judge(with_row(made, int(owner), "visa jane.doe", 1, 4), log, method)
    assert not verdict.holds
    assert "'jane.doe'" in verdict.counterexample


def test_a_query_without_a_concept_counts_only_who_typed_it() -> None:
    rows = [(user, "quux") for user in "abc"] + [(user, "visa card") for user in "abcdefgh"]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    method = Affinity(k=3, support=4)
    made = method.anonymize(log)
    assert {(row[1], row[3]) for row in query_rows(made)} == {("quux", 3), ("visa card", 8)}
    assert judge(made, log, method).holds
    assert made.release.queries is not None
    degree = np.where((made.release.queries.query == "quux").to_numpy(), 4, made.release.queries.degree)
    assert not judge(with_rows(made, degree=degree), log, method).holds


def test_a_release_without_queries_is_rejected() -> None:
    log, method = random_log(11), Equality(k=3)
    made = method.anonymize(log)
    assert not judge(replace(made, release=replace(made.release, queries=None)), log, method).holds


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_nothing_released_is_a_release_too(method: Method) -> None:
    rows = [("a", "wine"), ("b", "beer"), ("c", "???")]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    made = method.anonymize(log)
    assert len(made.release) == 0
    assert made.suppressed == Suppressed(3, 3)
    assert judge(made, log, method).holds
