"""Is a process still the one that was started? Numbers are used again, so its time of birth is looked at too."""

import os
import signal
import socket
from pathlib import Path

_PROC = Path("/proc")


def host() -> str:
    return socket.gethostname()[:200]


def birth(pid: int) -> str:
    """What tells a process from every other with its number; empty where there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "" if _PROC.is_dir() or not _answers(pid) else "alive"
    fields = text.rpartition(")")[2].split()  # the name in brackets may hold blanks
    ended = fields[0] in ("Z", "X")
    return "" if ended else f"{boot}:{fields[19]}"


def is_alive(pid: int, born: str) -> bool:
    return bool(born) and birth(pid) == born


def stop(pid: int, born: str) -> None:
    """End a process at once, if it is still the one that was born then."""
    if is_alive(pid, born):
        os.kill(pid, signal.SIGKILL)


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
