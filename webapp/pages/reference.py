"""How is the API used? A page made from its OpenAPI document."""

from typing import Any

from flask import Blueprint, current_app, render_template

pages = Blueprint("reference", __name__)


@pages.get("/api")
def reference() -> str:
    spec: dict[str, Any] = current_app.spec  # type: ignore[attr-defined]
    calls = [
        (method.upper(), path, call)
        for path, methods in spec["paths"].items()
        for method, call in methods.items()
        if method in ("get", "post", "put", "delete", "patch")
    ]
    return render_template("reference.html", calls=calls, spec_version=spec["openapi"])
