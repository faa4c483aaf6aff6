"""How do tests speak TLS with a node? Before it stands a server that has a certificate, and passes on what is asked."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2"]


def make_authority(folder: Path) -> Path:
    """An authority of certificates that nobody else trusts: the file by which it is known."""
    _make(folder, "authority", "/CN=An authority of the tests", [])
    return folder / "authority.pem"


def make_certificate(folder: Path, authority: Path, host: str) -> Path:
    """A file with a certificate of that authority for one host, and its key."""
    signed = ["-CA", str(authority), "-CAkey", str(authority.with_suffix(".key"))]
    _make(folder, "host", f"/CN={host}", [*signed, "-addext", f"subjectAltName=DNS:{host}"])
    whole = folder / "whole.pem"
    whole.write_text((folder / "host.pem").read_text() + (folder / "host.key").read_text())
    return whole


def _make(folder: Path, name: str, subject: str, more: list[str]) -> None:
    files = ["-out", str(folder / f"{name}.pem"), "-keyout", str(folder / f"{name}.key")]
    command = ["openssl", "req", "-x509", *_KEY, "-subj", subject, *files, *more]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


class Terminator(ThreadingHTTPServer):
    """Passes on to a node what comes over TLS, and knows which credentials came with it."""

    daemon_threads = True

    def __init__(self, node: str, certificate: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.node, self.credentials = urlsplit(node).netloc, list[str | None]()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        # A handshake is left to the thread of its request: who refuses the certificate stops nobody else.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that refuses the certificate hangs up, which is what some tests want."""


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Terminator

    def do_GET(self) -> None:
        self.server.credentials.append(self.headers["Authorization"])
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with closing(HTTPConnection(self.server.node, timeout=60)) as node:
            node.request(self.command, self.path, body, {"Content-Type": self.headers.get("Content-Type", "")})
            answer = node.getresponse()
            content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
        self.send_header("Content-Length", answer.headers.get("Content-Length", str(len(content))))
        self.end_headers()
        self.wfile.write(content)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at what is said."""


@contextmanager
def terminator(node: str, certificate: Path) -> Iterator[Terminator]:
    with Terminator(node, certificate) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
