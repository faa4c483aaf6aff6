"""How does a release lie on disk? Public profiles, queries, catalogue and manifest, and the secret assignment.

A folder may be written by an adversary: whatever is missing, malformed, or does not belong there is an error.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer import release_tables
from shoal.anonymizer.base import (
    CATALOGUE,
    QUERIES,
    Anonymized,
    Assignment,
    Catalogue,
    Method,
    Release,
    ReleasedQueries,
    find_names,
)
from shoal.anonymizer.claims import find_verifier
from shoal.anonymizer.manifest import (
    LARGEST,
    MANIFEST,
    PROFILES,
    PUBLIC,
    TABLES,
    TAXONOMY,
    Manifest,
    check_knowledge,
    count_of,
    file_digest,
    keys_of,
    make_manifest,
    read_json,
    read_manifest,
    text_of,
)
from shoal.anonymizer.publish import pseudonyms
from shoal.anonymizer.registry import find_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import HashKey, read_key

ASSIGNMENT = "assignment.tsv"
KEY = "key.txt"
SECRET = (ASSIGNMENT, KEY)
# What a spreadsheet takes as a formula or as the begin of a quotation; the quote itself, so that reading is exact.
_FORMULA = r"""^[=+\-@＝＋－＠"']"""
_COUNT = r"^[1-9][0-9]{0,15}$"


@dataclass(frozen=True, eq=False)
class StoredRelease:
    """A release as it was read from a folder."""

    release: Release
    assignment: Assignment
    manifest: Manifest
    knowledge: Knowledge
    files: dict[str, str]  # the digests of its public files as they lie there

    def altered(self) -> str:
        """A public file that is not the one of the manifest; none if all are."""
        digests = self.manifest.digests
        return next((name for name in PUBLIC if self.files.get(name) != digests.get(name)), "")


def write_release(folder: Path, made: Anonymized, method: Method, log: QueryLog | None, seed: int) -> Manifest:
    """Write all files of a release at once: the folder is there whole, or not at all."""
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / MANIFEST).exists())):
        raise InputError(f"{folder} is there already and is no release: name another folder by --out")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        temporary.chmod(0o755)
        manifest = _write_files(temporary, made, method, log, seed)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return manifest


def _write_files(folder: Path, made: Anonymized, method: Method, log: QueryLog | None, seed: int) -> Manifest:
    if made.release.weights.nnz >= release_tables.LARGE:
        release_tables.write_profiles_table(made.release, folder / TABLES[PROFILES])
    else:
        _write_profiles(made.release, folder / PROFILES)
    if made.release.queries is not None:
        _write_queries(made.release, folder)
    if made.release.catalogue is not None:
        _write_catalogue(made.release.catalogue, folder / CATALOGUE)
    if method.knowledge.taxonomy_file is not None:
        # A generalized label means nothing without its tree, so the tree is published with it.
        (folder / TAXONOMY).write_text("".join(f"{line}\n" for line in method.knowledge.taxonomy.lines()))
    manifest = make_manifest(made, method, log, seed, _digests(folder))
    (folder / MANIFEST).write_text(manifest.text())
    _write_assignment(made, folder / ASSIGNMENT)
    if made.assignment.key is not None:
        with _secret_file(folder / KEY) as file:
            file.write(made.assignment.key.text().encode())
    return manifest


def _digests(folder: Path) -> dict[str, str]:
    return {name: file_digest(folder / name) for name in PUBLIC if (folder / name).exists()}


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


def _write_queries(release: Release, folder: Path) -> None:
    queries = release.shares or release.queries
    assert queries is not None
    names = pl.Series(release.pseudonyms, dtype=pl.String).gather(queries.pseudonym)
    if len(names) >= release_tables.LARGE:
        release_tables.write_queries_table(names, queries, folder / TABLES[QUERIES])
        return
    table = {"pseudonym": names, "query": _quoted(queries.query), "count": queries.count, "degree": queries.degree}
    pl.DataFrame(table).write_csv(folder / QUERIES, separator="\t", quote_style="never")


def _quoted(cells: pl.Series) -> pl.Series:
    return cells.str.replace(f"({_FORMULA})", "'${1}")


def _write_catalogue(catalogue: Catalogue, path: Path) -> None:
    means = [str(_number(mean)) for mean in catalogue.mean.tolist()]
    table = {"term": _quoted(pl.Series(catalogue.terms, dtype=pl.String)), "users": catalogue.users}
    pl.DataFrame({**table, "mean": pl.Series(means, dtype=pl.String)}).write_csv(
        path, separator="\t", quote_style="never"
    )


def _write_assignment(made: Anonymized, path: Path) -> None:
    user = made.assignment.users.gather(made.assignment.user)
    id = pl.Series(made.release.pseudonyms, dtype=pl.String).gather(made.assignment.profile)
    with _secret_file(path) as file:
        pl.DataFrame({"user": user, "id": id}).write_csv(file, separator="\t", quote_style="never")


def _secret_file(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def read_release(
    folder: Path, knowledge: Knowledge | None = None, method: type[Method] | None = None, *, secret: bool = True
) -> StoredRelease:
    """The release in a folder, with the taxonomy and dictionary that it was made with.

    `knowledge` is what somebody says that it was made with; `method` is its method, where that is not registered.
    Without `secret` the assignment stays unread: nobody is behind any profile.
    """
    if not (folder / MANIFEST).is_file():
        raise InputError(f"no release at {folder}: it holds no {MANIFEST}; make one by `shoal anonymize`")
    given_one = {} if method is None else {method.info.id: method}
    manifest = read_manifest(folder / MANIFEST, lambda id: given_one.get(id) or find_method(id))
    _check_files(folder, manifest)
    release = _profiles_in(folder)
    if (folder / QUERIES).exists() or (folder / TABLES[QUERIES]).exists():
        release = _with_queries(release, folder)
    if (folder / CATALOGUE).exists():
        release = replace(release, catalogue=_read_catalogue(folder / CATALOGUE))
    if (reads := find_verifier(manifest.claim.id).reads) is not None:
        release = reads(release, manifest.claim.values)
    assignment = _read_assignment(folder / ASSIGNMENT, release) if secret else _nobody()
    if secret and (folder / KEY).exists():
        assignment = replace(assignment, key=_read_key(folder / KEY))
    given, tree = knowledge or Knowledge(), folder / TAXONOMY
    if given.taxonomy_file is None and tree.exists():
        given = replace(given, taxonomy_file=tree)
    return StoredRelease(release, assignment, manifest, check_knowledge(manifest, given), _digests(folder))


def _check_files(folder: Path, manifest: Manifest) -> None:
    """The folder holds the files of such a release, and nothing else."""
    tree = {TAXONOMY} if TAXONOMY in manifest.digests else set()
    average = {CATALOGUE} if manifest.blend is not None else set()
    public = {PROFILES, *find_verifier(manifest.claim.id).files, *tree, *average}
    public = {TABLES[name] if TABLES.get(name) in manifest.digests else name for name in public}
    if public != {name for name in PUBLIC if name in manifest.digests}:
        raise InputError(f"{folder / MANIFEST} has not the digests of {', '.join(sorted(public))}: {_REMADE}")
    keyed = {KEY} if find_verifier(manifest.claim.id).keyed else set()
    expected = {MANIFEST, ASSIGNMENT, *keyed, *public}
    for path in sorted(folder.iterdir()):
        if path.name not in expected:
            raise InputError(f"{path.name!r} does not belong into a release of {manifest.method}: take it away")
        if path.is_symlink() or not path.is_file():
            raise InputError(f"{path} is no file of its own: {_REMADE}")
    for name in sorted(expected):
        if not (folder / name).exists():
            raise InputError(f"{folder / name} is missing: {_REMADE}")


_REMADE = "make the release again"


def _profiles_in(folder: Path) -> Release:
    """The published profiles, as text or as a table."""
    path = folder / TABLES[PROFILES]
    if not path.exists():
        return _read_profiles(folder / PROFILES)
    release = release_tables.read_profiles_table(path)
    _check_names(release.pseudonyms, release.labels, path)
    return release


def _read_profiles(path: Path) -> Release:
    rows: list[dict[str, Any]] = []
    column: dict[str, int] = {}
    general: dict[str, bool] = {}
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                row = _profile(read_json(line))
                for label in row["terms"]:
                    column.setdefault(label, len(column))
                    if general.setdefault(label, label in row["generalized"]) != (label in row["generalized"]):
                        raise ValueError(f"{label!r} is generalized here or elsewhere, but not in both")
                rows.append(row)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {_REMADE}") from error
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path.name}, line {len(rows) + 1}: no published profile ({error}): {_REMADE}") from error
    _check_names([row["id"] for row in rows], list(column), path)
    indices = np.array([column[label] for row in rows for label in row["terms"]], dtype=np.int64)
    data = np.concatenate([np.empty(0), *(row["weights"] for row in rows)])
    indptr = np.concatenate([[0], np.cumsum([len(row["terms"]) for row in rows])]).astype(np.int64)
    weights = csr_array((data, indices, indptr), shape=(len(rows), len(column)))
    users = np.array([row["users"] for row in rows], dtype=np.int64)
    flags = np.array([general[label] for label in column], dtype=bool)
    return Release([row["id"] for row in rows], users, list(column), flags, weights)


def _profile(line: object) -> dict[str, Any]:
    """One published profile: its keys and no others, its weights as numbers."""
    row = keys_of(line, {"id", "users", "terms"}, frozenset({"generalized"}))
    terms, general = row["terms"], row.get("generalized", [])
    if not isinstance(terms, dict):
        raise ValueError("terms is no table of terms")
    if not isinstance(general, list) or not all(isinstance(label, str) and label in terms for label in general):
        raise ValueError("generalized is no list of its terms")
    if len(set(general)) < len(general):
        raise ValueError("generalized lists a term twice")
    return {
        "id": text_of(row["id"]),
        "users": count_of(row["users"], 1),
        "terms": {text_of(label): None for label in terms},
        "generalized": set(general),
        "weights": _weights(terms),
    }


def _weights(terms: Mapping[str, Any]) -> np.ndarray:
    if not set(map(type, terms.values())) <= {int, float}:
        raise ValueError("a weight is no number")
    weights = np.array(list(terms.values()), dtype=float)
    if not ((weights > 0) & (weights < LARGEST)).all():
        raise ValueError("a weight is not above 0, or too large")
    return weights


def _check_names(names: list[str], labels: list[str], path: Path) -> None:
    """Pseudonyms are counted from p0001 on, and labels are told apart without case."""
    for number, (name, expected) in enumerate(zip(names, pseudonyms(len(names)), strict=True), start=1):
        if name != expected:
            raise InputError(f"{path.name}, line {number}: the pseudonym {name!r:.60}, expected {expected}: {_REMADE}")
    spelled: dict[str, str] = {}
    for label in labels:
        if spelled.setdefault(label.lower(), label) != label:
            raise InputError(f"{path.name} holds {spelled[label.lower()]!r} and {label!r}, which are one label")


def _read_tsv(path: Path, *columns: str) -> pl.DataFrame:
    """A table of text. Every line has all columns and ends; nothing is quoted, left out or added."""
    try:
        content = path.read_bytes()
        if not content.startswith(("\t".join(columns) + "\n").encode()):
            raise ValueError("its header is another")
        if not content.endswith(b"\n") or b"\r" in content or b"\0" in content:
            raise ValueError("a line does not end as it should")
        schema = dict.fromkeys(columns, pl.String)
        table = pl.read_csv(content, separator="\t", quote_char=None, schema=schema).fill_null("")
        if len(table) != content.count(b"\n") - 1 or content.count(b"\t") != (len(columns) - 1) * (len(table) + 1):
            raise ValueError("a line has not all columns, or more")
        return table
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path} is no file of {', '.join(columns)} columns ({reason}): {_REMADE}") from error


def _with_queries(release: Release, folder: Path) -> Release:
    path = folder / TABLES[QUERIES]
    if path.exists():
        found = release_tables.read_queries_table(path)
        numbers = (found["count"].to_numpy(), found["degree"].to_numpy())
        place = _places(found["pseudonym"], release, path)
        return replace(release, queries=ReleasedQueries(place, found["query"], *numbers))
    return _with_query_lines(release, folder / QUERIES)


def _with_query_lines(release: Release, path: Path) -> Release:
    table = _read_tsv(path, "pseudonym", "query", "count", "degree")
    numbers = [table[name] for name in ("count", "degree")]
    if not all(column.str.contains(_COUNT).all() for column in numbers):
        raise InputError(f"{path.name}: a count or degree is no whole number from 1: {_REMADE}")
    count, degree = (column.cast(pl.Int64).to_numpy() for column in numbers)
    place = _places(table["pseudonym"], release, path)
    return replace(release, queries=ReleasedQueries(place, _unquoted(table["query"], path), count, degree))


def _read_catalogue(path: Path) -> Catalogue:
    table = _read_tsv(path, "term", "users", "mean")
    terms = _unquoted(table["term"], path)
    if terms.is_duplicated().any() or (terms == "").any():
        raise InputError(f"{path.name}: a term is empty or stands twice: {_REMADE}")
    if not table["users"].str.contains(_COUNT).all():
        raise InputError(f"{path.name}: a number of users is no whole number from 1: {_REMADE}")
    if not all(_is_mean(text) for text in table["mean"].to_list()):
        raise InputError(f"{path.name}: a mean is no number above 0, or is written otherwise: {_REMADE}")
    return Catalogue(terms.to_list(), table["users"].cast(pl.Int64).to_numpy(), table["mean"].cast(float).to_numpy())


def _is_mean(text: str) -> bool:
    """Whether this is a number above 0, as it is written here."""
    known = re.fullmatch(r"[0-9][0-9.e+-]{0,20}", text)
    try:
        value = float(text) if known else 0.0
    except ValueError:
        return False
    return 0 < value < LARGEST and text == str(_number(value))


def _unquoted(cells: pl.Series, path: Path) -> pl.Series:
    """Without the quote before what a spreadsheet would take as a formula; a quote elsewhere is an error."""
    quoted = cells.str.starts_with("'")
    text = pl.select(pl.when(quoted).then(cells.str.slice(1)).otherwise(cells).alias("query")).to_series()
    wrong = (text.str.contains(_FORMULA) != quoted).to_numpy()
    if wrong.any():
        cell = cells[int(wrong.argmax())]
        raise InputError(f"{path.name}: {cell!r:.60} is quoted or not against the rule: {_REMADE}")
    return text


def _read_assignment(path: Path, release: Release) -> Assignment:
    table = _read_tsv(path, "user", "id")
    if table.is_duplicated().any():
        raise InputError(f"{path.name} lists a user and a pseudonym twice: {_REMADE}")
    names = table["user"].unique(maintain_order=True)
    user = find_names(table["user"], names).astype(np.int32)
    return Assignment(names, user, _places(table["id"], release, path))


def _read_key(path: Path) -> HashKey:
    try:
        return read_key(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {_REMADE}") from error


def _nobody() -> Assignment:
    return Assignment(pl.Series(dtype=pl.String), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


def _places(names: pl.Series, release: Release, path: Path) -> np.ndarray:
    place = find_names(names, pl.Series(release.pseudonyms, dtype=pl.String)).astype(np.int32)
    if (place < 0).any():
        unknown = names[int(np.argmin(place))]
        raise InputError(f"{path.name} names {unknown!r:.60}, which {PROFILES} does not hold: {_REMADE}")
    return place
