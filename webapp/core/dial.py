"""The privacy dial: at most so many in 100 may be found. Which release keeps most at that measured risk?"""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.evaluation.measures.precision import FREE, OUTSIDE
from shoal.webapp.core.releases import ReleaseSummary

RISKS = (1, 2, 5, 10, 20)  # in 100 people
RISK = "linkage5"


@dataclass(frozen=True, eq=False)
class Choice:
    """What the dial gives at a risk; no release where nothing that was made is as safe."""

    risk: int
    release: ReleaseSummary | None
    safest: float | None  # the least measured risk of all releases
    tied: tuple[ReleaseSummary, ...] = ()  # within the risk too, and which keeps more cannot be told

    @property
    def keeps_more(self) -> bool:
        """Whether it serves better than what needs no personal data."""
        return self.release is not None and self.release.measured["kept"] > 0 and self.release.method not in FREE

    @property
    def is_clear(self) -> bool:
        """Whether that is more than luck: the whole interval lies above what needs no personal data."""
        return self.keeps_more and self.release is not None and _ends(self.release)[0] > 0


def choose(listed: Sequence[ReleaseSummary], risk: int) -> Choice:
    """Of the releases that keep their promise and were measured: within the risk the one that keeps most.

    Of equals the one with less risk. What was measured counts, not the parameters. The dial is for what the server
    ranks by; a device that ranks by itself needs none, and what promises nothing is not offered by it.
    """
    served = [one for one in listed if one.verdict.holds and one.method not in OUTSIDE]
    measured = [one for one in served if {RISK, "kept"} <= set(one.measured)]
    within = [one for one in measured if one.measured[RISK] <= risk / 100]
    best = max(within, key=lambda one: (one.measured["kept"], -one.measured[RISK]), default=None)
    safest = min((one.measured[RISK] for one in measured), default=None)
    return Choice(risk, best, safest, _tied(best, within) if best is not None else ())


def _tied(best: ReleaseSummary, within: Sequence[ReleaseSummary]) -> tuple[ReleaseSummary, ...]:
    """Those of other methods whose intervals reach into that of the best, one of each; what keeps most first."""
    reaching = [one for one in within if one.method not in (best.method, *FREE) and _ends(one)[1] >= _ends(best)[0]]
    of_method = {one.method: one for one in sorted(reaching, key=lambda one: one.measured["kept"])}
    return tuple(reversed(of_method.values()))


def _ends(release: ReleaseSummary) -> tuple[float, float]:
    """The 95 % interval of what it keeps; without one, the number itself."""
    kept = release.measured["kept"]
    return release.measured.get("kept_low", kept), release.measured.get("kept_high", kept)
