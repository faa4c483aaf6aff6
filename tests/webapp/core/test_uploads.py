"""Is what was uploaded gone when it is deleted, and when its reading failed?"""

import io
import os
from pathlib import Path

import pytest
from sqlalchemy import select

from shoal.corpus.errors import Conflict, NotFound
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.logs import get_log, list_logs, read_registered, save_upload
from shoal.webapp.core.tokens import BadToken, check_token, new_token
from shoal.webapp.core.uploads import clean_uploads, delete_corpus, delete_log
from shoal.webapp.database.models import INDEXING, TokenGroup
from shoal.webapp.jobs.queue import cancel_job, get_job
from shoal.webapp.jobs.tasks import add_reading, add_run
from shoal.webapp.jobs.worker import work
from tests.webapp.instances import Desk, Panel, quick_release

GOOD = b"".join(b"u%d\tclimate change\t2006-03-0%d 10:00:00\t\t\n" % (i % 7, i % 9 + 1) for i in range(40))


def upload(desk: Desk, content: bytes, name: str = "more.tsv") -> tuple[int, Path]:
    """The number of the job that reads it, and where it lies."""
    path = save_upload(desk.settings.instance, name, io.BytesIO(content))
    return add_reading(desk.database, path, name, "olga"), path


def test_a_deleted_log_is_gone_with_its_rows_and_can_come_again(desk: Desk) -> None:
    number, path = upload(desk, GOOD + b"a row that cannot be read\n")
    assert work(desk.database, desk.settings, number)
    log_id = get_job(desk.database, number).result["log"]
    assert (path.with_name("rejected.tsv")).is_file()
    assert delete_log(desk.database, desk.settings.instance, log_id, "another", "olga")
    assert not path.parent.exists()
    assert log_id not in [log.id for log in list_logs(desk.database)]
    assert get_log(desk.database, log_id).statistics == {}
    with pytest.raises(Conflict, match="was deleted"):
        read_registered(desk.database, log_id, lambda *_: None)
    with pytest.raises(NotFound):
        delete_log(desk.database, desk.settings.instance, log_id, "another")
    assert list_events(desk.database, action="log.delete")[0].account == "olga"
    again, path = upload(desk, GOOD + b"a row that cannot be read\n")
    assert work(desk.database, desk.settings, again)
    assert get_job(desk.database, again).result["log"] == log_id
    assert path.is_file()
    assert get_log(desk.database, log_id).statistics["users"] == 7


def test_the_tokens_of_a_deleted_log_are_taken_back_and_those_of_others_are_not(desk: Desk) -> None:
    number, _ = upload(desk, GOOD)
    assert work(desk.database, desk.settings, number)
    log = get_log(desk.database, get_job(desk.database, number).result["log"])
    key, release = desk.settings.secret_key(), quick_release(desk)
    texts = []
    for digest in (log.digest, "another"):
        with desk.database.writing() as session:
            token, text = new_token(session, key, digest, "u1")
            session.add(TokenGroup(token_id=token, release_id=release, pseudonyms={"ids": ["p0001"]}))
        texts.append(text)
    delete_log(desk.database, desk.settings.instance, log.id, "another")
    with pytest.raises(BadToken, match="taken back"):
        check_token(desk.database, key, texts[0])
    assert check_token(desk.database, key, texts[1])
    with desk.database.reading() as session:
        assert session.scalars(select(TokenGroup.token_id)).all() == [token]


def test_a_log_that_is_served_or_in_use_stays(desk: Desk) -> None:
    served = get_log(desk.database, desk.log_id)
    with pytest.raises(Conflict, match="being served"):
        delete_log(desk.database, desk.settings.instance, desk.log_id, served.digest)
    job = add_run(desk.database, "random", {}, desk.log_id)
    with pytest.raises(Conflict, match="at work"):
        delete_log(desk.database, desk.settings.instance, desk.log_id, "another")
    cancel_job(desk.database, job)
    assert not delete_log(desk.database, desk.settings.instance, desk.log_id, "another")  # the file is the host's
    assert Path(desk.settings.log).is_file()


def test_an_upload_that_failed_was_cancelled_or_is_known_leaves_no_file(desk: Desk) -> None:
    failed, no_log = upload(desk, b"not a log at all\n")
    assert work(desk.database, desk.settings, failed)
    assert not no_log.parent.exists()
    cancelled, waiting = upload(desk, GOOD)
    clean_uploads(desk.database, desk.settings.instance)
    assert waiting.is_file()
    cancel_job(desk.database, cancelled)
    first, kept = upload(desk, GOOD)
    second, twice = upload(desk, GOOD)
    assert work(desk.database, desk.settings, first)
    assert work(desk.database, desk.settings, second)
    assert [path.exists() for path in (waiting, kept, twice)] == [False, True, False]


def test_what_a_killed_upload_left_goes_after_an_hour(tmp_path: Path, desk: Desk) -> None:
    path = save_upload(desk.settings.instance, "half.tsv", io.BytesIO(GOOD))
    clean_uploads(desk.database, desk.settings.instance)
    assert path.is_file()  # it may be arriving
    os.utime(path.parent, (0, 0))
    clean_uploads(desk.database, desk.settings.instance)
    assert not path.parent.exists()


def test_a_deleted_corpus_is_gone(desk: Desk) -> None:
    path = save_upload(desk.settings.instance, "own.jsonl", io.BytesIO(b'{"id": "1"}\n'), ".jsonl")
    number = add_reading(desk.database, path, "own.jsonl", "olga", INDEXING)
    with pytest.raises(Conflict, match="being read"):
        delete_corpus(desk.database, desk.settings.instance, number, "news")
    cancel_job(desk.database, number)
    with pytest.raises(Conflict, match="being served"):
        delete_corpus(desk.database, desk.settings.instance, number, str(path))
    delete_corpus(desk.database, desk.settings.instance, number, "news", "olga")
    assert not path.parent.exists()
    with pytest.raises(NotFound):
        delete_corpus(desk.database, desk.settings.instance, number, "news")


def test_an_operator_deletes_a_log_by_its_name(quiet_panel: Panel) -> None:
    form = {"log": (io.BytesIO(GOOD.replace(b"climate", b"energy")), "unwanted.tsv")}
    number = int(quiet_panel.post("/admin/data", **form).location.rsplit("/", 1)[1])
    assert quiet_panel.wait(number) == "done"
    log_id = get_job(quiet_panel.database, number).result["log"]
    assert quiet_panel.post(f"/admin/data/logs/{log_id}/delete", typed="something").status_code == 400
    answer = quiet_panel.post(f"/admin/data/logs/{log_id}/delete", typed="unwanted.tsv")
    assert answer.status_code == 302
    page = quiet_panel.client.get("/admin/data").text
    assert "The log unwanted.tsv is deleted" in page
    assert f"/admin/data/logs/{log_id}/delete" not in page
