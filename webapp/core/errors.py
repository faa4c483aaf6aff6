"""What does somebody see when something is wrong? One page and one shape of JSON, that say what to do."""

from typing import Any

from apiflask import APIFlask
from apiflask.exceptions import HTTPError
from flask import current_app, g, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import HTTPException

from shoal.corpus.errors import Conflict, Gone, InputError, NotFound, Refused, Unavailable
from shoal.webapp.api.searcher_schemas import ErrorOut
from shoal.webapp.core.tokens import BadToken

_ADVICE = {
    400: "The request cannot be understood: go back and try again.",
    401: "You need to log in for this.",
    403: "This is not allowed.",
    404: "There is nothing at this address: check it.",
    405: "This address does not answer requests of that kind.",
    408: "What was sent came too slowly: try again over a faster connection.",
    411: "Say how long the body is: send Content-Length.",
    413: "What was sent is too large: send less.",
    415: "What was sent is of a kind that cannot be read here.",
    429: "Too many requests: wait a minute and try again.",
}
# A kind stands before those that it is one of.
_STATUS: dict[type[InputError], int] = {
    Gone: 410, NotFound: 404, Refused: 403, Conflict: 409, Unavailable: 503, BadToken: 401
}  # fmt: skip
_BUSY = "The database does not answer just now: wait a moment and try again. Nothing was lost."
_FAULT = "Something went wrong here. It has been noted; nothing of your query was. Try again."


def register(app: APIFlask) -> None:
    app.config.update(HTTP_ERROR_SCHEMA=ErrorOut, VALIDATION_ERROR_SCHEMA=ErrorOut)
    app.register_error_handler(InputError, lambda error: answer(status_of(error), str(error)))
    app.register_error_handler(HTTPException, _of_http)
    app.register_error_handler(OperationalError, lambda error: answer(503, _BUSY))
    app.register_error_handler(Exception, _unexpected)
    app.error_processor(_of_validation)  # type: ignore[arg-type]


def error_body(code: int, message: str) -> dict[str, Any]:
    """The one shape of every error of the API."""
    return {"error": {"code": code, "message": message}}


def answer(code: int, message: str) -> ResponseReturnValue:
    g.setdefault("visitor", None)  # who asks stands in the database, which may be what does not answer
    if code == 503:
        g.visitor = g.active_id = None
    if request.path.startswith("/api/"):
        return jsonify(error_body(code, message)), code
    in_panel = request.path.startswith("/admin/")
    return render_template("error.html", code=code, message=message, in_panel=in_panel), code


def status_of(error: InputError) -> int:
    """Told by the type of the error, never by its words."""
    return next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)


def _of_http(error: HTTPException) -> ResponseReturnValue:
    if error.code is None or error.code < 400:
        return error  # a redirect
    return answer(error.code, _ADVICE.get(error.code, error.description or error.name))


def _of_validation(error: HTTPError) -> ResponseReturnValue:
    """A parameter that does not fit its description: name it, and say why."""
    reasons = [
        f"{name}: {' '.join(map(str, messages)) if isinstance(messages, list) else messages}"
        for fields in (error.detail or {}).values()
        for name, messages in (fields.items() if isinstance(fields, dict) else [("request", fields)])
    ]
    return answer(error.status_code, "; ".join(reasons) or error.message or "the request cannot be understood")


def _unexpected(error: Exception) -> ResponseReturnValue:
    # The kind and the place only: the message could hold what somebody asked for.
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame else "unknown place"
    current_app.logger.error("unexpected %s at %s (endpoint %s)", type(error).__name__, where, request.endpoint)
    return answer(500, _FAULT)
