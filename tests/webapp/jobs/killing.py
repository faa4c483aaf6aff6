"""What is killed in the crash tests? A process that loads everything once and does each piece of work in a fork."""

import os
import sys
from pathlib import Path

from sqlalchemy import select

# Loaded before the forks; nothing is computed before them, since threads of libraries do not survive a fork.
import shoal.evaluation.measures.release
import shoal.webapp.jobs.tasks  # noqa: F401
from shoal.webapp.core.activation import activate
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database
from shoal.webapp.jobs.worker import work


def main() -> None:
    """Lines `run NUMBER` or `switch DIGEST RELEASE RELEASE`: fork, tell the number of the child, wait for its end."""
    settings = Settings.from_json(Path(sys.argv[1]).read_text())
    print("ready", flush=True)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            print(os.getpid(), flush=True)
            _do(settings, line.split())
            os._exit(0)
        sys.stdin.readline()  # until then its number is nobody else's
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _do(settings: Settings, words: list[str]) -> None:
    database = Database(settings.database)
    with database.reading() as session:
        session.execute(select(1))
    print("connected", flush=True)
    if words[0] == "run":
        work(database, settings, int(words[1]))
        return
    for i in range(10**6):
        activate(database, words[2 + i % 2], words[1], note=str(i), confirmed=True)


if __name__ == "__main__":
    main()
