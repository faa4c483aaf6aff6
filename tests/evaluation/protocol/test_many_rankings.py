"""Do many rankings at once come out as one at a time?"""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.searches import Blend
from shoal.evaluation.protocol.many_rankings import candidate_vectors, first_relevant, many_cosines
from shoal.search.rerank import best_first, blended, cosines, scaled
from shoal.search.vectors import DocumentVectors
from tests.examples import examples


def test_many_cosines_are_those_of_one_search_at_a_time_to_the_last_digit() -> None:
    rng = np.random.default_rng(1)
    matrix = sp.csr_matrix(sp.random(50, 30, 0.2, rng=rng), dtype=np.float32)
    vectors = DocumentVectors(matrix, {}, [""] * 30)
    profiles = sp.csr_array(sp.vstack([sp.random(4, 30, 0.4, rng=rng), sp.csr_array((1, 30))]), dtype=float)
    documents = rng.integers(0, 50, (12, 8))
    documents[3:, 6:] = -1
    profile_of = rng.integers(0, 5, 12)
    found = many_cosines(candidate_vectors(documents, vectors), profile_of, profiles)
    for row, values, profile in zip(documents, found, profile_of, strict=True):
        expected = cosines(row[row >= 0], sp.csr_matrix(profiles[[profile]]), vectors)
        assert values.tolist() == [*expected.tolist(), *[-1.0] * (row < 0).sum()]
    assert many_cosines(candidate_vectors(documents[:0], vectors), profile_of[:0], profiles).shape == (0, 8)


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 14))
def test_the_first_ranks_of_many_blends_are_those_of_one_stable_sorting(seed: int, candidates: int) -> None:
    rng = np.random.default_rng(seed)
    order, profile, everyone = (rng.integers(0, 3, (6, candidates)) / 2 for _ in range(3))
    relevant, there = rng.random((2, 6, candidates)) < 0.7
    blends = [Blend(0.3, 0.2), Blend(0.0, 0.0), Blend(0.5, 0.5)]
    found = first_relevant(relevant, (order, scaled(profile), scaled(everyone)), there, blends, 10)
    for blend, first in zip(blends, found, strict=True):
        ranked = best_first(np.where(there, blended(order, profile, everyone, blend), -1.0))
        assert first.tolist() == np.take_along_axis(relevant, ranked, axis=1)[:, :10].tolist()
