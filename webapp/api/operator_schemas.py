"""What goes into the operator's API and what comes out?"""

from apiflask import Schema
from apiflask.fields import Boolean, DateTime, Dict, File, Float, Integer, List, Nested, Raw, String
from apiflask.validators import Length, OneOf, Range

from shoal.webapp.core.accounts import MOST_LETTERS
from shoal.webapp.core.gate import LONGEST_NOTE, MOST_COUNTED
from shoal.webapp.core.roles import ROLES
from shoal.webapp.database.models import PREVIEW, RELEASE_STATES, RUN, STATES
from shoal.webapp.jobs.evaluation import LEVELS, THOROUGH
from shoal.webapp.operator.runs import OWN, shown_measures


class LogInIn(Schema):
    name = String(required=True, validate=Length(max=64))
    password = String(required=True, validate=Length(max=MOST_LETTERS))


class SessionOut(Schema):
    name = String()
    role = String(validate=OneOf(ROLES))
    must_change = Boolean(metadata={"description": "a one-time password: change it first"})
    csrf_token = String()


class PasswordIn(Schema):
    old = String(required=True, validate=Length(max=MOST_LETTERS))
    new = String(required=True, validate=Length(max=MOST_LETTERS))


class WantedIn(Schema):
    method = String(validate=Length(max=100))
    state = String(validate=OneOf(STATES))
    kind = String(validate=OneOf((RUN, PREVIEW)))
    sort = String(validate=OneOf((*OWN, *shown_measures())))
    down = String(validate=OneOf(("", "1")), metadata={"description": "1: the largest first"})


class RunIn(Schema):
    method = String(required=True, validate=Length(max=100))
    params = Dict(keys=String(), values=Raw(), load_default=dict)
    log = Integer(load_default=0, validate=Range(0, 2**31 - 1), metadata={"description": "0: the log being served"})
    seed = Integer(load_default=0, validate=Range(0, 2**31 - 1))
    preview = Boolean(load_default=False)


class JobOut(Schema):
    id = Integer()
    kind = String()
    state = String()
    step = Integer()
    steps = Integer()
    stage = String()
    done = Integer()
    total = Integer()
    share = Float(metadata={"description": "how much of all steps is over"})
    remaining_seconds = Float(allow_none=True, metadata={"description": "of the current stage"})
    error = String()


class RunOut(JobOut):
    method = String()
    params = Dict(keys=String())
    title = String()
    log = Integer()
    seed = Integer()
    account = String()
    created_at = DateTime()
    finished_at = DateTime(allow_none=True)
    result = Dict()
    release_id = String(allow_none=True)
    certificate = Dict(allow_none=True)
    files = List(String())


class EvaluationIn(Schema):
    methods = List(String(validate=Length(1, 100)), required=True, validate=Length(1, 50))
    levels = Integer(load_default=5, validate=OneOf(LEVELS), metadata={"description": "settings of each method"})
    thorough = String(load_default="usual", validate=OneOf(tuple(THOROUGH)))
    log = Integer(load_default=0, validate=Range(0, 2**31 - 1), metadata={"description": "0: the log being served"})


class EvaluationOut(JobOut):
    published_at = String(metadata={"description": "empty: it is not at /answer"})
    results = Dict(metadata={"description": "as results.json of shoal evaluate; empty before the first method"})


class ListedRunOut(RunOut):
    """The same in a list; the document of the API wants a name of its own for it."""


class RunsOut(Schema):
    runs = List(Nested(ListedRunOut))


class NoteIn(Schema):
    note = String(load_default="", validate=Length(max=LONGEST_NOTE))


class ConsentIn(NoteIn):
    confirmed = Boolean(load_default=False, metadata={"description": "enough where nobody is real"})
    typed = String(load_default="", validate=Length(max=32), metadata={"description": "the id of the release"})


class ActivateIn(ConsentIn):
    release_id = String(required=True, validate=Length(max=32))


class ListedStateOut(Schema):
    release_id = String()
    title = String()
    method = String()
    params = Dict(keys=String())
    state = String(validate=OneOf(RELEASE_STATES))
    created_at = DateTime()
    published_at = DateTime(allow_none=True, metadata={"description": "null: it was never public"})
    damaged = String(metadata={"description": "what is not as it was made; empty: nothing"})


class AllReleasesOut(Schema):
    releases = List(Nested(ListedStateOut))


class PolicyOut(Schema):
    ceiling = Float(metadata={"description": "the share of people who may be found"})
    fewest = Integer(metadata={"description": "how many people must share each published term and query"})
    most_public = Integer(metadata={"description": "how many releases of one log may be public at once"})
    second = Boolean(metadata={"description": "whether a second operator must confirm what is above this"})


class PolicyIn(Schema):
    ceiling = Float(required=True, validate=Range(0, 1))
    fewest = Integer(required=True, validate=Range(1, MOST_COUNTED))
    most_public = Integer(required=True, validate=Range(1, 1000))
    second = Boolean(required=True)


class FindingsOut(Schema):
    real = Boolean(metadata={"description": "whether the people are real: then what is above the policy is asked for"})
    promise = String()
    publishes = Boolean()
    risk = Float(allow_none=True, metadata={"description": "the share of people found, knowing five of their terms"})
    alone = Integer(allow_none=True, metadata={"description": "people alone with a published profile"})
    terms = Integer(metadata={"description": "published terms that fewer people hold than the policy wants"})
    queries = Integer()
    others = Integer(metadata={"description": "other releases of the log that are public"})
    policy = Nested(PolicyOut)
    reasons = List(String())


class ReleaseStateOut(ListedStateOut):
    findings = Nested(FindingsOut)
    acts = List(String(), metadata={"description": "what its state allows: activate, withdraw, delete"})
    proposed_by = String(metadata={"description": "who waits for a second operator; empty: nobody"})


class SwitchOut(Schema):
    release_id = String()
    title = String()
    state = String(metadata={"description": "of the release, now"})
    account = String()
    note = String()
    at = DateTime()


class HistoryOut(Schema):
    active = String(allow_none=True, metadata={"description": "null: results are plain"})
    activations = List(Nested(SwitchOut))


class LogOut(Schema):
    id = Integer()
    name = String()
    served = Boolean()
    simulated = Boolean()
    people = String(metadata={"description": "simulated, public or real"})
    statistics = Dict()
    rejected = Integer()
    digest = String(metadata={"description": "sha-256 of the content"})
    created_at = DateTime()


class LogsOut(Schema):
    logs = List(Nested(LogOut))


class UploadIn(Schema):
    log = File(required=True)


class CorpusIn(Schema):
    corpus = File(required=True)


class SourceOut(Schema):
    value = String(metadata={"description": "what to send to have it served"})
    title = String()
    served = Boolean()


class SourcesOut(Schema):
    corpora = List(Nested(SourceOut))
    logs = List(Nested(SourceOut(), metadata={"description": "of data sets, and those that were uploaded"}))


class ServedIn(Schema):
    corpus = String(required=True, validate=Length(1, 100))
    log = String(required=True, validate=Length(1, 100))


class UploadOut(JobOut):
    result = Dict()


class RejectedRow(Schema):
    line_number = Integer()
    reason = String()
    line = String()


class RejectedOut(Schema):
    rejected = Integer()
    rows = List(Nested(RejectedRow))
