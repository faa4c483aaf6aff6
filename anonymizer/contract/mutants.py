"""What does a release look like that breaks its promise? Broken twins that every verifier must reject."""

from dataclasses import replace

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Release, ReleasedQueries


def mutants(made: Anonymized) -> dict[str, Anonymized]:
    """Broken twins of a true release, by what is wrong with them. A verifier must reject each."""
    release, assignment = made.release, made.assignment
    if len(release) == 0:
        everything = Release(["p0001"], np.array([0]), ["wine"], np.zeros(1, dtype=bool), csr_array([[1.0]]))
        return {"a profile of nobody": replace(made, release=everything)}
    broken = {
        "a wrong count of users": replace(made, release=replace(release, users=release.users + 1)),
        "a user fewer": replace(
            made, assignment=Assignment(assignment.users, assignment.user[1:], assignment.profile[1:])
        ),
        "a term that nobody used": replace(made, release=_with_label(release, "zzyzxq")),
    }
    if len(release) > 1:
        smallest = int(np.argmin(release.users))
        profile = assignment.profile.copy()
        profile[np.flatnonzero(profile == smallest)[0]] = (smallest + 1) % len(release)
        moved = Assignment(assignment.users, assignment.user, profile)
        broken["a member of the smallest group moved elsewhere"] = replace(made, assignment=moved)
    if release.queries is not None:
        broken["a query that nobody typed"] = replace(made, release=_with_query(release, "zzyzxq secretword"))
    return broken


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
