"""Does long work run, report, stop and survive? Jobs in processes of their own, on both databases."""

import io
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from shoal.anonymizer.release_files import read_release
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.logs import load_log
from shoal.corpus.logs.aol import heading
from shoal.webapp.core.logs import get_log, register_log
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.seal import release_folder
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import CANCELLED, DONE, FAILED, INTERRUPTED, QUEUED, RUN, RUNNING, now
from shoal.webapp.jobs import queue
from shoal.webapp.jobs.progress import JobProgress, job_status, remaining_seconds
from shoal.webapp.jobs.queue import (
    add_job,
    birth,
    cancel_job,
    claim_job,
    finish_job,
    get_job,
    host,
    is_alive,
    start_again,
    tend_running,
    waiting_jobs,
)
from shoal.webapp.jobs.tasks import add_run
from shoal.webapp.jobs.worker import main as worker_program
from shoal.webapp.jobs.worker import tend, work
from tests.webapp.instances import Desk


def wait_for_end(desk: Desk, *numbers: int) -> list[Job]:
    end = time.monotonic() + 240
    while time.monotonic() < end:
        jobs = [get_job(desk.database, number) for number in numbers]
        if all(job.finished_at for job in jobs):
            return jobs
        time.sleep(0.1)
    raise AssertionError([(job.state, job.stage) for job in jobs])


@pytest.mark.parametrize("desk", ["sqlite"], indirect=True)  # the next ones run on both
def test_runs_go_on_one_after_the_other_in_processes_of_their_own(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "AT_ONCE", 1)
    first = add_run(desk.database, "random", {"k": "4"}, desk.log_id)
    second = add_run(desk.database, "random", {"k": "5"}, desk.log_id, users=40)
    tend(desk.database, desk.settings)
    run, preview = wait_for_end(desk, first, second)
    assert (run.state, preview.state, run.error, preview.error) == (DONE, DONE, "", "")
    assert run.started_at is not None
    assert preview.started_at is not None
    assert preview.started_at >= run.finished_at
    stored = read_release(release_folder(desk.settings.instance, f"r{first}"))
    assert stored.manifest.parameters == {"k": 4}
    assert preview.result["users"] == 40
    assert preview.result["measured"]["anonymity_min"] == 5
    assert {"ap10", "kept", "linkage5"} <= set(run.result["measured"])
    assert sum(count for _, _, count in run.result["sizes"]) == run.result["groups"] == len(stored.release)
    releases = ActiveReleases(desk.database, desk.settings.instance, stored.manifest.digests["log"])
    assert [one.release_id for one in releases.listed()] == [f"r{first}"]
    assert releases.current_id() is None


@pytest.mark.parametrize(("method", "given", "what"), [
    ("nothing", {}, "unknown method"),
    ("random", {"k": "1"}, "not allowed"),
    ("random", {"p": "1"}, "no parameter"),
])  # fmt: skip
def test_bad_settings_are_refused_before_anything_runs(
    desk: Desk, method: str, given: dict[str, object], what: str
) -> None:
    with pytest.raises(InputError, match=what):
        add_run(desk.database, method, given, desk.log_id)
    with pytest.raises(InputError, match="no such log"):
        add_run(desk.database, "random", {}, 77)
    assert waiting_jobs(desk.database) == []


def test_a_method_that_refuses_the_log_is_a_failed_run_with_its_reason(desk: Desk) -> None:
    number = add_run(desk.database, "random", {"k": 5000}, desk.log_id)
    assert work(desk.database, desk.settings, number)
    job = get_job(desk.database, number)
    assert job.state == FAILED
    assert "needs at least 5000 users" in job.error
    assert not release_folder(desk.settings.instance, f"r{number}").exists()


def test_a_folder_that_cannot_be_written_is_a_failed_run_with_its_reason(desk: Desk) -> None:
    desk.settings.instance.mkdir(parents=True, exist_ok=True)
    (desk.settings.instance / "runs").write_text("in the way")
    number = add_run(desk.database, "everyone", {}, desk.log_id)
    assert work(desk.database, desk.settings, number)
    job = get_job(desk.database, number)
    assert job.state == FAILED
    assert "start it again" in job.error
    (desk.settings.instance / "runs").unlink()
    start_again(desk.database, number)
    assert work(desk.database, desk.settings, number)
    assert get_job(desk.database, number).state == DONE


def test_a_log_that_was_changed_is_refused(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "changing.tsv"
    path.write_text("u1\twine\t2006-03-01 10:00:00\t\t\n")
    log_id = register_log(desk.database, load_log(str(path))[0], path.name, str(path))
    path.write_text("u1\tbeer\t2006-03-01 10:00:00\t\t\n")
    number = add_run(desk.database, "everyone", {}, log_id)
    work(desk.database, desk.settings, number)
    assert "was changed since" in get_job(desk.database, number).error


def test_a_log_is_called_simulated_by_what_it_says_and_not_by_its_name(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "simulated-users-of-somebody.tsv"
    path.write_text("u1\twine\t2006-03-01 10:00:00\t\t\n")
    log_id = register_log(desk.database, load_log(str(path))[0], path.name, str(path))
    assert not get_log(desk.database, log_id).simulated
    assert get_log(desk.database, desk.log_id).simulated
    path.write_text(f"{heading('simulated')}\n{path.read_text()}")
    assert register_log(desk.database, load_log(str(path))[0], path.name, str(path)) == log_id
    assert get_log(desk.database, log_id).simulated


def test_a_job_is_done_once_however_many_processes_try(desk: Desk) -> None:
    number = add_job(desk.database, RUN, {}, 1)
    with ThreadPoolExecutor(6) as pool:
        claimed = list(pool.map(lambda _: claim_job(desk.database, number), range(6)))
    assert len([job for job in claimed if job is not None]) == 1


def test_no_more_jobs_run_at_once_than_allowed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "AT_ONCE", 2)
    numbers = [add_job(desk.database, RUN, {}, 1) for _ in range(4)]
    assert waiting_jobs(desk.database) == numbers[:2]
    claimed = [claim_job(desk.database, number) is not None for number in numbers]
    assert claimed == [True, True, False, False]
    assert waiting_jobs(desk.database) == []


def test_a_waiting_job_gets_one_process_however_many_look_after_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    monkeypatch.setattr("shoal.webapp.jobs.worker.start_process", lambda settings, number: started.append(number))
    number = add_job(desk.database, RUN, {}, 1)
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: tend(desk.database, desk.settings), range(10)))
    assert started == [number]
    with desk.database.writing() as session:
        session.get_one(Job, number).seen_at = now() - timedelta(minutes=1)
    tend(desk.database, desk.settings)  # its process never came
    assert started == [number, number]


def test_a_waiting_job_is_cancelled_at_once(desk: Desk) -> None:
    number = add_job(desk.database, RUN, {}, 1)
    cancel_job(desk.database, number)
    assert get_job(desk.database, number).state == CANCELLED
    assert claim_job(desk.database, number) is None


def test_a_running_job_learns_from_its_progress_that_it_was_cancelled(desk: Desk) -> None:
    number = add_run(desk.database, "random", {}, desk.log_id)
    claim_job(desk.database, number)
    progress = JobProgress(desk.database, number)
    progress.step(2, "Anonymizing")
    time.sleep(0.45)
    progress(30, 120, "grouping users")
    job = get_job(desk.database, number)
    assert (job.step, job.stage, job.done, job.total) == (2, "grouping users", 30, 120)
    assert job_status(job)["share"] == pytest.approx((1 + 30 / 120) / 5)
    cancel_job(desk.database, number)
    time.sleep(0.45)
    with pytest.raises(Cancelled):
        progress(31, 120, "grouping users")


def test_a_cancelled_run_leaves_nothing_behind(desk: Desk) -> None:
    number = add_run(desk.database, "random", {}, desk.log_id)
    job = claim_job(desk.database, number)
    assert job is not None
    cancel_job(desk.database, number)
    from shoal.webapp.jobs.run import carry_out

    with pytest.raises(Cancelled):
        carry_out(desk.database, desk.settings, job, JobProgress(desk.database, number))
    assert not release_folder(desk.settings.instance, f"r{number}").exists()


def running_as(desk: Desk, pid: int, born: str, **values: object) -> int:
    """A job that the database takes for running in that process."""
    number = add_job(desk.database, RUN, {}, 1)
    claim_job(desk.database, number, even_if_busy=True)
    with desk.database.writing() as session:
        job = session.get_one(Job, number)
        job.pid, job.birth = pid, born
        for name, value in values.items():
            setattr(job, name, value)
    return number


def test_a_job_whose_process_is_gone_is_interrupted_and_can_be_started_again(desk: Desk) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        number = running_as(desk, process.pid, birth(process.pid))
        tend_running(desk.database)
        assert get_job(desk.database, number).state == RUNNING
        process.kill()
        process.wait()
    tend_running(desk.database)
    job = get_job(desk.database, number)
    assert (job.state, bool(job.error)) == (INTERRUPTED, True)
    start_again(desk.database, number)
    assert get_job(desk.database, number).state == QUEUED
    again = claim_job(desk.database, number)
    assert again is not None
    assert again.attempts == 2


def test_another_process_with_the_same_number_is_not_taken_for_the_job(desk: Desk) -> None:
    number = running_as(desk, os.getpid(), "another-boot:1")
    tend_running(desk.database)
    assert get_job(desk.database, number).state == INTERRUPTED


def test_a_job_of_another_machine_is_given_up_only_after_a_long_silence(desk: Desk) -> None:
    fresh = running_as(desk, 1, "there", host="elsewhere")
    silent = running_as(desk, 1, "there", host="elsewhere", seen_at=now() - timedelta(hours=2))
    tend_running(desk.database)
    assert get_job(desk.database, fresh).state == RUNNING
    assert get_job(desk.database, silent).state == INTERRUPTED


def test_a_cancelled_process_that_does_not_look_up_is_stopped(desk: Desk) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        born = birth(process.pid)
        number = running_as(desk, process.pid, born, cancel=True, seen_at=now() - timedelta(minutes=1))
        tend_running(desk.database)
        process.wait(10)
        assert not is_alive(process.pid, born)
        tend_running(desk.database)
    assert get_job(desk.database, number).state == CANCELLED


def test_a_job_that_ended_well_cannot_be_started_again(desk: Desk) -> None:
    number = add_job(desk.database, RUN, {}, 1)
    claim_job(desk.database, number)
    finish_job(desk.database, number, DONE)
    with pytest.raises(InputError, match="only one that failed or was stopped"):
        start_again(desk.database, number)


def test_the_remaining_time_follows_the_pace_of_the_stage() -> None:
    moment = now()
    job = Job(state=RUNNING, stage_at=moment - timedelta(seconds=10), done=25, total=100)
    assert remaining_seconds(job, moment) == pytest.approx(30)
    assert remaining_seconds(Job(state=RUNNING, stage_at=moment, done=0, total=100), moment) is None
    assert remaining_seconds(Job(state=DONE, stage_at=moment, done=100, total=100), moment) is None


def test_a_process_does_not_end_itself_for_a_job_that_is_slow_to_look_up() -> None:
    queue.stop(os.getpid(), birth(os.getpid()))
    assert is_alive(os.getpid(), birth(os.getpid()))


def test_a_process_is_known_by_its_birth() -> None:
    assert is_alive(os.getpid(), birth(os.getpid()))
    assert not is_alive(os.getpid(), "")
    assert birth(2**22 + 1) == ""
    assert host()


def test_a_job_that_wants_more_memory_than_its_share_fails_by_itself() -> None:
    program = (
        "import numpy; from shoal.webapp.jobs.worker import limit_memory\n"
        "limit_memory(0.05)\n"
        "try: numpy.ones(2**40)\n"
        "except MemoryError: print('refused')"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "refused\n"


def test_the_process_of_a_job_closes_its_connections_whatever_happens(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is left to the garbage collector stays open at the server, one for each failure."""
    closed: list[Database] = []
    monkeypatch.setattr("sys.stdin", io.StringIO(desk.settings.to_json()))
    monkeypatch.setattr("sys.argv", ["worker", "1"])
    monkeypatch.setattr("shoal.webapp.jobs.worker.limit_memory", lambda: None)
    monkeypatch.setattr("shoal.webapp.jobs.worker.work", lambda *_: 1 / 0)
    close = Database.close
    monkeypatch.setattr(Database, "close", lambda self: (closed.append(self), close(self)))
    with pytest.raises(ZeroDivisionError):
        worker_program()
    assert len(closed) == 1
