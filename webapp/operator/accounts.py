"""/admin/accounts: who may operate the server, and as what? For administrators."""

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.corpus.errors import InputError
from shoal.webapp.core.accounts import (
    change_account as change,
)
from shoal.webapp.core.accounts import (
    create_account,
    forget_one_time,
    list_accounts,
    reset_password,
    write_one_time,
)
from shoal.webapp.core.accounts import (
    delete_account as delete,
)
from shoal.webapp.core.context import database, settings
from shoal.webapp.core.login import account
from shoal.webapp.core.roles import MAY, OPERATOR
from shoal.webapp.operator import panel

CHANGES = ("role", "disable", "enable", "reset")


@panel.get("/accounts")
def accounts() -> str:
    return _page()


def _page(name: str = "", one_time: str = "") -> str:
    """The list, and once the one-time password that was just made."""
    return render_template("operator/accounts.html", accounts=list_accounts(database()), roles=MAY, name=name,
                           one_time=one_time)  # fmt: skip


@panel.post("/accounts")
def new_account() -> str:
    name = request.form.get("name", "")
    return _page(name, add_account(name, request.form.get("role", OPERATOR)))


def add_account(name: str, role: str) -> str:
    """A new account with a one-time password, which its administrator hands over. Returns it."""
    password = create_account(database(), name, role=role, by=account().name)
    write_one_time(settings().instance, name, password)
    return password


@panel.post("/accounts/<name>")
def change_account(name: str) -> ResponseReturnValue:
    one_time = change_by(name, request.form.get("what", ""), request.form.get("role", ""))
    if one_time:
        return _page(name, one_time)
    flash(f"The account {name} is changed.")
    return redirect(url_for("operator.accounts"))


def change_by(name: str, what: str, role: str = "") -> str:
    """Do one of the changes to an account; the one-time password, where one was made."""
    by = account().name
    if name == by:
        raise InputError("this is your own account: another administrator changes it")
    if what == "reset":
        password = reset_password(database(), name, by)
        write_one_time(settings().instance, name, password)
        return password
    if what not in CHANGES:
        raise InputError(f"what={what[:20]} is unknown: choose one of {', '.join(CHANGES)}")
    change(database(), name, role=role if what == "role" else "", disabled={"disable": True, "enable": False}.get(what),
           by=by)  # fmt: skip
    return ""


@panel.post("/accounts/<name>/delete")
def delete_account(name: str) -> ResponseReturnValue:
    if request.form.get("typed", "") != name:
        raise InputError(f"nothing was deleted: type the name {name[:64]} to delete the account")
    remove(name)
    flash(f"The account {name} is gone. Its name stays in the history and in the audit.")
    return redirect(url_for("operator.accounts"))


def remove(name: str) -> None:
    if name == account().name:
        raise InputError("this is your own account: another administrator deletes it")
    delete(database(), name, account().name)
    forget_one_time(settings().instance, name)
