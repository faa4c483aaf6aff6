"""Does the operator's API stay on its feet whatever a logged-in program sends, made up from its own document?"""

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.web.admin.conftest import Panel, log_in

EXAMPLES = 12
ENDED = "/api/v1/admin/session"  # logging out would end the test


def test_no_request_of_an_operator_ends_in_an_error_of_the_server(quiet_panel: Panel) -> None:
    client = quiet_panel.app.test_client()
    log_in(client)
    token = client.get(ENDED).json["csrf_token"]
    cookie = client.get_cookie("session")
    assert cookie is not None
    described = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", quiet_panel.app)
    codes: set[int] = set()
    for found in described.get_all_operations():
        operation = found.ok()
        if not operation.path.startswith("/api/v1/admin/") or operation.path == ENDED:
            continue

        @given(case=operation.as_strategy())
        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        def no_error_of_the_server(case: schemathesis.Case) -> None:
            answer = case.call(headers={"X-CSRFToken": token}, cookies={"session": cookie.value})
            assert answer.status_code < 500, (case.path, answer.text)
            assert answer.status_code != 401, case.path
            codes.add(answer.status_code)

        no_error_of_the_server()
    assert {200, 404, 422} <= codes
