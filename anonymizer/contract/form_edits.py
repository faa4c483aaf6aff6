"""How would an adversary edit the form of a release? Types, numbers, keys, files, claims and bytes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from shoal.anonymizer.contract.edits import EDITS, Adversary, kind, names_of, renamed, some_profile
from shoal.anonymizer.contract.literal.folder import ASSIGNMENT, CATALOGUE, MANIFEST, PROFILES, QUERIES, Folder

__all__ = ["EDITS"]  # those of the content, and those of this file
WORDS = "yes no keep drop auto vote bags generalize centroid union none exact buig".split()


@kind("retype")
def retype_weight(folder: Folder, rng: Adversary) -> bool:
    terms = some_profile(folder, rng)["terms"]
    if not terms:
        return False
    label = rng.choice(sorted(terms))
    others = [str(terms[label]), float(terms[label]), True, None, [1], float("nan"), float("inf"), -1, 0]
    terms[label] = rng.choice(others)
    return True


@kind("retype")
def retype_number(folder: Folder, rng: Adversary) -> bool:
    """A number of the manifest, or of a profile, as something else."""
    manifest = folder.manifest
    places = [(manifest, name) for name in ("users", "groups", "seed") if name in manifest]
    places += [(part, name) for part in (manifest["parameters"], manifest["suppressed"]) for name in part]
    places += [(row, "users") for row in folder.profiles or []]
    place, name = rng.choice(places)
    place[name] = _otherwise(place[name], rng)
    if place is manifest["parameters"] and name in manifest["claim"]["values"]:
        manifest["claim"]["values"][name] = place[name]
    return True


def _otherwise(value: Any, rng: Adversary) -> Any:
    number = value if isinstance(value, int | float) else 5
    others = [str(value), float(number), number + 0.5, True, None, [value], {"is": value}, 10**30, "two", -number]
    return rng.choice(others)


@kind("renumber")
def renumber_count(folder: Folder, rng: Adversary) -> bool:
    manifest = folder.manifest
    suppressed = manifest["suppressed"]
    places = [(manifest, "users"), (manifest, "groups"), (suppressed, "users"), (suppressed, "occurrences")]
    place, name = rng.choice(places)
    place[name] += rng.choice([-1, 1, 7])
    return True


@kind("renumber")
def renumber_pseudonyms(folder: Folder, rng: Adversary) -> bool:
    """Other numbers for the same groups: consistently, or in the profiles alone."""
    names = names_of(folder)
    if len(names) < 2 or folder.profiles is None:
        return False
    order = rng.sample(names, len(names))
    if rng.random() < 0.3:
        for row, name in zip(folder.profiles, order, strict=True):
            row["id"] = name
        return True
    renamed(folder, {name: f"new {name}" for name in names})
    renamed(folder, {f"new {name}": other for name, other in zip(names, order, strict=True)})
    if rng.random() < 0.8:
        folder.profiles.sort(key=lambda row: row["id"])
    return True


@kind("renumber")
def reorder_lines(folder: Folder, rng: Adversary) -> bool:
    """Lines that say the same in any order, and the order of a profile's terms."""
    for table in (folder.assignment, folder.queries, folder.catalogue):
        if table:
            table[1:] = rng.sample(table[1:], len(table) - 1)
    row = some_profile(folder, rng)
    row["terms"] = {label: row["terms"][label] for label in rng.sample(sorted(row["terms"]), len(row["terms"]))}
    return True


@kind("renumber")
def renumber_provenance(folder: Folder, rng: Adversary) -> bool:
    """What no claim rests on (seed, version, code), and digests on which it does."""
    manifest, digest = folder.manifest, f"{rng.getrandbits(256):064x}"
    name = rng.choice(["seed", "version", "code", "log", "taxonomy", "dictionary", "sensitive"])
    if name == "seed" and "seed" in manifest:
        manifest["seed"] = rng.randrange(10**6)
    elif name in ("seed", "version"):
        manifest["version"] = rng.choice(["0.0.1", "9.9.9+local", "trust me", ""])
    else:
        manifest["digests"][name] = rng.choice([digest, digest, "", digest.upper()])
    return True


@kind("foreign file")
def put_file(folder: Folder, rng: Adversary) -> None:
    name = rng.choice(["members.tsv", ".hidden", "catalogue.tsv", "rejected.tsv", "README"])
    folder.foreign[name] = "p0001\t1\n"


@kind("foreign file")
def put_queries(folder: Folder, rng: Adversary) -> bool:
    """A table of raw queries beside profiles whose claim says nothing of them."""
    if folder.queries is not None:
        return False
    query = rng.choice(rng.queries)
    folder.queries = [["pseudonym", "query", "count", "degree"], [(names_of(folder) or ["p0001"])[0], query, "1", "5"]]
    return True


@kind("foreign file")
def put_taxonomy(folder: Folder, rng: Adversary) -> bool:
    if folder.taxonomy is not None:
        return False
    folder.taxonomy = [["wine", "drink"], ["beer", "drink"]]
    return True


@kind("foreign key")
def put_key(folder: Folder, rng: Adversary) -> None:
    manifest = folder.manifest
    places = [manifest, manifest["claim"], manifest["claim"]["values"], manifest["parameters"], manifest["digests"]]
    places += [manifest["suppressed"], *(folder.profiles or [])]
    name = rng.choice(["statement", "unit", "members", "note", "input", "generalised"])
    values = ["session", "Every profile is shared by 1000 users.", ["1", "2"], "0" * 64, 5]
    rng.choice(places)[name] = rng.choice(values)


@kind("edited claim")
def edit_value(folder: Folder, rng: Adversary) -> bool:
    """A value of the claim: alone, or with the parameter of that name; another number, another word."""
    values, parameters = folder.manifest["claim"]["values"], folder.manifest["parameters"]
    both = sorted({*values, *parameters})
    if not both:
        return False
    name = rng.choice(both)
    old = values.get(name, parameters.get(name))
    numbers = [] if isinstance(old, str) else [old - 1, old + 1, old * 2, old / 2, 1, 2, 10**9, 0.4]
    new = rng.choice(numbers or WORDS)
    places = rng.choice([[values], [parameters], *[[values, parameters]] * 3])
    for place in places:
        if name in place:
            place[name] = new
    return True


@kind("edited claim")
def edit_id(folder: Folder, rng: Adversary) -> None:
    """Another claim, or another method."""
    claims = ["none", "one-profile", "users-per-profile", "nothing-published", "query-k-anonymity", "magic"]
    methods = ["original", "everyone", "random", "clump", "partition", "equality", "plain", "magic"]
    if rng.random() < 0.5:
        folder.manifest["claim"] = {"id": rng.choice(claims), "values": rng.choice([{}, {"k": 2}])}
    else:
        folder.manifest["method"] = rng.choice(methods)


@kind("break")
def break_text(folder: Folder, rng: Adversary) -> bool:
    """What no table shows: bytes that are no text, a key twice, endless nesting, lines that do not end."""
    files = folder.files()
    name = rng.choice(sorted(files))
    breakages: list[Callable[[bytes], bytes]] = [lambda text: text + b"\0", lambda text: b"\xff" + text]
    if name == MANIFEST:
        breakages.append(lambda text: text.replace(b"{", b'{"version": "1", ', 1))
    if name == PROFILES:
        breakages.append(lambda text: text.replace(b"{", b'{"id": "p0001", ', 1) or b"{")
    if name in (MANIFEST, PROFILES):
        breakages.append(lambda text: b"[" * 50_000 + text)
    if name in (ASSIGNMENT, QUERIES, CATALOGUE):
        breakages += [lambda text: text[:-1], lambda text: text.replace(b"\n", b"\r\n"), lambda text: text + b"\n"]
    folder.raw[name] = rng.choice(breakages)(files[name])
    return folder.raw[name] != replace(folder, raw={}).files()[name]  # a second one may have mended the first
