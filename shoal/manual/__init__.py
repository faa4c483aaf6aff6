"""How does the site of the manual come about? Pages made from what the program declares, and a tutorial that is run.

The page of the commands is made from the parsers of the command line; the tutorial is a notebook, run when the site is
built, and the page of what came out of it. The site stands under a policy that lets no inline code run: scripts and
styles of its pages become files.
"""

import argparse
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from shoal.cli import COMMANDS, GUIDE, make_parser
from shoal.cli.tables import markdown_table
from shoal.evaluation.report.plots import svg
from shoal.evaluation.report.report_files import picture_of
from shoal.manual.blend import blend_picture
from shoal.manual.example import run_example
from shoal.manual.methods import FIGURES, figures, write_methods


def commands_page() -> str:
    """Every command with its usage and its options."""
    parts = ["# The commands", "One program, `shoal`. Alone it says:", f"```text\n{GUIDE}```"]
    parts.append(
        "The exit code is 0, 1 where a check failed, 2 on bad input. Errors are one line that says what to do. "
        "`--json`, where there is one, is for machines."
    )
    for name, parser in parsers(make_parser()).items():
        parts += [f"## `shoal {name}`", f"{COMMANDS[name].capitalize()}."]
        parts += _described(parser)
    return "\n\n".join(parts) + "\n"


def parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands below a parser, by name."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: made for action in below for name, made in action.choices.items()}


def _described(parser: argparse.ArgumentParser) -> list[str]:
    usage = parser.format_usage().removeprefix("usage: ")
    parts = [f"```text\n{usage}```"]
    shown = [a for a in parser._actions if not isinstance(a, argparse._SubParsersAction | argparse._HelpAction)]
    if shown:
        parts.append(markdown_table([_row(action) for action in shown], ["option", "what it is", "default"]))
    for name, below in parsers(parser).items():
        parts += [f"### `{parser.prog} {name}`", *_described(below)]
    return parts


def _row(action: argparse.Action) -> tuple[str, str, str]:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.metavar or action.dest}`"
    said = [(action.help or "").replace("%(default)s", str(action.default)).replace("<", "&lt;")]
    if action.choices:
        said.append("one of " + ", ".join(f"`{choice}`" for choice in action.choices))
    return names, "; ".join(part for part in said if part), _default(action)


def _default(action: argparse.Action) -> str:
    hidden = action.default in (None, "", False, argparse.SUPPRESS) or action.default == [] or action.nargs == 0
    return "" if hidden else f"`{action.default}`"


_SECONDS = 600  # that a cell or the start may take


def write_tutorial(notebook: Path, page: Path, pictures: Path) -> None:
    """The page with every cell, what it shows, and its pictures as files. A cell that fails is an error."""
    cells = executed(notebook).cells
    text = "\n\n".join(part for number, cell in enumerate(cells) for part in _parts(cell, number, pictures))
    page.write_text(
        f"{text}\n\nThe notebook itself: {{download}}`{notebook.name} <../{notebook.name}>`.\n", encoding="utf-8"
    )


def executed(notebook: Path) -> Any:
    """The notebook with its outputs, run in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        read = nbformat.read(notebook, as_version=4)
        quiet = ["--IPKernelApp.log_level=40"]  # it would warn of others who listen on this machine
        where = {"metadata": {"path": folder}}
        client = NotebookClient(
            read, timeout=_SECONDS, startup_timeout=_SECONDS, resources=where, extra_arguments=quiet
        )
        # In a thread of its own: one that has a loop of events already cannot wait for the kernel's.
        return pool.submit(client.execute, env={**os.environ, "IPYTHONDIR": folder}).result()


def _parts(cell: Any, number: int, pictures: Path) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        shown = output.get("data", {}).get("text/html", "")
        if shown.startswith("<svg"):
            name = f"tutorial-{number}.svg"
            (pictures / name).write_text(shown, encoding="utf-8")
            yield f"![What the cell above draws]({pictures.name}/{name})"
        elif text := output.get("data", {}).get("text/plain") or (output.get("name") == "stdout" and output.text):
            yield f"```text\n{text.rstrip()}\n```"


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


_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
# Of furo's icons; what they say can be said by attributes of SVG, which are no inline styles.
_ATTRIBUTES = {'style="display: none;"': 'display="none"', 'style="opacity: 50%"': 'opacity="0.5"'}


def without_inline_code(site: Path) -> None:
    """Take the inline scripts and styles out of every page, into files beside the theme's own."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        up = "../" * len(page.relative_to(site).parent.parts)
        for said, instead in _ATTRIBUTES.items():
            text = text.replace(said, instead)
        page.write_text(_outside(text, site, up), encoding="utf-8")


def _outside(text: str, site: Path, up: str) -> str:
    text = _SCRIPT.sub(lambda found: f'<script src="{up}{_kept(site, found[1], "js")}"></script>', text)
    return _STYLE.sub(lambda found: f'<link rel="stylesheet" href="{up}{_kept(site, found[1], "css")}">', text)


def _kept(site: Path, code: str, ending: str) -> str:
    """A file of this code, named by its content: pages that share it share the file."""
    name = f"_static/inline-{hashlib.sha256(code.encode()).hexdigest()[:12]}.{ending}"
    (site / name).write_text(code.strip() + "\n", encoding="utf-8")
    return name
