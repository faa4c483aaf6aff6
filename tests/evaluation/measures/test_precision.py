"""Do the metrics agree with trec_eval's, and with what a person works out by hand?"""

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, P, nDCG

from shoal.evaluation.measures.base import RankingMeasure, Rankings
from shoal.evaluation.measures.registry import measures_of


def score(relevant: np.ndarray) -> dict[str, np.ndarray]:
    rankings = Rankings(relevant, relevant.sum(axis=1))
    return {measure.name: measure.compute(rankings) for measure in measures_of(RankingMeasure)}


def random_rankings(count: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.random(int(rng.integers(1, 101))) < rng.random() for _ in range(count)]


def trec_eval(rankings: list[np.ndarray]) -> dict[str, dict[str, float]]:
    qrels = {f"q{q}": {f"d{i}": int(r) for i, r in enumerate(row)} for q, row in enumerate(rankings)}
    run = {f"q{q}": {f"d{i}": float(-i) for i in range(len(row))} for q, row in enumerate(rankings)}
    found: dict[str, dict[str, float]] = {}
    for value in ir_measures.pytrec_eval.iter_calc([AP @ 10, P @ 10, nDCG @ 10, RR], qrels, run):
        found.setdefault(str(value.measure), {})[value.query_id] = value.value
    return found


def test_a_thousand_random_rankings_score_as_trec_eval_scores_them() -> None:
    rankings = random_rankings(1000)
    theirs = trec_eval(rankings)
    for q, row in enumerate(rankings):
        ours = score(row[None, :])
        # trec_eval's map_cut_10 divides by all relevant documents, AP@10 by those that fit in ten ranks.
        identity = theirs["AP@10"][f"q{q}"] * max(row.sum(), 1) / max(min(row.sum(), 10), 1)
        assert ours["ap10"][0] == pytest.approx(identity, abs=1e-9)
        assert ours["p10"][0] == pytest.approx(theirs["P@10"][f"q{q}"], abs=1e-9)
        assert ours["ndcg10"][0] == pytest.approx(theirs["nDCG@10"][f"q{q}"], abs=1e-9)
        assert ours["mrr"][0] == pytest.approx(theirs["RR"][f"q{q}"], abs=1e-9)


def test_relevant_at_ranks_one_and_three_gives_the_mean_of_one_and_two_thirds() -> None:
    ours = score(np.array([[True, False, True, False]]))
    assert ours["ap10"][0] == pytest.approx((1 + 2 / 3) / 2)
    assert ours["p10"][0] == pytest.approx(0.2)
    assert ours["ndcg10"][0] == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3)))
    assert ours["mrr"][0] == 1


def test_ten_relevant_on_top_of_thirty_is_perfect() -> None:
    row = np.zeros((1, 100), dtype=bool)
    row[0, :30] = True
    assert score(row)["ap10"][0] == 1
    assert score(row[:, ::-1])["ap10"][0] == 0


def test_a_ranking_without_relevant_documents_scores_zero() -> None:
    ours = score(np.zeros((2, 100), dtype=bool))
    assert all((values == 0).all() for values in ours.values())
