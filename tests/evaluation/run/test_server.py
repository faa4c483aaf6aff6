"""Is a server driven to its first page and ended, and do all of its processes count, what they share once?"""

import sys
from pathlib import Path

import pytest

from shoal.corpus.errors import InputError
from shoal.evaluation.run.server import served

# A server as ours: it counts up in a process of its own before the first page, and has another that stays.
SERVER = """
import os, signal, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Server-Timing", "engine;dur=1.5")
        self.end_headers()
        self.wfile.write(b"<a href='/search?user=0123456789abcdef'>")
    def log_message(self, *_): pass
signal.signal(signal.SIGTERM, lambda *_: (os.kill(stays, signal.SIGKILL), os._exit(0)))
busy = os.fork()
if not busy:
    while time.process_time() < 0.3: pass
    os._exit(0)
os.waitpid(busy, 0)
held = b"x" * 50_000_000
stays = os.fork()
if not stays:
    time.sleep(60)
HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Page).serve_forever()
"""


def test_all_processes_of_a_server_count_also_those_that_ended(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    program = (sys.executable, "-S", str(tmp_path / "server.py"))
    with served(program, "news", tmp_path / "own", lambda *_: None) as server:
        assert server.people() == ["0123456789abcdef"]
        assert server.read("/search")[1] == "engine;dur=1.5"
        assert server.processor_seconds >= 0.3
        assert server.clock >= 0.3
        assert 50 < server.megabytes < 95  # both hold them, and share them
    assert not Path(f"/proc/{server.pid}").exists()


def test_a_server_that_ends_says_why(tmp_path: Path) -> None:
    program = (sys.executable, "-S", "-c", "raise SystemExit('the port is taken')")
    with (
        pytest.raises(InputError, match="before it answered: the port is taken"),
        served(program, "news", tmp_path / "own", lambda *_: None),
    ):
        pass
