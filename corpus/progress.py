"""How does a long run tell how far it is, and how is it stopped?"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

# progress(done, total, stage). It may raise corpus.errors.Cancelled, which every long run lets through.
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, stage: str) -> None:
    """The progress callback of those who do not want to know."""


class Meter:
    """Counts the steps of work whose parts are of different sizes, and tells a progress callback."""

    def __init__(self, progress: Progress, total: int, stage: str) -> None:
        self._progress, self._total, self._stage, self._done = progress, total, stage, 0

    def advance(self, steps: int = 0) -> None:
        """Some more are done; without any, the run only says that it is alive."""
        self._done = min(self._done + steps, self._total)
        self._progress(self._done, self._total, self._stage)

    def finish(self) -> None:
        self.advance(self._total)


class Bar:
    """A progress callback that draws one tqdm bar per stage: in a notebook, or in a terminal on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""

    def __call__(self, done: int, total: int, stage: str) -> None:
        if self._bar is None or stage != self._stage:
            self.close()
            self._bar, self._stage = _drawn(total, stage), stage
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _drawn(total: int, stage: str) -> Any:
    """A bar for what takes longer than a second. Where standard error is a file, nobody looks."""
    from tqdm import tqdm

    in_notebook = "ipykernel" in sys.modules
    if in_notebook and find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm
    return tqdm(total=total, desc=stage, leave=False, delay=1, disable=False if in_notebook else None)


@contextmanager
def bar(progress: Progress | None = None) -> Iterator[Progress]:
    """The callback that is given or, without one, a bar that is gone when the work is done."""
    drawn = Bar()
    try:
        yield drawn if progress is None else progress
    finally:
        drawn.close()
