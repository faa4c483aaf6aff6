"""How does somebody log in and out, and change a password?"""

from flask import flash, g, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from shoal.corpus.errors import InputError
from shoal.webapp.accounts import FEWEST_LETTERS, MOST_LETTERS, change_password
from shoal.webapp.admin.panel import enter, leave, panel, safe_next
from shoal.webapp.attempts import try_to_log_in
from shoal.webapp.context import database


@panel.route("/login", methods=["GET", "POST"])
def login() -> ResponseReturnValue:
    if request.method == "GET":
        return render_template("admin/login.html", wrong=False)
    account = try_to_log_in(request.form.get("name", ""), request.form.get("password", ""))
    if account is None:
        return render_template("admin/login.html", wrong=True), 403
    enter(account)
    return redirect(url_for("admin.password") if account.must_change else safe_next(request.args.get("next", "")))


@panel.post("/logout")
def logout() -> ResponseReturnValue:
    leave()
    return redirect(url_for("admin.login"))


@panel.route("/password", methods=["GET", "POST"])
def password() -> ResponseReturnValue:
    if request.method == "GET":
        return _form()
    new = request.form.get("new", "")
    if new != request.form.get("again", ""):
        return _form("the new password was not typed the same twice: type it again"), 400
    try:
        change_password(database(), g.account, request.form.get("old", ""), new)
    except InputError as error:
        return _form(str(error)), 400
    session.clear()
    flash("The password is changed. Log in with it.")
    return redirect(url_for("admin.login"))


def _form(wrong: str = "") -> str:
    return render_template("admin/password.html", wrong=wrong, fewest=FEWEST_LETTERS, most=MOST_LETTERS)
