"""Does any request make the API fall? Schemathesis makes them up from the OpenAPI document."""

import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings

EXAMPLES = 12


def test_no_request_to_the_api_ends_in_an_error_of_the_server(app: Flask) -> None:
    described = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)
    tried = 0
    for found in described.get_all_operations():
        operation = found.ok()
        tried += 1

        @given(case=operation.as_strategy())
        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        def no_error_of_the_server(case: schemathesis.Case) -> None:
            answer = case.call()
            assert answer.status_code < 500, (case.path, answer.text)
            if answer.status_code >= 400:
                assert answer.json()["error"]["code"] == answer.status_code

        no_error_of_the_server()
    assert tried > 10
