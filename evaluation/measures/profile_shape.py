"""How long and how special are published profiles? Mean length, and mean level of items with the root at level 1.

Milani Fard's thesis, 6.2. Both are means over users: a profile counts once for each user who has it, and an item as
often as it is published.
"""

import numpy as np

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.occurrences import label_nodes
from shoal.evaluation.measures.release import MeasuredRelease


def mean_length(release: Release) -> float:
    """Items of the profile that a user has; 0 where nothing is published."""
    length = np.asarray(release.weights.sum(axis=1)).ravel()
    return float(length @ release.users) / max(1, int(release.users.sum()))


def mean_level(release: Release, taxonomy: Taxonomy) -> float | None:
    """The level of items in the taxonomy, of a bag that of the node above it; None where it knows no item."""
    node = label_nodes(release, taxonomy)
    weight = np.where(node >= 0, release.weights.T @ release.users.astype(float), 0.0)
    level = np.where(node >= 0, taxonomy.depth[node] + 1, 0)
    return float(weight @ level / weight.sum()) if weight.sum() > 0 else None


def _length(measured: MeasuredRelease) -> float | None:
    return mean_length(measured.release) if len(measured.release) else None


def _level(measured: MeasuredRelease) -> float | None:
    return mean_level(measured.release, measured.knowledge.taxonomy)


length = ReleaseMeasure(
    name="length",
    title="Profile length",
    says="How many items a user's published profile has.",
    formula="sum of a profile's weights, mean over the users that have one",
    heading="utility",
    better="higher",
    low=0,
    unit="count",
    paper="Milani Fard 2010, 6.2",
    compute=_length,
)
level = ReleaseMeasure(
    name="level",
    title="Item level",
    says="How special published items are: their level in the taxonomy, the root at 1.",
    formula="depth in the taxonomy + 1 of each published item, mean over items as often as they are published",
    heading="utility",
    better="higher",
    low=1,
    paper="Milani Fard 2010, 6.2",
    compute=_level,
)
