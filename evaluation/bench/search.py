"""How fast is a personalized search? Query, re-rank and snippets, half of them and 95 % of them within so many ms."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.documents import Documents, load_documents
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import load_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.bench import Row
from shoal.search import personal
from shoal.search.index import Index, build_index, index_for, open_index
from shoal.search.vectors import own_profiles

PARTS = ("query", "re-rank", "snippets")
SHOWN = 10
LARGE = 100_000
_SEARCHES, _WARM = 300, 30


def run(full: bool, progress: Progress) -> Sequence[Row]:
    rows = [_row(name, index_for(name, progress), load_log(name, progress=progress)[0], progress)
            for name in ("news", "reuters")]  # fmt: skip
    if full:
        with tempfile.TemporaryDirectory() as folder:
            progress(0, 1, f"an index of {LARGE:,} documents")
            build_index(_large(progress), Path(folder), progress=progress)
            rows.append(_row("a large corpus", open_index(folder), load_log("reuters")[0], progress))
    return rows


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


def _large(progress: Progress) -> Documents:
    """Real documents, and above their number the first half of one with the second half of another."""
    parts = [load_documents(name, progress) for name in ("news", "reuters", "films")]
    titles, texts = ([text for part in parts for text in getattr(part, column)] for column in ("titles", "texts"))
    rng = np.random.default_rng(0)
    for one, other in rng.integers(0, len(texts), (LARGE - len(texts), 2)).tolist():
        titles.append(titles[one])
        texts.append(texts[one][: len(texts[one]) // 2] + " " + texts[other][len(texts[other]) // 2 :])
    empty = [""] * LARGE
    return Documents("a large corpus", [str(i) for i in range(LARGE)], titles, texts, empty, empty)
