"""Does only one process at a time get in, and does a killed one let the next in?"""

import subprocess
import sys
import time
from pathlib import Path

from shoal.corpus.store.folders import alone

HOLD = """
import sys, time
from pathlib import Path
from shoal.corpus.store.folders import alone

with alone(Path(sys.argv[1])):
    print("in", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(lock: Path, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", HOLD, str(lock), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"
    return process


def test_who_waits_is_told_of_it_and_then_gets_in(tmp_path: Path) -> None:
    told: list[str] = []
    first = holder(tmp_path / "lock", 0.5)
    with first, alone(tmp_path / "lock", "waiting", lambda done, total, stage: told.append(stage)):
        assert first.wait(10) == 0
    assert set(told) == {"waiting"}


def test_a_killed_process_gives_its_lock_back(tmp_path: Path) -> None:
    with holder(tmp_path / "lock", 60) as other:
        other.kill()
        other.wait()
        started = time.monotonic()
        with alone(tmp_path / "lock"):
            assert time.monotonic() - started < 5
