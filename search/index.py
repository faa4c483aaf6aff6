"""Where does the index of a corpus come from? Built aside, swapped in by one rename, opened read-only."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.corpus.documents import Documents, load_documents, read_documents
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.datasets import CORPORA
from shoal.corpus.store.fetch import data_set
from shoal.corpus.store.folders import alone, cache_folder
from shoal.corpus.store.ir_datasets import documents_file, is_ir_dataset
from shoal.search.analysis import Analysis, analyse
from shoal.search.document_store import DocumentStore, Store, write_store
from shoal.search.engines import opensearch, tantivy, whoosh
from shoal.search.engines.base import Engine
from shoal.search.lexicon import load_lexicon
from shoal.search.vectors import Vectors, load_vectors, make_vectors, save_vectors

# Raised whenever an older index could not be read any more, or would be read as something else.
FORMAT = 2
ENGINES = ("whoosh", "tantivy", opensearch.NAME)
# Names the engine in the environment, for who leaves it at "auto".
ENGINE = "SHOAL_ENGINE"
# Above this many documents "auto" takes tantivy: there Whoosh comes to a fifth of the time of a page.
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
    vectors: Vectors
    documents: Store
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
    if engine == opensearch.NAME:
        raise InputError("OpenSearch keeps its index in a cluster, not in a folder: give whoosh or tantivy")
    with only_builder(Path(folder), progress):
        _build(documents, Path(folder), engine, "", progress)


def _build(documents: Documents, folder: Path, engine: str, source: str, progress: Progress) -> None:
    if not len(documents):
        raise InputError(f"{documents.name} holds no documents; an index needs at least one")
    chosen, reason = choose_engine(engine, len(documents))
    progress(0, 1, f"engine: {reason}")
    with new_version(folder) as version:
        _write(documents, version, {"engine": chosen, "reason": reason, "source": source}, progress)


def _write(documents: Documents, version: Path, about: dict[str, Any], progress: Progress) -> None:
    analysis = analyse(documents.titles, documents.texts, load_wordnet().lemmas, progress)
    (version / "engine").mkdir()
    _BUILDERS[about["engine"]](analysis, version / "engine", progress)
    _write_rest(documents, analysis, version, progress)
    meta = {
        **about,
        "format": FORMAT,
        "name": documents.name,
        "documents": len(documents),
        "digest": documents.digest(),
        "files": file_sizes(version),
        "digests": file_digests(version),
    }
    write_synced(version / _META, json.dumps(meta, indent=1))


def _write_rest(documents: Documents, analysis: Analysis, version: Path, progress: Progress) -> None:
    progress(0, 2, "document vectors")
    (version / "lexicon").mkdir()
    analysis.lexicon.save(version / "lexicon")
    save_vectors(make_vectors(analysis), version / "vectors")
    progress(1, 2, "document store")
    write_store(documents, version / "documents")
    progress(2, 2, "document store")


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
    if set(meta.get("digests", {})) != set(meta["files"]):
        raise InputError("an earlier version of the program built it, without digests to check its files by")
    for name, digest in meta["digests"].items():
        if _digest(version / name) != digest:
            raise InputError(f"{name} was changed")
    lexicon = load_lexicon(version / "lexicon")
    store = DocumentStore(version / "documents")
    engine = _OPENERS[meta["engine"]](version / "engine", lexicon, store)
    vectors = load_vectors(version / "vectors", lexicon)
    return Index(meta["name"], meta["engine"], engine, vectors, store, meta)


def index_for(name_or_path: str | Path, progress: Progress = silent, engine: str = "auto") -> Index:
    """The index of a data set or of a JSON-lines file, built if there is none of it, as it is now, in the cache."""
    if engine == "auto":
        engine = os.environ.get(ENGINE, "") or "auto"
    choose_engine(engine, 0)
    if engine == opensearch.NAME:
        return _index_in_cluster(name_or_path, progress)
    label, source = _source(name_or_path)
    folder = cache_folder() / "indexes" / f"{label}-{engine}-{FORMAT}"
    if (index := _open_if_of(source, folder, progress)) is not None:
        return index
    with only_builder(folder, progress):
        # Another process may have built it while this one waited.
        if (index := _open_if_of(source, folder)) is not None:
            return index
        _build(load_documents(name_or_path, progress), folder, engine, source, progress)
    return open_index(folder)


def _index_in_cluster(name_or_path: str | Path, progress: Progress) -> Index:
    """The same in a search cluster, where every machine that serves it finds it."""
    label, source = _source(name_or_path, by_content=True)
    cluster = opensearch.connect(opensearch.Address.of_environment())
    alias, lock = f"shoal-{label}-{opensearch.FORMAT}", cache_folder() / "indexes" / f"{label}-{opensearch.NAME}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with alone(lock, "waiting for another process that builds this index", progress):
        index = open_in_cluster(cluster, alias)
        if index is None or index.meta["source"] != source:
            about = {"engine": opensearch.NAME, "reason": f"{opensearch.NAME}, as asked for", "source": source}
            about["name"] = read_documents(name_or_path, progress)[0]
            opensearch.build(cluster, alias, lambda: read_documents(name_or_path)[1], about, progress)
            index = open_in_cluster(cluster, alias)
    assert index is not None
    return index


def open_in_cluster(cluster: opensearch.Cluster, alias: str) -> Index | None:
    """The index that an alias names; None where there is none."""
    opened = opensearch.open_alias(cluster, alias)
    if opened is None:
        return None
    return Index(opened.meta["name"], opensearch.NAME, opened.engine, opened.vectors, opened.documents, opened.meta)


def _open_if_of(source: str, folder: Path, progress: Progress = silent) -> Index | None:
    """The index in the folder if there is one, it can be read, and it was made from this source."""
    try:
        index = open_index(folder)
    except InputError as error:
        if current_version(folder) is not None:
            progress(0, 1, f"building it anew: {error}")
        return None
    return index if index.meta["source"] == source else None


def _source(name_or_path: str | Path, by_content: bool = False) -> tuple[str, str]:
    """A name for the index of a corpus, and what changes whenever the corpus does. Reads no document.

    A file changes with its date, or, for several machines that each have a copy, with its content alone.
    """
    if str(name_or_path) in CORPORA:
        return str(name_or_path), data_set(str(name_or_path)).version
    path = documents_file(str(name_or_path)) if is_ir_dataset(name_or_path) else Path(name_or_path).expanduser()
    if not path.is_file():
        raise InputError(
            f"no corpus {str(name_or_path)!r}; give the path of a JSON-lines file or one of: {', '.join(CORPORA)}"
        )
    if by_content:
        digest = _digest(path)
        return f"file-{digest[:16]}", digest
    state = path.stat()
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    return f"file-{name}", f"{state.st_size} bytes, changed {state.st_mtime_ns}"


def _unreadable(folder: Path, reason: str) -> InputError:
    reason = " ".join(reason.split())
    return InputError(f"the index in {folder} cannot be read ({reason}); run `shoal setup` again")


# A folder holds its versions and a file that names the current one.
_CURRENT, _LOCK = "current", "lock"
_PREFIX = "version-"


@contextlib.contextmanager
def new_version(folder: Path) -> Iterator[Path]:
    """A new, empty version to fill. It becomes the current one when the block ends, and is gone if it fails.

    Only the `only_builder` of the folder may ask for one.
    """
    _remove_others(folder, keep=current_version(folder))
    version = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
    try:
        yield version
    except BaseException:
        shutil.rmtree(version, ignore_errors=True)
        raise
    _point_to(folder, version.name)
    _remove_others(folder, keep=version.name)


def current_version(folder: Path) -> str | None:
    """The name of the version to read, or None if there is none."""
    try:
        name = (folder / _CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return name if name.startswith(_PREFIX) and Path(name).name == name else None


def _point_to(folder: Path, name: str) -> None:
    """The swap: one rename, so that every reader sees the old name or the new one."""
    temporary = folder / f"{_CURRENT}.new"
    write_synced(temporary, name)
    os.replace(temporary, folder / _CURRENT)


def write_synced(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _remove_others(folder: Path, keep: str | None) -> None:
    """Earlier versions, and what a killed build left. Who has their files open keeps them."""
    for left_over in folder.glob(f"{_PREFIX}*"):
        if left_over.name != keep:
            shutil.rmtree(left_over, ignore_errors=True)


@contextlib.contextmanager
def only_builder(folder: Path, progress: Progress) -> Iterator[None]:
    """One builder of the folder at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    foreign = [path.name for path in folder.iterdir() if not _is_ours(path.name)]
    if foreign:
        raise InputError(f"{folder} holds other files ({foreign[0]}); give an empty folder for the index")
    with alone(folder / _LOCK, "waiting for another process that builds this index", progress):
        yield


def _is_ours(name: str) -> bool:
    return name in (_CURRENT, f"{_CURRENT}.new", _LOCK) or name.startswith(_PREFIX)


def file_sizes(version: Path) -> dict[str, int]:
    """Every file below, with its size: enough to notice one that is cut short or missing."""
    return {str(path.relative_to(version)): path.stat().st_size for path in _files(version)}


def file_digests(version: Path) -> dict[str, str]:
    """The same with the sha-256 of each: enough to notice one that was changed."""
    return {str(path.relative_to(version)): _digest(path) for path in _files(version)}


def _files(version: Path) -> list[Path]:
    return sorted(path for path in version.rglob("*") if path.is_file() and not path.name.startswith("."))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
