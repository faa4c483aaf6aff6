"""How fast is a personalized search? Its parts in ms; and our engines beside others over the same words.

And what Whoosh holds in memory where several threads search; with `--against`, that of another program, too.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.sparse import csc_array, csr_array

from shoal.corpus.documents import Documents, load_documents
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.logs import load_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.bench import Row
from shoal.evaluation.run.programs import Program, beside, in_turns, taking_part, told_by
from shoal.evaluation.run.timing import PeakMemory, in_own_process
from shoal.search import personal
from shoal.search.analysis import Analysis, analyse
from shoal.search.document_store import DocumentStore, write_store
from shoal.search.engines import tantivy, whoosh
from shoal.search.engines.base import K1, B, first
from shoal.search.index import Index, build_index, index_for, open_index
from shoal.search.query import parse_query
from shoal.search.vectors import own_profiles

PARTS = ("query", "re-rank", "snippets")
SHOWN = 10
LARGE = 100_000
_SEARCHES, _WARM = 300, 30
_TOP, _FIRST = 100, 10
_PEERS = {False: 0, True: 20_000}  # documents of the second corpus that engines are held against each other on
_DOCUMENTS, THREADS = {False: 20_000, True: 190_000}, 4
ANONYMOUS, FIRST = 200, 50  # MB and ms that Whoosh may take with them
# Also run with the library of another program, which may be older: what they import stays where it is.
_INDEX = """
import sys
from shoal.corpus.documents import load_documents
from shoal.search.index import build_index
build_index(load_documents(sys.argv[1]), sys.argv[2], "whoosh")
print("null")
"""
_THREADS = r"""
import json, re, sys, threading, time
from shoal.search import personal
from shoal.search.index import open_index
index, queries, threads = open_index(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
together, first = threading.Barrier(threads), []

def milliseconds(query):
    begin = time.thread_time()
    personal.search(index, query)
    return 1000 * (time.thread_time() - begin)

def searcher():
    together.wait()
    first.append(milliseconds(queries[0]))

searchers = [threading.Thread(target=searcher) for _ in range(threads)]
for one in searchers:
    one.start()
for one in searchers:
    one.join()
held = int(re.search(r"RssAnon:\s+(\d+) kB", open("/proc/self/status").read())[1]) / 1024
print(json.dumps([held, min(first), sorted(map(milliseconds, queries))[len(queries) // 2]]))
"""


def run(full: bool, progress: Progress) -> Sequence[Row]:
    return compare(full, progress, "")


def compare(full: bool, progress: Progress, against: str) -> Sequence[Row]:
    rows = [_row(name, index_for(name, progress), load_log(name, progress=progress)[0], progress)
            for name in ("news", "reuters")]  # fmt: skip
    if full:
        with tempfile.TemporaryDirectory() as folder:
            progress(0, 1, f"an index of {LARGE:,} documents")
            build_index(_large(progress), Path(folder), progress=progress)
            rows.append(_row("a large corpus", open_index(folder), load_log("reuters")[0], progress))
    rows.append(memory_row(_DOCUMENTS[full], progress, against))
    return [*rows, *peers(0, progress), *(peers(_PEERS[full], progress) if full else [])]


def memory_row(documents: int, progress: Progress, against: str = "") -> Row:
    """The anonymous memory of a process in which so many threads have searched by Whoosh, and its first search."""
    programs, log = taking_part(against), load_log("reuters", progress=progress)[0]
    asked = json.dumps([log.queries[int(event)] for event in log.query[:_SEARCHES]])
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "documents.jsonl"
        own = {program: str(Path(folder) / str(number)) for number, program in enumerate(programs)}
        _write_lines(_large(progress, documents), corpus)
        for program in programs:
            progress(0, 1, f"an index of {documents:,} documents by {program[0]}")
            told_by(program, _INDEX, str(corpus), own[program])
        told = in_turns(partial(_held_by, own, asked), programs, 3)
    return _memory_row(documents, [np.min(each, axis=0).tolist() for each in told])


def _held_by(own: dict[Program, str], asked: str, program: Program) -> tuple[float, float, float]:
    """What threads that begin at once hold, and in a process of its own the first search and those after it."""
    held, _, _ = told_by(program, _THREADS, own[program], asked, str(THREADS))
    _, first, later = told_by(program, _THREADS, own[program], asked, "1")
    return held, first, later


def _memory_row(documents: int, least: Sequence[tuple[float, float, float]]) -> Row:
    held, first, later = zip(*least, strict=True)
    reached = [
        beside(held, "{:,.0f} MB"),
        beside(first, "first search {:.0f} ms of processor"),
        beside(later, "the next {:.1f} ms"),
    ]
    at, wanted = f"{documents:,} documents, {THREADS} threads", f"{ANONYMOUS} MB, first search {FIRST} ms"
    holds = held[0] <= ANONYMOUS and first[0] <= FIRST
    return Row("Whoosh's memory that is not mapped", at, wanted, "; ".join(reached), holds)


def _write_lines(documents: Documents, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for id, title, text in zip(documents.ids, documents.titles, documents.texts, strict=True):
            file.write(json.dumps({"id": id, "title": title, "text": text}) + "\n")


def _row(name: str, index: Index, log: QueryLog, progress: Progress) -> Row:
    part = _measure(index, log, progress)
    index.close()
    whole = part.sum(axis=0)
    mean, middle = part.mean(axis=1), float(np.median(part[1]))
    each = ", ".join(f"{what} {ms:.2f}" for what, ms in zip(PARTS, mean, strict=True))
    reached = (
        f"p50 {np.median(whole):.1f} ms, p95 {np.quantile(whole, 0.95):.1f} ms; in the mean {each} ms, "
        f"{PARTS[int(mean.argmax())]} most; re-rank {middle:.2f} ms at the median"
    )
    at = f"{len(index):,} documents, {index.engine_name}"
    return Row(f"search on {name}", at, "re-rank < 1 ms at the median", reached, middle < 1)


def _measure(index: Index, log: QueryLog, progress: Progress) -> np.ndarray:
    """Milliseconds of each part (rows) of each search (columns), by users of the log with their own profiles."""
    profiles = build_profiles(log, Knowledge().words)
    mapped = own_profiles(profiles, index.vectors)
    events = np.random.default_rng(0).integers(0, len(log), _SEARCHES + _WARM)
    times = np.zeros((len(PARTS), len(events)))
    for column, event in enumerate(events):
        text, profile = log.queries[int(log.query[event])], mapped[[int(log.user[event])]]
        times[:, column] = _timed_search(index, text, profile)
        progress(column + 1, len(events), f"searching {index.name}")
    return times[:, _WARM:] * 1000


def _timed_search(index: Index, text: str, profile: csr_array) -> tuple[float, float, float]:
    found = personal.search(index, text, {"own": profile})
    ranked = time.perf_counter()
    found.results(["own"], slice(SHOWN))
    return found.seconds["engine"], found.seconds["rerank"], time.perf_counter() - ranked


Best = Callable[[Sequence[str], int], Sequence[int]]  # the documents that hold any of some word forms, best first


@dataclass(frozen=True)
class Held:
    """What an engine took: processor seconds to index, ms of each search, MB, and its first ten beside exact ones."""

    seconds: float
    milliseconds: np.ndarray
    megabytes: float
    overlap: float

    def told(self) -> str:
        p50, p95 = np.quantile(self.milliseconds, [0.5, 0.95])
        return (
            f"indexed in {self.seconds:.1f} s, p50 {p50:.2f} ms, p95 {p95:.2f} ms, "
            f"{self.megabytes:.0f} MB more memory, {self.overlap:.1%} of the first ten as exact BM25"
        )


def peers(documents: int, progress: Progress) -> list[Row]:
    """Our engines, Whoosh as it comes and, where it is installed, bm25s: the same words, each in its own process."""
    rows, at = [], f"{documents or len(load_documents('news')):,} documents, top {_TOP}, processor time"
    for done, (name, engine) in enumerate(ENGINES.items()):
        progress(done, len(ENGINES), f"engines on the same words: {name}")
        if name == "bm25s" and find_spec("bm25s") is None:
            rows.append(Row(name, at, "a peer", "not installed: pip install bm25s (nothing of ours needs it)", True))
            continue
        held, _, _ = in_own_process(_hold, engine, documents)
        exact = name == "ours, on Whoosh"
        rows.append(Row(name, at, "exact BM25" if exact else "a peer", held.told(), held.overlap > 0.999 or not exact))
    return rows


def _hold(engine: "Callable[[Analysis, Path], Best]", documents: int) -> Held:
    """Index the documents and search them, in a process that does nothing else."""
    corpus = _large(lambda *_: None, documents) if documents else load_documents("news")
    analysis = analyse(corpus.titles, corpus.texts, load_wordnet().lemmas)
    asked, exact = _forms(analysis), _exact(analysis)
    with tempfile.TemporaryDirectory() as folder:
        write_store(corpus, Path(folder) / "documents")
        (Path(folder) / "engine").mkdir()
        with PeakMemory() as memory:
            begin = time.process_time()
            best = engine(analysis, Path(folder))
            seconds = time.process_time() - begin
            times, found = zip(*(_timed(best, forms) for forms in asked), strict=True)
        same = [len({*mine[:_FIRST]} & {*exact(forms)}) / max(len(exact(forms)), 1)
                for mine, forms in zip(found, asked, strict=True)]  # fmt: skip
    return Held(seconds, 1000 * np.array(times[_WARM:]), memory.grown, float(np.mean(same)))


def _timed(best: Best, forms: Sequence[str]) -> tuple[float, list[int]]:
    begin = time.process_time()
    found = list(best(forms, _TOP))
    return time.process_time() - begin, found


def _forms(analysis: Analysis) -> list[list[str]]:
    """The word forms of queries of the simulated log; those that no document holds are left out."""
    log = load_log("news")[0]
    events = np.random.default_rng(0).integers(0, len(log), _SEARCHES + _WARM)
    texts = [log.queries[int(log.query[event])] for event in events]
    clauses = [analysis.lexicon.resolve(parse_query(text)) for text in texts]
    return [forms for one in clauses if (forms := list(dict.fromkeys(word for clause in one for word in clause.words)))]


def _exact(analysis: Analysis) -> "Callable[[Sequence[str]], list[int]]":
    """The first ten by BM25 as the formula says, ties in the order of the corpus."""
    words = analysis.combined()
    shape = (len(analysis), len(analysis.lexicon.forms))
    tf = csc_array((np.ones(len(words.ids)), (words.documents(), words.ids)), shape=shape)
    tf.sum_duplicates()
    held = np.diff(tf.indptr)
    idf = np.log(1 + (shape[0] - held + 0.5) / (held + 0.5))
    norm = K1 * (1 - B + B * words.lengths / words.lengths.mean())
    tf.data = np.repeat(idf, held) * tf.data * (K1 + 1) / (tf.data + norm[tf.indices])
    number = {form: i for i, form in enumerate(analysis.lexicon.forms)}

    def best(forms: Sequence[str]) -> list[int]:
        score = np.asarray(tf[:, [number[form] for form in forms]].sum(axis=1)).ravel()
        found = np.flatnonzero(score)
        return first(found, score[found], _FIRST).documents.tolist()

    return best


def _our_whoosh(analysis: Analysis, folder: Path) -> Best:
    whoosh.build(analysis, folder / "engine")
    opened = whoosh.WhooshEngine(folder / "engine", analysis.lexicon, DocumentStore(folder / "documents"))
    return lambda forms, limit: opened.candidates(" ".join(forms), limit).documents.tolist()


def _our_tantivy(analysis: Analysis, folder: Path) -> Best:
    tantivy.build(analysis, folder / "engine")
    opened = tantivy.TantivyEngine(folder / "engine", analysis.lexicon, DocumentStore(folder / "documents"))
    return lambda forms, limit: opened.candidates(" ".join(forms), limit).documents.tolist()


def _stock_whoosh(analysis: Analysis, folder: Path) -> Best:
    return whoosh.stock(_texts(analysis), folder / "engine")


def _bm25s(analysis: Analysis, folder: Path) -> Best:
    import bm25s

    searcher = bm25s.BM25(method="lucene", k1=K1, b=B)
    searcher.index([text.split() for text in _texts(analysis)], show_progress=False)

    def best(forms: Sequence[str], limit: int) -> list[int]:
        found, _ = searcher.retrieve([list(forms)], k=limit, show_progress=False, n_threads=1)
        return list(found[0].tolist())

    return best


def _texts(analysis: Analysis) -> list[str]:
    words, forms = analysis.combined(), np.array(analysis.lexicon.forms, dtype=object)
    return [words.words(forms, i) for i in range(len(analysis))]


ENGINES: dict[str, Callable[[Analysis, Path], Best]] = {
    "ours, on Whoosh": _our_whoosh,
    "ours, on tantivy": _our_tantivy,
    "Whoosh as it comes": _stock_whoosh,
    "bm25s": _bm25s,
}


def _large(progress: Progress, size: int = LARGE) -> Documents:
    """Real documents, and above their number the first half of one with the second half of another."""
    parts = [load_documents(name, progress) for name in ("news", "reuters", "films")]
    titles, texts = ([text for part in parts for text in getattr(part, column)] for column in ("titles", "texts"))
    rng = np.random.default_rng(0)
    for one, other in rng.integers(0, len(texts), (max(size - len(texts), 0), 2)).tolist():
        titles.append(titles[one])
        texts.append(texts[one][: len(texts[one]) // 2] + " " + texts[other][len(texts[other]) // 2 :])
    empty = [""] * size
    return Documents("a large corpus", [str(i) for i in range(size)], titles[:size], texts[:size], empty, empty)
