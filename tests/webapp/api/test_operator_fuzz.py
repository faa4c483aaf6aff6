"""Does the operator's API stay on its feet whatever a program sends, logged in or not, made up from its document?"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import schemathesis

from shoal.corpus.errors import InputError
from tests.webapp.api.fuzzing import ASKED, try_out
from tests.webapp.instances import KINDS, Panel, log_in, open_panel

ENDED = "/api/v1/admin/session"  # logging out would end the test
STRANGE = {
    "X-Forwarded-For": "x" * 500,
    "Accept": "*/*;q=nonsense",
    "Cookie": "session=\x7f; =;",
    "Range": "bytes=-1-0",
}


def no_process(*_: object, **__: object) -> tuple[int, str]:
    """A process for each made-up person would take minutes."""
    raise InputError("the log holds no user of that id")


@pytest.fixture(params=KINDS if ASKED else KINDS[:1])
def fuzzed(
    request: pytest.FixtureRequest, quiet_panel: Panel, small_log: Path, tmp_path: Path, in_threads: set[Path],
    new_database_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Panel]:  # fmt: skip
    monkeypatch.setattr("shoal.webapp.jobs.tokens.issue_in_process", no_process)
    if not ASKED:
        yield quiet_panel
        return
    in_threads.add(tmp_path)
    opened = open_panel(small_log, tmp_path, new_database_url(request.param))
    yield opened
    opened.database.close()


def test_no_request_of_an_operator_ends_in_an_error_of_the_server(fuzzed: Panel) -> None:
    client = fuzzed.app.test_client()
    log_in(client)
    token = client.get(ENDED).json["csrf_token"]
    cookie = client.get_cookie("session")
    assert cookie is not None
    codes: dict[int, int] = {}

    def ask(case: schemathesis.Case) -> None:
        answer = case.call(headers={"X-CSRFToken": token}, cookies={"session": cookie.value})
        assert answer.status_code < 500, (case.path, answer.text)
        assert answer.status_code != 401, case.path
        codes[answer.status_code] = codes.get(answer.status_code, 0) + 1

    for found in schemathesis.openapi.from_wsgi("/api/v1/openapi.json", fuzzed.app).get_all_operations():
        operation = found.ok()
        if operation.path.startswith("/api/v1/admin/") and operation.path != ENDED:
            try_out(operation, ask)
    assert {200, 404, 422} <= set(codes)
    print(f"fuzzed as an operator on {fuzzed.database.kind}: {sum(codes.values())} requests, {codes}")


def test_no_request_of_a_stranger_ends_in_an_error_of_the_server(fuzzed: Panel) -> None:
    codes: dict[int, int] = {}

    def ask(case: schemathesis.Case) -> None:
        answer = case.call(headers=STRANGE)
        assert answer.status_code < 500, (case.path, answer.text)
        assert answer.status_code != 200 or not case.path.startswith("/api/v1/admin/")
        codes[answer.status_code] = codes.get(answer.status_code, 0) + 1

    for found in schemathesis.openapi.from_wsgi("/api/v1/openapi.json", fuzzed.app).get_all_operations():
        try_out(found.ok(), ask, ASKED or 3)
    print(f"fuzzed as a stranger on {fuzzed.database.kind}: {sum(codes.values())} requests, {codes}")
