"""How much of a hashed release does an attacker read who has another log? Tokens, and their occurrences."""

import numpy as np

from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.release import MeasuredRelease


def _right(measured: MeasuredRelease) -> np.ndarray:
    """Of each label, whether the attacker reads it as what it is. In the release that is measured labels are plain."""
    read = measured.view.release.labels
    return np.array([word == label for word, label in zip(read, measured.release.labels, strict=True)], dtype=bool)


def _tokens(measured: MeasuredRelease) -> float | None:
    if measured.assignment.key is None or not measured.release.labels:
        return None
    return float(measured.once(_right).mean())


def _occurrences(measured: MeasuredRelease) -> float | None:
    if measured.assignment.key is None or not measured.release.labels:
        return None
    weight = np.asarray(measured.release.weights.sum(axis=0)).ravel()
    return float(weight[measured.once(_right)].sum() / weight.sum())


_REFERENCE = (
    "The attacker has what half of the people asked later (of a log that has no later part, what they asked) and "
    "matches hashes and words by frequency and by what stands beside what"
)

inverted = ReleaseMeasure(
    name="inverted",
    title="Hashes read",
    says="The share of hashed tokens that an attacker reads who has another log.",
    formula=f"{_REFERENCE}; tokens read rightly / tokens published",
    heading="inference",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper="Kumar et al. 2007",
    compute=_tokens,
)
inverted_occurrences = ReleaseMeasure(
    name="inverted_occurrences",
    title="Occurrences read",
    says="The share of what was published, each token as often as it stands there, that this attacker reads.",
    formula=f"{_REFERENCE}; occurrences of tokens read rightly / occurrences",
    heading="inference",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper="Kumar et al. 2007",
    compute=_occurrences,
)
