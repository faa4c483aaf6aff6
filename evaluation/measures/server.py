"""What does the searching server learn? Linkage by searches and their published profile, beside the queries alone."""

import numpy as np

from shoal.evaluation.attacks.server import Served, attack_streams, see_streams
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.linkage import CHOSEN
from shoal.evaluation.measures.release import MeasuredRelease

SEARCHES = (1, 5)
_STREAMS = (
    "of each user {s} searches are seen together, of the test part where there is one; of these streams the attacker "
    f"takes that under which {CHOSEN} known terms are likeliest, by "
)


def _attacked(measured: MeasuredRelease, s: int) -> Served | None:
    if not len(measured.victims):
        return None
    searches = measured.log if measured.later_log is None else measured.later_log
    streams = see_streams(
        measured.release, measured.assignment, measured.log.users, measured.knowledge, searches,
        measured.profiles.terms, s, measured.seed,
    )  # fmt: skip
    return attack_streams(streams, measured.victims, measured.known(CHOSEN), measured.progress)


def _server(measured: MeasuredRelease, s: int) -> np.ndarray | None:
    return served.both if (served := measured.once(_attacked, s)) else None


def _queries_only(measured: MeasuredRelease, s: int) -> np.ndarray | None:
    return served.queries if (served := measured.once(_attacked, s)) else None


server = ReleaseMeasure(
    name=f"server{CHOSEN}_",
    title=f"Found by the server, {{s}} searches and {CHOSEN} terms",
    says=f"The share of people whose {{s}} searches the server recognizes if it knows {CHOSEN} of their terms.",
    formula=_STREAMS + "the queries and the published profile beside them: [it is the victim's] / streams that tie",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    at=SEARCHES,
    parameter="s",
    interval=True,
    compute=_server,
)
queries_only = ReleaseMeasure(
    name=f"queries_only{CHOSEN}_",
    title=f"Found by {{s}} queries alone and {CHOSEN} terms",
    says="The same attack on the queries alone: what the server learns more than this, the method adds.",
    formula=_STREAMS + "the queries alone: [it is the victim's] / streams that tie",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    at=SEARCHES,
    parameter="s",
    interval=True,
    compute=_queries_only,
)
