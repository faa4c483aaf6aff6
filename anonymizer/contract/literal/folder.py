"""When is a release folder one? Its files as tables that can be edited, and the rules of docs/releases.md on them."""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from shoal.anonymizer.base import Claim, Method
from shoal.anonymizer.claims import verifiers
from shoal.anonymizer.contract.literal import Case
from shoal.anonymizer.parameters import Range, Value
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog

PROFILES, QUERIES, CATALOGUE, TAXONOMY = "profiles.jsonl", "queries.tsv", "catalogue.tsv", "taxonomy.tsv"
MANIFEST, ASSIGNMENT, KEY = "manifest.json", "assignment.tsv", "key.txt"
HEADERS = {
    QUERIES: ["pseudonym", "query", "count", "degree"],
    CATALOGUE: ["term", "users", "mean"],
    ASSIGNMENT: ["user", "id"],
}
MANIFEST_KEYS = {"method", "parameters", "claim", "digests", "users", "groups", "suppressed", "version"}
FORMULA = tuple("=+-@＝＋－＠\"'")


@dataclass
class Folder:
    """The files of a release, as somebody who edits them sees them. A file that is not there is None."""

    manifest: Any
    profiles: list[Any] | None
    assignment: list[list[str]] | None  # its header first
    queries: list[list[str]] | None = None
    taxonomy: list[list[str]] | None = None  # without a header
    catalogue: list[list[str]] | None = None
    key: str | None = None
    foreign: dict[str, str] = field(default_factory=dict)  # other files
    raw: dict[str, bytes] = field(default_factory=dict)  # files that are broken in a way that no table shows

    def copy(self) -> "Folder":
        return deepcopy(self)

    def files(self) -> dict[str, bytes]:
        tables = {ASSIGNMENT: self.assignment, QUERIES: self.queries, TAXONOMY: self.taxonomy}
        tables[CATALOGUE] = self.catalogue
        text = {name: _tsv(rows) for name, rows in tables.items() if rows is not None} | self.foreign
        if self.key is not None:
            text[KEY] = self.key
        if self.profiles is not None:
            text[PROFILES] = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.profiles)
        if self.manifest is not None:
            text[MANIFEST] = json.dumps(self.manifest, indent=1, sort_keys=True) + "\n"
        return {name: content.encode("utf-8", "surrogatepass") for name, content in text.items()} | self.raw

    def write(self, folder: Path) -> None:
        folder.mkdir()
        for name, content in self.files().items():
            (folder / name).write_bytes(content)

    def public_digests(self) -> dict[str, str]:
        files = self.files()
        public = (PROFILES, QUERIES, CATALOGUE, TAXONOMY)
        return {name: sha256(files[name]).hexdigest() for name in public if name in files}


def _tsv(rows: list[list[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def read_folder(folder: Path) -> Folder:
    """An honest release."""
    table = {name: _rows(folder / name) for name in (ASSIGNMENT, QUERIES, CATALOGUE, TAXONOMY)}
    profiles = [json.loads(line) for line in (folder / PROFILES).read_text(encoding="utf-8").splitlines()]
    manifest = json.loads((folder / MANIFEST).read_text())
    key = (folder / KEY).read_text() if (folder / KEY).exists() else None
    return Folder(manifest, profiles, table[ASSIGNMENT], table[QUERIES], table[TAXONOMY], table[CATALOGUE], key)


def _rows(path: Path) -> list[list[str]] | None:
    return [line.split("\t") for line in path.read_text().split("\n")[:-1]] if path.exists() else None


def is_release(folder: Folder, known: Mapping[str, type[Method]], log: QueryLog, knowledge: Knowledge | None) -> bool:
    """Whether files, keys, types, ranges, names and digests are as they must be. `knowledge` is that of the folder."""
    if folder.raw or folder.foreign or knowledge is None:
        return False
    return _is_manifest(folder, known, log, knowledge) and _are_profiles(folder.profiles) and _are_tables(folder)


def _is_manifest(folder: Folder, known: Mapping[str, type[Method]], log: QueryLog, knowledge: Knowledge) -> bool:
    found = folder.manifest
    if not isinstance(found, dict) or found.get("method") not in known:
        return False
    method = known[found["method"]]
    if found.keys() != MANIFEST_KEYS | ({"seed"} if method.info.randomness == "public" else set()):
        return False
    counts = [found["users"], found["groups"], found.get("seed", 0)]
    left_out = found["suppressed"]
    if not isinstance(left_out, dict) or left_out.keys() != {"occurrences", "users"}:
        return False
    if not all(_is_count(number, 0) for number in (*counts, *left_out.values())):
        return False
    if not _is_version(found["version"]) or not _is_promised(found, method):
        return False
    return _are_digests(folder, log, knowledge, method.info.sensitive)


def _is_count(thing: object, least: int) -> bool:
    return type(thing) is int and least <= thing < 2**53


def _is_version(thing: object) -> bool:
    known = isinstance(thing, str) and 1 <= len(thing) <= 64 and "0" <= thing[0] <= "9"
    return known and all((sign.isascii() and sign.isalnum()) or sign in ".+-" for sign in str(thing))


def _is_promised(manifest: dict[str, Any], method: type[Method]) -> bool:
    """The parameters are those of the method, and the claim is what they promise."""
    parameters, claim = manifest["parameters"], manifest["claim"]
    declared = {parameter.name: parameter.allowed for parameter in method.info.parameters}
    if not _are_allowed(parameters, declared) or not isinstance(claim, dict) or claim.keys() != {"id", "values"}:
        return False
    try:
        promised = method(None, **parameters).claim()
    except InputError:  # each is allowed, but not together
        return False
    if claim["id"] != promised.id or not _are_allowed(claim["values"], verifiers()[promised.id].values):
        return False
    return Claim(claim["id"], claim["values"]) == promised


def _are_allowed(values: object, declared: Mapping[str, Range[Value]]) -> bool:
    if not isinstance(values, dict) or values.keys() != declared.keys():
        return False
    return all(_is_allowed(values[name], allowed) for name, allowed in declared.items())


def _is_allowed(value: object, allowed: Range[Value]) -> bool:
    if isinstance(value, str):
        return value in allowed.words
    if isinstance(value, bool) or not isinstance(value, int | float) or allowed.kind is str:
        return False
    if allowed.kind is int and not isinstance(value, int):
        return False
    low = -float("inf") if allowed.low is None else allowed.low
    high = float("inf") if allowed.high is None else allowed.high
    return value == value and abs(value) != float("inf") and low <= value <= high


def _are_digests(folder: Folder, log: QueryLog, knowledge: Knowledge, sensitive: bool) -> bool:
    """Of all that the claim rests on; that of the code is any, for a newer program checks what an older one made."""
    found, known = folder.manifest["digests"], knowledge.digests
    if not isinstance(found, dict) or "code" not in found:
        return False
    code = found["code"]
    is_code = isinstance(code, str) and len(code) == 64 and set(code) <= set("0123456789abcdef")
    rest = {name: digest for name, digest in found.items() if name != "code"}
    if sensitive:
        known = {**known, "sensitive": knowledge.sensitive.digest}
    return is_code and rest == {"log": log.digest(), **known, **folder.public_digests()}


def knowledge_of(folder: Folder, place: Path, made_with: Knowledge) -> Knowledge | None:
    """What the folder was made with, by its own tree; nothing if that is no tree."""
    if folder.taxonomy is None:
        return None if made_with.taxonomy_file else made_with
    known = replace(made_with, taxonomy_file=place / TAXONOMY, dictionary_name=made_with.dictionary)
    try:
        _ = known.taxonomy
    except InputError:
        return None
    return known if made_with.taxonomy_file else None


def _are_profiles(rows: list[Any] | None) -> bool:
    if rows is None or not all(_is_profile(row) for row in rows):
        return False
    width = max(4, len(str(len(rows))))
    if [row["id"] for row in rows] != [f"p{i:0{width}d}" for i in range(1, len(rows) + 1)]:
        return False
    labels = {label for row in rows for label in row["terms"]}
    flags = {(label, label in row.get("generalized", [])) for row in rows for label in row["terms"]}
    return len({label.lower() for label in labels}) == len(labels) == len(flags)


def _is_profile(row: object) -> bool:
    if not isinstance(row, dict) or row.keys() - {"generalized"} != {"id", "users", "terms"}:
        return False
    terms, general = row["terms"], row.get("generalized", [])
    if not isinstance(terms, dict) or not isinstance(general, list) or not _is_count(row["users"], 1):
        return False
    numbers = all(type(weight) in (int, float) and 0 < weight < 2**53 for weight in terms.values())
    listed = all(isinstance(label, str) and label in terms for label in general) and len(set(general)) == len(general)
    return numbers and listed and all(_is_text(label) for label in terms)


def _is_text(label: str) -> bool:
    return bool(label) and not any("\ud800" <= sign <= "\udfff" for sign in label)


def _are_tables(folder: Folder) -> bool:
    names = {row["id"] for row in folder.profiles or []}
    users = folder.assignment
    if not _is_table(users, ASSIGNMENT) or users is None:
        return False
    pairs = [tuple(row) for row in users[1:]]
    if len(set(pairs)) < len(pairs) or not {pair[1] for pair in pairs} <= names:
        return False
    verifier = verifiers()[folder.manifest["claim"]["id"]]
    wanted = (QUERIES in verifier.files, CATALOGUE in verifier.files, verifier.keyed)
    if wanted != (folder.queries is not None, folder.catalogue is not None, folder.key is not None):
        return False
    return _are_queries(folder.queries, names) and _is_catalogue(folder.catalogue)


def _are_queries(rows: list[list[str]] | None, names: set[str]) -> bool:
    return rows is None or (_is_table(rows, QUERIES) and all(_is_query(row, names) for row in rows[1:]))


def _is_catalogue(rows: list[list[str]] | None) -> bool:
    """Each term once, with a count of users and a mean that is written as the program writes it."""
    if rows is None:
        return True
    if not _is_table(rows, CATALOGUE) or len({row[0] for row in rows}) < len(rows):
        return False
    return all(
        _is_quoted(term) and _unquoted(term) and _is_whole(users) and _is_mean(mean) for term, users, mean in rows[1:]
    )


def _is_mean(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    if not 0 < value < 2**53:
        return False
    return text == (str(int(value)) if value == int(value) else str(float(f"{value:.9g}")))


def _is_table(rows: list[list[str]] | None, name: str) -> bool:
    return rows is not None and rows[:1] == [HEADERS[name]] and all(len(row) == len(HEADERS[name]) for row in rows)


def _is_query(row: list[str], names: set[str]) -> bool:
    pseudonym, query, *numbers = row
    return pseudonym in names and all(map(_is_whole, numbers)) and _is_quoted(query)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal() and text[0] != "0" and len(text) <= 16


def _is_quoted(text: str) -> bool:
    """Whether a quote stands before what a spreadsheet would take for a formula, and nowhere else."""
    return text[1:].startswith(FORMULA) if text.startswith("'") else not text.startswith(FORMULA)


def case_of(folder: Folder, log: QueryLog, knowledge: Knowledge) -> Case:
    """What a well-formed folder publishes, for the definition of its claim."""
    rows, users, queries = folder.profiles or [], folder.assignment or [[]], folder.queries or [[]]
    members: dict[str, list[str]] = {row["id"]: [] for row in rows}
    for user, pseudonym in users[1:]:
        members[pseudonym].append(user)
    listed = [(name, _unquoted(query), int(count), int(degree)) for name, query, count, degree in queries[1:]]
    catalogue = [(_unquoted(term), int(users_), float(mean)) for term, users_, mean in (folder.catalogue or [[]])[1:]]
    generalized = {label for row in rows for label in row.get("generalized", [])}
    terms = {row["id"]: row["terms"] for row in rows}
    values = folder.manifest["claim"]["values"]
    key = (folder.key or "").strip()
    return Case(values, log, knowledge, terms, generalized, members, listed, catalogue, key)


def _unquoted(query: str) -> str:
    return query[1:] if query.startswith("'") else query


def is_whole(folder: Folder, case: Case, sessions: bool) -> bool:
    """Members are users of the log, with one profile each unless sessions have theirs, and all are counted."""
    manifest, shares = folder.manifest, [user for users in case.members.values() for user in users]
    if not set(shares) <= set(case.typed) or (len(set(shares)) < len(shares) and not sessions):
        return False
    counted = all(row["users"] == len(case.members[row["id"]]) for row in folder.profiles or [])
    return (
        counted
        and manifest["users"] == len(case.typed)
        and manifest["groups"] == len(case.terms)
        and manifest["suppressed"]["users"] == len(case.outside)
    )
