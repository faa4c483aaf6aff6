"""What does a server take? A shoal on loopback, what it answers, and what Linux tells of all its processes."""

import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.evaluation.run.programs import Program


@dataclass(frozen=True)
class Server:
    """A server that has answered."""

    url: str
    pid: int
    clock: float  # seconds from its start up to its first page

    def read(self, path: str) -> tuple[str, str]:
        """A page, and what the server says of the time that its parts took."""
        return _read(self.url + path)

    def people(self) -> list[str]:
        """The pseudonyms of those whose profiles it shows."""
        return re.findall(r"user=([0-9a-f]{16})", self.read("/people")[0])

    @property
    def processor_seconds(self) -> float:
        """Of all its processes, and of those that ended before."""
        ticks = sum(sum(map(int, _status(pid)[11:15])) for pid in _tree(self.pid))
        return ticks / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Of all its processes; what several share counts once, as a program may fork them or start them anew."""
        return sum(map(_kilobytes, _tree(self.pid))) / 1024


@contextmanager
def served(program: Program, data: str, folder: Path, progress: Progress) -> Iterator[Server]:
    """A data set served by a program from its folder, which its first start there sets up, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder.mkdir(parents=True, exist_ok=True)
    asked = ["serve", "--data", data, "--port", str(port), "--no-levels", "--instance", str(folder / "instance")]
    with (folder / "said.txt").open("w") as said:
        begin = time.perf_counter()
        process = subprocess.Popen([*program, *asked], stdout=said, stderr=said)
        try:
            _wait(f"http://127.0.0.1:{port}", process, folder, progress)
            yield Server(f"http://127.0.0.1:{port}", process.pid, time.perf_counter() - begin)
        finally:
            process.terminate()
            process.wait(30)


def _wait(url: str, process: "subprocess.Popen[bytes]", folder: Path, progress: Progress) -> None:
    """Until the first page."""
    while process.poll() is None:
        progress(0, 1, "starting a server")
        try:
            _read(f"{url}/")
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    last = (folder / "said.txt").read_text().strip().splitlines()[-1:]
    raise InputError(f"the server ended before it answered: {' '.join(last)}")


def _read(url: str) -> tuple[str, str]:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode(), answer.headers.get("Server-Timing", "")


def _tree(root: int) -> list[int]:
    """A process and all below it."""
    above = {int(path.name): _status(int(path.name))[1:2] for path in Path("/proc").iterdir() if path.name.isdigit()}
    found = [root]
    for pid in found:
        found += [other for other, parent in above.items() if parent == [str(pid)]]
    return found


def _status(pid: int) -> list[str]:
    """What Linux tells of a process, from its state on: its parent, later its times and its memory."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []  # it ended meanwhile


def _kilobytes(pid: int) -> int:
    """A process's own memory and its part of what it shares."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return int(re.findall(r"^Pss:\s+(\d+) kB", told, re.MULTILINE)[0])
