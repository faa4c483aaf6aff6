"""/docs: the documentation site, as `make docs` built it; where nobody did, how to."""

from pathlib import Path

from flask import redirect, render_template, send_from_directory
from flask.typing import ResponseReturnValue

from shoal.webapp.searcher import pages

# A link to docs/_build/html in a checkout, a folder in a wheel; absent until the site is built.
SITE = Path(__file__).parent.parent / "site"


@pages.get("/docs")
def manual() -> ResponseReturnValue:
    return redirect("/docs/")  # its links are relative


@pages.get("/docs/")
@pages.get("/docs/<path:name>")
def manual_page(name: str = "index.html") -> ResponseReturnValue:
    if name == "index.html" and not (SITE / name).is_file():
        return render_template("searcher/manual.html")
    return send_from_directory(SITE, name)
