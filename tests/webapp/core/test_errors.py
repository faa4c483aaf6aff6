"""Does an error become the answer that its type says, whatever its words are?"""

import pytest
from flask.testing import FlaskClient

from shoal.corpus.errors import Conflict, Gone, InputError, NotFound, Refused, Unavailable
from shoal.webapp.core.errors import status_of
from shoal.webapp.core.gate import NeedsConfirmation
from tests.webapp.instances import Panel

WORDS = ("no such thing: choose another", "there is no such thing", "it is refused", "anything else")


@pytest.mark.parametrize("words", WORDS)
def test_the_type_of_an_error_is_its_status_and_its_words_are_not(words: str) -> None:
    kinds = {
        InputError: 400,
        NotFound: 404,
        Refused: 403,
        Conflict: 409,
        NeedsConfirmation: 409,
        Gone: 410,
        Unavailable: 503,
    }
    assert {kind: status_of(kind(words)) for kind in kinds} == kinds


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("/search?q=oil&user=nobody", 404), ("/search?q=oil&group=p999999", 404), ("/search?q=oil&release=r0", 404),
        ("/search?q=oil&view=none", 400), ("/search?q=oil&weight=2", 400),
    ],
)  # fmt: skip
def test_what_a_searcher_names_wrongly_is_not_found_and_what_is_set_wrongly_is_bad(
    client: FlaskClient, address: str, code: int
) -> None:
    assert client.get(address).status_code == code
    assert client.get(f"/api/v1{address}").status_code in (code, 422)


def test_what_does_not_fit_the_state_of_a_run_is_a_conflict(panel: Panel) -> None:
    number = panel.run("random", k="7")
    for what in ("again", "whole"):
        assert panel.post(f"/admin/runs/{number}/{what}").status_code == 409
    assert panel.post("/admin/runs/999999/again").status_code == 404
