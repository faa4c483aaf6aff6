"""How far is work whose steps are of different sizes?"""

from shoal.corpus.progress import Progress


class Meter:
    """Counts what is done and tells a progress callback."""

    def __init__(self, progress: Progress, total: int, stage: str) -> None:
        self._progress, self._total, self._stage, self._done = progress, total, stage, 0

    def advance(self, steps: int = 0) -> None:
        """Some more are done; without any, the run only says that it is alive."""
        self._done = min(self._done + steps, self._total)
        self._progress(self._done, self._total, self._stage)

    def finish(self) -> None:
        self.advance(self._total)
