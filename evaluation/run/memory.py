"""How much memory does a piece of work take at its peak?"""

import re
import resource
from pathlib import Path
from types import TracebackType

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class PeakMemory:
    """The peak of the process's memory within a `with`, in megabytes.

    Linux can forget an earlier peak; elsewhere the number is the peak since the process began.
    """

    megabytes = 0.0
    grown = 0.0  # above what the process held before

    def __enter__(self) -> "PeakMemory":
        self._before = _kilobytes("VmRSS") / 1024
        if _RESET.exists():
            _RESET.write_text("5")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.megabytes = _kilobytes("VmHWM") / 1024
        self.grown = self.megabytes - self._before


def _kilobytes(field: str) -> int:
    """A number of the process's status; elsewhere than on Linux its peak memory, which it never falls below."""
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    return int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
