"""What can programs do about who may do what? Tokens, accounts, the audit, deletion, as JSON under /api/v1/admin."""

from typing import Any

from apiflask import Schema
from apiflask.fields import Boolean, DateTime, Dict, Integer, List, Nested, String
from apiflask.validators import Length, OneOf, Range

from shoal.webapp.api.operator import api
from shoal.webapp.core.accounts import list_accounts
from shoal.webapp.core.context import database, service, settings
from shoal.webapp.core.login import account
from shoal.webapp.core.roles import OPERATOR, ROLES
from shoal.webapp.core.tokens import DAYS, LONGEST_NOTE, MOST_DAYS, revoke_token
from shoal.webapp.core.uploads import delete_corpus, delete_log
from shoal.webapp.operator.accounts import CHANGES, add_account, change_by, remove
from shoal.webapp.operator.audit import EXPORTED, asked_events
from shoal.webapp.operator.tokens import LONGEST_USER, issue, token_rows


class AccountOut(Schema):
    name = String()
    role = String(validate=OneOf(ROLES))
    disabled = Boolean()
    must_change = Boolean(metadata={"description": "it has a one-time password"})
    created_at = DateTime()


class AccountsOut(Schema):
    accounts = List(Nested(AccountOut))


class AccountIn(Schema):
    name = String(required=True, validate=Length(1, 64))
    role = String(load_default=OPERATOR, validate=OneOf(ROLES))


class AccountChangeIn(Schema):
    what = String(required=True, validate=OneOf(CHANGES))
    role = String(load_default="", validate=OneOf(("", *ROLES)))


class OneTimeOut(Schema):
    one_time_password = String(metadata={"description": "empty where none was made; good for 24 hours, shown once"})


class AskedIn(Schema):
    action = String(validate=Length(max=200), metadata={"description": "how the name of the act begins"})
    subject = String(validate=Length(max=200))


class EventOut(Schema):
    id = String()
    at = DateTime()
    action = String()
    account = String()
    subject = String()
    details = Dict()


class EventsOut(Schema):
    events = List(Nested(EventOut))


class TokenOut(Schema):
    number = Integer()
    state = String(validate=OneOf(("good", "over", "revoked")))
    note = String()
    account = String()
    served = Boolean(metadata={"description": "of the log that is served"})
    created_at = DateTime()
    expires_at = DateTime()


class TokensOut(Schema):
    tokens = List(Nested(TokenOut))


class TokenIn(Schema):
    user = String(required=True, validate=Length(1, LONGEST_USER), metadata={"description": "as in the log; not kept"})
    days = Integer(load_default=DAYS, validate=Range(1, MOST_DAYS))
    note = String(load_default="", validate=Length(max=LONGEST_NOTE))


class IssuedOut(Schema):
    number = Integer()
    token = String(metadata={"description": "shown once"})


@api.get("/accounts")
@api.output(AccountsOut)
@api.doc(summary="All accounts and their roles")
def accounts() -> dict[str, Any]:
    return {"accounts": list_accounts(database())}


@api.post("/accounts")
@api.input(AccountIn, arg_name="given")
@api.output(OneTimeOut, status_code=201)
@api.doc(summary="A new account with a one-time password", responses={409: "there is one of that name"})
def new_account(given: dict[str, str]) -> dict[str, str]:
    return {"one_time_password": add_account(given["name"], given["role"])}


@api.post("/accounts/<name>")
@api.input(AccountChangeIn, arg_name="given")
@api.output(OneTimeOut)
@api.doc(summary="Another role, disable, enable, or reset the password", responses={409: "the last administrator"})
def change_account(name: str, given: dict[str, str]) -> dict[str, str]:
    return {"one_time_password": change_by(name, given["what"], given["role"])}


@api.delete("/accounts/<name>")
@api.output({}, status_code=204)
@api.doc(summary="Delete an account; its name stays in the audit", responses={409: "the last administrator"})
def delete_account(name: str) -> str:
    remove(name)
    return ""


@api.get("/audit")
@api.input(AskedIn, location="query", arg_name="asked")
@api.output(EventsOut)
@api.doc(summary="Who did what, the last first")
def audit(asked: dict[str, str]) -> dict[str, Any]:
    return {"events": asked_events(EXPORTED)}


@api.get("/tokens")
@api.output(TokensOut)
@api.doc(summary="The tokens that were issued; nobody's id, nobody's group")
def tokens() -> dict[str, Any]:
    return {"tokens": token_rows()}


@api.post("/tokens")
@api.input(TokenIn, arg_name="given")
@api.output(IssuedOut, status_code=201)
@api.doc(summary="Issue a token, which shows a person of the log the own group", responses={400: "no such person"})
def issue_token(given: dict[str, Any]) -> dict[str, Any]:
    number, token = issue(given["user"], given["days"], given["note"])
    return {"number": number, "token": token}


@api.delete("/tokens/<int:number>")
@api.output({}, status_code=204)
@api.doc(summary="Take a token back: it is refused from the next request on")
def revoke(number: int) -> str:
    revoke_token(database(), number, account().name)
    return ""


@api.delete("/logs/<int:log_id>")
@api.output({}, status_code=204)
@api.doc(summary="Delete a log, with its rejected rows; its releases stay", responses={409: "it is served, or in use"})
def remove_log(log_id: int) -> str:
    delete_log(database(), settings().instance, log_id, service().digest, account().name)
    return ""


@api.delete("/corpora/<int:number>")
@api.output({}, status_code=204)
@api.doc(summary="Delete an uploaded corpus, by the number of its upload", responses={409: "it is served, or in use"})
def remove_corpus(number: int) -> str:
    delete_corpus(database(), settings().instance, number, settings().corpus_source, account().name)
    return ""
