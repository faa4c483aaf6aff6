"""What is compiled before anybody waits for it? The loops of methods, of their verifiers and of measures, at set-up.

Numba keeps them on disk beside the source, or in the cache where that cannot be written (`shoal.anonymizer`), for
every process and every later start.
"""

import hashlib
import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

from shoal.anonymizer import compile_method
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method, methods
from shoal.corpus.progress import Progress
from shoal.corpus.store.folders import alone, cache_folder
from shoal.evaluation.measures.release import MeasuredRelease, measure_release


def loops() -> dict[str, Callable[[], None]]:
    """What compiles each part, by running it on a small log."""
    return {id: partial(compile_method, id) for id in sorted(methods())} | {"measures": compile_measures}


def compile_measures() -> None:
    log, method = sample_log(), make_method("linkability", {"p": 0.2})
    made = method.run(log)
    measure_release(MeasuredRelease(made.release, made.assignment, log, method.knowledge, suppressed=made.suppressed))


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
