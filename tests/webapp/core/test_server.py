"""Does the server run none of what lies in the folder it is started from, and neither do its jobs?"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from tests.webapp.instances import NAME, PASSWORD, LiveServer, traces


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


def test_the_server_that_was_started_there_answers_and_runs_a_job_and_none_of_the_files(
    hostile: Path, live: LiveServer
) -> None:
    with urllib.request.urlopen(f"{live.url}/search?q=climate", timeout=60) as answer:
        assert answer.status == 200
    operator = Client(live)
    number = operator.ask("/runs", {"method": "random", "params": {"k": 4}})["id"]
    end = time.monotonic() + 120
    while (run := operator.ask(f"/runs/{number}"))["state"] in ("queued", "running"):
        assert time.monotonic() < end, run
        time.sleep(0.2)
    assert run["state"] == "done", run["error"]
    assert traces(hostile) == []
