"""How much did members lose by being published as a group? The thesis's distortion (GGD, Def. 3.2.3), for any release.

An occurrence that is published as it is costs 0, under a generalized label x it costs LM(x), and 1 if it is suppressed.
A bag of n terms costs what a node with n leaves does. A centroid's weight w is w occurrences of each member.
"""

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.evaluation.measures.fate import Standing, leaves_of


def distortion(standing: Standing, release: Release, taxonomy: Taxonomy) -> float:
    """GGD of a release, over all users of the log; a user without a profile loses everything."""
    LM = (leaves_of(release, taxonomy) - 1) / max(1, int(taxonomy.leaves[0]) - 1)
    return standing.lost(LM[standing.label])
