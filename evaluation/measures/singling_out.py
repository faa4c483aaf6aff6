"""Can a profile be told from all others? How many users share one, and whether a few terms fit one only."""

import numpy as np

from shoal.evaluation.attacks.singling_out import singled_out_at
from shoal.evaluation.attacks.victims import KNOWN
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.release import MeasuredRelease


def _singled_out_at(measured: MeasuredRelease) -> np.ndarray:
    return singled_out_at(measured.view, measured.victims)


def _uniqueness(measured: MeasuredRelease, m: int) -> np.ndarray | None:
    return (measured.once(_singled_out_at) <= m).astype(float) if len(measured.victims) else None


def _smallest(measured: MeasuredRelease) -> float | None:
    return float(measured.release.users.min()) if len(measured.release) else None


def _median(measured: MeasuredRelease) -> float | None:
    return float(np.median(measured.release.users)) if len(measured.release) else None


def _mean(measured: MeasuredRelease) -> float | None:
    return float(measured.release.users.mean()) if len(measured.release) else None


def _alone(measured: MeasuredRelease) -> float | None:
    users, profile = measured.assignment.user, measured.assignment.profile
    return float(len(np.unique(users[measured.release.users[profile] == 1]))) if len(measured.release) else None


def _with_nothing(measured: MeasuredRelease) -> float:
    return float(len(measured.profiles) - len(np.unique(measured.assignment.user)))


unique = ReleaseMeasure(
    name="uniqueness",
    title="Singled out by {m} terms",
    says="The share of people of whom up to {m} known terms fit one published profile only.",
    formula="victims for whom the first {m} known terms, or fewer of these, are held by exactly one published "
    "profile, divided by victims; a term that nothing published stands for fits no profile",
    heading="singling out",
    better="lower",
    low=0,
    high=1,
    unit="share",
    at=KNOWN,
    interval=True,
    compute=_uniqueness,
)
anonymity_min = ReleaseMeasure(
    name="anonymity_min",
    title="Smallest group",
    says="The fewest users behind one published profile.",
    formula="minimum over published profiles of the users that share it",
    heading="singling out",
    better="higher",
    low=1,
    unit="count",
    main=True,
    headline=True,
    compute=_smallest,
)
anonymity_median = ReleaseMeasure(
    name="anonymity_median",
    title="Median group",
    says="Users behind one published profile, in the middle.",
    formula="median over published profiles of the users that share it",
    heading="singling out",
    better="higher",
    low=1,
    unit="count",
    main=True,
    compute=_median,
)
anonymity_mean = ReleaseMeasure(
    name="anonymity_mean",
    title="Mean group",
    says="Users behind one published profile, in the mean.",
    formula="mean over published profiles of the users that share it",
    heading="singling out",
    better="higher",
    low=1,
    unit="count",
    paper="Zhu & Xiong 2010, Figure 5",
    compute=_mean,
)
alone = ReleaseMeasure(
    name="alone",
    title="Alone",
    says="How many users have a published profile to themselves.",
    formula="users with a published profile that nobody else shares",
    heading="singling out",
    better="lower",
    low=0,
    unit="count",
    compute=_alone,
)
users_with_nothing = ReleaseMeasure(
    name="users_with_nothing",
    title="Left out",
    says="How many users have no published profile.",
    formula="users of the log without a pseudonym",
    heading="utility",
    better="lower",
    low=0,
    unit="count",
    compute=_with_nothing,
)
