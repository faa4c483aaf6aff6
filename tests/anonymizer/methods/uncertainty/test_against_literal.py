"""Are SuppressControl and TDControl the literal ones, and does their verifier know right from wrong?"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.claims import Evidence, Verdict, sentence, verify
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import log_of
from shoal.anonymizer.methods.uncertainty import Uncertainty, rules
from shoal.anonymizer.methods.uncertainty.literal import suppress_control, td_control, without
from shoal.anonymizer.publish import publish_own_sets
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog
from tests.examples import examples

PRIVATE = frozenset({"cancer", "aids"})
TREE = {
    "Things": ["Food", "Illness", "Travel"],
    "Food": ["Drink", "cheese"],
    "Drink": ["wine", "beer"],
    "Illness": ["cancer", "aids"],
    "Travel": ["car", "truck", "hotel"],
}
words = st.sampled_from([*"wine beer cheese car truck hotel".split(), *PRIVATE])
texts_of_users = st.lists(st.lists(words, max_size=5).map(" ".join), min_size=1, max_size=10)
rhos = st.sampled_from([0, 0.3, 0.5, 0.7, 1])
antecedents = st.sampled_from([1, 2, 3, "any"])


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    folder: Path = tmp_path_factory.mktemp("tree")
    edges = [f"{child}\t{parent}\n" for parent, children in TREE.items() for child in children]
    (folder / "tree").write_text("".join(edges))
    (folder / "private").write_text("Illness\n")
    return Knowledge(folder / "tree", sensitive_file=folder / "private")


def log_from(texts: list[str]) -> QueryLog:
    return log_of([(f"user{i}", text) for i, text in enumerate(texts)])


def verdict(made: Anonymized, log: QueryLog, known: Knowledge) -> Verdict:
    evidence = Evidence(made.release, made.assignment, made.suppressed, log, known)
    said = verify(made.claim, evidence)
    assert said.holds == is_true(made.claim, evidence)
    return said


def rows_of(made: Anonymized, users: int) -> list[frozenset[str]]:
    rows = [frozenset[str]() for _ in range(users)]
    for user, row in zip(made.assignment.user.tolist(), made.assignment.profile.tolist(), strict=True):
        rows[user] = frozenset(made.release.profile(row))
    return rows


@examples(150)
@given(texts=texts_of_users, rho=rhos, antecedent=antecedents)
def test_suppression_is_the_literal_algorithm_and_holds(
    texts: list[str], rho: float, antecedent: int | str, known: Knowledge
) -> None:
    log = log_from(texts)
    made = Uncertainty(known, rho=rho, antecedent=antecedent).run(log)
    profiles = build_profiles(log, known.words)
    D = [frozenset(profiles.of(user)) for user in range(len(profiles))]
    bound = None if isinstance(antecedent, str) else antecedent
    assert rows_of(made, len(D)) == without(D, suppress_control(D, PRIVATE, Fraction(str(rho)), bound))
    assert verdict(made, log, known).holds


@examples(150)
@given(texts=texts_of_users, rho=rhos, antecedent=antecedents)
def test_generalization_is_the_literal_algorithm_and_holds(
    texts: list[str], rho: float, antecedent: int | str, known: Knowledge
) -> None:
    log = log_from(texts)
    made = Uncertainty(known, rho=rho, antecedent=antecedent, how="generalize").run(log)
    profiles = build_profiles(log, known.words)
    D = [frozenset(profiles.of(user)) for user in range(len(profiles))]
    bound = None if isinstance(antecedent, str) else antecedent
    assert rows_of(made, len(D)) == td_control(D, PRIVATE, Fraction(str(rho)), bound, TREE, "Things")
    assert verdict(made, log, known).holds


TEXTS = ["wine cheese cancer", "wine cheese cancer", "wine cheese", "wine car", "beer car", "beer hotel aids", "beer"]


def everything(log: QueryLog, known: Knowledge, **settings: object) -> Anonymized:
    profiles = build_profiles(log, known.words)
    return publish_own_sets(profiles, np.ones(len(profiles.terms), dtype=bool), Uncertainty(known, **settings).claim())


def test_two_terms_that_tell_where_one_does_not_are_seen(known: Knowledge) -> None:
    log = log_from(["wine car cancer", "wine", "car", "wine", "car"])
    assert verdict(everything(log, known, rho=0.5, antecedent=1), log, known).holds
    said = verdict(everything(log, known, rho=0.5, antecedent=2), log, known).counterexample
    assert said == "more than 0.5 of the rows with 'car' and 'wine' have the sensitive term 'cancer'"


def test_three_terms_are_looked_at_where_any_are(known: Knowledge) -> None:
    pairs = ["wine car", "car hotel", "wine hotel"]
    log = log_from(["wine car hotel cancer", *pairs, *pairs])
    assert verdict(everything(log, known, rho=0.5, antecedent=2), log, known).holds
    for antecedent in (3, "any"):
        said = verdict(everything(log, known, rho=0.5, antecedent=antecedent), log, known).counterexample
        assert "'car' and 'hotel' and 'wine' have the sensitive term 'cancer'" in said


def test_a_sensitive_term_may_tell_another(known: Knowledge) -> None:
    log = log_from(["aids cancer", "aids cancer", "wine", "cancer", "cancer", "cancer"])
    said = verdict(everything(log, known, antecedent=1), log, known).counterexample
    assert "the rows with 'aids' have the sensitive term 'cancer'" in said


def test_a_row_that_is_not_its_users_is_seen(known: Knowledge) -> None:
    log = log_from(TEXTS)
    for how in ("suppress", "generalize"):
        made = Uncertainty(known, how=how).run(log)
        assert verdict(made, log, known).holds
        weights = made.release.weights.copy()
        weights.data[0] = 2
        assert not verdict(replace(made, release=replace(made.release, weights=weights)), log, known).holds


def test_a_node_above_another_and_one_that_is_none_are_seen(known: Knowledge) -> None:
    log = log_from(["wine", "beer", "wine beer"])
    made = Uncertainty(known, how="generalize").run(log)
    assert set(made.release.labels) == {"wine", "beer"}
    for label, general in (("Drink", True), ("drink", True), ("Drink", False), ("Food", True)):
        labels = [label if old == "beer" else old for old in made.release.labels]
        flags = np.array([general and new == label for new in labels])
        other = replace(made, release=replace(made.release, labels=labels, generalized=flags))
        assert not verdict(other, log, known).holds


def test_the_bound_is_a_part_of_the_sentence(known: Knowledge) -> None:
    bounded, exact = (sentence(Uncertainty(known, antecedent=size).claim()) for size in (2, "any"))
    assert "No 2 or fewer terms of a row" in bounded
    assert "what more than 2 terms tell was not looked at." in bounded
    assert "however many" in exact


def test_a_log_that_is_too_large_for_any_is_refused(known: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_CLOSED_SETS", 2)
    with pytest.raises(InputError, match="set antecedent=2"):
        Uncertainty(known, antecedent="any").run(log_from(TEXTS))
    monkeypatch.setattr(rules, "MOST_SETS", 0)
    with pytest.raises(InputError, match="lower antecedent"):
        Uncertainty(known).run(log_from(TEXTS))


@pytest.mark.parametrize("antecedent", [1, 2])
def test_what_is_clearly_too_much_is_refused_by_a_few_sets(
    known: Knowledge, monkeypatch: pytest.MonkeyPatch, antecedent: int
) -> None:
    monkeypatch.setattr(rules, "SAMPLE", 1)
    made = Uncertainty(known, antecedent=antecedent).run(log_from(TEXTS))  # what is not too much is not refused
    assert made.release.labels
    monkeypatch.setattr(rules, "MOST_SETS", 0)
    monkeypatch.setattr(rules, "CLEAR", 0.01)
    monkeypatch.setattr(rules, "_blocks", lambda *_: pytest.fail("it was counted"))
    with pytest.raises(InputError, match="lower antecedent"):
        Uncertainty(known, antecedent=antecedent).run(log_from(TEXTS))
