"""What can programs ask? All that the pages do, as JSON under /api/v1; and /api, a page made from its description."""

from typing import Any

from flask import Blueprint, current_app, render_template

pages = Blueprint("api_reference", __name__)


@pages.get("/api")
def reference() -> str:
    spec: dict[str, Any] = current_app.spec  # type: ignore[attr-defined]
    calls = [
        (method.upper(), path, call)
        for path, methods in spec["paths"].items()
        for method, call in methods.items()
        if method in ("get", "post", "put", "delete", "patch")
    ]
    return render_template("api/reference.html", calls=calls, spec_version=spec["openapi"])
