"""Does the server work, and how well?"""

from apiflask import APIFlask
from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

pages = Blueprint("operations", __name__)


@pages.get("/healthz")
def healthz() -> ResponseReturnValue:
    return jsonify({"status": "ok"})


def register(app: APIFlask) -> None:
    app.register_blueprint(pages)
