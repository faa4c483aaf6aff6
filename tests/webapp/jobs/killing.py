"""What is killed in the crash tests? A process that loads everything once and does each piece of work in a fork."""

import os
import sys
import time
from pathlib import Path

from sqlalchemy import select

# Loaded before the forks; nothing is computed before them, since threads of libraries do not survive a fork.
import shoal.evaluation.measures.release
import shoal.webapp.jobs.queue  # noqa: F401
from shoal.webapp.core.activation import activate
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.settings import Settings
from shoal.webapp.core.withdrawal import delete_release, withdraw
from shoal.webapp.database import Database
from shoal.webapp.jobs.worker import work


def main() -> None:
    """Lines `run NUMBER`, `switch DIGEST RELEASE RELEASE` or `take-back DIGEST RELEASE ...` after a file of settings.

    For each: fork, tell the number of the child, wait for its end.
    """
    print("ready", flush=True)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            print(os.getpid(), flush=True)
            settings, *words = line.split()
            _do(Settings.from_json(Path(settings).read_text()), words)
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
    releases = ActiveReleases(database, settings.instance, words[1])
    if words[0] == "take-back":
        take_back(releases, words[2:])
        return
    for i in range(10**6):
        activate(releases, words[2 + i % 2], Consent(note=str(i), confirmed=True))


def take_back(releases: ActiveReleases, made: list[str]) -> None:
    """Each is activated, withdrawn and deleted, and then there is nothing left to do but to wait for the end."""
    for release_id in made:
        activate(releases, release_id, Consent(confirmed=True))
        withdraw(releases, release_id, "olga")
        delete_release(releases, release_id, "olga")
    time.sleep(60)


if __name__ == "__main__":
    main()
