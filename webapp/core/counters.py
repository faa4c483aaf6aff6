"""How are requests counted when several processes answer them? Each in a file of its own, added up when asked."""

import os
from pathlib import Path
from threading import Lock

import numpy as np

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.3, 0.5, 1.0, 2.5, 5.0)  # seconds
_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
# Per endpoint: answers by class, then answers within each bound and above all, then the sum of seconds.
_WIDTH = len(_CLASSES) + len(BOUNDS) + 2


class Counters:
    """Counts of one process, in memory that the others can read. Processes of one server share a parent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._own: np.ndarray | None = None
        self._pid = 0

    def count(self, endpoint: str, status: int, seconds: float, endpoints: list[str]) -> None:
        row = endpoints.index(endpoint) if endpoint in endpoints else len(endpoints)
        bucket = int(np.searchsorted(BOUNDS, seconds))
        with self._lock:
            table = self._table(len(endpoints) + 1)
            table[row, min(max(status // 100, 1), 5) - 1] += 1
            table[row, len(_CLASSES) + bucket] += 1
            table[row, -1] += seconds

    def _table(self, rows: int) -> np.ndarray:
        """Mapped on first use: in the process that answers, not in the one that it was forked from."""
        if self._own is None or self._pid != os.getpid():
            self._pid = os.getpid()
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._forget_others()
            path = self._folder / f"{os.getppid()}-{self._pid}.f64"
            self._own = np.memmap(path, dtype=np.float64, mode="w+", shape=(rows, _WIDTH))
        return self._own

    def _forget_others(self) -> None:
        """Counts of an earlier start of the server: counters begin at zero again, as Prometheus expects."""
        for path in self._folder.glob("*.f64"):
            if not path.name.startswith(f"{os.getppid()}-"):
                path.unlink(missing_ok=True)

    def total(self, endpoints: list[str]) -> np.ndarray:
        """What all processes of this server counted."""
        rows = len(endpoints) + 1
        with self._lock:
            total = np.array(self._table(rows))
        for path in sorted(self._folder.glob(f"{os.getppid()}-*.f64")):
            values = np.fromfile(path, dtype=np.float64) if path.name != f"{os.getppid()}-{os.getpid()}.f64" else None
            if values is not None and values.size == total.size:
                total += values.reshape(total.shape)
        return total

    def lines(self, endpoints: list[str]) -> list[str]:
        """In Prometheus's text format; endpoints that nobody asked for are left out."""
        table = self.total(endpoints)
        used = [(name, row) for name, row in zip([*endpoints, "none"], table, strict=True) if row.any()]
        answers = ["# HELP shoal_requests_total Answers by endpoint and class.", "# TYPE shoal_requests_total counter"]
        times = ["# HELP shoal_request_seconds Time to answer.", "# TYPE shoal_request_seconds histogram"]
        for name, row in used:
            for kind, count in zip(_CLASSES, row, strict=False):
                if count:
                    answers.append(f'shoal_requests_total{{endpoint="{name}",status="{kind}"}} {count:g}')
            times += _histogram(name, row[len(_CLASSES) : -1], row[-1])
        return answers + times


def _histogram(name: str, buckets: np.ndarray, seconds: float) -> list[str]:
    within = np.cumsum(buckets)
    bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
    lines = [
        f'shoal_request_seconds_bucket{{endpoint="{name}",le="{bound}"}} {count:g}'
        for bound, count in zip(bounds, within, strict=True)
    ]
    lines.append(f'shoal_request_seconds_sum{{endpoint="{name}"}} {seconds:.6g}')
    return [*lines, f'shoal_request_seconds_count{{endpoint="{name}"}} {within[-1]:g}']
