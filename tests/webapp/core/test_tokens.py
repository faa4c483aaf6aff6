"""Does a token show its person the own group, and nobody anything else?"""

import io
import json
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from shoal.anonymizer.release_files import read_release
from shoal.cli import main
from shoal.corpus.errors import NotFound
from shoal.webapp.core import tokens
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.releases import release_folder
from shoal.webapp.core.tokens import list_tokens, revoke_token
from shoal.webapp.database.models import Token, TokenGroup
from shoal.webapp.jobs.queue import claim_job, waiting_jobs
from shoal.webapp.jobs.run import carry_out
from shoal.webapp.jobs.tokens import issue_token, offer_groups
from tests.webapp.canaries import Birdcage, Canary
from tests.webapp.instances import token_of


def groups_of(cage: Birdcage, bird: Canary) -> list[str]:
    """The pseudonyms of a person in the active release, as the secret file says."""
    stored = read_release(release_folder(cage.settings.instance, cage.active))
    users = stored.assignment.users.to_list()
    pairs = zip(stored.assignment.user.tolist(), stored.assignment.profile.tolist(), strict=True)
    return [stored.release.pseudonyms[profile] for user, profile in pairs if str(users[user]) == bird.user]


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def columns(client: FlaskClient, path: str = "/api/v1/search?q=climate", **headers: str) -> dict[str, list[str]]:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return {one["kind"]: [result["title"] for result in one["results"]] for one in answer.json["columns"]}


@pytest.mark.parametrize("method", ["random", "clump", "microaggregation", "plain"])
def test_a_token_shows_the_own_group_and_ranks_by_it(birdcage: Birdcage, method: str) -> None:
    birdcage.activate(method)
    client = birdcage.app.test_client()
    for bird in birdcage.birds[:4]:
        own, header = groups_of(birdcage, bird), bearer(birdcage.token_for(bird))
        told = client.get("/api/v1/token", headers=header).json
        assert [group["id"] for group in told["groups"]] == own
        assert told["is_known"]
        if len(own) == 1:
            by_group = columns(client, f"/api/v1/search?q=climate&group={own[0]}")
            assert columns(client, **header) == by_group
        assert ("anonymized" in columns(client, **header)) == bool(own)


def test_without_a_token_there_is_no_own_view(birdcage: Birdcage) -> None:
    birdcage.activate("random")
    client = birdcage.app.test_client()
    assert client.get("/api/v1/token").status_code == 401
    assert "Use it in this browser" in client.get("/token").text
    assert list(columns(client)) == ["plain"]


def test_what_is_no_token_is_refused_everywhere(birdcage: Birdcage) -> None:
    client, good = birdcage.app.test_client(), birdcage.token_for(birdcage.birds[0])
    for text in ("guessed", good[:-1], good + "x", good.split(".")[0], "\u00e9"):
        for path in ("/api/v1/token", "/search?q=climate", "/api/v1/search?q=climate", "/", "/admin/"):
            answer = client.get(path, headers=bearer(text))
            assert answer.status_code == 401, (text, path)
    assert client.get("/healthz", headers=bearer("guessed")).status_code == 200


def test_a_token_is_over_after_its_days_and_a_revoked_one_at_once(
    birdcage: Birdcage, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, text = birdcage.app.test_client(), birdcage.token_for(birdcage.birds[1], days=3)
    with monkeypatch.context() as patch:
        patch.setattr(tokens, "now", lambda before=tokens.now: before() + timedelta(days=2, hours=23))
        assert client.get("/api/v1/token", headers=bearer(text)).status_code == 200
    with monkeypatch.context() as patch:
        patch.setattr(tokens, "now", lambda before=tokens.now: before() + timedelta(days=3, minutes=1))
        assert client.get("/api/v1/token", headers=bearer(text)).status_code == 401
    number = list_tokens(birdcage.database)[0].id
    revoke_token(birdcage.database, number, "test")
    answer = client.get("/search?q=climate", headers=bearer(text))
    assert (answer.status_code, "taken back" in answer.text) == (401, True)
    with birdcage.database.reading() as opened:
        assert opened.query(TokenGroup).where(TokenGroup.token_id == number).count() == 0
    assert list_events(birdcage.database, subject=str(number))[0].action == "token.revoke"
    with pytest.raises(NotFound):
        revoke_token(birdcage.database, 10**12)


def test_a_browser_keeps_a_token_until_it_is_taken_back(birdcage: Birdcage) -> None:
    birdcage.activate("random")
    client, text = birdcage.app.test_client(), birdcage.token_for(birdcage.birds[2])
    wrong = client.post("/token", data={"token": "nonsense", "csrf_token": token_of(client, "/token")})
    assert (wrong.status_code, "no token of this server" in wrong.text) == (401, True)
    assert client.post("/token", data={"token": text}).status_code == 400  # without the token of the form
    client.post("/token", data={"token": f" {text} ", "csrf_token": token_of(client, "/token")})
    (own,) = groups_of(birdcage, birdcage.birds[2])
    assert f"Group {own}" in client.get("/token").text
    assert columns(client) == columns(client, f"/api/v1/search?q=climate&group={own}")
    revoke_token(birdcage.database, list_tokens(birdcage.database)[0].id)
    assert client.get("/search?q=climate").status_code == 401
    assert client.get("/search?q=climate").status_code == 200  # said once
    assert list(columns(client)) == ["plain"]


def test_after_an_activation_a_job_finds_the_groups_anew(birdcage: Birdcage) -> None:
    birdcage.activate("random")
    bird = birdcage.birds[3]
    client, text = birdcage.app.test_client(), birdcage.token_for(bird)
    birdcage.activate("clump")
    told = client.get("/api/v1/token", headers=bearer(text)).json
    assert (told["is_known"], told["groups"]) == (False, [])
    assert list(columns(client, **bearer(text))) == ["plain"]
    digest = birdcage.app.extensions["shoal.service"].digest
    for _ in range(2):  # one job does for all
        offer_groups(birdcage.database, digest, birdcage.active)
    (number,) = waiting_jobs(birdcage.database)
    job = claim_job(birdcage.database, number)
    assert job is not None
    carry_out(birdcage.database, birdcage.settings, job, None)  # type: ignore[arg-type]
    told = client.get("/api/v1/token", headers=bearer(text)).json
    assert [group["id"] for group in told["groups"]] == groups_of(birdcage, bird)
    offer_groups(birdcage.database, digest, birdcage.active)
    assert waiting_jobs(birdcage.database) == []


def test_the_database_knows_neither_the_person_nor_the_token(birdcage: Birdcage) -> None:
    bird = birdcage.birds[4]
    text = birdcage.token_for(bird)
    with birdcage.database.reading() as opened:
        rows = [str(vars(row)) for table in (Token, TokenGroup) for row in opened.query(table)]
    told = " ".join(rows) + str([vars(event) for event in list_events(birdcage.database)])
    assert bird.user not in told
    assert text not in told
    assert text.split(".")[0] not in told


def test_nobody_who_is_not_in_the_log_gets_a_token(birdcage: Birdcage) -> None:
    digest = birdcage.app.extensions["shoal.service"].digest
    before = len(list_tokens(birdcage.database))
    with pytest.raises(NotFound, match="no user of that id"):
        issue_token(birdcage.database, birdcage.settings, digest, "somebody else", by="test")
    assert len(list_tokens(birdcage.database)) == before


def test_an_operator_issues_and_revokes_one_in_the_panel_by_a_process_of_its_own(birdcage: Birdcage) -> None:
    birdcage.activate("random")
    operator, bird = birdcage.staff("operator"), birdcage.birds[5]
    form = {"user": bird.user, "days": "5", "note": "number five", "csrf_token": token_of(operator, "/admin/tokens")}
    page = operator.post("/admin/tokens", data=form)
    assert page.status_code == 200, page.text
    assert bird.user not in page.text
    listed = operator.get("/api/v1/admin/tokens").json["tokens"]
    assert (listed[0]["note"], listed[0]["state"]) == ("number five", "good")
    header = {"X-CSRFToken": operator.get("/api/v1/admin/session").json["csrf_token"]}
    assert operator.delete(f"/api/v1/admin/tokens/{listed[0]['number']}", headers=header).status_code == 204
    assert operator.get("/api/v1/admin/tokens").json["tokens"][0]["state"] == "revoked"


def test_a_command_issues_lists_and_revokes_tokens(
    birdcage: Birdcage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The id of the person comes by standard input: a command line is for others to see."""
    birdcage.activate("random")
    bird, where = birdcage.birds[5], ["--instance", str(birdcage.settings.instance)]
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{bird.user}\n"))
    assert main(["admin", "issue-token", "--days", "3", "--note", "by letter", *where]) == 0
    said, token = capsys.readouterr().out.strip().splitlines()
    number = said.split()[1]
    client = birdcage.app.test_client()
    told = client.get("/api/v1/token", headers=bearer(token)).json
    assert [group["id"] for group in told["groups"]] == groups_of(birdcage, bird)
    assert main(["admin", "list-tokens", "--json", *where]) == 0
    listed = capsys.readouterr().out
    assert bird.user not in listed
    newest = json.loads(listed)[0]
    assert [newest[name] for name in ("number", "state", "by", "note")] == [number, "good", "shoal admin", "by letter"]
    assert main(["admin", "revoke-token", number, *where]) == 0
    assert client.get("/api/v1/token", headers=bearer(token)).status_code == 401
    assert main(["admin", "list-tokens", *where]) == 0
    assert f"{number}" in capsys.readouterr().out
    assert list_events(birdcage.database, action="token.revoke", subject=number)[0].account == "shoal admin"


def test_the_command_issues_none_for_who_is_not_in_the_log_or_where_it_is_not_clear_which(
    birdcage: Birdcage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("nobody\n"))
    where = ["--instance", str(birdcage.settings.instance)]
    assert main(["admin", "issue-token", *where]) == 2
    assert "no user of that id" in capsys.readouterr().err
    assert main(["admin", "issue-token", "--instance", str(tmp_path / "other")]) == 2
    assert "there are 0 logs of real people" in capsys.readouterr().err
    assert main(["admin", "revoke-token", "999999", *where]) == 2
