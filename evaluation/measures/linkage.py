"""What does an attacker get out of a few known terms? Linkage, the three attackers, and the inference of others."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.profiles import build_profiles
from shoal.evaluation.attacks.inference import GUESSES, inference
from shoal.evaluation.attacks.linkage import Attackers, attackers, link, link_later
from shoal.evaluation.attacks.victims import KNOWN
from shoal.evaluation.attacks.view import SMOOTHINGS, PublishedView
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.release import MeasuredRelease

CHOSEN = 5  # known terms, where a measure is given for one number of them
_ARX = "Prasser et al. 2014 (ARX)"
_ATTACK = f"the attack of linkage@{CHOSEN} by profiles; "


def _linkage(measured: MeasuredRelease, m: int) -> np.ndarray | None:
    """By what is published or was said; where devices choose from menus, replayed ones if these find more people."""
    if not len(measured.victims):
        return None
    named, replayed = measured.linked(m).success, measured.replayed(m)
    return named if replayed is None or replayed.sum() <= named.sum() else replayed


def _later(measured: MeasuredRelease) -> float | None:
    if measured.later_log is None:
        return None
    later = build_profiles(measured.later_log, measured.knowledge.words)
    return link_later(measured.view, measured.assignment, measured.victims, later)


def _three(measured: MeasuredRelease) -> Attackers | None:
    if not len(measured.victims):
        return None
    return attackers(measured.linked(CHOSEN), measured.victims, measured.assignment, len(measured.release))


def _prosecutor(measured: MeasuredRelease) -> float | None:
    return found.prosecutor if (found := measured.once(_three)) else None


def _journalist(measured: MeasuredRelease) -> float | None:
    return found.journalist if (found := measured.once(_three)) else None


def _marketer(measured: MeasuredRelease) -> float | None:
    return found.marketer if (found := measured.once(_three)) else None


def _inference(measured: MeasuredRelease, m: int) -> np.ndarray | None:
    if not len(measured.victims):
        return None
    return inference(measured.view, measured.victims, measured.known(m), measured.linked(m))


def _sum(measured: MeasuredRelease) -> float | None:
    """Only where somebody has several pseudonyms: seen together they are one profile, the sum of all."""
    assignment = measured.assignment
    if not len(measured.victims) or np.bincount(assignment.user, minlength=1).max() < 2:
        return None
    release, users = measured.view.release, len(assignment.users)
    together = csr_array(assignment.pairs(len(release)) @ release.weights)
    names = [f"p{user}" for user in range(users)]
    seen = replace(release, pseudonyms=names, users=np.ones(users, dtype=np.int64), weights=together, queries=None)
    everyone = np.arange(users, dtype=np.int32)
    held = replace(assignment, user=everyone, profile=everyone)
    view = PublishedView(seen, measured.knowledge)
    return float(link(view, held, measured.victims, measured.known(CHOSEN)).success.mean())


linkage = ReleaseMeasure(
    name="linkage",
    title="Found by {m} terms",
    says="The share of people whom an attacker finds who knows {m} of their terms.",
    formula="the attacker takes the published profile under which the {m} known terms are likeliest (ties shared) and "
    "names one of its users: [it is the victim's profile] / (users that share it), mean over victims; of attackers who "
    f"smooth by {', '.join(f'{share:g}' for share in SMOOTHINGS)} the strongest. Where devices say words of menus, "
    "what they said is the profile, or the attack of replayed@{m} counts, whichever finds more",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    at=KNOWN,
    interval=True,
    main=True,
    headline=(CHOSEN,),
    compute=_linkage,
)
linkage_sum = ReleaseMeasure(
    name="linkage_sum",
    title="Found, pseudonyms seen together",
    says="The share of people found by who sees all pseudonyms of a person as one, where there are several.",
    formula=f"as linkage@{CHOSEN}, on the sums of the profiles of each person",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    compute=_sum,
)
linkage_test = ReleaseMeasure(
    name="linkage_test",
    title="Found by later queries",
    says="The share of people whom an attacker finds who saw all that they asked later.",
    formula="as linkage@m, but known are all terms of the victim's test events, repetitions counted",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    compute=_later,
)
prosecutor = ReleaseMeasure(
    name="prosecutor",
    title="Prosecutor",
    says="The risk of the person who is easiest to find.",
    formula=_ATTACK + "the largest chance of any victim",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper=_ARX,
    compute=_prosecutor,
)
journalist = ReleaseMeasure(
    name="journalist",
    title="Journalist",
    says="The risk of the group that is easiest to find.",
    formula=_ATTACK + "the largest mean chance of the victims of any published profile",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper=_ARX,
    compute=_journalist,
)
marketer = ReleaseMeasure(
    name="marketer",
    title="Marketer",
    says="The share of people found by an attacker who wants to find as many as possible.",
    formula=_ATTACK + "the mean chance over victims",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper=_ARX,
    compute=_marketer,
)
inferred = ReleaseMeasure(
    name="inference",
    title="Inferred from {m} terms",
    says=f"How many of {GUESSES} further terms of a person an attacker guesses who knows {{m}}, beyond what all know.",
    formula=f"precision of naming the {GUESSES} unknown terms that are likeliest in the profile that linkage@{{m}} "
    f"picks, by their weight there or by that times their weight in the release, minus that of naming the {GUESSES} "
    "commonest of the release; the strongest attacker, and never below 0",
    heading="inference",
    better="lower",
    low=0,
    high=1,
    unit="share",
    paper="Zhu & Xiong 2010, Eq. 1 to 3",
    at=KNOWN,
    interval=True,
    main=(CHOSEN,),
    headline=(CHOSEN,),
    compute=_inference,
)
