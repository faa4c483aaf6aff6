"""What is compiled before anybody waits for it? The loops of methods, verifiers, measures and searches, at set-up.

Numba keeps them on disk beside the source, or in the cache where that cannot be written (`shoal.anonymizer`), for
every process and every later start.
"""

import hashlib
import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from shoal.anonymizer import compile_method
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.methods.murmur import Murmur
from shoal.anonymizer.methods.murmur.menu import NONE
from shoal.anonymizer.registry import make_method, methods
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress
from shoal.corpus.searches import Blend
from shoal.corpus.store.folders import alone, cache_folder
from shoal.evaluation.attacks.spoken import Exchange, Overheard, replay
from shoal.evaluation.attacks.victims import choose_victims
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.evaluation.protocol.many_rankings import candidate_vectors, first_relevant, many_cosines
from shoal.search.vectors import DocumentVectors, own_profiles


def loops() -> dict[str, Callable[[], None]]:
    """What compiles each part, by running it on a small log."""
    others = {"measures": compile_measures, "searches": compile_searches}
    return {id: partial(compile_method, id) for id in sorted(methods())} | others


def compile_measures() -> None:
    log, method = sample_log(), make_method("linkability", {"p": 0.2})
    made = method.run(log)
    measure_release(MeasuredRelease(made.release, made.assignment, log, method.knowledge, suppressed=made.suppressed))


def compile_searches() -> None:
    """What ranks many searches at once, and what replays devices: over people's own words as if they were documents."""
    log, method = sample_log(), Murmur(k=2)
    made, profiles = method.run(log), build_profiles(log, method.knowledge.words)
    columns = {term: column for column, term in enumerate(profiles.terms)}
    vectors = DocumentVectors(csr_matrix(profiles.counts, dtype=np.float32), columns, profiles.terms)
    documents = np.arange(len(vectors))[None]
    asked_by = np.zeros(1, dtype=np.int64)
    cosine = many_cosines(candidate_vectors(documents, vectors), asked_by, own_profiles(profiles, vectors))
    first_relevant(documents > 0, (cosine, cosine, cosine), documents >= 0, [Blend(1.0)], 1)
    victims = choose_victims(profiles, 2)
    heard = Overheard(method, made.release, vectors, {0: [Exchange("", documents[0], NONE)]})
    replay(heard, victims, [victims.known(1)])


def compile_all(progress: Progress) -> None:
    """Compile what is not compiled yet. What was done for these files is not gone through again."""
    done = cache_folder() / "compiled" / _state()
    if done.exists():
        return
    done.parent.mkdir(parents=True, exist_ok=True)
    with alone(done.parent / "lock", "waiting for another process that compiles", progress):
        if done.exists():
            return
        for number, (name, compile) in enumerate(loops().items()):
            progress(number, len(loops()), f"compiling {name}, once")
            compile()
        for old in done.parent.glob("state-*"):
            old.unlink()
        done.touch()


def _state() -> str:
    """What changes with every change of our files, of numba, or of where they lie."""
    folders = [Path(__file__).parent / name for name in ("anonymizer", "evaluation")]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    told = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return f"state-{hashlib.sha256(json.dumps([version('numba'), told]).encode()).hexdigest()[:16]}"
