"""The strip above the results: what does this group keep of what is personal, for this query and for everybody?

One scale, AP@10 as the evaluation defines it, with three marks: no profile, this group's, the person's own. Rankings
are by the profile alone, whatever the slider says, so that the numbers are those of `shoal evaluate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.evaluation.measures.base import Rankings
from shoal.evaluation.measures.precision import average_precision, share_kept
from shoal.evaluation.protocol.precision import FEWEST_CANDIDATES, first_by_own
from shoal.search.personal import PLAIN, Found
from shoal.search.rerank import best_first, row_cosines
from shoal.webapp.core.dial import RISK
from shoal.webapp.core.question import PAGE_SIZE
from shoal.webapp.core.releases import ReleaseSummary
from shoal.webapp.core.service import SearchService

PERSONALIZED, ANONYMIZED = "personalized", "anonymized"
_AS_THEY_ARE = "original"  # the method that publishes profiles as they are


@dataclass(frozen=True)
class Quality:
    """AP@10 of one query under three profiles and none: 1 is what the own profile ranks first."""

    plain: float
    everyone: float
    ap10: float  # of the group's profile
    kept: float
    same10: int  # documents among the first ten of the group's and of the own ranking
    own: float = 1.0


@dataclass(frozen=True)
class Everybody:
    """The same over many people and queries, as it was measured when the release was made."""

    free: float  # the better of plain and everyone's average: what one has for nothing
    ap10: float
    kept: float
    own: float = 1.0


def quality(found: Found, service: SearchService) -> Quality | None:
    """None where there is nothing to compare, or fewer candidates than the protocol asks for."""
    if not {PERSONALIZED, ANONYMIZED} <= set(found.rankings) or len(found) < FEWEST_CANDIDATES:
        return None
    documents = found.rankings[PLAIN].documents[None, :]
    rows = {**found.profiles, "everyone": service.everyone}
    cosine = {name: row_cosines(found.vectors, row) for name, row in rows.items()}
    relevant = first_by_own(cosine[PERSONALIZED][None, :], documents)
    order = dict(zip(cosine, best_first(np.stack([*cosine.values()])), strict=True))
    rankings = Rankings(relevant[0][np.stack([*order.values()])], np.repeat(relevant.sum(axis=1), len(order)))
    ap10 = dict(zip(order, average_precision(rankings).tolist(), strict=True))
    kept = float(share_kept(ap10[ANONYMIZED], max(ap10[PLAIN], ap10["everyone"])))
    own, group = (order[name][:PAGE_SIZE] for name in (PERSONALIZED, ANONYMIZED))
    return Quality(ap10[PLAIN], ap10["everyone"], ap10[ANONYMIZED], kept, int(np.isin(own, group).sum()))


def everybody(release: ReleaseSummary) -> Everybody | None:
    """None where the log had no queries to measure with. What is kept tells what it was counted from."""
    ap10, kept = release.measured.get("ap10"), release.measured.get("kept")
    if ap10 is None or kept is None or kept >= 1:
        return None
    return Everybody((ap10 - kept) / (1 - kept), ap10, kept)


def found_as_they_are(listed: Sequence[ReleaseSummary]) -> float | None:
    """How many are found where profiles are published as they are, if that was measured."""
    return next((one.measured.get(RISK) for one in listed if one.method == _AS_THEY_ARE), None)
