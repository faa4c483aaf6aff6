"""Does the verifier of user k-anonymity accept true releases only? Broken twins must be rejected, with a reason."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, hstack

from shoal.anonymizer.base import Anonymized, Assignment, Claim, ReleasedQueries, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.literal.queries import entering
from shoal.anonymizer.methods.microaggregation import Microaggregation
from shoal.anonymizer.methods.microaggregation.literal import centroid_part
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

KNOWN, ANY = Knowledge(), Knowledge(dictionary_name="any")
TOPICS = [
    "dog cat wolf horse cow sheep goat pig".split(),
    "wine beer bread cheese butter milk soup salad".split(),
    "violin piano trumpet drum guitar flute harp organ".split(),
    "river lake ocean sea pond bay canal creek".split(),
]
Listed = dict[tuple[int, str], int]  # (profile, query) -> count


@pytest.fixture(scope="module")
def log() -> QueryLog:
    rng = np.random.default_rng(5)
    users, queries = [], []
    for user in range(24):
        words = TOPICS[user % 4]
        for _ in range(int(rng.integers(8, 20))):
            users.append(f"u{user}")
            queries.append(" ".join(rng.choice(words, size=rng.integers(1, 3), replace=False)))
        users.append(f"u{user}")
        queries.append("of the zzyzx")
    return make_log(pl.Series(users), pl.Series(queries))


@pytest.fixture(scope="module")
def made(log: QueryLog) -> Anonymized:
    return Microaggregation(KNOWN, k=3).anonymize(log, seed=2)


def evidence_of(made: Anonymized, log: QueryLog, known: Knowledge = KNOWN) -> Evidence:
    return Evidence(made.release, made.assignment, made.suppressed, log, known)


def verdict_on(made: Anonymized, log: QueryLog, claim: Claim | None = None) -> Verdict:
    return verify(claim or made.claim, evidence_of(made, log))


def listed_in(made: Anonymized) -> Listed:
    rows = made.release.queries
    assert rows is not None
    return dict(zip(zip(rows.pseudonym.tolist(), rows.query.to_list(), strict=True), rows.count.tolist(), strict=True))


def republished(made: Anonymized, listed: Listed, log: QueryLog, known: Knowledge = KNOWN) -> Anonymized:
    """The same members with other logs; profiles, degrees and counts are made to fit, as an adversary would."""
    rows = [(profile, query, count) for (profile, query), count in listed.items() if count]
    weights: Counter[tuple[int, str]] = Counter()
    for profile, query, count in rows:
        for token in query.split():
            if (term := known.words(token)) is not None:
                weights[profile, term] += count
    labels = sorted({term for _, term in weights})
    profiles = csr_array((len(made.release), len(labels)))
    if weights:
        places = [(p, labels.index(term)) for p, term in weights]
        profiles = csr_array(
            (list(map(float, weights.values())), tuple(zip(*places, strict=True))), shape=profiles.shape
        )
    of = dict(zip(made.assignment.user.tolist(), made.assignment.profile.tolist(), strict=True))
    events = zip(log.user.tolist(), log.queries.gather(log.query).to_list(), strict=True)
    kept = sum(listed.get((of.get(user, -1), query), 0) > 0 for user, query in events)
    pseudonym = np.array([profile for profile, _, _ in rows], dtype=np.int32)
    texts = pl.Series([query for _, query, _ in rows], dtype=pl.String)
    counts = np.array([count for _, _, count in rows], dtype=np.int64)
    queries = ReleasedQueries(pseudonym, texts, counts, made.release.users[pseudonym])
    flags = np.zeros(len(labels), dtype=bool)
    release = replace(made.release, weights=profiles, labels=labels, generalized=flags, queries=queries)
    return replace(made, release=release, suppressed=Suppressed(len(log) - kept, made.suppressed.users))


def moved(made: Anonymized, members: list[int], profiles: list[int], log: QueryLog) -> Anonymized:
    profile = made.assignment.profile.copy()
    profile[members] = profiles
    release = replace(made.release, users=np.bincount(profile, minlength=len(made.release)))
    assignment = Assignment(made.assignment.users, made.assignment.user, profile)
    return republished(replace(made, release=release, assignment=assignment), listed_in(made), log)


def with_rows(made: Anonymized, **columns: object) -> Anonymized:
    assert made.release.queries is not None
    return replace(made, release=replace(made.release, queries=replace(made.release.queries, **columns)))


def test_the_true_release_is_accepted_and_so_is_the_same_written_anew(made: Anonymized, log: QueryLog) -> None:
    assert verdict_on(made, log).holds
    assert verdict_on(republished(made, listed_in(made), log), log).holds


def test_a_release_without_its_logs_is_rejected(made: Anonymized, log: QueryLog) -> None:
    mutant = replace(made, release=replace(made.release, queries=None))
    assert "no queries are published" in verdict_on(mutant, log).counterexample


def test_a_group_of_k_minus_1_is_rejected(made: Anonymized, log: QueryLog) -> None:
    verdict = verdict_on(moved(made, [0], [int(made.assignment.profile[1])], log), log)
    assert not verdict.holds
    assert "fewer than k=3" in verdict.counterexample


def test_two_members_of_different_topics_swapped_are_rejected(made: Anonymized, log: QueryLog) -> None:
    of = made.assignment.profile
    other = next(i for i in range(len(of)) if of[i] != of[0] and i % 4 != 0)
    assert not verdict_on(moved(made, [0, other], [int(of[other]), int(of[0])], log), log).holds


def test_a_query_that_nobody_typed_is_rejected(made: Anonymized, log: QueryLog) -> None:
    first, *others = listed_in(made)
    listed = {(first[0], "zebra"): 1} | {row: listed_in(made)[row] for row in others}
    assert "nobody typed it" in verdict_on(republished(made, listed, log), log).counterexample


def test_a_query_without_a_term_is_rejected(made: Anonymized, log: QueryLog) -> None:
    listed = listed_in(made) | {(0, "of the zzyzx"): 1}
    assert "it holds no term" in verdict_on(republished(made, listed, log), log).counterexample


def test_a_query_that_only_another_group_typed_is_rejected(made: Anonymized, log: QueryLog) -> None:
    listed = listed_in(made)
    own = next(row for row, count in listed.items() if count == 1)
    theirs = next(query for profile, query in listed if profile != own[0] and (own[0], query) not in listed)
    listed[own[0], theirs] = listed.pop(own)
    verdict = verdict_on(republished(made, listed, log), log)
    assert not verdict.holds
    assert "cannot be shared out" in verdict.counterexample


def test_a_log_of_another_size_is_rejected(made: Anonymized, log: QueryLog) -> None:
    for times in (3, 0.5):
        listed = {row: int(count * times) for row, count in listed_in(made).items()}
        verdict = verdict_on(republished(made, listed, log), log)
        assert not verdict.holds
        assert "on average" in verdict.counterexample


def test_a_query_listed_twice_is_rejected(made: Anonymized, log: QueryLog) -> None:
    rows = made.release.queries
    assert rows is not None
    again = np.append(np.arange(len(rows.query)), 0)
    more = with_rows(
        made, pseudonym=rows.pseudonym[again], query=rows.query.gather(again), count=rows.count[again],
        degree=rows.degree[again],
    )  # fmt: skip
    assert "twice" in verdict_on(more, log).counterexample


@pytest.mark.parametrize("count", [0, -1, 2**40, 2**62])
def test_an_impossible_count_is_rejected(made: Anonymized, log: QueryLog, count: int) -> None:
    rows = made.release.queries
    assert rows is not None
    assert not verdict_on(with_rows(made, count=np.append(count, rows.count[1:])), log).holds


def test_another_degree_than_the_number_of_members_is_rejected(made: Anonymized, log: QueryLog) -> None:
    rows = made.release.queries
    assert rows is not None
    assert "degree" in verdict_on(with_rows(made, degree=rows.degree + 1), log).counterexample


def test_a_profile_that_its_queries_do_not_make_is_rejected(made: Anonymized, log: QueryLog) -> None:
    more = csr_array(hstack([made.release.weights, csr_array(np.eye(len(made.release), 1))], format="csr"))
    labels, flags = [*made.release.labels, "zebra"], np.append(made.release.generalized, False)
    foreign = replace(made.release, weights=more, labels=labels, generalized=flags)
    assert "zebra" in verdict_on(replace(made, release=foreign), log).counterexample
    for times in (0.5, 1 + 1e-9, 2):
        scaled = replace(made.release, weights=csr_array(made.release.weights * times))
        assert "its queries make" in verdict_on(replace(made, release=scaled), log).counterexample
    flagged = replace(made.release, generalized=~made.release.generalized)
    assert "generalized" in verdict_on(replace(made, release=flagged), log).counterexample


@pytest.mark.parametrize("more", [1, -1])
def test_another_number_of_suppressed_events_is_rejected(made: Anonymized, log: QueryLog, more: int) -> None:
    suppressed = replace(made.suppressed, occurrences=made.suppressed.occurrences + more)
    assert "the manifest counts" in verdict_on(replace(made, suppressed=suppressed), log).counterexample


def test_a_claim_of_a_larger_k_than_was_made_is_rejected(made: Anonymized, log: QueryLog) -> None:
    claim = replace(made.claim, values={"k": 4})
    assert "fewer than k=4" in verdict_on(made, log, claim).counterexample


def test_a_member_who_gives_more_than_the_quota_is_rejected() -> None:
    """Both could give each word alone, but together two of four are each one's quota."""
    asked = {"a": ["dog", "cat", "cow", "pig"], "b": ["owl", "elk", "dog", "cat"]}
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    made = Microaggregation(ANY, k=2).anonymize(log)
    good = republished(made, {(0, query): 1 for query in ("dog", "cow", "cat", "owl")}, log, ANY)
    assert verify(good.claim, evidence_of(good, log, ANY)).holds
    bad = republished(made, {(0, query): 1 for query in ("dog", "cow", "pig", "cat")}, log, ANY)
    assert verify(bad.claim, evidence_of(bad, log, ANY)).holds  # cow and pig of a, dog and cat of b
    bad = republished(made, {(0, query): n for query, n in (("cow", 1), ("pig", 1), ("dog", 2))}, log, ANY)
    assert "cannot be shared out" in verify(bad.claim, evidence_of(bad, log, ANY)).counterexample


def test_a_log_that_passes_over_what_was_repeated_most_is_rejected() -> None:
    asked = {"a": ["dog"] * 6 + ["cat", "cow"], "b": ["owl"] * 6 + ["elk", "pig"]}
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    made = Microaggregation(ANY, k=2).anonymize(log)
    listed = {(0, "dog"): 2, (0, "cat"): 1, (0, "cow"): 1} | {(0, "owl"): 4}
    bad = republished(made, listed, log, ANY)
    assert not verify(bad.claim, evidence_of(bad, log, ANY)).holds
    listed = {(0, "owl"): 4, (0, "cat"): 1, (0, "cow"): 1, (0, "elk"): 1, (0, "pig"): 1}
    bad = republished(made, listed, log, ANY)
    assert "does not list 'dog'" in verify(bad.claim, evidence_of(bad, log, ANY)).counterexample


WORDS = ["dog", "cat", "cow", "pig", "the"]
LOGS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), min_size=2, max_size=5)
CHANGES = st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=3)


@examples(300)
@given(users=LOGS, seed=st.integers(0, 9), changes=CHANGES)
def test_what_is_accepted_after_any_change_is_what_the_literal_definition_accepts(
    users: list[list[str]], seed: int, changes: list[tuple[int, int, int]]
) -> None:
    """A change takes a query out of a log and puts any in; sizes, profiles and counts are made to fit."""
    rows = [(f"u{u}", query) for u, queries in enumerate(users) for query in queries]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    if len({user for user, query in rows if query != "the"}) < 2:
        return
    made = Microaggregation(ANY, k=2).anonymize(log, seed=seed)
    listed = Counter(listed_in(made))
    for out, into, profile in changes:
        row = sorted(listed)[out % len(listed)]
        listed[row] -= 1
        listed = +listed
        listed[row[0] if profile else 0, WORDS[into % 5]] += 1
    mutant = republished(made, dict(listed), log, ANY)
    evidence = evidence_of(mutant, log, ANY)
    assert verify(mutant.claim, evidence).holds == is_true(mutant.claim, evidence)


@examples(200)
@given(
    bag=st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 6), min_size=1, max_size=5),
    others=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    up=st.booleans(),
    seed=st.integers(0, 999),
)
def test_what_algorithm_5_takes_is_within_the_bounds(
    bag: dict[str, int], others: list[int], up: bool, seed: int
) -> None:
    size, members = sum(bag.values()), 1 + len(others)
    quota = -(-size // members) if up else size // members
    bounds = entering(bag, size + sum(others), members)
    chance = np.random.default_rng(seed).random(len(bag)).tolist()
    for order in permutations(bag):
        queries = sorted(order, key=lambda query: -bag[query])
        part = centroid_part([bag[query] for query in queries], size, size + sum(others), quota, chance)
        for query, copies in zip(queries, part, strict=True):
            assert bounds[query][0] <= copies <= bounds[query][1]
    assert Fraction(size, members) <= quota if up else Fraction(size, members) >= quota
