"""Is the promise of a release kept whose log lies on a cluster? Each block is verified by the worker that has it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.anonymizer.base import Assignment, Claim, Release, Suppressed
from shoal.anonymizer.blocks import digest_of, shown_by_blocks
from shoal.anonymizer.claims import Evidence, Verdict, broken, sentence, verify
from shoal.anonymizer.cluster.log_rows import as_arrow
from shoal.anonymizer.cluster.run import log_of_block, raise_first, rows_in_blocks
from shoal.anonymizer.cluster.session import opened
from shoal.anonymizer.manifest import check_sensitive
from shoal.anonymizer.registry import find_method
from shoal.anonymizer.release_files import StoredRelease
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs.aol import LogFormat
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import PeopleKind, QueryLog

_VERDICTS = (
    "block bigint, error string, log_users bigint, digest string, rows bigint, pairs bigint, occurrences bigint, "
    "left_out bigint, counterexample string"
)


@dataclass(frozen=True, eq=False)
class Published:
    """What every worker is told of a release; its assignment is as secret there as the log."""

    release: Release
    assignment: Assignment
    claim: Claim
    knowledge: Knowledge
    people: PeopleKind


def verify_on_cluster(
    address: str, where: str, stored: StoredRelease, format: LogFormat, progress: Progress
) -> Verdict:
    """The verdict of `verify_stored` on a release in blocks whose promise is one of each group."""
    manifest = stored.manifest
    size = _block_of(stored)
    check_sensitive(manifest, stored.knowledge)
    if altered := stored.altered():
        return broken(f"{altered} is not the file that was published: its sha-256 differs from the manifest's")
    with opened(address, progress) as session:
        log, _, rows = rows_in_blocks(session, where, size, format, strict=False)
        known = replace(stored.knowledge)
        told = Published(stored.release, stored.assignment, manifest.claim, known, log.people)
        parts = rows.groupBy("block").applyInArrow(lambda key, table: _verified(key, table, told), _VERDICTS)
        table = pl.DataFrame(session.run(parts.toArrow, "verifying blocks")).sort("block")
    raise_first(table["error"])
    if digest_of(table["digest"].to_list()) != manifest.digests["log"]:
        raise InputError("this is another log than the one that was anonymized: give that one by --log")
    return replace(_of_all(table, stored), sentence=sentence(manifest.claim))


def _block_of(stored: StoredRelease) -> int:
    """The size of the blocks; a release whose promise is about more than one of them is refused."""
    manifest, info = stored.manifest, find_method(stored.manifest.method).info
    if manifest.block is None:
        raise InputError("the release was not made in blocks: verify it on one machine, without --cluster")
    if not shown_by_blocks(info) or manifest.blend is not None:
        raise InputError(
            f"what {info.id} promises is counted over all users, which no worker sees: verify it without --cluster"
        )
    return manifest.block


def _of_all(table: pl.DataFrame, stored: StoredRelease) -> Verdict:
    """The first block that shows something wrong, or what all of them have together."""
    wrong = table["counterexample"].drop_nulls()
    if len(wrong):
        return broken(wrong[0])
    manifest, release = stored.manifest, stored.release
    for what, found, said in (
        ("users of the log", table["log_users"], manifest.users),
        ("published profiles of its users", table["rows"], len(release)),
        ("published profiles", pl.Series([len(release)]), manifest.groups),
        ("pairs of a user of the log and a profile", table["pairs"], len(stored.assignment.user)),
        ("suppressed occurrences", table["occurrences"], manifest.suppressed.occurrences),
        ("users left with nothing", table["left_out"], manifest.suppressed.users),
    ):
        if found.sum() != said:
            return broken(f"the blocks have {found.sum()} {what} together, but the release says {said}")
    return Verdict(True)


# What is below runs on the workers.


class _Told(int):
    """A number that a verifier compares its own with, and that is then known: the manifest has only the sum."""

    found = 0

    def __eq__(self, other: object) -> bool:
        self.found = int(str(other))
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__


def _verified(key: Any, table: Any, told: Published) -> Any:
    row = {"block": key[0].as_py(), **verified_block(told, log_of_block(table, told.people))}
    return as_arrow(pl.DataFrame({name: [row.get(name)] for name in _SCHEMA}, schema=_SCHEMA))


def verified_block(told: Published, log: QueryLog) -> dict[str, Any]:
    """What the verifier says of one block, and the numbers that are added up over all."""
    release, assignment = _part(told.release, told.assignment, log.users)
    occurrences, left_out, found = _Told(), _Told(), {}
    try:
        evidence = Evidence(release, assignment, Suppressed(occurrences, left_out), log, told.knowledge)
        verdict = verify(told.claim, evidence)
        found["counterexample"] = None if verdict.holds else verdict.counterexample
    except InputError as error:
        found["error"] = str(error)
    of_log = {"log_users": len(log.users), "digest": log.digest(), "rows": len(release), "pairs": len(assignment.user)}
    return {**found, **of_log, "occurrences": occurrences.found, "left_out": left_out.found}


_KINDS = {"bigint": pl.Int64, "string": pl.String}
_SCHEMA = {name: _KINDS[kind] for name, kind in (column.split() for column in _VERDICTS.split(", "))}


def _part(release: Release, assignment: Assignment, users: pl.Series) -> tuple[Release, Assignment]:
    """What is published of some users. A group that others belong to as well has then too few, and is found so."""
    here = assignment.rows_among(users) >= 0
    rows, place = np.unique(assignment.profile[here], return_inverse=True)
    queries = release.queries
    if queries is not None:
        number = np.full(len(release), -1)
        number[rows] = np.arange(len(rows))
        some = np.flatnonzero(number[queries.pseudonym] >= 0)
        queries = replace(
            queries, pseudonym=number[queries.pseudonym[some]].astype(np.int32), query=queries.query.gather(some),
            count=queries.count[some], degree=queries.degree[some],
        )  # fmt: skip
    weights = release.weights[rows]
    used = np.unique(weights.indices)
    part = Release(
        [release.pseudonyms[row] for row in rows.tolist()], release.users[rows], [release.labels[t] for t in used],
        release.generalized[used], weights[:, used], queries,
    )  # fmt: skip
    names, user = np.unique(assignment.user[here], return_inverse=True)
    owners = assignment.users.gather(names)
    return part, Assignment(owners, user.astype(np.int32), place.astype(np.int32), assignment.key)
