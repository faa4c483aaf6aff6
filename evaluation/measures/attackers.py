"""What do stronger attackers get? The server, one known query, people left out, planted, or released twice."""

import numpy as np

from shoal.corpus.errors import InputError
from shoal.evaluation.attacks.reruns import FAKES, Rerun, link_releases, membership, planted
from shoal.evaluation.attacks.server import Served, attack_streams, see_streams
from shoal.evaluation.attacks.singling_out import seen_query, terms_alone
from shoal.evaluation.attacks.spoken import LINKED
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.linkage import CHOSEN
from shoal.evaluation.measures.release import MeasuredRelease
from shoal.evaluation.measures.released_queries import published_as_typed

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


def _terms_alone(measured: MeasuredRelease) -> float | None:
    return terms_alone(measured.view, measured.assignment, measured.profiles)


def _seen(measured: MeasuredRelease) -> np.ndarray | None:
    if not published_as_typed(measured) or not len(measured.victims):
        return None
    return seen_query(measured.release, measured.log, measured.victims, measured.seed)


def _rerun(measured: MeasuredRelease) -> Rerun | None:
    if measured.method is None or not len(measured.victims):
        return None
    return Rerun(measured.method, measured.log, measured.knowledge, measured.seed, measured.progress)


def _membership(measured: MeasuredRelease) -> float | None:
    again = _rerun(measured)
    try:
        return None if again is None else membership(again, measured.profiles, measured.most_victims)
    except InputError:  # half of the people are too few for the method
        return None


def _planted(measured: MeasuredRelease) -> float | None:
    again = _rerun(measured)
    if again is None or not published_as_typed(measured):
        return None
    return planted(again, measured.release, measured.most_victims)


def _later(measured: MeasuredRelease) -> np.ndarray | None:
    again = _rerun(measured)
    known = measured.known(CHOSEN)
    try:
        return (
            None if again is None else link_releases(again, measured.view, measured.assignment, measured.victims, known)
        )
    except InputError:  # too few people in the earlier half of the log
        return None


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
replayed = ReleaseMeasure(
    name="replayed",
    title="Found by {m} terms and replayed devices",
    says="The share of people whom an attacker finds who asks what a device with {m} of their terms as the profile "
    "would have said at their searches.",
    formula=f"of methods whose devices say words of menus: of up to {LINKED} linked searches of each user the attacker "
    "has queries, menus and words, and takes the user whose words are likeliest from a device that ranks candidates by "
    "the {m} known terms (a word is the likelier the better its page; the table of epsilon where there is one): [it is "
    "the victim] / users that tie; of attackers who differ in how much likelier, in everyone's average beside the "
    "terms and in comparing with other victims the strongest",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    at=(CHOSEN,),
    interval=True,
    compute=MeasuredRelease.replayed,
)
alone_with_a_term = ReleaseMeasure(
    name="terms_alone",
    title="Terms of one member",
    says="The share of published terms that one member of their group alone holds.",
    formula="entries of published profiles that stand for terms of exactly one user behind them, divided by all",
    heading="singling out",
    better="lower",
    low=0,
    high=1,
    unit="share",
    compute=_terms_alone,
)
seen = ReleaseMeasure(
    name="seen_query",
    title="Singled out by a query",
    says="The share of people of whom one known query is published under one pseudonym only.",
    formula="of each victim one query is drawn, as often as it was asked: victims whose query one pseudonym alone has, "
    "divided by victims",
    heading="singling out",
    better="lower",
    low=0,
    high=1,
    unit="share",
    interval=True,
    compute=_seen,
)
members = ReleaseMeasure(
    name="membership",
    title="Membership",
    says="How surely an attacker who knows a person's whole profile tells whether the person is in the release; 0.5 is "
    "a guess.",
    formula="the method runs on half of the people: AUC of telling these from the other half, by how well the best "
    "published profile explains their terms (any smoothing) or by the share that is published; the strongest, at least "
    "0.5",
    heading="inference",
    better="lower",
    low=0.5,
    high=1,
    thorough=True,
    compute=_membership,
)
brought_out = ReleaseMeasure(
    name="planted",
    title="Brought out by planted users",
    says=f"The share of strings that are kept back but come out when {FAKES} fake users type them.",
    formula=f"the method runs on the log with {FAKES} more users who type distinct queries that were not released: "
    "those that are then released of others, divided by those typed",
    heading="singling out",
    better="lower",
    low=0,
    high=1,
    unit="share",
    thorough=True,
    compute=_planted,
)
twice = ReleaseMeasure(
    name="later",
    title="Found in two releases",
    says=f"The share of people whom an attacker finds who knows {CHOSEN} of their terms and reads this release and an "
    "earlier one.",
    formula="the method runs on the earlier half of the log, grouped anew: the attacker names a person whose two "
    f"profiles make {CHOSEN} known terms likeliest: [it is the victim] / persons that tie, mean over victims",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    interval=True,
    thorough=True,
    compute=_later,
)
