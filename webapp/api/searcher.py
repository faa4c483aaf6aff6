"""What can a searcher's programs ask? All that the pages do, as JSON under /api/v1."""

from typing import Any

from apiflask import APIBlueprint
from flask import Response, abort, request

from shoal.anonymizer.registry import describe
from shoal.anonymizer.registry import methods as all_methods
from shoal.evaluation.measures.registry import describe as describe_measure
from shoal.evaluation.measures.registry import measures as all_measures
from shoal.webapp.api import searcher_schemas as s
from shoal.webapp.core.context import releases, service
from shoal.webapp.core.dial import choose
from shoal.webapp.core.formats import safe_link
from shoal.webapp.core.question import Asked, find_release, read_asked, visible_releases
from shoal.webapp.searcher.attack import ORIGINAL, choose_target, draw_terms, play
from shoal.webapp.searcher.candidates import candidates_answer, words_answer
from shoal.webapp.searcher.knows import what_is_known
from shoal.webapp.searcher.mine import compact_profiles
from shoal.webapp.searcher.search import compare
from shoal.webapp.searcher.token import own_view
from shoal.webapp.searcher.why import give_reason

api = APIBlueprint("api", __name__, url_prefix="/api/v1", tag="search")


@api.get("/search")
@api.input(s.QuestionIn, location="query", arg_name="question")
@api.output(s.SearchOut)
@api.doc(summary="Search: plain, personalized and anonymized rankings of one query")
def search(question: dict[str, Any]) -> dict[str, Any]:
    asked = read_asked(request.args)
    found = compare(asked.question, asked.asker, service())
    return {
        "release_id": asked.release.release_id, "query": asked.question.query, "found": found.found,
        "page": asked.question.page, "pages": found.pages, "suggestion": found.suggestion,
        "group_size": asked.asker.group_size(), "quality": found.quality, "columns": found.columns,
    }  # fmt: skip


@api.get("/candidates")
@api.input(s.CandidatesIn, location="query", arg_name="question")
@api.output(s.CandidatesOut)
@api.doc(summary="The candidates of a query with their vectors, so that a browser ranks by a profile that it keeps")
def candidates(question: dict[str, Any]) -> Response:
    given = {name: request.args.get(name, "") for name in ("q", "release", "risk")}  # whoever asks
    asked = read_asked(given)
    return candidates_answer(asked.question.query, asked.published, service(), request)


@api.get("/words")
@api.input(s.WordsIn, location="query", arg_name="wanted")
@api.output(s.WordsOut)
@api.doc(summary="The words that profiles can hold and documents do: what the numbers of /candidates stand for")
def words(wanted: dict[str, Any]) -> Response:
    return words_answer(service(), request)


@api.get("/why")
@api.input(s.WhyIn, location="query", arg_name="question")
@api.output(s.WhyOut)
@api.doc(summary="Why a result stands where it does, and whose term gave what")
def why(question: dict[str, Any]) -> dict[str, Any]:
    asked = read_asked(request.args)
    reason = give_reason(asked.question, asked.asker, service(), question["document"], question["column"])
    if reason is None:
        abort(404)
    engine = [{"clause": clause, "value": value} for clause, value in reason.engine]
    everyone = [{"term": term, "value": value} for term, value in reason.everyone]
    return {**vars(reason), "release_id": asked.release.release_id, "engine": engine, "everyone": everyone}


@api.get("/users")
@api.input(s.UsersIn, location="query", arg_name="wanted")
@api.output(s.UsersOut)
@api.doc(summary="Users to search as, by interest, under names that lead back to nobody")
def users(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"simulated": service().simulated, "users": service().people.find(wanted["find"], wanted["limit"])}


@api.get("/users/<key>/profile")
@api.input(s.ReleaseIn, location="query", arg_name="wanted")
@api.output(s.KnownOut)
@api.doc(summary="A user's profile before and after")
def profile(key: str, wanted: dict[str, Any]) -> dict[str, Any]:
    asked = _asked_by(key, wanted)
    person = asked.asker.person
    assert person is not None
    return {**vars(what_is_known(person, asked.published, service())), "release_id": asked.release.release_id}


@api.get("/users/<key>/attack")
@api.input(s.AttackIn, location="query", arg_name="wanted")
@api.output(s.AttackOut)
@api.doc(summary="Play the linkage attack on a user; release=original attacks the profiles as they are")
def attack(key: str, wanted: dict[str, Any]) -> dict[str, Any]:
    on_original = wanted.get("release") == ORIGINAL
    asked = _asked_by(key, {} if on_original else wanted)
    person = asked.asker.person
    assert person is not None
    target = choose_target(asked, on_original)
    known = wanted["terms"] or draw_terms(person, service().profiles, wanted["m"], wanted["seed"])
    return {**vars(play(target, person, known, service())), "release_id": target.release_id}


def _asked_by(key: str, wanted: dict[str, Any]) -> Asked:
    return read_asked({"user": key or "-", "release": wanted.get("release", "")})


@api.get("/dial")
@api.input(s.DialIn, location="query", arg_name="wanted")
@api.output(s.DialOut)
@api.doc(summary="The release that keeps most where at most so many in 100 may be found; null if none is as safe")
def dial(wanted: dict[str, Any]) -> dict[str, Any]:
    if not wanted["risk"]:
        return {"release_id": releases().serving().release_id, "keeps_more": True, "is_clear": True, "tied": []}
    choice = choose(visible_releases(), wanted["risk"])
    found = choice.release.release_id if choice.release is not None else None
    tied = [one.release_id for one in choice.tied]
    return {
        "release_id": found,
        **vars(choice),
        "keeps_more": choice.keeps_more,
        "is_clear": choice.is_clear,
        "tied": tied,
    }


@api.get("/releases")
@api.output(s.ReleasesOut)
@api.doc(summary="The releases that can be compared, and the active one")
def list_releases() -> dict[str, Any]:
    return {"current": releases().serving().release_id, "releases": visible_releases()}


@api.get("/releases/<release_id>")
@api.output(s.ReleaseOut)
@api.doc(summary="How a release was made, what it promises, and what was measured; `current` is the active one")
def release(release_id: str) -> dict[str, Any]:
    found = find_release(release_id)
    manifest = found.stored.manifest
    return {**vars(found), "claim": found.verdict.sentence, "users": manifest.users, "groups": manifest.groups}


@api.get("/releases/<release_id>/profiles")
@api.output(s.ProfilesOut)
@api.doc(summary="All published profiles, compact, so that a browser can find its nearest group by itself")
def profiles(release_id: str) -> Response:
    found = find_release(release_id)
    if release_id != "current":
        releases().get(release_id, only_public=True)  # also to operators: what was never public is not given out here
    return compact_profiles(service().published(found), service(), request)


@api.get("/token")
@api.output(s.OwnViewOut)
@api.doc(
    summary="The own group of who sends a token (Authorization: Bearer)", responses={401: "no token, or no good one"}
)
def token() -> dict[str, Any]:
    own = own_view()
    if own is None:
        abort(401)
    return own


@api.get("/documents/<int:document>")
@api.output(s.DocumentOut)
@api.doc(summary="A document")
def read_document(document: int) -> dict[str, Any]:
    documents = service().index.documents
    if document >= len(documents):
        abort(404)
    found = documents[document]
    return {**vars(found), "document": document, "url": safe_link(found.url)}


@api.get("/methods")
@api.output(s.MethodsOut)
@api.doc(summary="The anonymizers, their parameters, and what they do not protect")
def methods() -> dict[str, Any]:
    return {"methods": [describe(method.info) for method in all_methods().values()]}


@api.get("/measures")
@api.output(s.MeasuresOut)
@api.doc(summary="The measures: what each says, its formula, and which way is better")
def measures() -> dict[str, Any]:
    return {"measures": [describe_measure(measure) for measure in all_measures().values()]}
