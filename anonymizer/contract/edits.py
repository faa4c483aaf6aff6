"""How would an adversary edit what is published? Broken twins of a release, and small changes of its files by kind."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Catalogue, Release, ReleasedQueries
from shoal.anonymizer.contract.literal.folder import Folder


def mutants(made: Anonymized) -> dict[str, Anonymized]:
    """Broken twins of a true release, by what is wrong with them. A verifier must reject each."""
    release, assignment = made.release, made.assignment
    if len(release) == 0:
        everything = Release(["p0001"], np.array([0]), ["wine"], np.zeros(1, dtype=bool), csr_array([[1.0]]))
        return {"a profile of nobody": replace(made, release=everything), **_with_other_catalogues(made)}
    broken = {
        "a wrong count of users": replace(made, release=replace(release, users=release.users + 1)),
        "a user fewer": replace(
            made, assignment=replace(assignment, user=assignment.user[1:], profile=assignment.profile[1:])
        ),
        "a term that nobody used": replace(made, release=_with_label(release, "zzyzxq")),
    }
    if len(release) > 1:
        smallest = int(np.argmin(release.users))
        profile = assignment.profile.copy()
        profile[np.flatnonzero(profile == smallest)[0]] = (smallest + 1) % len(release)
        moved = replace(assignment, profile=profile)
        broken["a member of the smallest group moved elsewhere"] = replace(made, assignment=moved)
    if release.queries is not None:
        broken["a query that nobody typed"] = replace(made, release=_with_query(release, "zzyzxq secretword"))
    return broken


def _with_other_catalogues(made: Anonymized) -> dict[str, Anonymized]:
    if (known := made.release.catalogue) is None or not known.terms:
        return {}
    others = {
        "a term that nobody used": replace(known, terms=["zzyzxq", *known.terms[1:]]),
        "a term fewer": Catalogue(known.terms[1:], known.users[1:], known.mean[1:]),
        "a wrong count of holders": replace(known, users=known.users + 1),
        "another mean": replace(known, mean=known.mean * 1.001),
    }
    return {name: replace(made, release=replace(made.release, catalogue=other)) for name, other in others.items()}


def _with_label(release: Release, label: str) -> Release:
    column = np.zeros((len(release), 1))
    column[0] = 1.0
    weights = csr_array(np.hstack([release.weights.toarray(), column]))
    generalized = np.append(release.generalized, False)
    return replace(release, labels=[*release.labels, label], generalized=generalized, weights=weights)


def _with_query(release: Release, query: str) -> Release:
    rows = release.queries
    assert rows is not None
    more = ReleasedQueries(
        np.append(rows.pseudonym, 0).astype(np.int32), pl.concat([rows.query, pl.Series([query])]),
        np.append(rows.count, 1), np.append(rows.degree, 9),
    )  # fmt: skip
    return replace(release, queries=more)


class Adversary(Random):
    """Chance, and what the log holds that may be put into a release."""

    users: list[str]
    queries: list[str]
    terms: list[str]


Edit = Callable[[Folder, Adversary], bool | None]  # False: there is nothing to do it on
EDITS: dict[str, list[Edit]] = {}
STRANGE = ("zzyzxq", "wine", "Entity", "a|b", "=1", " ", "\ud800", "x" * 300)


def kind(name: str) -> Callable[[Edit], Edit]:
    """Put an edit among those of a kind."""

    def add(edit: Edit) -> Edit:
        EDITS.setdefault(name, []).append(edit)
        return edit

    return add


def some_profile(folder: Folder, rng: Adversary) -> dict[str, Any]:
    """A profile, or an empty one that is nobody's where there is none."""
    rows = [row for row in folder.profiles or [] if isinstance(row, dict) and isinstance(row.get("terms"), dict)]
    return rng.choice(rows) if rows else {"terms": {}}


def some_row(rows: list[list[str]] | None, rng: Adversary) -> list[str]:
    """A line of a table below its header, or an empty one."""
    return rng.choice(rows[1:]) if rows and len(rows) > 1 else []


def _labels(folder: Folder) -> list[str]:
    tables = [row["terms"] for row in folder.profiles or [] if isinstance(row.get("terms"), dict)]
    return sorted({label for terms in tables for label in terms})


def _relabel(row: dict[str, Any], old: str, new: str) -> None:
    """Rename a label of a profile in its place."""
    content = [(new if label == old else label, weight) for label, weight in row["terms"].items()]
    row["terms"].clear()
    row["terms"].update(content)
    if "generalized" in row:
        row["generalized"] = [new if label == old else label for label in row["generalized"]]


def names_of(folder: Folder) -> list[str]:
    return [str(row.get("id")) for row in folder.profiles or []]


def renamed(folder: Folder, new: dict[str, str]) -> None:
    """Other pseudonyms, in all files alike."""
    for row in folder.profiles or []:
        row["id"] = new.get(row["id"], row["id"])
    for table, column in ((folder.queries, 0), (folder.assignment, 1)):
        for line in table or []:
            line[column] = new.get(line[column], line[column])


@kind("drop")
def drop_term(folder: Folder, rng: Adversary) -> bool:
    terms = some_profile(folder, rng)["terms"]
    return bool(terms) and terms.pop(rng.choice(sorted(terms))) is not None


@kind("drop")
def drop_profile(folder: Folder, rng: Adversary) -> bool:
    """A profile and all that names it; the others are counted anew or not."""
    names = names_of(folder)
    if not names or folder.profiles is None:
        return False
    gone = folder.profiles.pop(rng.randrange(len(names)))["id"]
    for table, column in ((folder.queries, 0), (folder.assignment, 1)):
        if table is not None:
            table[:] = [line for line in table if line[column] != gone]
    if rng.random() < 0.8:
        _count_again(folder)
    return True


def _count_again(folder: Folder) -> None:
    names = names_of(folder)
    width = max(4, len(str(len(names))))
    renamed(folder, {name: f"new {i}" for i, name in enumerate(names)})
    renamed(folder, {f"new {i}": f"p{i + 1:0{width}d}" for i in range(len(names))})


@kind("drop")
def drop_line(folder: Folder, rng: Adversary) -> bool:
    files = (folder.assignment, folder.queries, folder.catalogue, folder.taxonomy)
    table = rng.choice([rows for rows in files if rows])
    return len(table) > 1 and bool(table.pop(rng.randrange(1, len(table))))


@kind("drop")
def drop_key(folder: Folder, rng: Adversary) -> bool:
    places = [folder.manifest, *(part for part in folder.manifest.values() if isinstance(part, dict) and part)]
    places += [some_profile(folder, rng)] if folder.profiles else []
    place = rng.choice(places)
    return bool(place) and place.pop(rng.choice(sorted(place)), None) is not None


@kind("drop")
def drop_file(folder: Folder, rng: Adversary) -> None:
    setattr(folder, rng.choice(["assignment", "profiles", "queries", "catalogue", "taxonomy"]), None)


@kind("add")
def add_term(folder: Folder, rng: Adversary) -> bool:
    row, label = some_profile(folder, rng), rng.choice([*_labels(folder), *STRANGE])
    row["terms"][label] = rng.choice([1, 2, 0.5])
    if rng.random() < 0.2:
        row["generalized"] = [*row.get("generalized", []), label]
    return "id" in row


@kind("add")
def add_member(folder: Folder, rng: Adversary) -> bool:
    """A user of the log, or a stranger, into a group."""
    names = names_of(folder)
    if not names or not folder.assignment:
        return False
    user = rng.choice([*(line[0] for line in folder.assignment[1:]), "stranger", *rng.users])
    folder.assignment.append([user, rng.choice(names)])
    return True


@kind("add")
def add_query(folder: Folder, rng: Adversary) -> bool:
    """A query that was typed, or not, under some pseudonym."""
    if folder.queries is None or not folder.profiles:
        return False
    query = rng.choice([some_row(folder.queries, rng)[1:2] or ["wine"], [rng.choice(rng.queries)]])[0]
    folder.queries.append([rng.choice(names_of(folder)), query, str(rng.choice([1, 1, 2])), str(rng.randint(1, 9))])
    return True


@kind("add")
def add_listed_term(folder: Folder, rng: Adversary) -> bool:
    if folder.catalogue is not None:
        folder.catalogue.append([rng.choice([*rng.terms, *STRANGE]), str(rng.randint(1, 9)), rng.choice(["1", "0.5"])])
    return folder.catalogue is not None


@kind("add")
def add_profile(folder: Folder, rng: Adversary) -> bool:
    if not folder.profiles:
        return False
    copy = {**some_profile(folder, rng), "id": f"p{len(folder.profiles) + 1:04d}", "users": rng.randint(1, 5)}
    folder.profiles.append(copy)
    return True


@kind("swap")
def swap_members(folder: Folder, rng: Adversary) -> bool:
    one, other = some_row(folder.assignment, rng), some_row(folder.assignment, rng)
    if not one or one[1] == other[1]:
        return False
    one[1], other[1] = other[1], one[1]
    return True


@kind("swap")
def swap_weights(folder: Folder, rng: Adversary) -> bool:
    terms = some_profile(folder, rng)["terms"]
    if len(terms) < 2:
        return False
    one, other = rng.sample(sorted(terms), 2)
    terms[one], terms[other] = terms[other], terms[one]
    return True


@kind("swap")
def swap_profiles(folder: Folder, rng: Adversary) -> bool:
    one, other = some_profile(folder, rng), some_profile(folder, rng)
    for name in ("terms", "generalized"):
        here, there = one.pop(name, None), other.pop(name, None)
        for row, part in ((one, there), (other, here)):
            if part is not None:
                row[name] = part
    return one is not other


@kind("swap")
def swap_queries(folder: Folder, rng: Adversary) -> bool:
    one, other, column = some_row(folder.queries, rng), some_row(folder.queries, rng), rng.randrange(4)
    if not one:
        return False
    one[column], other[column] = other[column], one[column]
    return True


@kind("split")
def split_group(folder: Folder, rng: Adversary) -> bool:
    """Some members of a group get the same profile under a new pseudonym."""
    row = some_profile(folder, rng)
    members = [line for line in folder.assignment or [] if line[1] == row.get("id")]
    if len(members) < 2 or folder.profiles is None:
        return False
    new = f"p{len(folder.profiles) + 1:04d}"
    gone = members[: rng.randint(1, len(members) - 1)]
    for line in gone:
        line[1] = new
    folder.profiles.append({**row, "id": new, "users": len(gone), "terms": dict(row["terms"])})
    row["users"] = len(members) - len(gone)
    return True


@kind("merge")
def merge_groups(folder: Folder, rng: Adversary) -> bool:
    """All members of one group get the profile of another, or a sum of both."""
    if folder.profiles is None or len(folder.profiles) < 2:
        return False
    one, other = rng.sample(folder.profiles, 2)
    if rng.random() < 0.5:
        one["terms"] = {**other["terms"], **one["terms"]}
        one["generalized"] = sorted({*one.get("generalized", []), *other.get("generalized", [])})
    one["users"] += other["users"]
    folder.profiles.remove(other)
    renamed(folder, {other["id"]: one["id"]})
    _count_again(folder)
    return True


@kind("rename")
def rename_term(folder: Folder, rng: Adversary) -> bool:
    """A label in one profile, or in all of them."""
    labels = _labels(folder)
    if not labels:
        return False
    new = rng.choice([*labels, *STRANGE, *rng.terms])
    old, rows = rng.choice(labels), folder.profiles or []
    for row in rng.choice([rows, [some_profile(folder, rng)]]):
        if old in row["terms"] and new not in row["terms"]:
            _relabel(row, old, new)
    return old != new


@kind("rename")
def rename_pseudonym(folder: Folder, rng: Adversary) -> bool:
    names = names_of(folder)
    new = rng.choice(["user-3-4-5", "P0001", "p1", "p00001", *rng.users])
    if names:
        renamed(folder, {rng.choice(names): new})
    return bool(names)


@kind("rename")
def rename_user(folder: Folder, rng: Adversary) -> bool:
    line = some_row(folder.assignment, rng)
    if line:
        line[0] = rng.choice(["stranger", "", *rng.users])
    return bool(line)


@kind("rename")
def rename_node(folder: Folder, rng: Adversary) -> bool:
    """A node of the release's own tree, there alone or in the profiles too."""
    line = some_row(folder.taxonomy, rng)
    if not line or folder.taxonomy is None:
        return False
    old, new = rng.choice(line), rng.choice(["Things", "wine", "Fruit|Meat", line[0].upper()])
    for row in folder.taxonomy:
        row[:] = [new if label == old else label for label in row]
    for row in (folder.profiles or []) if rng.random() < 0.5 else []:
        if old in row["terms"] and new not in row["terms"]:
            _relabel(row, old, new)
    return True


@kind("recase")
def recase_label(folder: Folder, rng: Adversary) -> bool:
    """A label in other letters: in one profile, in all, or beside itself."""
    labels = _labels(folder)
    if not labels:
        return False
    old = rng.choice(labels)
    new = rng.choice([old.upper(), old.title(), old.lower()])
    for row in rng.choice([folder.profiles or [], [some_profile(folder, rng)]]):
        if old in row["terms"]:
            if rng.random() < 0.3:
                row["terms"][new] = 1
            _relabel(row, old, new)
    return old != new


@kind("recase")
def recase_query(folder: Folder, rng: Adversary) -> bool:
    line = some_row(folder.queries, rng)
    if not line:
        return False
    line[1] = rng.choice([line[1].upper(), line[1].title(), f" {line[1]}", line[1].lower()])
    return True


@kind("rescale")
def rescale_weight(folder: Folder, rng: Adversary) -> bool:
    terms = some_profile(folder, rng)["terms"]
    if not terms:
        return False
    label = rng.choice(sorted(terms))
    weight = terms[label]
    terms[label] = rng.choice([weight * 2, weight + 1, weight * (1 + 1e-8), weight + 1e-7, 10**15])
    return True


@kind("rescale")
def rescale_profile(folder: Folder, rng: Adversary) -> bool:
    row, factor = some_profile(folder, rng), rng.choice([2, 0.5, 10])
    row["terms"] = {label: weight * factor for label, weight in row["terms"].items()}
    return bool(row["terms"])


@kind("rescale")
def rescale_listed_term(folder: Folder, rng: Adversary) -> bool:
    line, column = some_row(folder.catalogue, rng), rng.choice([1, 2])
    if line:
        others = {1: [str(int(line[1]) + 1), f"0{line[1]}"], 2: ["1.25", f"{line[2]}0", "1e99", "-1", line[2]]}
        line[column] = rng.choice(others[column])
    return bool(line)


@kind("rescale")
def rescale_query(folder: Folder, rng: Adversary) -> bool:
    line, column = some_row(folder.queries, rng), rng.choice([2, 3])
    if not line or not line[column].isdecimal():
        return False
    line[column] = str(max(0, int(line[column]) + rng.choice([-1, 1, 5])))
    return True
