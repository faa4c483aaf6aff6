"""Is nothing lost by kill -9? During a run and during an activation: afterwards the old state or the new one."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select, text

from shoal.anonymizer.release_files import read_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.corpus.logs import load_log
from shoal.webapp.core.activation import activate, get_release, history
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.seal import altered, release_folder
from shoal.webapp.core.withdrawal import finish_deletions
from shoal.webapp.database import Activation, Database, Job, Release
from shoal.webapp.database.models import DONE, INTERRUPTED, RUNNING
from shoal.webapp.jobs.queue import get_job, start_again, tend_running
from shoal.webapp.jobs.tasks import add_run
from shoal.webapp.jobs.worker import work
from tests.webapp.instances import Desk, quick_release

KILLS, KILLS_WHILE_TAKING_BACK = (int(os.environ.get("SHOAL_KILLS", few)) for few in ("5", "3"))
pytestmark = pytest.mark.timeout(900 + 30 * KILLS)


class Victim:
    """The process that does the work in forks, and the time after which each is killed."""

    def __init__(self) -> None:
        self.settings = Path()  # a file of the server whose work is killed
        program = [sys.executable, str(Path(__file__).with_name("killing.py"))]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._heard() == "ready"

    def _heard(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def kill_during(self, work: str, seconds: float) -> int:
        """Begin, kill -9 after so long, and say how it ended."""
        self._say(f"{self.settings} {work}")
        child = int(self._heard())
        assert self._heard() == "connected"
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        self._say("killed")
        return int(self._heard())

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        self.process.wait(20)


@pytest.fixture(scope="module")
def started() -> Iterator[Victim]:
    started = Victim()
    yield started
    started.close()


@pytest.fixture
def victim(started: Victim, desk: Desk, tmp_path: Path) -> Victim:
    started.settings = tmp_path / "settings.json"
    started.settings.write_text(desk.settings.to_json())
    return started


def whole(desk: Desk, number: int) -> bool:
    """Whether the release of a run is there; what is there must be whole and true."""
    folder = release_folder(desk.settings.instance, f"r{number}")
    with desk.database.reading() as session:
        row = session.get(Release, f"r{number}")
    if folder.exists():
        verdict = verify_stored(read_release(folder), load_log(desk.settings.log)[0])
        assert verdict.holds, verdict.counterexample
    if row is not None:
        assert folder.exists()
        assert get_job(desk.database, number).state == DONE
    return row is not None


def test_a_run_killed_at_any_moment_is_done_or_can_be_done_again(desk: Desk, victim: Victim) -> None:
    number = add_run(desk.database, "random", {"k": 4}, desk.log_id)
    start = time.perf_counter()
    assert work(desk.database, desk.settings, number)
    duration = time.perf_counter() - start
    random = np.random.default_rng(0)
    number = add_run(desk.database, "random", {"k": 5}, desk.log_id)
    killed = 0
    for _ in range(20 * KILLS):
        moment = random.uniform(0, 1.1 * duration)
        if victim.kill_during(f"run {number}", moment) == -signal.SIGKILL:
            killed += 1
        else:  # the first run had more to load and to compile, or the machine less to do since
            duration = min(duration, 0.7 * moment)
        tend_running(desk.database)
        state = get_job(desk.database, number).state
        assert state != RUNNING
        assert whole(desk, number) == (state == DONE)
        if state == DONE:
            number = add_run(desk.database, "random", {"k": 5}, desk.log_id)
        elif state == INTERRUPTED:
            start_again(desk.database, number)
        if killed == KILLS:
            break
    assert killed == KILLS
    assert work(desk.database, desk.settings, number)
    assert get_job(desk.database, number).state == DONE
    assert whole(desk, number)
    assert list((desk.settings.instance / "runs" / f"r{number}").glob(".*")) == []


def test_a_server_killed_while_switching_serves_the_old_release_or_the_new_one(desk: Desk, victim: Victim) -> None:
    releases = []
    for k in (4, 6):
        number = add_run(desk.database, "random", {"k": k}, desk.log_id)
        work(desk.database, desk.settings, number)
        releases.append(f"r{number}")
    digest = load_log(desk.settings.log)[0].digest()
    activate(desk.releases, releases[1], Consent())
    random = np.random.default_rng(1)
    reader = ActiveReleases(desk.database, desk.settings.instance, digest)
    rows = 1
    for tried in range(1, 10 * KILLS):
        longer = tried if rows == 1 else 1  # on a busy machine nothing may have been switched yet
        ended = victim.kill_during(f"switch {digest} {releases[0]} {releases[1]}", longer * random.uniform(0.02, 0.25))
        assert ended == -signal.SIGKILL
        current = reader.current()
        assert current.release_id in releases
        assert current.release_id == history(desk.database, digest)[0].release_id
        with desk.database.reading() as session:
            now = session.scalar(select(func.count()).select_from(Activation)) or 0
            assert now >= rows
        rows = now
        if tried >= KILLS and rows > 1:
            break
    assert rows > 1
    assert_sound(desk.database)


def states(desk: Desk) -> dict[str, str]:
    with desk.database.reading() as session:
        return {row.id: row.state for row in session.execute(select(Release.id, Release.state))}


def test_what_was_withdrawn_or_deleted_stays_so_and_nothing_is_half_gone_when_its_server_is_killed(
    desk: Desk, victim: Victim
) -> None:
    random, kept = np.random.default_rng(2), quick_release(desk)
    digest, before, seen = desk.releases.log_digest, states(desk), set()
    for tried in range(1, 10 * KILLS_WHILE_TAKING_BACK):
        made = [quick_release(desk) for _ in range(3)]
        activate(desk.releases, kept, Consent())
        longer = 1 + tried * (len(seen) < 2)  # on a busy machine nothing may have been done yet
        ended = victim.kill_during(f"take-back {digest} {' '.join(made)}", longer * random.uniform(0.01, 0.12))
        assert ended == -signal.SIGKILL
        after = states(desk)
        for release_id, state in before.items():
            assert state not in ("withdrawn", "deleted") or after[release_id] in ("withdrawn", "deleted")
        finish_deletions(desk.database, desk.settings.instance)  # as the next start does
        check_each(desk, after)
        seen |= {after[release_id] for release_id in made}
        before = after
        if tried >= KILLS_WHILE_TAKING_BACK and seen & {"withdrawn", "deleted"}:
            break
    assert seen & {"withdrawn", "deleted"}
    assert_sound(desk.database, jobs=len(before))


def check_each(desk: Desk, after: dict[str, str]) -> None:
    """What is there is whole; what is not there is wholly gone, and for everybody."""
    public = [one.release_id for one in desk.releases.listed(only_public=True)]
    for release_id, state in after.items():
        folder = release_folder(desk.settings.instance, release_id)
        assert folder.parent.exists() == (state != "deleted")
        assert state == "deleted" or altered(folder, get_release(desk.database, release_id).seal) == ""
        assert (release_id in public) == (state in ("active", "retired"))
    active = [release_id for release_id, state in after.items() if state == "active"]
    assert [desk.releases.current_id()] == (active or [None])


def assert_sound(database: Database, jobs: int = 2) -> None:
    with database.reading() as session:
        if database.kind == "sqlite":
            assert session.execute(text("PRAGMA integrity_check")).scalar() == "ok"
            assert session.execute(text("PRAGMA foreign_key_check")).all() == []
        assert session.scalar(select(func.count()).select_from(Job)) == jobs


def test_the_next_start_of_a_server_tells_that_a_job_was_interrupted(desk: Desk, victim: Victim) -> None:
    number = add_run(desk.database, "random", {"k": 4}, desk.log_id)
    end = time.monotonic() + 200
    seconds = 0.4
    while time.monotonic() < end:  # until it is killed between its beginning and its end
        victim.kill_during(f"run {number}", seconds)
        tend_running(desk.database)
        state = get_job(desk.database, number).state
        if state == INTERRUPTED:
            break
        if state == DONE:
            number, seconds = add_run(desk.database, "random", {"k": 4}, desk.log_id), seconds / 2
        else:
            seconds *= 1.5
    job = get_job(desk.database, number)
    assert job.state == INTERRUPTED
    assert "Start it again" in job.error
