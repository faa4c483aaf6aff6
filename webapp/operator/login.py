"""/admin/login, /admin/logout, /admin/password: how does somebody log in and out, and change a password?"""

from urllib.parse import urlsplit

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.corpus.errors import InputError
from shoal.webapp.core.accounts import FEWEST_LETTERS, MOST_LETTERS
from shoal.webapp.core.login import enter, leave, set_own_password, try_to_log_in
from shoal.webapp.operator import panel


@panel.route("/login", methods=["GET", "POST"])
def login() -> ResponseReturnValue:
    if request.method == "GET":
        return render_template("operator/login.html", wrong=False)
    found = try_to_log_in(request.form.get("name", ""), request.form.get("password", ""))
    if found is None:
        return render_template("operator/login.html", wrong=True), 403
    enter(found)
    return redirect(url_for("operator.password") if found.must_change else _safe_next(request.args.get("next", "")))


def _safe_next(address: str) -> str:
    """Where to go after the log-in: a page of the panel, never another site."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return url_for("operator.overview")
    inside = parts.path.startswith("/admin/") and not parts.scheme and not parts.netloc
    plain = "\\" not in address and address.isprintable()
    return address if inside and plain else url_for("operator.overview")


@panel.post("/logout")
def logout() -> ResponseReturnValue:
    leave()
    return redirect(url_for("operator.login"))


@panel.route("/password", methods=["GET", "POST"])
def password() -> ResponseReturnValue:
    if request.method == "GET":
        return _form()
    new = request.form.get("new", "")
    if new != request.form.get("again", ""):
        return _form("the new password was not typed the same twice: type it again"), 400
    try:
        set_own_password(request.form.get("old", ""), new)
    except InputError as error:
        return _form(str(error)), 400
    leave()
    flash("The password is changed. Log in with it.")
    return redirect(url_for("operator.login"))


def _form(wrong: str = "") -> str:
    return render_template("operator/password.html", wrong=wrong, fewest=FEWEST_LETTERS, most=MOST_LETTERS)
