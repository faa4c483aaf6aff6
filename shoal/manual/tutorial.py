"""The researcher's tutorial: a notebook that is run when the site is built, and the page of what came out of it."""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

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
