"""What can an administrator's programs do? Accounts and the audit, as JSON under /api/v1/admin."""

from typing import Any

from apiflask import Schema
from apiflask.fields import Boolean, DateTime, Dict, List, Nested, String
from apiflask.validators import Length, OneOf

from shoal.webapp.api.operator import api
from shoal.webapp.core.accounts import list_accounts
from shoal.webapp.core.context import database
from shoal.webapp.core.roles import OPERATOR, ROLES
from shoal.webapp.operator.accounts import CHANGES, add_account, change_by, remove
from shoal.webapp.operator.audit import EXPORTED, asked_events


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
