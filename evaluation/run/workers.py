"""How are many settings run on all cores? Processes that each hold a laboratory, and keep every cell they finish."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from shoal.corpus.progress import Progress
from shoal.evaluation.experiment.settings import Setting
from shoal.evaluation.run.cells import Cell, Laboratory, failed

T = TypeVar("T")
Task = tuple[Setting, int]  # a setting and a seed
_POLL_SECONDS = 0.2

_laboratory: Laboratory | None = None
_kept: dict[Laboratory, ProcessPoolExecutor] = {}


def run_all(laboratory: Laboratory, tasks: Sequence[Task], jobs: int, progress: Progress) -> dict[Task, Cell]:
    """The cell of every task; those that an earlier run finished are read."""
    cells = {task: cell for task in tasks if (cell := laboratory.kept(*task)) is not None}
    missing = [task for task in dict.fromkeys(tasks) if task not in cells]
    total = len(missing) + len(cells)

    def beat() -> None:
        progress(len(cells), total, "settings")

    found = _in_turn(laboratory, missing, beat) if jobs == 1 else _at_once(laboratory, missing, jobs, beat)
    for task, cell in found:
        cells[task] = cell
        beat()
    return cells


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_turn(laboratory: Laboratory, tasks: Sequence[Task], beat: Callable[[], None]) -> Iterator[tuple[Task, Cell]]:
    for task in tasks:
        yield task, laboratory.run(*task, lambda done, total, stage: beat())


def _at_once(
    laboratory: Laboratory, tasks: Sequence[Task], jobs: int, beat: Callable[[], None]
) -> Iterator[tuple[Task, Cell]]:
    """Cells as they are finished. When a process dies, what it may have been at is run one by one, to see why."""
    left = dict.fromkeys(tasks)
    while left:
        try:
            for task, cell in _pooled(laboratory, list(left), jobs, beat):
                del left[task]
                yield task, cell
        except BrokenProcessPool:
            _kept.pop(laboratory, None)
            for task in list(left)[: jobs + 1]:  # tasks begin in their order, and one is handed out ahead
                del left[task]
                yield task, _alone(laboratory, task, beat)


def _alone(laboratory: Laboratory, task: Task, beat: Callable[[], None]) -> Cell:
    try:
        return next(cell for _, cell in _pooled(laboratory, [task], 1, beat))
    except BrokenProcessPool:
        return failed("its process died: it crashed, or the machine ran out of memory")


def _pooled(
    laboratory: Laboratory, tasks: Sequence[Task], jobs: int, beat: Callable[[], None]
) -> Iterator[tuple[Task, Cell]]:
    """Run tasks in processes of their own. The beat goes on all the while, so that it can stop the run."""
    if not tasks:
        return
    with _pool(laboratory, min(jobs, len(tasks))) as pool:
        waiting = dict(zip(submitted(pool, _run, [(task,) for task in tasks]), tasks, strict=True))
        while waiting:
            finished, _ = wait(waiting, _POLL_SECONDS, FIRST_COMPLETED)
            beat()
            for future in finished:
                yield waiting.pop(future), future.result()


@contextmanager
def kept_processes(laboratory: Laboratory, jobs: int) -> Iterator[None]:
    """Here the settings of a laboratory are run by the same processes, however often some are asked for.

    To load words, taxonomy and compiled loops takes a process as long as a dozen settings.
    """
    with processes(jobs, _begin, (laboratory,)) as pool:  # they are started with the first setting
        _kept[laboratory] = pool
        try:
            yield
        finally:
            _kept.pop(laboratory, None)


@contextmanager
def _pool(laboratory: Laboratory, number: int) -> Iterator[ProcessPoolExecutor]:
    if laboratory in _kept:
        yield _kept[laboratory]
        return
    with processes(number, _begin, (laboratory,)) as pool:
        yield pool


@contextmanager
def processes(
    number: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes end at once when the work is given up: loops of numba listen to nothing else."""
    others = multiprocessing.active_children()
    # numba's and polars' threads do not outlive a fork
    pool = ProcessPoolExecutor(number, multiprocessing.get_context("spawn"), begin, given)
    try:
        yield pool
    except BaseException:
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal. Those that are started here inherit that it is not for them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def submitted(pool: ProcessPoolExecutor, work: Callable[..., T], given: Sequence[tuple[Any, ...]]) -> list[Future[T]]:
    """Work handed to a pool, whose processes start with it."""
    with _uninterrupted():
        return [pool.submit(work, *one) for one in given]


def _begin(laboratory: Laboratory) -> None:
    global _laboratory
    _laboratory = laboratory
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """End with the process that started this one, however that one ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _run(task: Task) -> Cell:
    assert _laboratory is not None
    return _laboratory.run(*task)
