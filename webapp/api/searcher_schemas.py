"""What goes into the public API and what comes out? The shapes that the OpenAPI document describes."""

from typing import Any

from apiflask import Schema
from apiflask.fields import Boolean, DateTime, Dict, Float, Integer, List, Nested, Raw, String
from apiflask.validators import Length, OneOf, Range

from shoal.webapp.core.dial import RISKS
from shoal.webapp.core.question import PAGES, VIEWS
from shoal.webapp.searcher.search import KINDS


class ErrorDetail(Schema):
    code = Integer(required=True)
    message = String(required=True)


class ErrorOut(Schema):
    error = Nested(ErrorDetail, required=True)


def _text(what: str, longest: int = 100, **more: Any) -> String:
    return String(validate=Length(max=longest), metadata={"description": what}, **more)


class WhoIn(Schema):
    user = _text("key of a user, as /users gives it")
    release = _text("id of a release; what the dial says, or the active one, if left out")


class DialIn(Schema):
    risk = Integer(
        load_default=0,
        validate=OneOf((0, *RISKS)),
        metadata={"description": "at most so many in 100 may be found; 0 asks for the active release"},
    )


class DialOut(Schema):
    release_id = String(allow_none=True)
    keeps_more = Boolean(metadata={"description": "than what needs no personal data: plain and everyone's average"})
    is_clear = Boolean(metadata={"description": "whether that is more than luck, by its 95 % interval"})
    tied = List(String(), metadata={"description": "releases within the risk that may keep as much"})
    safest = Float(metadata={"description": "the least measured risk of all releases"}, allow_none=True)


class QueryIn(Schema):
    q = _text("the query", 100_000, load_default="")


class CandidatesIn(QueryIn, DialIn):
    release = _text("id of a release, for its menu of words; what the dial says, or the active one, if left out")


class QuestionIn(QueryIn, DialIn, WhoIn):
    group = _text("id of a published profile, for who has chosen a group alone")
    word = _text("a word of the release's catalogue, for who says one")
    weight = Float(
        load_default=None, validate=Range(0, 1), metadata={"description": "0 words, 1 profile; if absent, as learned"}
    )
    page = Integer(load_default=1, validate=Range(1, PAGES))
    view = String(load_default="compare", validate=OneOf(VIEWS))


class WhyIn(QuestionIn):
    document = Integer(
        required=True, validate=Range(min=0, max=2**31), metadata={"description": "as a result names it"}
    )
    column = String(required=True, validate=OneOf(KINDS))


class WordsIn(Schema):
    version = _text("as /candidates names it: what has a version can be kept")


class UsersIn(Schema):
    find = _text("an interest", load_default="")
    limit = Integer(load_default=24, validate=Range(1, 100))


class ReleaseIn(Schema):
    release = _text("id of a release; the active one if left out")


class AttackIn(ReleaseIn):
    terms = List(_text("a term that the attacker knows"), load_default=[], validate=Length(max=50))
    m = Integer(load_default=5, validate=Range(1, 20), metadata={"description": "how many to draw if none is named"})
    seed = Integer(load_default=0, validate=Range(0, 2**31))


class UserOut(Schema):
    key = String()
    name = String()
    interests = List(String())
    terms = Integer()


class UsersOut(Schema):
    simulated = Boolean()
    users = List(Nested(UserOut))


class PieceOut(Schema):
    text = String()
    highlighted = Boolean()


class ResultOut(Schema):
    document = Integer()
    rank = Integer()
    move = Integer(metadata={"description": "places gained against the plain ranking"})
    ranks = Dict(keys=String(), values=Integer(), metadata={"description": "its rank in every column"})
    score = Float()
    title = String()
    source = String()
    date = String()
    snippet = List(Nested(PieceOut), attribute="snippet.pieces")


class ColumnOut(Schema):
    kind = String()
    results = List(Nested(ResultOut))


class QualityOut(Schema):
    plain = Float(metadata={"description": "AP@10 without a profile, as `shoal evaluate` defines it"})
    everyone = Float(metadata={"description": "AP@10 by everyone's average"})
    ap10 = Float(metadata={"description": "AP@10 by the published profile alone, whatever the weight"})
    own = Float(metadata={"description": "AP@10 by the own profile, which is what all are held against: 1"})
    kept = Float(metadata={"description": "(ap10 - B) / (1 - B), where B is the larger of plain and everyone"})
    same10 = Integer(metadata={"description": "documents among the first ten by the published and by the own profile"})


class SearchOut(Schema):
    release_id = String()
    query = String()
    found = Integer()
    page = Integer()
    pages = Integer()
    suggestion = String(allow_none=True)
    group_size = Integer()
    quality = Nested(QualityOut, allow_none=True)
    columns = List(Nested(ColumnOut))


class ShownOut(Schema):
    document = Integer()
    title = String()
    source = String()
    date = String()
    snippet = List(List(Raw()), metadata={"description": "pieces: text, and 1 where it is of the query"})


class MenuOut(Schema):
    release_id = String()
    words = List(String())
    pages = List(
        List(Integer()), metadata={"description": "of each word the candidates that would stand first if it is said"}
    )
    epsilon = Float(allow_none=True)
    most = Integer(metadata={"description": "different words that are ever said"})


class CandidatesOut(Schema):
    query = String()
    words = String(metadata={"description": "the version of /words that the numbers of `forms` are of"})
    results = List(Nested(ShownOut), metadata={"description": "in the engine's order"})
    engine = List(Float(), metadata={"description": "what the engine's order gives: 1 for the first, in equal steps"})
    unit = List(Float(), metadata={"description": "a word's weight in a document is times * rarity * the document's"})
    forms = List(Integer(), metadata={"description": "places among the words, each as the gap to the one before"})
    holders = List(Integer(), metadata={"description": "how many of the next `places` and `times` are of each form"})
    places = List(Integer(), metadata={"description": "candidates, each as the gap to the one before, form by form"})
    times = List(Integer(), metadata={"description": "how often the form stands in that candidate"})
    menu = Nested(MenuOut, allow_none=True, metadata={"description": "what may be said, where the release has words"})


class WordsOut(Schema):
    version = String()
    forms = String(metadata={"description": "separated by blanks"})
    documents = Integer()
    holding = List(
        Integer(), metadata={"description": "documents with each form: rarity = ln((1 + documents) / (1 + it)) + 1"}
    )
    spellings = Dict(keys=String(), values=Integer(), metadata={"description": "other spelling -> place of its form"})


class EnginePartOut(Schema):
    clause = String()
    value = Float()


class ProfilePartOut(Schema):
    term = String()
    value = Float()
    whose = String()


class EveryonePartOut(Schema):
    term = String()
    value = Float()


class WhyOut(Schema):
    release_id = String()
    document = Integer()
    column = String()
    rank = Integer()
    score = Float()
    engine = List(Nested(EnginePartOut))
    profile = List(Nested(ProfilePartOut))
    everyone = List(Nested(EveryonePartOut), metadata={"description": "what terms of everyone's average gave"})


class FateOut(Schema):
    term = String()
    count = Integer()
    fate = String()
    label = String()
    weight = Float()


class ForeignOut(Schema):
    label = String()
    weight = Float()
    generalized = Boolean()


class ReleasedQueryOut(Schema):
    query = String()
    count = Integer()
    degree = Integer()


class KnownOut(Schema):
    release_id = String()
    group_size = Integer()
    profiles = List(String(), attribute="pseudonyms")
    terms = List(Nested(FateOut), attribute="fates")
    foreign = List(Nested(ForeignOut))
    queries = List(Nested(ReleasedQueryOut), metadata={"description": "for methods that publish queries"})


class CandidateOut(Schema):
    pseudonym = String()
    users = Integer()
    belief = Float()
    holds = List(String())
    is_victims = Boolean()


class BeliefOut(Schema):
    term = String()
    weight = Float()
    true = Boolean()


class AttackOut(Schema):
    release_id = String()
    known = List(String())
    published = Integer()
    chance = Float()
    blind = Float()
    candidates = List(Nested(CandidateOut))
    beliefs = List(Nested(BeliefOut))


class VerdictOut(Schema):
    holds = Boolean()
    counterexample = String()


class ReleaseOut(Schema):
    release_id = String()
    title = String()
    method = String()
    params = Dict(keys=String())
    claim = String()
    verdict = Nested(VerdictOut)
    checked_at = DateTime()
    measured = Dict(keys=String(), values=Float())
    users = Integer()
    groups = Integer()


class ListedOut(Schema):
    release_id = String()
    title = String()


class ReleasesOut(Schema):
    current = String()
    releases = List(Nested(ListedOut))


class ProfilesOut(Schema):
    release_id = String()
    labels = List(String())
    spans = Dict(metadata={"description": "generalized label number -> [first, past last] of the leaves it stands for"})
    leaves = List(String(), metadata={"description": "words of the corpus below generalized labels, in tree order"})
    ids = List(String())
    users = List(Integer())
    starts = List(Integer(), metadata={"description": "profile i holds terms[starts[i]:starts[i + 1]]"})
    terms = List(Integer())
    weights = List(Float())


class DocumentOut(Schema):
    document = Integer()
    id = String()
    title = String()
    text = String()
    url = String(metadata={"description": "empty unless it leads to the web"})
    date = String()


class ParameterOut(Schema):
    name = String()
    default = String()
    range = String()
    more_private = String()
    help = String()


class MethodOut(Schema):
    id = String()
    title = String()
    paper = String()
    unit = String()
    family = String()
    protects = String()
    does_not_protect = String()
    most_users = Integer(allow_none=True)
    parameters = List(Nested(ParameterOut))


class MethodsOut(Schema):
    methods = List(Nested(MethodOut))


class MeasureOut(Schema):
    name = String()
    title = String()
    says = String()
    formula = String()
    heading = String()
    better = String()
    range = String()
    unit = String()
    paper = String()
    columns = List(String())


class MeasuresOut(Schema):
    measures = List(Nested(MeasureOut))


class OwnGroupOut(Schema):
    id = String()
    users = Integer(metadata={"description": "how many share the published profile"})
    terms = List(String(), metadata={"description": "of the published profile, the heaviest first"})


class OwnViewOut(Schema):
    release_id = String()
    is_known = Boolean(metadata={"description": "false: the release is new, and the group is being looked up"})
    groups = List(Nested(OwnGroupOut))
    promise = String()
    until = DateTime(metadata={"description": "when the token ends"})
