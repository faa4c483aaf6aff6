"""How can whoever sends or reads slowly not stop others? A request gets a thread of the server when it is whole.

Gunicorn's threads wait for the bytes of a request themselves, so that a few slow senders hold all of them. Here the
loop of the process takes requests in, for as many connections as there are, and hands them to a thread when head and
body are there. Only a body that is too large for that, of an upload, is read by the thread; whether anybody may send
one is decided before (`bodies`), and it must come at some pace. A connection that ends is closed by the loop too, which
never waits for its peer: what was refused and is still being sent is thrown away, so that the peer comes to read why.
"""

import re
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ
from typing import Any
from weakref import WeakKeyDictionary

from gunicorn.workers.gthread import TConn, ThreadWorker
from werkzeug.exceptions import RequestTimeout

SMALL = 64 * 2**10  # bytes of a body that the loop takes in
LONGEST_HEAD = 32 * 2**10
PATIENCE = 20.0  # seconds for a whole request to arrive
_SILENCE = struct.pack("ll", 20, 0)  # seconds and microseconds that a thread waits for the next bytes of an upload
LINGER = 5.0  # seconds of silence after which a connection that ends is closed
LONGEST_FAREWELL = 60.0  # seconds until it is closed whatever its peer still sends
MOST_THROWN_AWAY = 512 * 2**20  # bytes of that, twice the largest upload
_BLOCK = 1 << 16
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_EXPECTS = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)
WAIT, WHOLE = b"", b"whole"


def _refusal(status: str, advice: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: {len(advice)}"
    return f"{head}\r\n\r\n{advice}".encode()


_TOO_LONG = _refusal("431 Request Header Fields Too Large", "The head of this request is too long: send less.\n")
_NO_LENGTH = _refusal("411 Length Required", "Say how long the body is: send Content-Length.\n")


def what_to_do(taken: bytes | bytearray) -> bytes:
    """With what has arrived of a request: WAIT for more, hand it over as WHOLE, or the answer that refuses it."""
    end = taken.find(b"\r\n\r\n")
    if end < 0:
        return _TOO_LONG if len(taken) > LONGEST_HEAD else WAIT
    head = bytes(taken[: end + 2])
    if len(head) > LONGEST_HEAD:
        return _TOO_LONG
    if _CHUNKED.search(head):
        return _NO_LENGTH
    length = _length(head)
    return WHOLE if length > SMALL or len(taken) >= end + 4 + length else WAIT


def _length(head: bytes) -> int:
    found = _LENGTH.search(head)
    return int(found[1]) if found else 0


@dataclass
class Pace:
    """How fast the body of an upload must come: so many bytes a second, over each stretch of PATIENCE seconds."""

    slowest: int
    clock: Callable[[], float] = time.monotonic
    _since: float = field(init=False)
    _arrived: int = 0

    def __post_init__(self) -> None:
        self._since = self.clock()

    def add(self, count: int) -> None:
        self._arrived += count
        passed = self.clock() - self._since
        if passed < PATIENCE:
            return
        if self._arrived < self.slowest * passed:
            raise RequestTimeout
        self._since, self._arrived = self.clock(), 0


def paced(receive: Callable[..., bytes], pace: Pace) -> Callable[..., bytes]:
    """The same, but silence and slowness are the end of the request: an answer, not a peer that went away."""

    def receive_in_time(size: int | None = None) -> bytes:
        try:
            data = receive(size)
        except BlockingIOError as error:
            raise RequestTimeout from error
        pace.add(len(data))
        return data

    return receive_in_time


@dataclass
class Farewell:
    """What a peer may still send on a connection that ends, before it reads its answer."""

    began: float
    last: float
    thrown_away: int = 0

    def add(self, count: int, moment: float) -> None:
        self.thrown_away, self.last = self.thrown_away + count, moment

    def is_over(self, moment: float) -> bool:
        late = moment - self.last > LINGER or moment - self.began > LONGEST_FAREWELL
        return late or self.thrown_away > MOST_THROWN_AWAY


class BufferingWorker(ThreadWorker):
    """A process of the server: one loop that takes requests in, and threads that answer whole ones."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._taken: WeakKeyDictionary[TConn, bytearray] = WeakKeyDictionary()
        self._closing: dict[TConn, Farewell] = {}

    def accept(self, listener: socket.socket) -> None:
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # another process was first, or the peer is gone again
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            client.setsockopt(socket.SOL_SOCKET, option, _SILENCE)
        self.nr_conns += 1
        self._take_in(TConn(self.cfg, client, address, listener.getsockname()))

    def _take_in(self, conn: TConn, begun: bytes = b"") -> None:
        """Wait for a request without a thread; its beginning may have come along with the one before it."""
        self._taken[conn] = bytearray(begun)
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + PATIENCE
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))
        if begun:
            self._look_at(conn)

    def on_pending_socket_readable(self, conn: TConn, client: socket.socket) -> None:
        try:
            data = client.recv(_BLOCK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._leave_poller(conn)
            self._close(conn)
            return
        self._taken[conn] += data
        self._look_at(conn)

    def _look_at(self, conn: TConn) -> None:
        taken = self._taken[conn]
        found = what_to_do(taken)
        if found == WAIT:
            if taken.endswith(b"\r\n\r\n") and _EXPECTS.search(bytes(taken)):
                self._send(conn, b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        self._leave_poller(conn)
        if found != WHOLE:
            self._send(conn, found)
            self._begin_close(conn)
            return
        conn.init()
        conn.parser.unreader.unread(bytes(self._taken.pop(conn)))
        super().enqueue_req(conn)

    def _send(self, conn: TConn, text: bytes) -> None:
        """A few bytes, which fit into what the system holds; a peer that takes none goes without."""
        try:
            conn.sock.send(text)
        except OSError:
            self.log.debug("a peer did not take its answer")

    def _leave_poller(self, conn: TConn) -> None:
        self.poller.unregister(conn.sock)
        self.pending_conns.remove(conn)

    def on_client_socket_readable(self, conn: TConn, client: socket.socket) -> None:
        """The next request on a connection that was kept."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._take_in(conn)

    def handle_request(self, req: Any, conn: TConn) -> bool:
        """After a body that is not wholly here the connection ends: to read the rest away would hold the thread."""
        if req.body is not None and _declared(req) > SMALL:
            req.force_close()
            unreader = conn.parser.unreader
            unreader.chunk = paced(unreader.chunk, Pace(self.app.slowest_upload))
        return bool(super().handle_request(req, conn))

    def finish_request(self, conn: TConn, fs: Any) -> None:
        try:
            goes_on = bool(fs.result()) and self.alive
        except Exception:
            self.log.exception("a request could not be answered")
            goes_on = False
        if not goes_on:
            self._begin_close(conn)
        elif begun := conn.parser.unreader.take_buffered():
            self._take_in(conn, begun)
        else:
            conn.sock.setblocking(False)
            conn.set_timeout()
            self.keepalived_conns.append(conn)
            self.poller.register(conn.sock, EVENT_READ, partial(self.on_client_socket_readable, conn))

    def _begin_close(self, conn: TConn) -> None:
        """Say that nothing follows, and let the peer read it: what it still sends is thrown away, within bounds."""
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(conn)
            return
        moment = time.monotonic()
        self._closing[conn] = Farewell(moment, moment)
        self.poller.register(conn.sock, EVENT_READ, partial(self._throw_away, conn))

    def _throw_away(self, conn: TConn, client: socket.socket) -> None:
        moment, farewell, data = time.monotonic(), self._closing[conn], b""
        try:
            data = client.recv(_BLOCK)
        except BlockingIOError:
            return
        except OSError:
            self.log.debug("a peer was gone before it had read its answer")
        farewell.add(len(data), moment)
        if not data or farewell.is_over(moment):
            self._end_farewell(conn)

    def _end_farewell(self, conn: TConn) -> None:
        del self._closing[conn]
        self.poller.unregister(conn.sock)
        self._close(conn)

    def _close(self, conn: TConn) -> None:
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Close what took too long; at the end of the process also connections on which nothing was asked."""
        super().murder_pending()
        moment = time.monotonic()
        for conn in [one for one, farewell in self._closing.items() if farewell.is_over(moment)]:
            self._end_farewell(conn)
        for conn in [] if self.alive else [one for one in self.pending_conns if not self._taken[one]]:
            self._leave_poller(conn)
            self._close(conn)


def _declared(req: Any) -> int:
    lengths = [value for name, value in req.headers if name == "CONTENT-LENGTH"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0
