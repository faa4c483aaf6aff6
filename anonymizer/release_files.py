"""How does a release lie on disk? Public profiles, queries and manifest, and the secret assignment."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import QUERIES, Anonymized, Assignment, Claim, Method, Release, ReleasedQueries, Suppressed
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog

PROFILES, MANIFEST, ASSIGNMENT, TAXONOMY = "profiles.jsonl", "manifest.json", "assignment.tsv", "taxonomy.tsv"


@dataclass(frozen=True)
class Manifest:
    """What everybody may know of how a release was made."""

    method: str
    parameters: dict[str, Any]
    claim: Claim
    seed: int
    input: str  # sha-256 of the log's content
    dictionary: str
    users: int
    groups: int
    suppressed: Suppressed
    version: str


@dataclass(frozen=True, eq=False)
class StoredRelease:
    """A release as it was read from a folder."""

    release: Release
    assignment: Assignment
    manifest: Manifest
    knowledge: Knowledge


def write_release(folder: Path, made: Anonymized, method: Method, log: QueryLog, seed: int) -> Manifest:
    """Write all files of a release at once: the folder is there whole, or not at all."""
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / MANIFEST).exists())):
        raise InputError(f"{folder} is there already and is no release: name another folder by --out")
    folder.parent.mkdir(parents=True, exist_ok=True)
    manifest = _manifest(made, method, log, seed)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        temporary.chmod(0o755)
        _write_profiles(made.release, temporary / PROFILES)
        if made.release.queries is not None:
            _write_queries(made.release, temporary / QUERIES)
        if method.knowledge.taxonomy_file is not None:
            # A generalized label means nothing without its tree, so the tree is published with it.
            (temporary / TAXONOMY).write_text("".join(f"{line}\n" for line in method.knowledge.taxonomy.lines()))
        (temporary / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1, sort_keys=True) + "\n")
        _write_assignment(made, temporary / ASSIGNMENT)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return manifest


def _manifest(made: Anonymized, method: Method, log: QueryLog, seed: int) -> Manifest:
    return Manifest(
        method.info.id, dict(method.settings), made.claim, seed, log.digest(), method.knowledge.dictionary,
        len(log.users), len(made.release), made.suppressed, version("shoal"),
    )  # fmt: skip


def _write_profiles(release: Release, path: Path) -> None:
    hidden = {label for label, general in zip(release.labels, release.generalized, strict=True) if general}
    with path.open("w", encoding="utf-8") as file:
        for row, pseudonym in enumerate(release.pseudonyms):
            terms = {label: _number(weight) for label, weight in release.profile(row).items()}
            line: dict[str, Any] = {"id": pseudonym, "users": int(release.users[row]), "terms": terms}
            if general := [label for label in terms if label in hidden]:
                line["generalized"] = general
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _number(weight: float) -> int | float:
    return int(weight) if weight == int(weight) else float(f"{weight:.9g}")


def _write_queries(release: Release, path: Path) -> None:
    queries = release.queries
    assert queries is not None
    names = pl.Series(release.pseudonyms, dtype=pl.String).gather(queries.pseudonym)
    table = {"pseudonym": names, "query": queries.query, "count": queries.count, "degree": queries.degree}
    pl.DataFrame(table).write_csv(path, separator="\t", quote_style="never")


def _write_assignment(made: Anonymized, path: Path) -> None:
    user = made.assignment.users.gather(made.assignment.user)
    id = pl.Series(made.release.pseudonyms, dtype=pl.String).gather(made.assignment.profile)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        pl.DataFrame({"user": user, "id": id}).write_csv(file, separator="\t", quote_style="never")


def read_release(folder: Path, knowledge: Knowledge | None = None) -> StoredRelease:
    """The release in a folder. Hostile until parsed: anything missing or malformed is an error that names it."""
    if not (folder / MANIFEST).is_file():
        raise InputError(f"no release at {folder}: it holds no {MANIFEST}; make one by `shoal anonymize`")
    manifest = _read_manifest(folder / MANIFEST)
    release = _read_profiles(folder / PROFILES)
    if (folder / QUERIES).exists():
        release = _with_queries(release, folder / QUERIES)
    assignment = _read_assignment(folder / ASSIGNMENT, release)
    tree = folder / TAXONOMY
    known = knowledge or Knowledge(tree if tree.exists() else None, dictionary_name=manifest.dictionary)
    return StoredRelease(release, assignment, manifest, known)


def _read_manifest(path: Path) -> Manifest:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        claim, suppressed = Claim(**data.pop("claim")), Suppressed(**data.pop("suppressed"))
        if not all(isinstance(value, int | float | str) for value in claim.values.values()):
            raise ValueError("the claim's values are no numbers or words")
        return Manifest(claim=claim, suppressed=suppressed, **data)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is no manifest of a release ({error}): make the release again") from error


def _read_profiles(path: Path) -> Release:
    rows: list[dict[str, Any]] = []
    column: dict[str, int] = {}
    general: set[str] = set()
    try:
        for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            row = json.loads(line) if line else None
            if row is None:
                continue
            general.update(_labels(row.get("generalized", [])))
            rows.append({"id": str(row["id"]), "users": _count(row["users"]), "terms": _weights(row["terms"])})
            for label in row["terms"]:
                column.setdefault(label, len(column))
    except OSError as error:
        raise InputError(f"{path} cannot be read: make the release again") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path.name}, line {len(rows) + 1}: no published profile ({error!r})") from error
    names = [row["id"] for row in rows]
    if len(set(names)) < len(names):
        raise InputError(f"{path.name} holds a pseudonym twice: make the release again")
    indices = np.array([column[label] for row in rows for label in row["terms"]], dtype=np.int64)
    data = np.array([weight for row in rows for weight in row["terms"].values()], dtype=float)
    indptr = np.concatenate([[0], np.cumsum([len(row["terms"]) for row in rows])]).astype(np.int64)
    weights = csr_array((data, indices, indptr), shape=(len(rows), len(column)))
    flags = np.array([label in general for label in column], dtype=bool)
    return Release(names, np.array([row["users"] for row in rows], dtype=np.int64), list(column), flags, weights)


def _weights(terms: Mapping[str, Any]) -> dict[str, float]:
    weights = {label: float(weight) for label, weight in terms.items()}
    for label, weight in weights.items():
        if not 0 < weight < float("inf"):
            raise ValueError(f"{label!r} has weight {weight}")
    return weights


def _count(users: Any) -> int:
    if type(users) is not int or users < 0:
        raise ValueError(f"{users!r} is no number of users")
    return users


def _labels(generalized: Any) -> list[str]:
    if not isinstance(generalized, list) or not all(isinstance(label, str) for label in generalized):
        raise ValueError(f"{generalized!r} is no list of generalized terms")
    return generalized


def _read_tsv(path: Path, columns: dict[str, Any]) -> pl.DataFrame:
    try:
        with path.open(encoding="utf-8") as file:
            if file.readline().rstrip("\n").split("\t") != list(columns):
                raise ValueError("its header is another")
        table = pl.read_csv(path, separator="\t", quote_char=None, schema=columns)
        table = table.with_columns(pl.col(pl.String).fill_null(""))  # an empty query is a query, not a missing one
        if sum(table.null_count().row(0)):
            raise ValueError("a field is missing")
        return table
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path} is no file of {', '.join(columns)} columns: make the release again") from error


def _with_queries(release: Release, path: Path) -> Release:
    kinds = {"pseudonym": pl.String, "query": pl.String, "count": pl.Int64, "degree": pl.Int64}
    table = _read_tsv(path, kinds)
    place = _places(table["pseudonym"], release, path)
    queries = ReleasedQueries(place, table["query"], table["count"].to_numpy(), table["degree"].to_numpy())
    return Release(release.pseudonyms, release.users, release.labels, release.generalized, release.weights, queries)


def _read_assignment(path: Path, release: Release) -> Assignment:
    table = _read_tsv(path, {"user": pl.String, "id": pl.String})
    names = table["user"].unique(maintain_order=True)
    code = {name: i for i, name in enumerate(names.to_list())}
    user = np.array([code[name] for name in table["user"].to_list()], dtype=np.int32)
    return Assignment(names, user, _places(table["id"], release, path))


def _places(names: pl.Series, release: Release, path: Path) -> np.ndarray:
    place = {name: i for i, name in enumerate(release.pseudonyms)}
    unknown = next((name for name in names.to_list() if name not in place), None)
    if unknown is not None:
        raise InputError(f"{path.name} names {unknown!r}, which {PROFILES} does not hold: make the release again")
    return np.array([place[name] for name in names.to_list()], dtype=np.int32)
