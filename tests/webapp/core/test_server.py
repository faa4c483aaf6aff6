"""Does the server run none of what lies in the folder it is started from, and neither do its jobs?"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.instances import NAME, PASSWORD, LiveServer, served

# Names of ours, of libraries, of the standard library, and what gunicorn would run by itself.
PLANTED = ("search.py", "corpus/__init__.py", "evaluation.py", "gunicorn.conf.py", "numpy.py", "flask.py", "json.py",
           "shoal.py", "webapp/__init__.py", "sitecustomize.py")  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder full of files with the names of modules; each that is run leaves a trace."""
    folder = tmp_path_factory.mktemp("hostile")
    for name in PLANTED:
        (folder / name).parent.mkdir(exist_ok=True)
        trace = folder.parent / f"{folder.name}-run-{name.replace('/', '-')}"
        (folder / name).write_text(f"open({str(trace)!r}, 'w').close()\nraise SystemExit('{name} was run')\n")
    return folder


def traces(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.glob(f"{folder.name}-run-*"))


@pytest.fixture(scope="module")
def started_there(hostile: Path, small_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    program = str(Path(sys.executable).with_name("shoal"))
    yield from served(small_log, tmp_path_factory.mktemp("instance"), program=[program], folder=hostile)


class Client:
    """An operator's program."""

    def __init__(self, live: LiveServer) -> None:
        self._url = f"{live.url}/api/v1/admin"
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self._token = ""
        self._token = self.ask("/session", {"name": NAME, "password": PASSWORD})["csrf_token"]

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "X-CSRFToken": self._token}
        with self._opener.open(urllib.request.Request(self._url + path, data, headers), timeout=60) as answer:
            return json.load(answer)


def test_a_planted_file_would_be_run_if_python_were_let(hostile: Path) -> None:
    """The trap works: Python by itself does run what lies in the current folder."""
    let = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    ended = subprocess.run([sys.executable, "-c", "import numpy"], cwd=hostile, env=let, capture_output=True, text=True)
    assert "numpy.py was run" in ended.stderr
    assert traces(hostile) == [f"{hostile.name}-run-numpy.py"]
    (hostile.parent / traces(hostile)[0]).unlink()


def test_the_server_answers_and_runs_a_job_and_none_of_the_files(hostile: Path, started_there: LiveServer) -> None:
    with urllib.request.urlopen(f"{started_there.url}/search?q=climate", timeout=60) as answer:
        assert answer.status == 200
    operator = Client(started_there)
    number = operator.ask("/runs", {"method": "random", "params": {"k": 4}})["id"]
    end = time.monotonic() + 120
    while (run := operator.ask(f"/runs/{number}"))["state"] in ("queued", "running"):
        assert time.monotonic() < end, run
        time.sleep(0.2)
    assert run["state"] == "done", run["error"]
    assert traces(hostile) == []
