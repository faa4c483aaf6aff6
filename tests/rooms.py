"""Which tests run in one process after the other? Those of a file, and the files that share a server or a panel."""

import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from shoal.corpus.store.folders import alone

# The rooms, and the fixtures that take seconds to make by which a file belongs to one; the first that fits counts.
_ROOMS = (
    ("server and browser", re.compile(r"\b(browser|open_page|page|server|live): ")),
    ("panel", re.compile(r"\b(quiet_)?panel: ")),
    ("canaries", re.compile(r"\bbirdcage: ")),
    ("server and browser", re.compile(r"\b(app|client): ")),
)
_TREE = Path(__file__).parent.parent


@cache
def room_of(file: str) -> str:
    """The name of the room that a file of tests belongs to: its own, unless it needs what others need too."""
    if not file.startswith("tests/webapp/"):
        return file
    text = (_TREE / file).read_text()
    return next((room for room, asks in _ROOMS if asks.search(text)), file)


@cache
def _patience(room: str) -> int:
    """How long a room may take, the longest first: those that share a server, files that start processes, others."""
    if not room.endswith(".py"):
        return 0
    return 1 if "subprocess" in (_TREE / room).read_text() else 2


class RoomScheduling(LoadScopeScheduling):
    """As `--dist loadfile`, by rooms: what they share is started by one worker only. Those that take longest are first.

    So one worker is not left with a server's tests when the other is done.
    """

    def _split_scope(self, nodeid: str) -> str:
        return room_of(nodeid.split("::", 1)[0])

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=_patience), last=False)
        super()._assign_work_unit(node)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A file that all workers of a run share: the first that wants it makes it."""
    own = factory.getbasetemp()
    path = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    with alone(path.with_name(f"{name}.lock")):
        if not path.exists():
            make(path)
    return path
