"""/token: a person with a token from the operator is shown the own group, and searches with it in this browser."""

from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.corpus.errors import InputError
from shoal.webapp.core.context import service
from shoal.webapp.core.question import find_release
from shoal.webapp.core.tokens import forget_in_browser, keep_in_browser, own_group
from shoal.webapp.searcher import pages

_SHOWN_TERMS = 50


def own_view() -> dict[str, Any] | None:
    """The least that is of use: the group, how many share it, what the release publishes of it. None without a token.

    All of it is public but for one thing, which only the token tells: that this group is one's own.
    """
    published = service().published(find_release(""))
    own = own_group(published)
    if own is None:
        return None
    groups = []
    for row in own.profiles.tolist():
        profile = published.release.weights[[row]]
        heaviest = profile.data.argsort(kind="stable")[::-1][:_SHOWN_TERMS]
        groups.append({
            "id": published.release.pseudonyms[row], "users": int(published.release.users[row]),
            "terms": [published.release.labels[term] for term in profile.indices[heaviest].tolist()],
        })  # fmt: skip
    told = {"release_id": published.loaded.release_id, "is_known": own.is_known, "until": own.until, "groups": groups}
    return {**told, "promise": published.loaded.verdict.sentence}


@pages.get("/token")
def token() -> str:
    return _page()


def _page(wrong: str = "") -> str:
    return render_template("searcher/token.html", own=own_view() if not wrong else None, wrong=wrong)


@pages.post("/token")
def give_token() -> ResponseReturnValue:
    try:
        keep_in_browser(request.form.get("token", ""))
    except InputError as error:
        forget_in_browser()
        return _page(str(error)), 401
    return redirect(url_for("searcher.token"))


@pages.post("/token/forget")
def forget_token() -> ResponseReturnValue:
    forget_in_browser()
    flash("This browser has forgotten the token.")
    return redirect(url_for("searcher.token"))
