"""How good is a ranking? AP@10, P@10, nDCG@10 and MRR of many at once, and how much of what is personal is kept."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.evaluation.measures.base import (
    DEPTH,
    BlendMeasure,
    RankingMeasure,
    Rankings,
    Served,
    ServedMeasure,
)

_DISCOUNT = 1 / np.log2(np.arange(2, DEPTH + 2))
_ZHU_XIONG = "Zhu & Xiong 2010"
FREE = ("everyone", "plain")  # the controls that need no personal data
DEVICE = "device"  # the control that needs no server to rank, and so competes with none that does
HASHED = "token-hashing"  # makes no promise: what our attack finds is a lower bound of its risk
OUTSIDE = (DEVICE, HASHED)  # what is no answer to which method is best at a risk


def average_precision(rankings: Rankings) -> np.ndarray:
    """AP@10, divided by min(10, relevant), so that ten relevant documents on top have 1.

    trec_eval's map_cut_10 divides by the number of relevant ones.
    """
    precision = np.cumsum(rankings.top, axis=1) / np.arange(1, DEPTH + 1)
    return _share((precision * rankings.top).sum(axis=1), rankings.possible)


def precision_at_ten(rankings: Rankings) -> np.ndarray:
    return np.asarray(rankings.top.sum(axis=1) / DEPTH)


def discounted_gain(rankings: Rankings) -> np.ndarray:
    ideal = np.concatenate([[0.0], np.cumsum(_DISCOUNT)])[rankings.possible]
    return _share((rankings.top * _DISCOUNT).sum(axis=1), ideal)


def reciprocal_rank(rankings: Rankings) -> np.ndarray:
    return np.where(rankings.relevant.any(axis=1), 1 / (rankings.relevant.argmax(axis=1) + 1), 0.0)


def share_kept(ap10: Any, floor: Any) -> Any:
    """The share of what is personal that a method keeps; 0 where the control already has all of it."""
    return np.where(np.asarray(floor) < 1, (ap10 - floor) / np.maximum(1 - np.asarray(floor), 1e-12), 0.0)[()]


def better_control(ap10: Mapping[str, float]) -> str:
    """What serves people best without personal data, by the AP@10 of each control: what `kept` is counted from.

    Where profiles are short, no profile at all serves better than everyone's average.
    """
    return max((name for name in FREE if name in ap10), key=lambda name: ap10[name])


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _kept(served: Served) -> Any:
    return share_kept(served.scores["ap10"], served.floor)


def _kept_served(served: Served) -> Any:
    return share_kept(served.scores["ap10_served"], served.floor)


users = ServedMeasure(
    name="users",
    title="People",
    says="How many people have a test query.",
    formula="users with a profile and at least one test query that finds enough candidates",
    better="neither",
    low=0,
    unit="count",
    main=True,
    by_clicks=True,
    compute=lambda served: served.people,
)
queries = ServedMeasure(
    name="queries",
    title="Queries",
    says="How many test queries were asked.",
    formula="test queries of these people",
    better="neither",
    low=0,
    unit="count",
    main=True,
    by_clicks=True,
    compute=lambda served: served.queries,
)
ap10 = RankingMeasure(
    name="ap10",
    title="AP@10",
    says="How well the first ten results agree with what the person's own profile ranks first; 1 is the same.",
    formula="sum over relevant ranks i up to 10 of the precision at i, divided by min(10, relevant documents), where "
    "trec_eval divides by all relevant ones; mean "
    "over each person's queries, then over people. Relevant are the first 30 of 100 candidates by the own profile",
    better="higher",
    low=0,
    high=1,
    paper=_ZHU_XIONG,
    interval=True,
    main=True,
    headline=True,
    compute=average_precision,
)
kept = ServedMeasure(
    name="kept",
    title="Kept",
    says="The share of what is personal that is left: 1 like the own profile, 0 like the better of no profile and one "
    "for everyone, below 0 worse than that.",
    formula="(AP@10 - B) / (1 - B), where B is the larger AP@10 of plain and everyone: what one has for nothing",
    better="higher",
    high=1,
    interval=True,
    main=True,
    headline=True,
    compute=_kept,
)
p10 = RankingMeasure(
    name="p10",
    title="P@10",
    says="The share of the first ten results that are relevant.",
    formula="relevant documents among the first ten, divided by ten",
    better="higher",
    low=0,
    high=1,
    main=True,
    compute=precision_at_ten,
)
ndcg10 = RankingMeasure(
    name="ndcg10",
    title="nDCG@10",
    says="Precision of the first ten results, in which higher ranks count more.",
    formula="sum over relevant ranks i up to 10 of 1 / log2(i + 1), divided by the most that is possible",
    better="higher",
    low=0,
    high=1,
    paper="Järvelin & Kekäläinen 2002",
    main=True,
    compute=discounted_gain,
)
mrr = RankingMeasure(
    name="mrr",
    title="MRR",
    says="How high the first relevant result stands.",
    formula="one divided by the rank of the first relevant document",
    better="higher",
    low=0,
    high=1,
    main=True,
    compute=reciprocal_rank,
)
ap10_served = BlendMeasure(
    name="ap10_served",
    title="AP@10, served",
    says="AP@10 of the ranking that people are served: the published profile beside everyone's average and the "
    "engine's order.",
    formula="AP@10 of the candidates by b cos(profile)/max + g cos(everyone)/max + (1 - b - g) (engine's order, from 1 "
    "in equal steps to 0); everyone's average is of the terms of at least 20 users; b and g are those that serve best "
    "on the last tenth of each person's part for the profile, up to five queries each, with the method run on the rest "
    "of that part; of those within a standard error of the best, the ones with most of the profile",
    better="higher",
    low=0,
    high=1,
    interval=True,
    compute=average_precision,
)
kept_served = ServedMeasure(
    name="kept_served",
    title="Kept, served",
    says="The share of what is personal that is left in the ranking that people are served: 1 like the own profile, 0 "
    "like the best blend of everyone's average and the engine's order, which needs no personal data.",
    formula="(AP@10 served - B) / (1 - B), where B is that of plain: the blend without a profile, learned the same way",
    better="higher",
    high=1,
    interval=True,
    headline=True,
    of_blend=True,
    compute=_kept_served,
)
