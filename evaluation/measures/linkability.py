"""How likely is a term really linked to a user? The actual linkability of Zhu & Xiong's groups, beside their bound."""

from shoal.anonymizer.claims.linkability import ActualLinkability, actual_linkability
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.release import MeasuredRelease

_PAPER = "Zhu & Xiong 2010, Figure 6"


def _actual(measured: MeasuredRelease) -> ActualLinkability | None:
    """Only of releases that promise a bound."""
    if measured.claim is None or measured.claim.id != "p-linkability":
        return None
    return actual_linkability(measured.profiles, measured.assignment)


def _mean(measured: MeasuredRelease) -> float | None:
    return actual.mean if (actual := measured.once(_actual)) else None


def _largest(measured: MeasuredRelease) -> float | None:
    return actual.largest if (actual := measured.once(_actual)) else None


def _shared(measured: MeasuredRelease) -> float | None:
    return actual.largest_share if (actual := measured.once(_actual)) else None


linking_mean = ReleaseMeasure(
    name="linking_mean",
    title="Linking probability",
    says="How likely a term of a group is really linked to one of its users, in the mean.",
    formula="a user's distinct terms / distinct terms of the group, mean over users",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper=_PAPER,
    compute=_mean,
)
linking_max = ReleaseMeasure(
    name="linking_max",
    title="Largest linking probability",
    says="How likely a term of a group is really linked to one of its users, at the worst.",
    formula="a user's distinct terms / distinct terms of the group, largest over users",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper=_PAPER,
    compute=_largest,
)
shared_max = ReleaseMeasure(
    name="shared_max",
    title="Largest shared term",
    says="The largest share of a group's members who used the same term: of it, everybody in the group is suspected.",
    formula="members that used a term / members, largest over groups and their terms",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper=_PAPER,
    compute=_shared,
)
