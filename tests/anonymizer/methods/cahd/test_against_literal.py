"""Is the fast CAHD the literal Algorithm 2.2, and does its verifier tell right from wrong?"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from shoal.anonymizer.base import Anonymized, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import log_of
from shoal.anonymizer.distinct_queries import only_columns
from shoal.anonymizer.methods.cahd import Cahd, band_order
from shoal.anonymizer.methods.cahd.groups import form_groups, open_line
from shoal.anonymizer.methods.cahd.literal import cahd
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.bench.clump import zipf_profiles
from tests.examples import examples

PRIVATE = ("cancer", "aids", "debt")
words = st.sampled_from([*"wine beer cheese car truck hotel".split(), *PRIVATE])
logs = st.lists(st.lists(words, max_size=6).map(" ".join), min_size=2, max_size=24)
KNOWN = Knowledge()


def log_from(texts: list[str]) -> QueryLog:
    return log_of([(f"user{i}", text) for i, text in enumerate(texts)])


def evidence(made: Anonymized, log: QueryLog) -> Evidence:
    return Evidence(made.release, made.assignment, made.suppressed, log, KNOWN)


def verdict(made: Anonymized, log: QueryLog) -> Verdict:
    said = verify(made.claim, evidence(made, log))
    assert said.holds == is_true(made.claim, evidence(made, log))
    return said


def grouped(profiles: Profiles, p: int, alpha: int) -> tuple[list[set[int]], list[set[int]]]:
    """The groups by the fast and by the literal algorithm, along the same band."""
    private = np.array([term in PRIVATE for term in profiles.terms], dtype=bool)
    public, sensitive = only_columns(profiles.counts, ~private), only_columns(profiles.counts, private)
    order = band_order(public)
    line = open_line(order, public, sensitive)
    form_groups(line, 0, len(order), p, alpha * p)
    numbers = np.where(line.group < 0, line.formed[0], line.group)
    fast = [set(np.flatnonzero(numbers == number).tolist()) for number in range(line.formed[0] + 1)]
    bags = [frozenset(profiles.of(user)) for user in range(len(profiles))]
    slow = cahd(order.tolist(), [bag - set(PRIVATE) for bag in bags], [bag & set(PRIVATE) for bag in bags], p, alpha)
    return fast, slow


@examples(150)
@given(logs, st.integers(2, 4), st.integers(1, 3))
def test_cahd_is_the_literal_algorithm(texts: list[str], p: int, alpha: int) -> None:
    fast, slow = grouped(build_profiles(log_from(texts), KNOWN.words), p, alpha)
    assert fast == slow


@examples(150)
@given(logs, st.integers(2, 4), st.integers(1, 3))
def test_every_release_keeps_its_promise_by_the_verifier_and_by_the_definition(
    texts: list[str], p: int, alpha: int
) -> None:
    log = log_from(texts)
    try:
        made = Cahd(KNOWN, p=p, alpha=alpha).run(log)
    except InputError:
        return
    assert verdict(made, log).holds
    profiles = [made.release.profile(row) for row in range(len(made.release))]
    assert all(weight <= 1 / p for profile in profiles for term, weight in profile.items() if term in PRIVATE)


TEXTS = [f"{'wine beer car'.split()[i % 3]} hotel {'cancer' if i < 3 else 'aids' if i == 3 else ''}" for i in range(12)]


@pytest.fixture(scope="module")
def log() -> QueryLog:
    return log_from(TEXTS)


@pytest.fixture(scope="module")
def made(log: QueryLog) -> Anonymized:
    return Cahd(KNOWN, p=3).run(log)


def with_weight(made: Anonymized, label: str, change: float) -> Anonymized:
    weights, column = made.release.weights.copy(), made.release.labels.index(label)
    weights.data[weights.indices == column] *= change
    return replace(made, release=replace(made.release, weights=weights))


def test_a_share_that_is_not_that_of_the_crowd_is_refused(made: Anonymized, log: QueryLog) -> None:
    assert verdict(made, log).holds
    assert "make" in verdict(with_weight(made, "cancer", 0.5), log).counterexample
    assert not verdict(with_weight(made, "wine", 2), log).holds


def test_own_sensitive_terms_are_refused(made: Anonymized, log: QueryLog) -> None:
    """The rows as their users typed them: every share is true of a crowd of one term, and far above 1/p."""
    profiles = build_profiles(log, KNOWN.words)
    order = [profiles.terms.index(label) for label in made.release.labels]
    rows = made.assignment.user[np.argsort(made.assignment.profile)]
    raw = replace(made, release=replace(made.release, weights=profiles.counts[rows][:, order].astype(float)))
    assert "more than 1 of 3" in verdict(raw, log).counterexample


def test_a_stronger_promise_than_the_groups_keep_is_refused(made: Anonymized, log: QueryLog) -> None:
    assert not verdict(replace(made, claim=Cahd(KNOWN, p=5).claim()), log).holds


def test_a_user_who_is_left_out_or_miscounted_is_seen(made: Anonymized, log: QueryLog) -> None:
    more = Suppressed(made.suppressed.occurrences + 1, made.suppressed.users)
    assert "sensitive terms that too many typed" in verdict(replace(made, suppressed=more), log).counterexample


CAHD = "shoal.anonymizer.methods.cahd"


def test_the_product_of_a_large_log_stays_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{CAHD}.WHOLE_UP_TO", 0)
    monkeypatch.setattr(f"{CAHD}.PAIRS_PER_USER", 20)
    counts = zipf_profiles(2000).counts
    sizes: list[int] = []

    def ordering(A: csr_matrix, **options: bool) -> np.ndarray:
        sizes.append(A.nnz)
        return reverse_cuthill_mckee(A, **options)

    monkeypatch.setattr("scipy.sparse.csgraph.reverse_cuthill_mckee", ordering)
    assert sorted(band_order(counts).tolist()) == list(range(2000))
    assert 2000 < sizes[0] <= 20 * 2000
