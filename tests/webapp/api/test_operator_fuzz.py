"""Does the operator's API stay on its feet whatever a logged-in program sends, made up from its own document?"""

import pytest
import schemathesis

from shoal.corpus.errors import InputError
from tests.webapp.api.fuzzing import try_out
from tests.webapp.instances import Panel, log_in

ENDED = "/api/v1/admin/session"  # logging out would end the test


def no_process(*_: object, **__: object) -> tuple[int, str]:
    """A process for each made-up person would take minutes."""
    raise InputError("the log holds no user of that id")


def test_no_request_of_an_operator_ends_in_an_error_of_the_server(
    quiet_panel: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.webapp.jobs.tokens.issue_in_process", no_process)
    client = quiet_panel.app.test_client()
    log_in(client)
    token = client.get(ENDED).json["csrf_token"]
    cookie = client.get_cookie("session")
    assert cookie is not None
    codes: set[int] = set()

    def ask(case: schemathesis.Case) -> None:
        answer = case.call(headers={"X-CSRFToken": token}, cookies={"session": cookie.value})
        assert answer.status_code < 500, (case.path, answer.text)
        assert answer.status_code != 401, case.path
        codes.add(answer.status_code)

    for found in schemathesis.openapi.from_wsgi("/api/v1/openapi.json", quiet_panel.app).get_all_operations():
        operation = found.ok()
        if operation.path.startswith("/api/v1/admin/") and operation.path != ENDED:
            try_out(operation, ask)
    assert {200, 404, 422} <= codes
