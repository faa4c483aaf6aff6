"""Which cluster is nearest to a vocabulary that was left over? Exact, by bounds first and few matchings after."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array

from shoal.anonymizer.methods.ssc.hyper_terms import Centre, Cost
from shoal.anonymizer.methods.ssc.nearest_vocabulary import Vocabularies, index_by_term


class Centres:
    """The centres of all clusters, seen from the terms. A centre that moved is compared exactly from then on."""

    def __init__(self, centres: Sequence[Centre], vocabularies: Vocabularies, cost: Cost) -> None:
        self.of = list(centres)
        self._vocabularies = vocabularies
        self._cost = cost
        self._moved = np.zeros(len(self.of), dtype=bool)
        self._alone = np.array([cost.unmatched * c.members * c.occurrences for c in self.of], dtype=np.int64)
        indices = [index_by_term(centre, vocabularies.terms, cost) for centre in self.of]
        cluster = np.repeat(np.arange(len(indices)), [len(index.terms) for index in indices])
        terms = np.concatenate([index.terms for index in indices])
        best = np.concatenate([index.best for index in indices])
        self._best = csc_array((best, (cluster, terms)), shape=(len(indices), vocabularies.terms))

    def nearest(self, t: int) -> int:
        """The cluster whose centre is nearest to vocabulary t, the first of several."""
        terms, counts = self._vocabularies.of(t)
        if self._cost.model == 1:  # a cluster that shares nothing is at 0, and there mostly is one
            bound = np.zeros(len(self.of), dtype=np.int64)
        else:
            alone = self._cost.unmatched * self._vocabularies.size[t] + self._alone
            bound = np.where(self._moved, 0, alone - self._best[:, terms] @ counts)
        best, least = -1, 0
        for cluster in np.argsort(bound, kind="stable").tolist():
            if best >= 0 and (bound[cluster] > least or (bound[cluster] == least and cluster > best)):
                break
            exact = self._vocabularies.distance(t, self.of[cluster], self._cost)
            if best < 0 or exact < least or (exact == least and cluster < best):
                best, least = cluster, exact
        return best

    def move(self, cluster: int, centre: Centre) -> None:
        self.of[cluster] = centre
        self._moved[cluster] = True
