"""Does the server say how it is, without saying who asked for what?"""

import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.webapp.core.health import Counters, JsonLines
from shoal.webapp.core.seal import release_folder
from tests.webapp.instances import Panel

SECRET = "zyxqwvplum"
LINE = re.compile(r'^shoal_\w+(\{\w+="[^"{}]*"(,\w+="[^"{}]*")*\})? [0-9.e+-]+$')


def test_a_healthy_server_says_so(quiet_panel: Panel) -> None:
    answer = quiet_panel.client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json["checks"] == {"database": "ok", "data": "ok", "release": "ok", "disk": "ok"}


def test_a_server_whose_release_is_damaged_says_which(quiet_panel: Panel) -> None:
    releases = quiet_panel.releases
    active = releases.current_id()
    assert active is not None
    profiles = release_folder(quiet_panel.settings.instance, active) / "profiles.jsonl"
    whole = profiles.read_text()
    profiles.write_text(whole[: len(whole) // 2])
    releases._loaded.cache_clear()
    try:
        answer = quiet_panel.client.get("/healthz")
        assert answer.status_code == 503
        assert "damaged" in answer.json["checks"]["release"]
        assert str(quiet_panel.settings.instance) not in answer.text
        assert quiet_panel.client.get("/search?q=climate").status_code < 500
    finally:
        profiles.write_text(whole)
        quiet_panel.post(f"/admin/releases/{active}/check")
    assert quiet_panel.client.get("/healthz").status_code == 200


def test_metrics_are_in_the_format_of_prometheus_and_count_requests(quiet_panel: Panel) -> None:
    def asked() -> float:
        text = quiet_panel.client.get("/metrics").text
        found = re.search(r'shoal_requests_total\{endpoint="searcher.search",status="2xx"\} (\d+)', text)
        return float(found[1]) if found else 0.0

    before = asked()
    for _ in range(3):
        quiet_panel.client.get(f"/search?q={SECRET}")
    assert asked() == before + 3
    text = quiet_panel.client.get("/metrics").text
    assert all(LINE.match(line) for line in text.splitlines() if not line.startswith("#"))
    assert SECRET not in text
    assert 'shoal_jobs{state="done"}' in text
    assert 'shoal_active_release{release="r' in text
    bounds = re.findall(r'shoal_request_seconds_bucket\{endpoint="searcher.search",le="[^"]+"\} (\d+)', text)
    assert [int(n) for n in bounds] == sorted(int(n) for n in bounds)


def test_the_log_is_json_and_holds_no_query(quiet_panel: Panel) -> None:
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Keep()
    handler.setFormatter(JsonLines())
    quiet_panel.app.logger.addHandler(handler)
    try:
        quiet_panel.client.get(f"/search?q={SECRET}&user={SECRET}")
        quiet_panel.client.get(f"/api/v1/search?q={SECRET}&view={SECRET}")
        quiet_panel.client.get(f"/{SECRET}")
        quiet_panel.client.post("/admin/login", data={"name": SECRET, "password": SECRET})
        try:
            raise ValueError(SECRET)
        except ValueError:
            quiet_panel.app.logger.exception("something broke")
    finally:
        quiet_panel.app.logger.removeHandler(handler)
    assert len(lines) >= 5
    assert SECRET not in "".join(lines)
    read = [json.loads(line) for line in lines]
    assert all({"time", "level", "message"} <= set(line) for line in read)
    assert any(line.get("endpoint") == "searcher.search" and line["ms"] > 0 for line in read)
    assert read[-1]["error"] == "ValueError"


def test_counts_of_several_processes_add_up(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from shoal.webapp.core.health import Counters\n"
        "for _ in range(2):\n"
        "    if child := os.fork(): os.waitpid(child, 0); continue\n"
        "    c = Counters(Path(sys.argv[1])); [c.count('a', 200, 0.02, ['a', 'b']) for _ in range(5)]\n"
        "    print(*c.lines(['a', 'b']), sep='|', flush=True); os._exit(0)"
    )
    (tmp_path / "1-1.f64").write_bytes(b"\0" * 8)  # of an earlier start of the server
    command = [sys.executable, "-c", program, str(tmp_path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert 'shoal_requests_total{endpoint="a",status="2xx"} 5' in said[0]
    assert 'shoal_requests_total{endpoint="a",status="2xx"} 10' in said[1]
    assert not (tmp_path / "1-1.f64").exists()


def test_an_endpoint_nobody_knows_is_counted_as_none(tmp_path: Path) -> None:
    counters = Counters(tmp_path)
    counters.count("gone", 404, 7.5, ["a"])
    lines = counters.lines(["a"])
    assert 'shoal_requests_total{endpoint="none",status="4xx"} 1' in lines
    assert 'shoal_request_seconds_bucket{endpoint="none",le="5"} 0' in lines
    assert 'shoal_request_seconds_bucket{endpoint="none",le="+Inf"} 1' in lines


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_what_machines_ask_for_sets_no_cookie(quiet_panel: Panel, path: str) -> None:
    assert "Set-Cookie" not in quiet_panel.app.test_client().get(path).headers


def test_a_disk_without_room_for_counts_fails_no_search(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("a file where the folder should be")
    counters = Counters(tmp_path / "metrics")
    counters.count("a", 200, 0.02, ["a"])
    assert 'shoal_requests_total{endpoint="a",status="2xx"} 1' in counters.lines(["a"])


def test_room_for_counts_is_taken_before_they_are_written(tmp_path: Path) -> None:
    """A mapped file without room would end the process at its first write."""
    Counters(tmp_path).count("a", 200, 0.02, ["a"])
    (path,) = tmp_path.glob("*.f64")
    assert path.stat().st_blocks * 512 >= path.stat().st_size > 0
