"""What do all tests share? Random examples that are the same in every run, and loops that are compiled once."""

import os
from typing import Any

import pytest
from hypothesis import settings

from shoal.anonymizer import compile_method
from shoal.anonymizer.registry import methods
from shoal.corpus.store.folders import alone
from tests.examples import PROFILE
from tests.rooms import RoomScheduling

settings.load_profile(PROFILE)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> RoomScheduling | None:
    return RoomScheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let two workers compile from opposite ends of the list of methods, each what the other has not yet."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return  # tests alone compile what they need
    shared = tmp_path_factory.getbasetemp().parent
    for id in sorted(methods(), reverse=worker != "gw0"):
        with alone(shared / f"compiling-{id}.lock"):
            compile_method(id)
