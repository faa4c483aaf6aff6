"""manifest.json: how a release was made, and what it rests on; read as if an adversary wrote the JSON."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shoal.anonymizer.base import CATALOGUE, QUERIES, Anonymized, Blocks, Claim, Method, Suppressed
from shoal.anonymizer.blocks import need_blocks
from shoal.anonymizer.claims import sentence
from shoal.anonymizer.parameters import Value
from shoal.anonymizer.registry import find_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import DICTIONARIES
from shoal.corpus.querylog import QueryLog
from shoal.corpus.version import VERSION

LARGEST = 2**53  # above, a number in JSON is another one in other programs
PROFILES, MANIFEST, TAXONOMY = "profiles.jsonl", "manifest.json", "taxonomy.tsv"
TABLES = {PROFILES: "profiles.parquet", QUERIES: "queries.parquet"}  # what lies there instead where it is large
PUBLIC = (PROFILES, QUERIES, CATALOGUE, TAXONOMY, *TABLES.values())  # each with its digest in the manifest
_LONGEST = 1_000_000  # characters of a manifest
_HEX = re.compile("[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,63}")
MethodOf = Callable[[str], type[Method]]


def read_json(text: str) -> Any:
    """What a text of JSON holds, or a ValueError that says what is wrong with it."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def keys_of(thing: object, needed: set[str], allowed: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A JSON object with all of the needed keys and no others but the allowed ones."""
    if not isinstance(thing, dict):
        raise ValueError(f"expected keys and values, got {str(thing)[:60]}")
    if missing := sorted(needed - thing.keys()):
        raise ValueError(f"{missing[0]!r} is missing")
    if strange := sorted(thing.keys() - needed - allowed):
        raise ValueError(f"{strange[0]!r} does not belong there")
    return thing


def text_of(thing: object) -> str:
    if not isinstance(thing, str) or not thing:
        raise ValueError(f"expected text, got {thing!r:.60}")
    thing.encode()  # half of a surrogate pair is no text
    return thing


def count_of(thing: object, least: int = 0) -> int:
    """A whole number from `least` on: no 5.0, no true, no "5"."""
    if type(thing) is not int or not least <= thing < LARGEST:
        raise ValueError(f"expected a whole number from {least}, got {thing!r:.60}")
    return thing


@dataclass(frozen=True)
class Manifest:
    """How a release was made. It holds no sentence: what a claim says is written by its verifier."""

    method: str
    parameters: dict[str, Value]
    claim: Claim
    seed: int | None  # None: it stays secret
    digests: dict[str, str]  # sha-256 of the log, of the knowledge, of the code, and of every public file
    users: int
    groups: int
    suppressed: Suppressed
    version: str
    blend: dict[str, float] | None = None  # what a profile and everyone's average weigh where they rank
    block: int | None = None  # how many users were anonymized at a time, where it was made in blocks

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    def text(self) -> str:
        return json.dumps(self.as_json(), indent=1, sort_keys=True) + "\n"


def make_manifest(
    made: Anonymized, method: Method, log: QueryLog | None, seed: int, files: Mapping[str, str]
) -> Manifest:
    """The manifest of a release of a log, which need not be there where the release was made in blocks of it."""
    blocks = made.blocks or described_whole(log)
    return Manifest(
        method=method.info.id,
        parameters=dict(method.settings),
        claim=made.claim,
        seed=None if method.info.randomness == "secret" else seed,
        digests={
            "log": blocks.digest,
            "code": code_digest(method),
            **digests_of(method.knowledge, method.info.sensitive),
            **files,
        },
        users=blocks.users,
        groups=len(made.release),
        suppressed=made.suppressed,
        version=VERSION,
        blend=None if made.blend is None else asdict(made.blend),
        block=None if made.blocks is None else made.blocks.size,
    )


def described_whole(log: QueryLog | None) -> Blocks:
    """A log that is one block, as far as a manifest names it."""
    assert log is not None  # what is not made in blocks is made of a log
    return Blocks(len(log.users), len(log.users), log.digest())


def digests_of(knowledge: Knowledge, sensitive: bool) -> dict[str, str]:
    """What a release rests on besides its log; the sensitive terms where its method knows any."""
    return {**knowledge.digests, **({"sensitive": knowledge.sensitive.digest} if sensitive else {})}


def code_digest(method: Method) -> str:
    """A sha-256 of the program text that made a release: ours, and that of the method where it is another's.

    A method that was typed into a notebook has no file, and is left out.
    """
    ours = Path(__file__).parents[1]
    files = [path for layer in ("anonymizer", "corpus") for path in sorted((ours / layer).rglob("*.py"))]
    own = Path(getattr(sys.modules.get(type(method).__module__), "__file__", None) or __file__)
    files += [] if own in files else sorted(own.parent.rglob("*.py")) if own.name == "__init__.py" else [own]
    sha = hashlib.sha256()
    for path in files:
        sha.update(hashlib.sha256(path.read_bytes()).digest())
    return sha.hexdigest()


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(path: Path, method_of: MethodOf = find_method) -> Manifest:
    """The manifest in a file. Another type, key, range or promise than its method's declaration is an error."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LONGEST + 1)
        if len(text) > _LONGEST:
            raise ValueError(f"it is longer than {_LONGEST:,} characters")
        manifest = _parsed(read_json(text), method_of)
        _check_promise(manifest, method_of)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no manifest of a release ({error}): make the release again") from error
    return manifest


def _parsed(data: object, method_of: MethodOf) -> Manifest:
    names = {"method", "parameters", "claim", "digests", "users", "groups", "suppressed", "version"}
    found = keys_of(data, names, frozenset({"seed", "blend", "block"}))
    method = method_of(text_of(found["method"]))
    if ("seed" in found) == (method.info.randomness == "secret"):
        raise ValueError("'seed' is there, but must stay secret" if "seed" in found else "'seed' is missing")
    claim = keys_of(found["claim"], {"id", "values"})
    suppressed = keys_of(found["suppressed"], {"occurrences", "users"})
    if not _VERSION.fullmatch(text_of(found["version"])):
        raise ValueError(f"{found['version']!r:.60} is no version")
    return Manifest(
        method=method.info.id,
        parameters=_settings(found["parameters"], method),
        claim=Claim(text_of(claim["id"]), _values(claim["values"])),
        seed=count_of(found["seed"]) if "seed" in found else None,
        digests=_digests(found["digests"], method),
        users=count_of(found["users"]),
        groups=count_of(found["groups"]),
        suppressed=Suppressed(count_of(suppressed["occurrences"]), count_of(suppressed["users"])),
        version=found["version"],
        blend=_blend(found["blend"], claim["id"]) if "blend" in found else None,
        block=_block(found["block"], method) if "block" in found else None,
    )


def _block(given: object, method: type[Method]) -> int:
    need_blocks(method.info)
    return count_of(given, 1)


def _blend(given: object, claim: str) -> dict[str, float]:
    """Two weights from 0 that leave something from 0 to the engine; none where nothing may be published."""
    found = keys_of(given, {"profile", "everyone"})
    if not all(type(weight) in (int, float) and 0 <= weight <= 1 for weight in found.values()):
        raise ValueError(f"expected weights from 0 to 1, got {str(found)[:60]}")
    if sum(found.values()) > 1 + 1e-9 or claim == "nothing-published":
        raise ValueError(f"the weights {str(found)[:60]} leave less than nothing, or are of nothing")
    return found


def _settings(given: object, method: type[Method]) -> dict[str, Value]:
    """Every parameter of the method, each with a value of its very type and range."""
    found = keys_of(given, {parameter.name for parameter in method.info.parameters})
    for parameter in method.info.parameters:
        if not parameter.allowed.holds(found[parameter.name]):
            raise ValueError(f"{parameter.name}={found[parameter.name]!r:.60}, expected a {parameter.allowed}")
    return found


def _values(given: object) -> dict[str, Value]:
    if not isinstance(given, dict):
        raise ValueError("the claim has no values")
    return given


def _digests(given: object, method: type[Method]) -> dict[str, str]:
    needed = {"log", "code", "taxonomy", "dictionary", *(["sensitive"] if method.info.sensitive else [])}
    found = keys_of(given, needed, frozenset({"directory", "wordnet", *PUBLIC}))
    for name, digest in found.items():
        if not isinstance(digest, str) or not _HEX.fullmatch(digest):
            raise ValueError(f"{digest!r:.80} is no sha-256 of {name}")
    return found


def _check_promise(manifest: Manifest, method_of: MethodOf) -> None:
    """The claim is what its declaration allows, and what the settings promise."""
    sentence(manifest.claim)
    promised = method_of(manifest.method)(None, **manifest.parameters).claim()
    if manifest.claim != promised:
        said = f"the claim says {_written(manifest.claim)}"
        raise ValueError(f"{said}, but the settings promise {_written(promised)}")


def _written(claim: Claim) -> str:
    return " ".join([claim.id, *(f"{name}={value}" for name, value in claim.values.items())])


def check_knowledge(manifest: Manifest, given: Knowledge) -> Knowledge:
    """The knowledge that a release was made with; another taxonomy, directory or WordNet is an error.

    A directory need not be there: no claim rests on it, but whoever runs the method again must bring it. Nor need a
    file of sensitive terms, without which a release can be used; whoever verifies it must bring that.
    """
    known = replace(given, dictionary_name=_dictionary(manifest, given))
    for name, bring in _BRING.items():
        said, found = manifest.digests.get(name), known.digests.get(name)
        if said != found and not (name == "directory" and found is None):
            raise InputError(f"this is another {name} than the one that the release was made with: {bring}")
    if given.sensitive_file is not None:
        check_sensitive(manifest, known)
    return known


def check_sensitive(manifest: Manifest, known: Knowledge) -> None:
    """The terms that count as private are those that they were when the release was made."""
    said = manifest.digests.get("sensitive")
    if said is not None and said != known.sensitive.digest:
        raise InputError(
            "these are other sensitive terms than those that the release was made with: give its file by --sensitive, "
            "or none where it was made with ours"
        )


_BRING = {
    "taxonomy": "give that one by --taxonomy",
    "directory": "give that one by --directory",
    "wordnet": "install the version of WordNet that it was made with",
    "dictionary": "make the release again",
}


def _dictionary(manifest: Manifest, given: Knowledge) -> str:
    """Which dictionary has the digest of the manifest; where none has, the one that was given."""
    names = [given.dictionary_name] if given.dictionary_name else DICTIONARIES
    for name in names:
        if Knowledge(given.taxonomy_file, name).digests["dictionary"] == manifest.digests["dictionary"]:
            return name
    return given.dictionary
