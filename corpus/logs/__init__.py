"""Which log is meant? A file in the AOL format by its path, or a data set's simulated log by its name."""

from pathlib import Path

from shoal.corpus.logs.aol import Rejected, read_log
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.store.datasets import CORPORA


def load_log(name_or_path: str, *, strict: bool = False, progress: Progress = silent) -> tuple[QueryLog, Rejected]:
    """The log of that name or path, and the rows that could not be read."""
    if name_or_path in CORPORA and not Path(name_or_path).exists():
        from shoal.corpus.people.simulated import default_log

        return read_log(default_log(name_or_path, progress=progress), progress=progress)
    return read_log(name_or_path, strict=strict, progress=progress)
