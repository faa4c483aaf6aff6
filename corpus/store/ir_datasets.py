"""Which files does an ir_datasets id mean? Documents and query logs that the user has of it, written once for Shoal.

Nothing is downloaded: what ir_datasets would have to fetch is refused, with the command that fetches it.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.folders import alone, cache_folder

PREFIX = "ir_datasets:"
_BEAT = 1_000  # lines between two words of progress
_HEADING = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


def is_ir_dataset(name: str | Path) -> bool:
    return str(name).startswith(PREFIX)


def documents_file(name: str, progress: Progress = silent) -> Path:
    """The documents of an id such as `ir_datasets:vaswani` as JSON lines."""
    return _file(name, "docs", ".jsonl", _document_lines, progress)


def log_file(name: str, progress: Progress = silent) -> Path:
    """The query log of an id such as `ir_datasets:aol-ia` in AOL's format; what was clicked are ids of documents."""
    return _file(name, "qlogs", ".tsv", _log_lines, progress)


def _file(name: str, kind: str, ending: str, lines: Callable[[Any], Iterable[str]], progress: Progress) -> Path:
    """The file of the cache, made where it is not there yet; whole or not at all, and for its owner only."""
    id = name.removeprefix(PREFIX)
    path = cache_folder() / "ir_datasets" / f"{id.replace('/', '--')}{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path.with_suffix(".lock"), "waiting for another process that writes it", progress):
        if path.exists():
            return path
        dataset = _dataset(id, kind)
        temporary = path.with_name(f".{path.name}.new")
        try:
            with _offline(id, kind), _own(temporary) as file:
                for done, line in enumerate(lines(dataset)):
                    file.write(line)
                    if done % _BEAT == 0:
                        progress(done, 0, f"reading {name}")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    return path


def _own(path: Path) -> TextIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8")


def _dataset(id: str, kind: str) -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise InputError(
            f"{PREFIX}{id} needs the library ir_datasets: run `pip install 'shoal-search[ir_datasets]'`"
        ) from error
    try:
        dataset = ir_datasets.load(id)
    except KeyError as error:
        raise InputError(f"ir_datasets knows no {id!r}: `ir_datasets list` shows what it knows") from error
    if not getattr(dataset, f"has_{kind}")():
        what = "documents: give it by --log" if kind == "docs" else "query log with users: give it by --corpus"
        raise InputError(f"{PREFIX}{id} has no {what}, or choose another id")
    return dataset


@contextmanager
def _offline(id: str, kind: str) -> Iterator[None]:
    """Let ir_datasets read what is on this machine, and stop where it would download."""
    from ir_datasets import lazy_libs

    def refused() -> None:
        raise InputError(
            f"the {kind} of {PREFIX}{id} are not on this machine, and Shoal downloads nothing of it: run "
            f"`ir_datasets export {id} {kind} > /dev/null` where there is network, once"
        )

    requests, lazy_libs.requests = lazy_libs.requests, refused
    try:
        yield
    except RuntimeError as error:  # a data set that must be asked for says how, on many lines
        raise InputError(f"{PREFIX}{id} is not on this machine: {' '.join(str(error).split())}") from error
    finally:
        lazy_libs.requests = requests


def _document_lines(dataset: Any) -> Iterator[str]:
    """A document has at least an id; the text of one without a field of that name is what ir_datasets calls it."""
    for document in dataset.docs_iter():
        text = document.text if hasattr(document, "text") else document.default_text()
        rest = {name: str(getattr(document, name, "") or "") for name in ("title", "url", "date")}
        yield json.dumps({"id": document.doc_id, "text": text} | rest, ensure_ascii=False) + "\n"


def _log_lines(dataset: Any) -> Iterator[str]:
    """A line for each clicked document, or for a query without any, as it was typed."""
    yield _HEADING
    for event in dataset.qlogs_iter():
        user = getattr(event, "user_id", None) or getattr(event, "session_id", "")
        typed = getattr(event, "query_orig", None) or event.query
        time = getattr(event, "time", None)
        begin = [str(user), " ".join(typed.split()), f"{time:%Y-%m-%d %H:%M:%S}" if time is not None else ""]
        clicked = [item for item in getattr(event, "items", ()) if getattr(item, "clicked", True)]
        for rank, document in [(str(getattr(item, "rank", "")), item.doc_id) for item in clicked] or [("", "")]:
            yield "\t".join([*begin, rank, document]) + "\n"
