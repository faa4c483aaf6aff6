"""The privacy dial: at most so many in 100 may be found. Which release keeps most at that measured risk?"""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.evaluation.measures.precision import FREE
from shoal.webapp.core.releases import ReleaseSummary

RISKS = (1, 2, 5, 10, 20)  # in 100 people
RISK = "linkage5"


@dataclass(frozen=True, eq=False)
class Choice:
    """What the dial gives at a risk; no release where nothing that was made is as safe."""

    risk: int
    release: ReleaseSummary | None
    safest: float | None  # the least measured risk of all releases

    @property
    def keeps_more(self) -> bool:
        """Whether it serves better than what needs no personal data."""
        return self.release is not None and self.release.measured["kept"] > 0 and self.release.method not in FREE


def choose(listed: Sequence[ReleaseSummary], risk: int) -> Choice:
    """Of the releases that keep their promise and were measured: within the risk the one that keeps most.

    Of equals the one with less risk. What was measured counts, not the parameters.
    """
    measured = [one for one in listed if one.verdict.holds and {RISK, "kept"} <= set(one.measured)]
    within = [one for one in measured if one.measured[RISK] <= risk / 100]
    best = max(within, key=lambda one: (one.measured["kept"], -one.measured[RISK]), default=None)
    return Choice(risk, best, min((one.measured[RISK] for one in measured), default=None))
