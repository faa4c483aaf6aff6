"""The manual: which of its pages are made from what the program declares, and how all become one site."""

import re
import shutil
from pathlib import Path

from shoal.evaluation.report.plots import svg
from shoal.evaluation.report.report_files import picture_of
from shoal.manual.blend import blend_picture
from shoal.manual.commands import commands_page
from shoal.manual.example import run_example
from shoal.manual.methods import FIGURES, figures, write_methods
from shoal.manual.tutorial import write_tutorial

ROOT_PAGES = {"CONTRIBUTING.md": "contributing", "SECURITY.md": "security", "CHANGELOG.md": "changelog"}
USERS = 1000  # of the run behind the figures
_LINK = re.compile(r"\]\((?!https?:|#)(?:\.\./)?(?:docs/)?([\w./-]+?)(#[\w-]*)?\)")


def write_pages(documents: Path) -> None:
    """All pages and pictures that nobody writes, into the folder `made` beside those that people write."""
    made = documents / "made"
    shutil.rmtree(made, ignore_errors=True)
    for folder in ("methods", "pictures"):
        (made / folder).mkdir(parents=True)
    write_methods(made / "methods", made / "pictures", documents)
    (made / "pictures" / "blend.html").write_text(blend_picture(run_example("common")), encoding="utf-8")
    (made / "pictures" / "tradeoff.svg").write_text(tradeoff_picture(documents / FIGURES), encoding="utf-8")
    write_tutorial(documents / "tutorial.ipynb", made / "tutorial.md", made / "pictures")
    (made / "commands.md").write_text(commands_page(), encoding="utf-8")
    for file, page in ROOT_PAGES.items():
        text = (documents.parent / file).read_text(encoding="utf-8")
        (made / f"{page}.md").write_text(links_within(text, "../"), encoding="utf-8")


def tradeoff_picture(figures_file: Path) -> str:
    """Precision against risk, of the run that the pages of the methods tell of."""
    rows = [
        {name: _number(text) for name, text in row.items() if text or name == "params"} for row in figures(figures_file)
    ]
    drawn = picture_of("precision-risk", rows, USERS)
    assert drawn is not None
    return svg(drawn)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def links_within(text: str, up: str) -> str:
    """A page of the repository as a page of the site: its links lead to pages of the site."""

    def led(found: re.Match[str]) -> str:
        return f"]({target(found[1], up)}{found[2] or ''})"

    return _LINK.sub(led, text)


def target(name: str, up: str) -> str:
    """Where the site has what a document of the repository links to; `up` leads to the folder of the documents."""
    if name in ROOT_PAGES:
        return f"{up}made/{ROOT_PAGES[name]}.md"
    if name == "methods.md" or name.removesuffix(".md") in _method_ids():
        return f"{up}made/methods/{'index.md' if name == 'methods.md' else name}"
    return f"{up}{name}"


def _method_ids() -> set[str]:
    from shoal.anonymizer.registry import methods

    return set(methods())
