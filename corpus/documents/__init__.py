"""Which documents does a name or a path mean? A data set of the registry or of ir_datasets, or a JSON-lines file."""

from collections.abc import Callable, Iterator
from pathlib import Path

from shoal.corpus.documents.document import Document, Documents, in_columns
from shoal.corpus.documents.readers import read_films, read_json_lines, read_news, read_reuters
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.datasets import CORPORA, DATA_SETS
from shoal.corpus.store.fetch import bring
from shoal.corpus.store.ir_datasets import documents_file, is_ir_dataset

__all__ = ["Document", "Documents", "load_documents", "read_documents"]

_READERS: dict[str, Callable[[Path, Progress], Iterator[Document]]] = {
    "news": read_news,
    "reuters": read_reuters,
    "films": read_films,
}


def load_documents(name_or_path: str | Path, progress: Progress = silent) -> Documents:
    """The documents of `news`, `reuters` or `films`, brought first if needed, or those of a file."""
    return in_columns(*read_documents(name_or_path, progress))


def read_documents(name_or_path: str | Path, progress: Progress = silent) -> tuple[str, Iterator[Document]]:
    """The same one after another, for who cannot hold them all, and the name of the corpus."""
    if isinstance(name_or_path, str) and name_or_path in _READERS:
        folder = bring(name_or_path, progress)
        return name_or_path, _READERS[name_or_path](folder, progress)
    if is_ir_dataset(name_or_path):
        name_or_path = documents_file(str(name_or_path), progress)
    path = Path(name_or_path).expanduser()
    if not path.exists():
        raise InputError(_unknown(str(name_or_path)))
    return path.name.split(".")[0] or path.name, read_json_lines(path, progress)


def _unknown(given: str) -> str:
    valid = f"choose one of {', '.join(CORPORA)}, or the path of a JSON-lines file (id, title, text)"
    if given in DATA_SETS:
        return f"the data set {given!r} holds no documents; {valid}"
    return f"no data set and no file is called {given!r}; {valid}"
