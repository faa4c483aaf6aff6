"""Who has which group? Issuing tokens, and finding their groups in a new release: read the assignment, write the group.

Both happen in a process of its own, which ends when it is done, so that no process that serves ever holds whose
pseudonym is whose.
"""

import json
import subprocess
import sys
from collections import defaultdict
from typing import Any

from sqlalchemy import select

from shoal.anonymizer.release_files import read_release
from shoal.corpus.errors import Conflict, InputError, NotFound
from shoal.corpus.progress import silent
from shoal.webapp.core.logs import read_registered
from shoal.webapp.core.releases import ActiveReleases, release_folder
from shoal.webapp.core.settings import Settings
from shoal.webapp.core.tokens import DAYS, new_token, person_of, without_group
from shoal.webapp.database import Database, Job, LogFile
from shoal.webapp.database.models import DONE, QUEUED, RUNNING, TOKENS, TokenGroup
from shoal.webapp.jobs.queue import add_job, finish_job

_PROGRAM = "shoal.webapp.jobs.tokens"
_SECONDS = 300  # a large log may have to be read


def issue_token(
    database: Database, settings: Settings, log_digest: str, user: str, *, days: int = DAYS, about: str = "", by: str
) -> tuple[int, str]:
    """A token for a user of the log, with the group in the release that is active. Its number, and its text."""
    key = settings.secret_key()
    active = _active(database, settings, log_digest)
    groups = _groups(settings, active) if active else {}
    if user not in groups:
        _check_user(database, log_digest, user)
    with database.writing() as opened:
        number, text = new_token(opened, key, log_digest, user, days=days, about=about, by=by)
        if active:
            opened.add(TokenGroup(token_id=number, release_id=active, pseudonyms={"ids": groups.get(user, [])}))
    return number, text


def _active(database: Database, settings: Settings, log_digest: str) -> str | None:
    return ActiveReleases(database, settings.instance, log_digest).current_id()


def _groups(settings: Settings, release_id: str) -> dict[str, list[str]]:
    """The pseudonyms of everybody: one, or several where sessions are published apart."""
    stored = read_release(release_folder(settings.instance, release_id))
    found: dict[str, list[str]] = defaultdict(list)
    names, pseudonyms = stored.assignment.users.to_list(), stored.release.pseudonyms
    for user, profile in zip(stored.assignment.user.tolist(), stored.assignment.profile.tolist(), strict=True):
        found[str(names[user])].append(pseudonyms[profile])
    return dict(found)


def _check_user(database: Database, log_digest: str, user: str) -> None:
    """Whoever has no profile in the release may still be in the log; nobody else gets a token."""
    with database.reading() as opened:
        number = opened.scalar(select(LogFile.id).where(LogFile.digest == log_digest))
    if number is None:
        raise NotFound("the log is not entered: start the server with it first")
    if user not in set(read_registered(database, number, silent).users.cast(str).to_list()):
        raise NotFound("the log holds no user of that id: copy it from the log, as it stands there")


def offer_groups(database: Database, log_digest: str, release_id: str | None) -> None:
    """After an activation: a job that finds the groups of all tokens in the new release, unless one does already."""
    if release_id is None:
        return
    waiting = select(Job.id).where(Job.kind == TOKENS, Job.state.in_((QUEUED, RUNNING)))
    with database.reading() as opened:
        if not without_group(opened, log_digest, release_id) or opened.scalar(waiting) is not None:
            return
    add_job(database, TOKENS, {"log_digest": log_digest, "name": "the groups of tokens"}, 1)


def find_groups(database: Database, settings: Settings, job: Job) -> None:
    """Do what the job says: for every token that is good, which pseudonyms its person has in the active release."""
    digest, key = job.task["log_digest"], settings.secret_key()
    active = _active(database, settings, digest)
    groups = _groups(settings, active) if active else {}
    by_person = {person_of(key, digest, user): names for user, names in groups.items()}
    with database.writing() as opened:
        tokens = without_group(opened, digest, active) if active else []
        for token in tokens:
            names = by_person.get(token.person, [])
            opened.add(TokenGroup(token_id=token.id, release_id=active, pseudonyms={"ids": names}))
    finish_job(database, job.id, DONE, result={"tokens": len(tokens)})


def issue_in_process(settings: Settings, **asked: Any) -> tuple[int, str]:
    """The same from a process that serves. Settings and user go by a pipe: they stand in no list of processes."""
    given = json.dumps({"settings": settings.to_json(), "asked": asked})
    ended = subprocess.run(
        [sys.executable, "-P", "-m", _PROGRAM], input=given, capture_output=True, text=True, timeout=_SECONDS
    )  # fmt: skip
    try:
        answer = json.loads(ended.stdout)
    except ValueError as error:
        raise Conflict("the token could not be issued: see what is wrong with the active release") from error
    if "error" in answer:
        raise InputError(answer["error"])
    return int(answer["number"]), str(answer["token"])


def main() -> int:
    given = json.loads(sys.stdin.read())
    settings = Settings.from_json(given["settings"])
    database = Database(settings.database)
    try:
        number, text = issue_token(database, settings, **given["asked"])
        print(json.dumps({"number": number, "token": text}))
    except InputError as error:
        print(json.dumps({"error": str(error)}))
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
