"""Is an index swapped in whole, readable while it is replaced, and refused when it is damaged?"""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from shoal.corpus.documents import Documents, load_documents
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.progress import Progress
from shoal.search import index as index_module
from shoal.search.index import build_index, choose_engine, current_version, index_for, open_index

KILLS = int(os.environ.get("SHOAL_KILLS", "12"))


def make_documents(pairs: list[tuple[str, str]], name: str = "blank") -> Documents:
    ids, blank = [f"d{i}" for i in range(len(pairs))], [""] * len(pairs)
    return Documents(name, ids, [title for title, _ in pairs], [text for _, text in pairs], blank, blank)


OLD = make_documents([("Old", "lighthouse keeper"), ("Old too", "harbour")], "old")
NEW = make_documents([("New", "harbour master"), ("New too", "harbour"), ("New as well", "lighthouse")], "new")


def versions(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("version-*"))


def test_documents_come_back_by_position(small: object, sentences: Documents, tmp_path: Path) -> None:
    build_index(sentences, tmp_path / "index")
    index = open_index(tmp_path / "index")
    assert len(index) == len(sentences)
    assert [index.documents[i] for i in range(len(index))] == [sentences[i] for i in range(len(sentences))]
    with pytest.raises(IndexError):
        index.documents[len(sentences)]


def test_who_has_the_old_index_open_goes_on_reading_it(engine_name: str, tmp_path: Path) -> None:
    build_index(OLD, tmp_path / "index", engine_name)
    old = open_index(tmp_path / "index")
    build_index(NEW, tmp_path / "index", engine_name)
    new = open_index(tmp_path / "index")
    assert old.engine.candidates("lighthouse").documents.tolist() == [0]
    assert old.engine.candidates('"lighthouse keeper" title:old').documents.tolist() == [0, 1]
    assert [old.documents[i].title for i in (0, 1)] == ["Old", "Old too"]
    assert old.vectors.matrix[[0]].nnz == 3
    assert new.engine.candidates("lighthouse").documents.tolist() == [2]
    assert len(versions(tmp_path / "index")) == 1


def test_a_build_that_is_stopped_leaves_the_old_index(engine_name: str, tmp_path: Path) -> None:
    build_index(OLD, tmp_path / "index", engine_name)

    def stop(done: int, total: int, stage: str) -> None:
        if stage.startswith("indexing"):
            raise Cancelled

    with pytest.raises(Cancelled):
        build_index(NEW, tmp_path / "index", engine_name, stop)
    assert open_index(tmp_path / "index").name == "old"
    assert len(versions(tmp_path / "index")) == 1


KILLED = """
import sys
from shoal.corpus.documents import Documents, load_documents
from shoal.search.index import build_index

def tell(done, total, stage):
    if stage == "document vectors":
        print("now", flush=True)
        sys.stdin.read()

build_index(Documents("new", ["a"], ["New"], ["harbour"], [""], [""]), sys.argv[1], progress=tell)
"""


def test_a_killed_build_leaves_the_old_index_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_index(OLD, folder)
    command = [sys.executable, "-c", KILLED, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        os.kill(process.pid, signal.SIGKILL)
    assert len(versions(folder)) == 2
    assert open_index(folder).name == "old"
    build_index(NEW, folder)
    assert open_index(folder).name == "new"
    assert len(versions(folder)) == 1


SWAPPING = """
import os, signal, sys, time
from shoal.search import index
from tests.search.test_index import NEW, OLD

texts = {}  # read before, since polars does not outlive a fork; all that touches the disk is done by the forks
analyse = index.analyse
index.analyse = lambda titles, *rest: texts.get(tuple(titles)) or analyse(titles, *rest)
for documents in (NEW, OLD):
    texts[tuple(documents.titles)] = analyse(documents.titles, documents.texts, index.load_wordnet().lemmas)
    start = time.monotonic()
    index.build_index(documents, sys.argv[1] + "-aside", sys.argv[2])
print(time.monotonic() - start, flush=True)
for seconds in sys.stdin:
    child = os.fork()
    while child == 0:
        for documents in (NEW, OLD):
            index.build_index(documents, sys.argv[1], sys.argv[2])
    time.sleep(float(seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("killed", flush=True)
"""


def test_kills_leave_the_old_index_or_the_new_one(engine_name: str, tmp_path: Path) -> None:
    """Each at another moment of a build, a swap or the clearing up after it."""
    folder = tmp_path / "index"
    build_index(OLD, folder, engine_name)
    command = [sys.executable, "-c", SWAPPING, str(folder), engine_name]
    found = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        duration = float(process.stdout.readline())
        for tried, seconds in enumerate(np.random.default_rng(0).uniform(0, 6 * duration, 5 * KILLS)):
            if tried >= KILLS and len(set(found)) > 1:
                break
            longer = 1 + tried / KILLS * (len(set(found)) < 2)  # on a busy machine nothing may have been swapped yet
            process.stdin.write(f"{longer * seconds}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "killed\n"
            index = open_index(folder)
            found.append((index.name, len(index.engine.candidates("harbour")), len(index.documents[1].title)))
            index.close()
    assert set(found) == {("old", 1, len("Old too")), ("new", 2, len("New too"))}
    build_index(NEW, folder, engine_name)
    assert len(versions(folder)) == 1


FULL = """
import resource, sys
from pathlib import Path
from shoal.search.index import build_index, open_index
from tests.search.test_index import NEW, versions

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
for room in (400, 100, 0):
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))  # what a full disk says, without filling one
    try:
        build_index(NEW, sys.argv[1], sys.argv[2])
    except OSError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    print(open_index(sys.argv[1]).name, len(versions(Path(sys.argv[1]))))
"""


def test_on_a_full_disk_the_old_index_stays(engine_name: str, tmp_path: Path) -> None:
    build_index(OLD, tmp_path / "index", engine_name)
    command = [sys.executable, "-B", "-c", FULL, str(tmp_path / "index"), engine_name]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    assert ended.stdout.count("File too large") == ended.stdout.count("old 1\n") == 3


def test_a_truncated_index_is_refused_with_what_to_do(engine_name: str, tmp_path: Path) -> None:
    build_index(OLD, tmp_path / "index", engine_name)
    version = tmp_path / "index" / versions(tmp_path / "index")[0]
    for path in sorted(path for path in version.rglob("*") if path.is_file() and path.stat().st_size > 1):
        if path.name.startswith("."):  # tantivy's lock files
            continue
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(InputError, match="run `shoal setup` again"):
            open_index(tmp_path / "index")
        path.unlink()
        with pytest.raises(InputError, match="run `shoal setup` again"):
            open_index(tmp_path / "index")
        path.write_bytes(whole)
    assert open_index(tmp_path / "index").name == "old"


@pytest.mark.parametrize("content", ["", "nonsense", "../elsewhere", "version-none", "\x00"])
def test_a_foreign_folder_is_no_index(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError, match="run `shoal setup` again"):
        open_index(tmp_path / "nothing")
    (tmp_path / "current").write_text(content)
    with pytest.raises(InputError, match="run `shoal setup` again"):
        open_index(tmp_path)


def test_an_index_is_not_built_over_other_peoples_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"thesis\.txt"):
        build_index(OLD, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_index_of_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_index(OLD, tmp_path / "index")
    monkeypatch.setattr(index_module, "FORMAT", index_module.FORMAT + 1)
    with pytest.raises(InputError, match="its format is"):
        open_index(tmp_path / "index")


def test_auto_takes_tantivy_for_large_corpora_and_says_so() -> None:
    assert choose_engine("auto", 50_000)[0] == "whoosh"
    chosen, reason = choose_engine("auto", 50_001)
    assert chosen == "tantivy"
    assert "50,001 documents" in reason
    with pytest.raises(InputError, match="choose one of: auto, whoosh, tantivy"):
        choose_engine("lucene", 1)


def test_the_choice_is_told_while_building_and_kept_in_the_index(tmp_path: Path) -> None:
    stages: list[str] = []
    build_index(OLD, tmp_path / "index", "auto", lambda done, total, stage: stages.append(stage))
    assert any("engine: whoosh, chosen for 2 documents" in stage for stage in stages)
    assert open_index(tmp_path / "index").meta["reason"].startswith("whoosh, chosen for 2 documents")


def test_no_documents_and_documents_without_words_are_answered(engine_name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no documents"):
        build_index(make_documents([]), tmp_path / "none", engine_name)
    build_index(make_documents([("", ""), ("...", "\x00 !")]), tmp_path / "blank", engine_name)
    index = open_index(tmp_path / "blank")
    assert len(index.engine.candidates("anything")) == 0
    assert index.engine.suggest("anything") is None
    assert index.vectors.matrix.nnz == 0


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus in a file, and a cache of its own."""
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "1", "title": "Harbour", "text": "A lighthouse."}\n')
    monkeypatch.setattr(index_module, "cache_folder", lambda: tmp_path / "cache")
    return path


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that the documents are read."""
    loads: list[str] = []

    def load(path: Path, progress: Progress) -> Documents:
        loads.append(str(path))
        return load_documents(path, progress)

    monkeypatch.setattr(index_module, "load_documents", load)
    return loads


def test_the_index_of_a_file_is_built_once_and_again_when_the_file_changes(corpus: Path, loads: list[str]) -> None:
    assert len(index_for(corpus)) == len(index_for(corpus)) == 1
    assert len(loads) == 1
    with corpus.open("a") as file:
        file.write('{"id": "2", "title": "Pier", "text": "A boat."}\n')
    assert len(index_for(corpus)) == len(index_for(corpus)) == 2
    assert len(loads) == 2


def test_four_who_want_the_same_index_build_it_once(corpus: Path, loads: list[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        indexes = list(pool.map(index_for, [corpus] * 4))
    assert [len(index) for index in indexes] == [1, 1, 1, 1]
    assert len(loads) == 1


def test_a_damaged_cached_index_is_built_again(corpus: Path, tmp_path: Path) -> None:
    index_for(corpus)
    (folder,) = (tmp_path / "cache" / "indexes").iterdir()
    (folder / str(current_version(folder)) / "index.json").write_text("{")
    assert index_for(corpus).engine.candidates("lighthouse").documents.tolist() == [0]


def test_an_index_of_an_earlier_version_without_digests_is_built_anew_with_a_message(
    corpus: Path, tmp_path: Path
) -> None:
    """To write down the digests of what is there now would seal what somebody may have changed before."""
    told: list[str] = []
    index_for(corpus)
    (folder,) = (tmp_path / "cache" / "indexes").iterdir()
    meta = folder / str(current_version(folder)) / "index.json"
    content = json.loads(meta.read_text())
    del content["digests"]
    meta.write_text(json.dumps(content))
    assert len(index_for(corpus, lambda done, total, stage: told.append(stage))) == 1
    assert any("building it anew" in text and "earlier version" in text for text in told)
    assert json.loads((folder / str(current_version(folder)) / "index.json").read_text())["digests"]


def test_an_index_with_a_changed_file_is_refused_and_built_anew_with_a_message(corpus: Path, tmp_path: Path) -> None:
    """Of the same size, so that only a digest tells."""
    told: list[str] = []
    index_for(corpus)
    (folder,) = (tmp_path / "cache" / "indexes").iterdir()
    version = folder / str(current_version(folder))
    files = [path for path in version.rglob("*") if path.is_file() and path.stat().st_size]
    for path in (path for path in files if not path.name.startswith(".") and path.name != "index.json"):
        whole = path.read_bytes()
        path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
        with pytest.raises(InputError, match="was changed"):
            open_index(folder)
        path.write_bytes(whole)
    path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    assert len(index_for(corpus, lambda done, total, stage: told.append(stage))) == 1
    assert any("building it anew" in text and "was changed" in text for text in told)
    assert len(open_index(folder)) == 1


def test_a_corpus_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="news, reuters, films"):
        index_for(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match="choose one of: auto, whoosh, tantivy"):
        index_for("news", engine="lucene")
