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

    def __enter__(self) -> "PeakMemory":
        if _RESET.exists():
            _RESET.write_text("5")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.megabytes = _peak()


def _peak() -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    return (int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024
