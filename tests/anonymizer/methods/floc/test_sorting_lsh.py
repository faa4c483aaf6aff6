"""Are FLoC's cohorts those of SortingLSH, and of similar people?"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.floc import BITS, Floc, hyperplanes
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

KNOWLEDGE = Knowledge(dictionary_name="any")
queries = st.lists(st.sampled_from("wine beer cheese car truck hotel flight dog".split()), max_size=6).map(" ".join)


def log_of(texts: list[str]) -> QueryLog:
    return make_log(pl.Series([f"user{i}" for i in range(len(texts))]), pl.Series(texts, dtype=pl.String))


def literal_cohorts(profiles: Profiles, k: int, seed: int) -> list[list[int]]:
    """Hash, sort and cut, word by word; what is left at the end joins the last cohort."""
    signs = hyperplanes(len(profiles.terms), seed).tolist()
    term = {name: row for row, name in enumerate(profiles.terms)}

    def sim_hash(user: int) -> tuple[bool, ...]:
        return tuple(sum(signs[term[name]][bit] for name in profiles.of(user)) > 0 for bit in range(BITS))

    order = sorted((user for user in range(len(profiles)) if profiles.of(user)), key=sim_hash)
    cut = [order[begin : begin + k] for begin in range(0, len(order), k)]
    if len(cut) > 1 and len(cut[-1]) < k:
        cut[-2:] = [cut[-2] + cut[-1]]
    return cut


@examples(120)
@given(st.lists(queries, min_size=2, max_size=14), st.integers(2, 4), st.integers(0, 3))
def test_cohorts_are_those_of_the_literal_algorithm_and_hold(texts: list[str], k: int, seed: int) -> None:
    log = log_of(texts)
    profiles = build_profiles(log, KNOWLEDGE.words)
    if np.count_nonzero(profiles.size) < k:
        with pytest.raises(InputError, match="at least"):
            Floc(KNOWLEDGE, k=k).run(log, seed=seed)
        return
    made = Floc(KNOWLEDGE, k=k).run(log, seed=seed)
    rows = range(len(made.release))
    found = {frozenset(made.assignment.user[made.assignment.profile == row].tolist()) for row in rows}
    assert found == {frozenset(cohort) for cohort in literal_cohorts(profiles, k, seed)}
    assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE)).holds


def test_people_who_asked_the_same_are_in_one_cohort() -> None:
    kinds = ["wine beer cheese", "car truck engine", "hotel flight island", "dog cat puppy"]
    made = Floc(KNOWLEDGE, k=5).run(log_of([kinds[user % 4] for user in range(20)]))
    assert len(made.release) == 4
    assert sorted(" ".join(made.release.profile(row)) for row in range(4)) == sorted(
        " ".join(sorted(kind.split())) for kind in kinds
    )
