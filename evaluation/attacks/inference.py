"""What would the attacker now believe? The terms of the picked profile that were not known, likeliest first."""

import numpy as np
from scipy.sparse import csr_array

from evaluation.attacks.linkage import Linkage
from evaluation.attacks.victims import Victims
from evaluation.attacks.view import PublishedView

GUESSES = 10


def inference(view: PublishedView, victims: Victims, known: csr_array, linked: Linkage) -> float:
    """Precision of naming ten unknown terms from the picked profile, beyond naming the commonest of the release.

    Terms are ranked by their weight in the profile, and by that times their weight in the release; the stronger of
    the two counts. This is the change of belief of Zhu & Xiong's equations 1 to 3, and never below 0.
    """
    if len(view.release) == 0 or len(victims) == 0:
        return 0.0
    terms = view.terms
    common = view.whole_over(terms)
    picked, row = np.unique(linked.picked, return_inverse=True)
    weights = view.profiles_over(terms, picked)
    own = _columns(victims, terms)
    hits = np.zeros(3)
    for victim in range(len(victims)):
        there = weights.indptr[row[victim]], weights.indptr[row[victim] + 1]
        index, weight = weights.indices[slice(*there)], weights.data[slice(*there)]
        true, told = own.of(victims, victim), own.known(known, victim)
        hits[0] += _expected_hits(index, weight, true, told)
        hits[1] += _expected_hits(index, weight * common[index], true, told)
        hits[2] += _expected_hits(np.arange(len(terms)), common, true, told)
    by_weight, by_both, baseline = hits / (GUESSES * len(victims))
    return max(0.0, float(max(by_weight, by_both) - baseline))


class _columns:
    """Terms of the victims' profiles as positions among the published terms, -1 where nothing published names one."""

    def __init__(self, victims: Victims, terms: list[str]) -> None:
        position = {term: i for i, term in enumerate(terms)}
        self.place = np.array([position.get(term, -1) for term in victims.profiles.terms], dtype=np.int64)

    def of(self, victims: Victims, victim: int) -> np.ndarray:
        counts, user = victims.profiles.counts, victims.user[victim]
        return self.place[counts.indices[counts.indptr[user] : counts.indptr[user + 1]]]

    def known(self, known: csr_array, victim: int) -> np.ndarray:
        return self.place[known.indices[known.indptr[victim] : known.indptr[victim + 1]]]


def _expected_hits(index: np.ndarray, weight: np.ndarray, true: np.ndarray, told: np.ndarray) -> float:
    """Right ones among the ten heaviest that are not known yet; where weights tie, what a random choice expects."""
    fresh = ~np.isin(index, told) & (weight > 0)
    index, weight = index[fresh], weight[fresh]
    if len(index) <= GUESSES:
        return float(np.isin(index, true).sum())
    edge = np.partition(weight, -GUESSES)[-GUESSES]
    above, tied = index[weight > edge], index[weight == edge]
    share = (GUESSES - len(above)) / len(tied)
    return float(np.isin(above, true).sum() + share * np.isin(tied, true).sum())
