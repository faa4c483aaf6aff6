"""What may be sent, and by whom? Looked at before a body is read: its size, who sends it, and what no text may hold."""

import json
from collections.abc import Iterator
from threading import BoundedSemaphore
from typing import Any

from flask import Flask, abort, current_app, g, request

from shoal.corpus.errors import InputError, Unavailable
from shoal.webapp.core.buffering import SMALL
from shoal.webapp.core.login import visitor
from shoal.webapp.core.roles import OPERATOR, is_at_least

# Routes that take a file. Of every other a body is a form or some JSON.
UPLOADS = frozenset({"operator.upload", "api_operator.upload", "api_operator.upload_corpus"})
UPLOADS_AT_ONCE = 3  # in one process: the other threads go on answering
DEEPEST = 32  # of JSON


def register(app: Flask) -> None:
    """To be called before anything else reads a body."""
    app.extensions["shoal.uploads"] = BoundedSemaphore(UPLOADS_AT_ONCE)
    app.before_request(limit_body)
    app.teardown_request(_end_upload)


def limit_body() -> None:
    """Small ones from anybody; a file from an operator only, on a route that takes one."""
    _refuse_nul((request.path, *request.args.keys(), *(value for _, value in request.args.items(multi=True))))
    if request.headers.get("Transfer-Encoding"):
        abort(411)
    if (request.content_length or 0) <= SMALL:
        request.max_content_length = SMALL
        return
    if request.endpoint not in UPLOADS:
        abort(413)
    account = visitor()
    if account is None:
        abort(401)
    if account.must_change or not is_at_least(account.role, OPERATOR):
        abort(403)
    if not current_app.extensions["shoal.uploads"].acquire(blocking=False):
        raise Unavailable("other uploads are under way: wait until they are over, and send this one again")
    g.uploads = True


def _end_upload(error: BaseException | None) -> None:
    if g.pop("uploads", False):
        current_app.extensions["shoal.uploads"].release()


def check_texts() -> None:
    """After the size was looked at: no text that was sent holds a NUL, which databases refuse, and no JSON is deep."""
    if request.is_json:
        _refuse_nul(texts_of(_parsed(request.get_data(cache=True))))
    elif request.method not in ("GET", "HEAD", "OPTIONS"):
        _refuse_nul(value for pair in request.form.items(multi=True) for value in pair)
        _refuse_nul(file.filename or "" for file in request.files.values())


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except RecursionError:
        raise InputError("the JSON is nested too deep: send what the description of the API says") from None
    except ValueError:
        return None  # whoever reads it says what is wrong with it


def texts_of(value: Any) -> Iterator[str]:
    """All names and texts in some JSON, which may not be deeper than anything that is asked for here."""
    level = [value]
    for _ in range(DEEPEST):
        yield from (text for one in level for text in _names_and_texts(one))
        level = [inner for one in level for inner in _inside(one)]
    if level:
        raise InputError("the JSON is nested too deep: send what the description of the API says")


def _names_and_texts(one: Any) -> Iterator[str]:
    if isinstance(one, str):
        yield one
    if isinstance(one, dict):
        yield from one


def _inside(one: Any) -> Iterator[Any]:
    if isinstance(one, dict):
        yield from one.values()
    if isinstance(one, list):
        yield from one


def _refuse_nul(texts: Any) -> None:
    if any("\0" in text for text in texts):
        raise InputError("a text that was sent holds a NUL: leave it out")
