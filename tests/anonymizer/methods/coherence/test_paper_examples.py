"""Does Coherence find the moles of the thesis's Table 2.1 and Example 2.3.1?

Two slips of the example: it calls the table 2.2, and says that it is coherent at p=1; it is not, x, y and z occur once.
"""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.contract.sample_logs import log_of
from shoal.anonymizer.distinct_queries import only_columns
from shoal.anonymizer.methods.coherence import Coherence
from shoal.anonymizer.methods.coherence.literal import is_mole, minimal_moles
from shoal.anonymizer.methods.coherence.moles import Limits, size_one_moles, wider_moles
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import silent

ACTIVITIES = ("acdfg", "abcf", "bdfx", "bcgyz", "acfg")
ILLNESSES = ("diabetes", "hepatitis", "hepatitis", "hiv", "hiv")
D = [frozenset([*acts, illness]) for acts, illness in zip(ACTIVITIES, ILLNESSES, strict=True)]
PRIVATE = frozenset(ILLNESSES)
H = Fraction(4, 5)


@pytest.fixture(scope="module")
def table() -> Profiles:
    terms = sorted(set().union(*D))
    sets = csr_array(np.array([[int(term in t) for term in terms] for t in D]))
    return Profiles(pl.Series([f"t{i}" for i in range(1, 6)]), terms, sets)


def found_moles(table: Profiles, p: int) -> set[str]:
    """The minimal moles that the method finds, the single ones first."""
    private, limits = np.array([term in PRIVATE for term in table.terms]), Limits(2, 4, 5)
    sensitive = only_columns(table.counts, private)
    one = size_one_moles(only_columns(table.counts, ~private), sensitive, limits, silent) & ~private
    wider = wider_moles(only_columns(table.counts, ~private & ~one), sensitive, limits, p, silent)
    rows = [row for sets in wider for row in sets.tolist()]
    return {table.terms[t] for t in np.flatnonzero(one)} | {"".join(table.terms[t] for t in row) for row in rows}


def test_a_and_b_point_to_one_transaction_and_b_and_f_to_hepatitis() -> None:
    assert [t for t in D if {"a", "b"} <= t] == [D[1]]
    assert [t for t in D if {"b", "f"} <= t] == [D[1], D[2]]
    assert all("hepatitis" in t for t in D if {"b", "f"} <= t)
    assert is_mole(frozenset("ab"), D, PRIVATE, H, 2)
    assert is_mole(frozenset("bf"), D, PRIVATE, H, 2)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_minimal_moles_are_those_of_the_definition(table: Profiles, p: int) -> None:
    found = {"".join(sorted(mole)) for mole in minimal_moles(D, PRIVATE, H, 2, p)}
    assert found_moles(table, p) == found
    assert found >= {"x", "y", "z"}  # so the table is not coherent at p=1 either
    assert {"ab", "bf"} <= found or p == 1


def test_what_is_published_of_the_table_is_coherent_and_keeps_the_illnesses(table: Profiles) -> None:
    rows = [(f"t{i}", " ".join(f"act-{item}" if len(item) == 1 else item for item in t)) for i, t in enumerate(D)]
    log, known = log_of(rows), Knowledge(dictionary_name="any")
    made = Coherence(known, h=0.8, k=2, p=2).run(log)
    assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, known)).holds
    assert set(made.release.labels) >= PRIVATE
    assert {"act-x", "act-y", "act-z"}.isdisjoint(made.release.labels)
    assert {"act-a", "act-c", "act-g"} <= set(made.release.labels)
    assert made.suppressed.occurrences == build_profiles(log, known.words).occurrences.sum() - made.release.weights.nnz
