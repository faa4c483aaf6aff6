"""/admin/tokens: which real people may see their own group? Issue a token, list those that there are, take one back."""

from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.corpus.errors import InputError
from shoal.webapp.core.context import database, service, settings
from shoal.webapp.core.login import account
from shoal.webapp.core.tokens import DAYS, LONGEST_NOTE, MOST_DAYS, list_tokens, revoke_token, state_of
from shoal.webapp.jobs import tokens as jobs
from shoal.webapp.operator import panel, whole_number

LONGEST_USER = 200


@panel.get("/tokens")
def tokens() -> str:
    return _page()


def _page(token: str = "") -> str:
    """The list, and once the text of the token that was just issued."""
    return render_template("operator/tokens.html", rows=token_rows(), token=token, days=DAYS, most=MOST_DAYS,
                           longest=LONGEST_NOTE)  # fmt: skip


def token_rows() -> list[dict[str, Any]]:
    """What is known of the tokens here: nobody's id, nobody's group."""
    return [
        {
            "number": one.id, "note": one.note, "account": one.account, "created_at": one.created_at,
            "expires_at": one.expires_at, "served": one.log == service().digest,
            "state": state_of(one),
        }
        for one in list_tokens(database())
    ]  # fmt: skip


@panel.post("/tokens")
def issue_token() -> str:
    form = request.form
    days = whole_number(form.get("days") or str(DAYS), "days")
    return _page(issue(form.get("user", ""), days, form.get("note", ""))[1])


def issue(user: str, days: int, about: str) -> tuple[int, str]:
    """By a process of its own: this one reads neither the log nor who has which pseudonym."""
    if not 0 < len(user) <= LONGEST_USER:
        raise InputError(
            f"no user was given: type the id of a person, as it stands in the log (at most {LONGEST_USER})"
        )
    asked = {"log_digest": service().digest, "user": user, "days": days, "about": about, "by": account().name}
    return jobs.issue_in_process(settings(), **asked)


@panel.post("/tokens/<int:number>/revoke")
def revoke(number: int) -> ResponseReturnValue:
    revoke_token(database(), number, account().name)
    flash(f"Token {number} is refused from now on.")
    return redirect(url_for("operator.tokens"))
