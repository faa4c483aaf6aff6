"""Where does the index of a corpus come from? Built aside, swapped in whole, opened read-only."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.documents import Documents, load_documents

from corpus.datasets import CORPORA
from corpus.errors import InputError
from corpus.fetch import cache_folder, data_set
from corpus.progress import Progress, silent
from corpus.wordnet import load_wordnet
from search.analysis import Analysis, analyse
from search.engines import tantivy, whoosh
from search.engines.base import Engine
from search.lexicon import load_lexicon
from search.store import DocumentStore, write_store
from search.vectors import DocumentVectors, load_vectors, make_vectors, save_vectors
from search.versions import current_version, file_sizes, new_version, write_synced

# Raised whenever an older index could not be read any more, or would be read as something else.
FORMAT = 1
ENGINES = ("whoosh", "tantivy")
# Above this many documents "auto" takes tantivy.
LARGE = 50_000
_BUILDERS = {"whoosh": whoosh.build, "tantivy": tantivy.build}
_OPENERS = {"whoosh": whoosh.WhooshEngine, "tantivy": tantivy.TantivyEngine}
_META = "index.json"


@dataclass(frozen=True, eq=False)
class Index:
    """An opened index: an engine, the vectors of the documents, and the documents themselves by position."""

    name: str
    engine_name: str
    engine: Engine
    vectors: DocumentVectors
    documents: DocumentStore
    meta: dict[str, Any]

    def __len__(self) -> int:
        return len(self.documents)

    def close(self) -> None:
        self.engine.close()


def choose_engine(engine: str, documents: int) -> tuple[str, str]:
    """The engine to use, and why."""
    if engine == "auto":
        small = documents <= LARGE
        chosen, sign = ("whoosh", "at most") if small else ("tantivy", "more than")
        return chosen, f"{chosen}, chosen for {documents:,} documents ({sign} {LARGE:,})"
    if engine not in ENGINES:
        raise InputError(f"unknown engine {engine!r}; choose one of: auto, {', '.join(ENGINES)}")
    return engine, f"{engine}, as asked for"


def build_index(documents: Documents, folder: str | Path, engine: str = "auto", progress: Progress = silent) -> None:
    """Build the index of the documents and put it in the place of the one in `folder`, if there is one.

    Who has the old one open goes on reading it. A killed build leaves the old one, or the new one.
    """
    if not len(documents):
        raise InputError(f"{documents.name} holds no documents; an index needs at least one")
    chosen, reason = choose_engine(engine, len(documents))
    with new_version(Path(folder), progress) as version:
        progress(0, 1, f"engine: {reason}")
        _write(documents, version, chosen, reason, progress)


def _write(documents: Documents, version: Path, engine: str, reason: str, progress: Progress) -> None:
    analysis = analyse(documents.titles, documents.texts, load_wordnet().lemmas, progress)
    (version / "engine").mkdir()
    _BUILDERS[engine](analysis, version / "engine", progress)
    progress(0, 1, "document vectors")
    _write_rest(documents, analysis, version)
    meta = {
        "format": FORMAT,
        "name": documents.name,
        "engine": engine,
        "reason": reason,
        "documents": len(documents),
        "digest": documents.digest(),
        "files": file_sizes(version),
    }
    write_synced(version / _META, json.dumps(meta, indent=1))


def _write_rest(documents: Documents, analysis: Analysis, version: Path) -> None:
    (version / "lexicon").mkdir()
    analysis.lexicon.save(version / "lexicon")
    save_vectors(make_vectors(analysis), version / "vectors")
    write_store(documents, version / "documents")


def open_index(folder: str | Path) -> Index:
    """Open an index for reading."""
    folder = Path(folder)
    for _ in range(10):
        current = current_version(folder)
        if current is None:
            raise _unreadable(folder, "it holds no index")
        try:
            return _open_version(folder / current)
        except (OSError, ValueError, KeyError, TypeError, InputError) as error:
            if current_version(folder) == current:  # else it was replaced between reading the name and opening
                raise _unreadable(folder, str(error) or type(error).__name__) from error
    raise _unreadable(folder, "it is being replaced again and again")


def _open_version(version: Path) -> Index:
    meta = json.loads((version / _META).read_text(encoding="utf-8"))
    if meta["format"] != FORMAT:
        raise InputError(f"its format is {meta['format']}, this program reads {FORMAT}")
    for name, size in meta["files"].items():
        if (version / name).stat().st_size != size:
            raise InputError(f"{name} is truncated")
    lexicon = load_lexicon(version / "lexicon")
    store = DocumentStore(version / "documents")
    engine = _OPENERS[meta["engine"]](version / "engine", lexicon, store)
    vectors = load_vectors(version / "vectors", lexicon)
    return Index(meta["name"], meta["engine"], engine, vectors, store, meta)


def index_for(name_or_path: str | Path, engine: str = "auto", progress: Progress = silent) -> Index:
    """The index of a data set or of a JSON-lines file, built if there is none yet."""
    folder = _cached_folder(name_or_path, engine)
    if current_version(folder) is not None:
        try:
            return open_index(folder)
        except InputError:
            progress(0, 1, "the index cannot be read and is built again")
    build_index(load_documents(name_or_path, progress), folder, engine, progress)
    return open_index(folder)


def _cached_folder(name_or_path: str | Path, engine: str) -> Path:
    """A folder named after what the index is made from, so that a changed corpus gets an index of its own."""
    choose_engine(engine, 0)
    if str(name_or_path) in CORPORA:
        label, version = str(name_or_path), data_set(str(name_or_path)).version
    else:
        path = Path(name_or_path)
        if not path.is_file():
            raise InputError(
                f"no corpus {str(name_or_path)!r}; give the path of a JSON-lines file or one of: {', '.join(CORPORA)}"
            )
        state = path.stat()
        label = "file"
        version = hashlib.sha256(f"{path.resolve()}|{state.st_size}|{state.st_mtime_ns}".encode()).hexdigest()[:16]
    return cache_folder() / "indexes" / f"{label}-{version}-{engine}-{FORMAT}"


def _unreadable(folder: Path, reason: str) -> InputError:
    reason = " ".join(reason.split())
    return InputError(f"the index in {folder} cannot be read ({reason}); run `shoal setup` again")
