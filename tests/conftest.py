"""What do all tests share? Random examples that are the same in every run, and loops that are compiled once."""

import os

import pytest
from hypothesis import settings

from shoal.anonymizer import compile_method
from shoal.anonymizer.registry import methods
from shoal.corpus.store.folders import alone
from tests.examples import PROFILE

settings.load_profile(PROFILE)


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
