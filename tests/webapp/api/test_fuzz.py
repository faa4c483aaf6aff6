"""Does any request make the API fall? Schemathesis makes them up from its document, and odd ones are sent between them.

A few hundred here. `SHOAL_FUZZ=10000` sends at least so many as each who asks, on SQLite and on PostgreSQL.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.schemas import APIOperation

from shoal.corpus.errors import InputError
from tests.webapp.databases import KINDS, NewDatabaseURL
from tests.webapp.instances import Panel, end_jobs, log_in, open_panel, token_of

ASKED = int(os.environ.get("SHOAL_FUZZ") or 0)
REQUESTS = ASKED or 150
EVERY = 5  # one odd request after so many that fit the document
SESSION = "/api/v1/admin/session"
AS_JSON: dict[str, Any] = {"content_type": "application/json"}
ODD: tuple[dict[str, Any], ...] = (
    {"query_string": "q=a%00b&find=%00&%00=1"},
    {"query_string": "q=%ff%fe&number=-1&user=" + "x" * 3000},
    {"data": "[" * 5000 + "]" * 5000, **AS_JSON},
    {"data": '{"a":' * 40 + "1" + "}" * 40, **AS_JSON},
    {"data": json.dumps({"name": "\0", "note": ["\0"], "typed": {"\0": "\0"}}), **AS_JSON},
    {"data": b'\xff\xfe{"name": "\xed\xa0\x80"}', "content_type": "application/json; charset=utf-99"},
    {"data": '{"number": 1e999, "days": -0, "log": NaN, "seed": 99999999999999999999999}', **AS_JSON},
    {"data": b"--x\r\nContent-Disposition: form-data\r\n\r\n", "content_type": "multipart/form-data; boundary=x"},
    {"data": b"nothing", "content_type": "multipart/form-data"},
    {"headers": {"X-Forwarded-For": "x" * 500, "Accept": "*/*;q=nonsense", "Range": "bytes=-1-0"}},
    {"headers": {"Authorization": "Bearer \x7f.\xe4", "If-None-Match": '"', "If-Modified-Since": "yesterday"}},
    {"headers": {"Accept-Encoding": "\xff", "Content-Type": "\x01/;=;", "Accept-Language": "-" * 2000}},
    {"headers": {"X-HTTP-Method-Override": "DELETE", "Expect": "nothing", "Content-Encoding": "gzip"}},
    {"headers": {"Host": "nobody@[::1", "Origin": "null"}},
    {"headers": {"Transfer-Encoding": "chunked"}},
)
pytestmark = pytest.mark.timeout(900 + ASKED)


def no_process(*_: object, **__: object) -> tuple[int, str]:
    """A process for each made-up person would take minutes."""
    raise InputError("the log holds no user of that id")


@pytest.fixture(params=KINDS if ASKED else KINDS[:1])
def fuzzed(
    request: pytest.FixtureRequest,
    small_log: Path,
    tmp_path: Path,
    in_threads: set[Path],
    new_database_url: NewDatabaseURL,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Panel]:
    monkeypatch.setattr("shoal.webapp.jobs.tokens.issue_in_process", no_process)
    if not ASKED:
        yield request.getfixturevalue("quiet_panel")
        return
    in_threads.add(tmp_path)
    opened = open_panel(small_log, tmp_path, new_database_url(request.param))
    yield opened
    end_jobs(opened)
    opened.database.close()


class Fuzz:
    """Sends what is made up of every operation in turn, until enough was sent, and counts the answers."""

    def __init__(self, panel: Panel, client: FlaskClient, headers: dict[str, str]) -> None:
        self._panel, self._client, self._headers = panel, client, headers
        self._odd, self.codes = cycle(ODD), Counter[int]()
        described = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", panel.app)
        self._operations = [found.ok() for found in described.get_all_operations()]

    def run(self, check: Callable[[schemathesis.Case, int], None], without: tuple[str, ...] = ()) -> None:
        operations = [one for one in self._operations if one.path not in without]
        for number in count():
            for operation in operations:
                self._try_out(operation, check, number, max(2, REQUESTS // (2 * len(operations))))
            if self.codes.total() >= REQUESTS:
                return

    def _try_out(
        self, operation: APIOperation, check: Callable[[schemathesis.Case, int], None], number: int, examples: int
    ) -> None:
        @seed(number)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def made_up(case: schemathesis.Case) -> None:
            check(case, self._send(case))
            if self.codes.total() % EVERY == 0:
                self._send_odd(case)

        made_up()

    def _send(self, case: schemathesis.Case) -> int:
        cookie = self._client.get_cookie("session")
        answer = case.call(headers=self._headers, cookies={"session": cookie.value} if cookie else {})
        self._count(case, answer.status_code, answer.content)
        assert answer.status_code < 400 or answer.json()["error"]["code"] == answer.status_code
        return int(answer.status_code)

    def _send_odd(self, case: schemathesis.Case) -> None:
        odd = next(self._odd)
        given = {**odd, "headers": self._headers | odd.get("headers", {})}
        answer = self._client.open(case.formatted_path, method=case.method, buffered=True, **given)
        self._count(case, answer.status_code, answer.data)

    def _count(self, case: schemathesis.Case, code: int, body: bytes) -> None:
        assert code < 500, (case.method, case.path, body)
        self.codes[code] += 1

    def tell(self, who: str) -> None:
        print(
            f"{who} on {self._panel.database.kind}: {self.codes.total()} requests, {dict(sorted(self.codes.items()))}"
        )


def test_no_request_of_an_operator_ends_in_an_error_of_the_server(fuzzed: Panel) -> None:
    client = fuzzed.app.test_client()
    log_in(client)
    fuzz = Fuzz(fuzzed, client, {"X-CSRFToken": client.get(SESSION).json["csrf_token"]})

    def check(case: schemathesis.Case, code: int) -> None:
        assert code != 401 or not case.path.startswith("/api/v1/admin/"), case.path

    fuzz.run(check, without=(SESSION,))  # logging out would end the test
    assert {200, 400, 404, 422} <= set(fuzz.codes)
    fuzz.tell("an operator")


def test_no_request_of_a_stranger_ends_in_an_error_of_the_server(fuzzed: Panel) -> None:
    client = fuzzed.app.test_client()
    fuzz = Fuzz(fuzzed, client, {"X-CSRFToken": token_of(client, "/admin/login")})  # or most would end there

    def check(case: schemathesis.Case, code: int) -> None:
        assert code >= 400 or not case.path.startswith("/api/v1/admin/"), case.path

    fuzz.run(check)
    assert {200, 400, 401, 404, 422} <= set(fuzz.codes)
    fuzz.tell("a stranger")
