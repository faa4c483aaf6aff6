"""Can an operator choose what is served? Uploaded or not, every process follows, and each log has its own releases."""

import io
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread

import pytest
from flask import Flask

from shoal.corpus.store.folders import cache_folder
from shoal.search.index import FORMAT, _source
from shoal.webapp import create_app
from shoal.webapp.core.context import service
from shoal.webapp.core.logs import get_log
from shoal.webapp.core.served_data import uploaded_corpora
from shoal.webapp.jobs.queue import get_job
from tests.webapp.instances import Panel, open_panel

WORDS = "climate harbour lantern meadow orchard pebble quarry river saddle timber".split()


@dataclass(frozen=True)
class Kitchen:
    """A panel with an uploaded corpus and an uploaded log of real people, and another process of the same server."""

    panel: Panel
    other: Flask
    first: str  # the release that the first start made
    corpus: str
    log: str

    def choose(self, corpus: str, log: str) -> int:
        answer = self.panel.post("/admin/data/served", corpus=corpus, log=log)
        assert answer.status_code == 302, answer.text
        number = int(answer.location.rsplit("/", 1)[1])
        assert self.panel.wait(number) == "done", get_job(self.panel.database, number).error
        return number

    def apps(self) -> tuple[Flask, Flask]:
        return self.panel.app, self.other


@pytest.fixture(scope="module")
def kitchen(small_log: Path, tmp_path_factory: pytest.TempPathFactory, in_threads: set[Path]) -> Iterator[Kitchen]:
    instance = tmp_path_factory.mktemp("serving")
    in_threads.add(instance)
    panel = open_panel(small_log, instance)
    rows = small_log.read_text().splitlines()[2:]  # without the heading that says that they are simulated
    corpus = sent(panel, "corpus", documents(), "tales.jsonl")
    log = sent(panel, "log", "\n".join(rows).encode(), "ours.tsv")
    first = panel.app.extensions["shoal.releases"].current_id()
    log_id = get_job(panel.database, log).result["log"]
    yield Kitchen(panel, create_app(panel.settings), first, f"upload-{corpus}", str(log_id))
    path = uploaded_corpora(panel.database)[0].task["path"]
    panel.database.close()
    shutil.rmtree(cache_folder() / "indexes" / f"{_source(path)[0]}-auto-{FORMAT}")


@pytest.fixture(autouse=True)
def as_started(kitchen: Kitchen) -> Iterator[None]:
    """Every test begins with what the command line says."""
    yield
    if served(kitchen) != ["news", "1"]:
        kitchen.choose("news", "1")
    for app in kitchen.apps():
        app.test_client().get("/healthz")


def served(kitchen: Kitchen) -> list[str]:
    listed = kitchen.panel.client.get("/api/v1/admin/corpora").json
    return [one["value"] for kind in ("corpora", "logs") for one in listed[kind] if one["served"]]


def documents() -> bytes:
    texts = [" ".join(WORDS[i % 10 :] + WORDS[: i % 10]) for i in range(70)]
    lines = [{"id": i, "title": f"Tale {i} of {text.split()[0]}", "text": text} for i, text in enumerate(texts)]
    return "\n".join(map(json.dumps, lines)).encode()


def sent(panel: Panel, field: str, content: bytes, name: str) -> int:
    answer = panel.post("/admin/data", **{field: (io.BytesIO(content), name)})
    assert answer.status_code == 302, answer.text
    number = int(answer.location.rsplit("/", 1)[1])
    assert panel.wait(number) == "done", get_job(panel.database, number).error
    return number


def test_every_process_serves_what_was_chosen_with_its_next_answer(kitchen: Kitchen) -> None:
    number = kitchen.choose(kitchen.corpus, kitchen.log)
    for app in kitchen.apps():
        page = app.test_client().get("/search?q=lantern&view=plain").text
        assert "Tale " in page
        assert app.test_client().get(f"/api/v1/releases/{kitchen.first}").status_code == 404  # of another log
    assert "70 documents" in kitchen.panel.client.get(f"/admin/data/jobs/{number}").text
    assert len(re.findall("being served", kitchen.panel.client.get("/admin/data").text)) == 2
    kitchen.choose("news", "1")
    for app in kitchen.apps():
        assert app.test_client().get("/api/v1/releases").json["current"] == kitchen.first
        assert "Tale " not in app.test_client().get("/search?q=lantern&view=plain").text


def test_people_of_an_uploaded_log_are_real_unless_it_says_otherwise(kitchen: Kitchen) -> None:
    assert all(app.test_client().get("/people").status_code == 200 for app in kitchen.apps())
    kitchen.choose("news", kitchen.log)
    for app in kitchen.apps():
        client = app.test_client()
        assert client.get("/people").status_code == 404
        assert "Searching as one" not in client.get("/").text
        assert app.extensions["shoal.service"].crowd is None
        assert app.extensions["shoal.releases"].current().method == "plain"


def test_a_later_start_serves_the_choice_and_one_with_other_data_what_it_was_given(kitchen: Kitchen) -> None:
    kitchen.choose(kitchen.corpus, "1")
    again = create_app(kitchen.panel.settings)
    assert len(again.extensions["shoal.service"].index) == 70
    other = get_log(kitchen.panel.database, int(kitchen.log))
    told = create_app(replace(kitchen.panel.settings, log=other.source)).extensions["shoal.service"]
    assert (told.index.name, told.digest) == ("news", other.digest)


def test_precision_on_other_documents_is_not_told_of_a_release(kitchen: Kitchen) -> None:
    releases = kitchen.panel.app.extensions["shoal.releases"]
    assert {"ap10", "kept", "linkage5"} <= set(releases.current().measured)
    kitchen.choose(kitchen.corpus, "1")
    kitchen.panel.client.get("/")
    releases = kitchen.panel.app.extensions["shoal.releases"]
    assert releases.current_id() == kitchen.first
    assert "linkage5" in releases.current().measured
    assert not {"ap10", "kept", "kept_low"} & set(releases.current().measured)
    assert kitchen.panel.client.get("/search?q=lantern").status_code == 200


def test_an_answer_that_has_begun_goes_on_with_its_data(kitchen: Kitchen) -> None:
    with kitchen.other.test_request_context("/"):
        kitchen.other.preprocess_request()
        before = service()
        kitchen.choose(kitchen.corpus, "1")
        another = Thread(target=lambda: kitchen.other.test_client().get("/"))  # which opens the new data
        another.start()
        another.join()
        assert service() is before
    assert kitchen.other.extensions["shoal.service"] is not before


def test_what_cannot_be_opened_any_more_leaves_what_was_served_and_says_so(kitchen: Kitchen) -> None:
    path = Path(get_job(kitchen.panel.database, int(kitchen.corpus.removeprefix("upload-"))).task["path"])
    kitchen.choose(kitchen.corpus, "1")
    aside = path.rename(path.with_suffix(".away"))
    try:
        for app in (kitchen.other, create_app(kitchen.panel.settings)):
            health = app.test_client().get("/healthz")
            assert health.status_code == 503
            assert "chosen in the panel" in health.json["checks"]["data"]
            assert app.test_client().get("/search?q=climate").status_code == 200
            assert app.extensions["shoal.service"].index.name == "news"
    finally:
        aside.rename(path)


@pytest.mark.parametrize(("corpus", "log"), [("news", "999"), ("/etc/passwd", "1"), ("", "")])
def test_only_what_is_listed_can_be_chosen(kitchen: Kitchen, corpus: str, log: str) -> None:
    answer = kitchen.panel.post("/admin/data/served", corpus=corpus, log=log)
    assert answer.status_code == 400
    assert "choose one of" in answer.text


def test_a_corpus_that_cannot_be_read_is_a_failed_upload_with_its_reason(kitchen: Kitchen) -> None:
    answer = kitchen.panel.post("/admin/data", corpus=(io.BytesIO(b'{"id": 1}\n'), "broken.jsonl"))
    number = int(answer.location.rsplit("/", 1)[1])
    assert kitchen.panel.wait(number) == "failed"
    assert "line 1" in kitchen.panel.client.get(f"/admin/data/jobs/{number}").text
    assert "broken.jsonl (uploaded)" not in kitchen.panel.client.get("/admin/data").text
