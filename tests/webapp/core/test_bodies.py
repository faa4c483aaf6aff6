"""Does anything that is sent stop the server? Sizes, NULs, deep JSON, slow senders, a disk without room."""

import errno
import io
import json
import socket
import urllib.request
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.exceptions import RequestTimeout

from shoal.corpus.errors import InputError
from shoal.webapp.core.buffering import (
    LINGER,
    LONGEST_FAREWELL,
    LONGEST_HEAD,
    MOST_THROWN_AWAY,
    PATIENCE,
    SMALL,
    WAIT,
    WHOLE,
    Farewell,
    Pace,
    paced,
    what_to_do,
)
from shoal.webapp.core.logs import save_upload
from tests.webapp.instances import LiveServer, Panel, token_of

LARGE = SMALL + 1
POST = b"POST /api/v1/admin/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class Unread(io.RawIOBase):
    """A body that nobody may read."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise AssertionError("the body was read")


def send_unread(
    client: FlaskClient, path: str, method: str = "POST", stream: io.RawIOBase | None = None, **headers: str
) -> int:
    more = {
        "wsgi.input": stream or Unread(),
        "CONTENT_LENGTH": str(LARGE),
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
    }
    return client.open(path, method=method, environ_overrides=more, headers=headers).status_code


def test_a_large_body_of_a_stranger_is_refused_before_it_is_read(quiet_panel: Panel) -> None:
    stranger = quiet_panel.app.test_client()
    assert send_unread(stranger, "/admin/data") == 401
    assert send_unread(stranger, "/api/v1/admin/logs") == 401
    for path in ("/admin/login", "/api/v1/admin/session", "/nowhere"):
        assert send_unread(stranger, path) == 413
    assert send_unread(stranger, "/search?q=oil", "GET") == 413


def test_a_large_body_goes_only_where_files_go(quiet_panel: Panel) -> None:
    assert send_unread(quiet_panel.client, "/admin/password") == 413
    assert send_unread(quiet_panel.client, "/api/v1/admin/runs") == 413


def test_a_body_without_a_length_is_refused(quiet_panel: Panel) -> None:
    assert quiet_panel.client.post("/admin/login", headers={"Transfer-Encoding": "chunked"}).status_code == 411


def test_an_upload_above_the_limit_is_refused_and_others_wait_their_turn(quiet_panel: Panel) -> None:
    token = token_of(quiet_panel.client, "/admin/password")

    def upload(size: int) -> int:
        form = {"csrf_token": token, "log": (io.BytesIO(b"x" * size), "log.tsv")}
        return quiet_panel.client.post("/admin/data", data=form).status_code

    slots = quiet_panel.app.extensions["shoal.uploads"]
    held = [slots.acquire(blocking=False) for _ in range(3)]
    assert held == [True] * 3
    assert upload(LARGE) == 503
    for _ in held:
        slots.release()
    assert upload(LARGE) == 302
    assert all(slots.acquire(blocking=False) for _ in range(3))  # none was kept
    for _ in range(3):
        slots.release()


@pytest.mark.parametrize(
    "path",
    ["/search?q=a%00b", "/search?q=oil&user=%00", "/?%00=1", "/document/%00", "/api/v1/releases/r%001",
     "/api/v1/users?find=%00", "/admin/login?next=%00", "/people?find=%00"],
)  # fmt: skip
def test_a_nul_in_an_address_is_a_bad_request(quiet_panel: Panel, path: str) -> None:
    assert quiet_panel.app.test_client().get(path).status_code == 400


def test_a_nul_in_a_form_in_json_and_in_the_name_of_a_file_is_a_bad_request(panel: Panel) -> None:
    assert panel.post("/admin/methods/random", what="run", log="1\0", k="3").status_code == 400
    header = {"X-CSRFToken": panel.client.get("/api/v1/admin/session").json["csrf_token"]}
    for body in ({"method": "ran\0dom"}, {"method": "random", "params": {"k\0": 1}}, {"method": ["\0"]}):
        assert panel.client.post("/api/v1/admin/runs", json=body, headers=header).status_code == 400
    form = {"csrf_token": token_of(panel.client, "/admin/password"), "log": (io.BytesIO(b"x"), "a\0b.tsv")}
    assert panel.client.post("/admin/data", data=form).status_code == 400
    assert (
        panel.app.test_client().post("/api/v1/admin/session", json={"name": "\0", "password": "x"}).status_code == 400
    )


@pytest.mark.parametrize("depth", [40, 5_000])
def test_deep_json_is_a_bad_request(quiet_panel: Panel, depth: int) -> None:
    body = "[" * depth + "]" * depth
    answer = quiet_panel.app.test_client().post("/api/v1/admin/session", data=body, content_type="application/json")
    assert answer.status_code == 400
    wide = json.dumps({"name": "x", "password": "y", "more": [[1]] * 1000})
    answer = quiet_panel.app.test_client().post("/api/v1/admin/session", data=wide, content_type="application/json")
    assert answer.status_code in (403, 422)


def test_a_request_is_handed_over_when_it_is_whole() -> None:
    assert what_to_do(b"GET / HTTP/1.1\r\nHost: x\r\n") == WAIT
    assert what_to_do(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") == WHOLE
    small = POST + b"Content-Length: 4\r\n\r\n"
    assert [what_to_do(small + body) for body in (b"", b"{}", b"{}  ")] == [WAIT, WAIT, WHOLE]
    assert what_to_do(POST + b"content-length: 100000\r\n\r\n") == WHOLE  # the application decides before it reads
    assert what_to_do(POST + b"Transfer-Encoding: chunked\r\n\r\n").startswith(b"HTTP/1.1 411 ")
    assert what_to_do(b"GET / HTTP/1.1\r\nX: " + b"x" * LONGEST_HEAD).startswith(b"HTTP/1.1 431 ")


def test_sixty_four_slow_senders_stop_nobody(live: LiveServer) -> None:
    """More than the server has threads: heads without an end, bodies without an end, uploads of nobody, idle ones."""
    begun = (
        b"GET /search?q=oil HTTP/1.1\r\nHost: loc",
        POST + b"Content-Length: 40\r\n\r\n{",
        b"",
        POST + b"Content-Length: 100000000\r\n\r\n{",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal",
    )
    port = int(live.url.rsplit(":", 1)[1])
    held = []
    try:
        for number in range(64):
            sender = socket.create_connection(("127.0.0.1", port), timeout=15)
            sender.sendall(begun[number % len(begun)])
            held.append(sender)
        for _ in range(8):
            with urllib.request.urlopen(f"{live.url}/healthz", timeout=15) as answer:
                assert answer.status == 200
        refused = held[3].recv(1000)
        assert refused.startswith(b"HTTP/1.1 413 ")
    finally:
        for sender in held:
            sender.close()


def test_an_upload_must_come_at_some_pace_in_every_stretch_of_time() -> None:
    moment = [0.0]
    pace = Pace(1000, lambda: moment[0])
    pace.add(1)  # at the beginning anybody may be slow
    moment[0] = PATIENCE
    pace.add(1000 * int(PATIENCE))
    moment[0] += PATIENCE / 2
    pace.add(10**9)  # what came fast before does not count later
    moment[0] += PATIENCE
    pace.add(0)
    moment[0] += PATIENCE + 1
    with pytest.raises(RequestTimeout):
        pace.add(1)


def test_a_sender_that_falls_silent_is_answered_with_408(quiet_panel: Panel) -> None:
    def silence(_: int | None = None) -> bytes:
        raise BlockingIOError

    class Silent(Unread):
        def readinto(self, _: object) -> int:
            return len(paced(silence, Pace(1))())

    header = {"X-CSRFToken": token_of(quiet_panel.client, "/admin/password")}
    assert send_unread(quiet_panel.client, "/admin/data", stream=Silent(), **header) == 408
    slots = quiet_panel.app.extensions["shoal.uploads"]
    assert [slots.acquire(blocking=False) for _ in range(4)] == [True] * 3 + [False]  # it gave its place back
    slots.release(3)


def test_what_is_still_sent_after_an_answer_is_thrown_away_within_bounds() -> None:
    def begun() -> Farewell:
        return Farewell(0.0, 0.0)

    silent, endless, large = begun(), begun(), begun()
    assert not silent.is_over(LINGER)
    assert silent.is_over(LINGER + 0.1)
    for second in range(int(LONGEST_FAREWELL) + 1):
        assert not endless.is_over(second)
        endless.add(1, second)
    assert endless.is_over(LONGEST_FAREWELL + 0.1)
    large.add(MOST_THROWN_AWAY, 0.1)
    assert not large.is_over(0.1)
    large.add(1, 0.1)
    assert large.is_over(0.1)


def test_a_refused_upload_gets_its_answer_when_all_of_it_was_sent(live: LiveServer) -> None:
    """More than the system holds for a connection, as browsers and programs send it: first all, then they read."""
    port, size = int(live.url.rsplit(":", 1)[1]), 32 * 2**20
    head = f"POST /admin/data HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(head.encode())
        client.sendall(bytes(size))
        assert client.recv(12) == b"HTTP/1.1 401"


def test_requests_behind_each_other_on_one_connection_are_all_answered(live: LiveServer) -> None:
    port = int(live.url.rsplit(":", 1)[1])
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=15) as client:
        client.sendall(ask + ask + ask[:10])
        client.sendall(ask[10:-4] + b"\r\nConnection: close\r\n\r\n")
        said = b""
        while data := client.recv(10_000):
            said += data
    assert said.count(b"HTTP/1.1 200 OK") == 3


def test_an_upload_on_a_full_disk_says_so_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        save_upload(tmp_path, "log.tsv", Full())
    assert list((tmp_path / "uploads").iterdir()) == []
