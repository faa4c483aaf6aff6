"""Which log is meant, and who are its people? A file in the AOL format by its path, or a data set's log by its name."""

from pathlib import Path

from shoal.corpus.logs.aol import Rejected, read_log, read_people
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import PeopleKind, QueryLog
from shoal.corpus.store.datasets import CORPORA


def load_log(name_or_path: str, *, strict: bool = False, progress: Progress = silent) -> tuple[QueryLog, Rejected]:
    """The log of that name or path, and the rows that could not be read."""
    return read_log(_file_of(name_or_path, progress), strict=strict, progress=progress)


def people_of(name_or_path: str, progress: Progress = silent) -> PeopleKind:
    """Whether the people of a log are simulated, public or real, without reading it."""
    return read_people(_file_of(name_or_path, progress))


def _file_of(name_or_path: str, progress: Progress) -> Path:
    if name_or_path in CORPORA and not Path(name_or_path).is_file():
        if name_or_path == "films":  # the one data set with people of its own
            from shoal.corpus.people.films import films_log

            return films_log(progress)
        from shoal.corpus.people.simulated import default_log

        return default_log(name_or_path, progress=progress)
    return Path(name_or_path)
