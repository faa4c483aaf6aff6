"""How uncertain are the terms that are left? The normalized certainty penalty (Carpineto & Romano, Eq. 6 and 7)."""

import numpy as np

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.evaluation.measures.fate import Standing, leaves_of


def ncp(standing: Standing, release: Release, taxonomy: Taxonomy) -> float:
    """The mean over all term occurrences: 0 released as it is, |u_t| / |I| under a label of |u_t| leaves, 1 suppressed.

    |I| are the leaves of the taxonomy. Occurrences are those of profiles, the same for every method.
    """
    leaves = leaves_of(release, taxonomy)
    penalty = np.where(leaves == 1, 0.0, leaves / int(taxonomy.leaves[0]))
    return standing.lost(penalty[standing.label]) / max(1.0, standing.occurrences)
