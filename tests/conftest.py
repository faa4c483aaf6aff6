"""What do all tests share? Random examples that are the same in every run, and loops that are compiled once."""

import os
from functools import partial
from typing import Any

import pytest
from hypothesis import settings

from shoal.anonymizer import compile_method
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method, methods
from shoal.corpus.store.folders import alone
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from tests.examples import PROFILE
from tests.rooms import RoomScheduling

settings.load_profile(PROFILE)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> RoomScheduling | None:
    return RoomScheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let two workers compile from opposite ends of one list, each what the other has not yet."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return  # tests alone compile what they need
    shared = tmp_path_factory.getbasetemp().parent
    loops = {id: partial(compile_method, id) for id in sorted(methods())} | {"measures": compile_measures}
    for name in loops if worker == "gw0" else reversed(loops):
        with alone(shared / f"compiling-{name}.lock"):
            loops[name]()


def compile_measures() -> None:
    """The same of the loops of measures, by measuring a small release."""
    log, method = sample_log(), make_method("linkability", {"p": 0.2})
    made = method.run(log)
    measure_release(MeasuredRelease(made.release, made.assignment, log, method.knowledge, suppressed=made.suppressed))
