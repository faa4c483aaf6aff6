"""Does any request make the API fall? Schemathesis makes them up from the OpenAPI document."""

import schemathesis
from flask import Flask

from tests.webapp.api.fuzzing import try_out


def test_no_request_to_the_api_ends_in_an_error_of_the_server(app: Flask) -> None:
    described = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)
    tried = 0

    def ask(case: schemathesis.Case) -> None:
        answer = case.call()
        assert answer.status_code < 500, (case.path, answer.text)
        if answer.status_code >= 400:
            assert answer.json()["error"]["code"] == answer.status_code

    for found in described.get_all_operations():
        try_out(found.ok(), ask)
        tried += 1
    assert tried > 10
