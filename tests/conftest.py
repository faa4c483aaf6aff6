"""What do all tests share? Random examples that are the same in every run, and loops that are compiled once."""

import gc
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from shoal.compiling import loops
from shoal.corpus.store.folders import alone
from tests.examples import PROFILE
from tests.rooms import RoomScheduling

settings.load_profile(PROFILE)
# For workers and all that they start: of two threads that share a matrix on a core that is taken, one burns its time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# `make test` gives the polars of workers, which is loaded by now, one thread: what they start has as many as anybody's.
os.environ.pop("POLARS_MAX_THREADS", None)

# Databases, instances and indexes of tests lie in memory where there is plenty of it: hundreds of times, a new database
# waits for a disk longer than it is looked at. An address of one's own (TMPDIR) is left as it is.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None  # what was found before


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> RoomScheduling | None:
    return RoomScheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage in what is imported, which stays: that takes a fifth of the time of collecting tests."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let workers compile from opposite ends of one list, each what the others have not yet."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return  # tests alone compile what they need
    shared = tmp_path_factory.getbasetemp().parent
    parts = loops()
    gc.disable()  # a compiler makes millions of objects, and nearly all stay until it is done
    for name in parts if worker == "gw0" else reversed(parts):
        with alone(shared / f"compiling-{name}.lock"):
            parts[name]()
    gc.enable()
