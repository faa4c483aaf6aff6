"""Do k users share any m items? k^m-anonymity, recounted set by set from what is published, under one cut for all."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, triu

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_left_out, verify_rows_of_one
from shoal.anonymizer.claims.transactions import published_nodes
from shoal.anonymizer.parameters import AT_LEAST_TWO, SET_SIZES, one_of

LABELS_PER_BLOCK = 512  # bounds the memory of a product


def verify_km(claim: Claim, evidence: Evidence) -> Verdict:
    """Each user's own items under one cut, and no set of up to m of them in fewer than k profiles."""
    nodes = published_nodes(evidence)
    if isinstance(nodes, Verdict):
        return nodes
    for verdict in (verify_rows_of_one(evidence.release), _each_stands_once(evidence), _is_one_cut(nodes, evidence)):
        if not verdict.holds:
            return verdict
    true = _are_own_items(nodes, evidence, may_suppress=claim.values["suppressed"] == "items")
    return _sets_are_shared(claim, evidence) if true.holds else true


def _each_stands_once(evidence: Evidence) -> Verdict:
    release, weights = evidence.release, evidence.release.weights.tocoo()
    wrong = np.flatnonzero(weights.data != 1)
    if len(wrong) == 0:
        return HOLDS
    name, label = release.pseudonyms[weights.row[wrong[0]]], release.labels[weights.col[wrong[0]]]
    return broken(f"{name} publishes {label!r} with weight {weights.data[wrong[0]]:g}, but every item stands once")


def _is_one_cut(nodes: np.ndarray, evidence: Evidence) -> Verdict:
    """No published item is above another, in whoever's profile they are."""
    taxonomy, sorted_nodes = evidence.knowledge.taxonomy, np.sort(nodes)
    above = np.flatnonzero(sorted_nodes[1:] < taxonomy.end[sorted_nodes[:-1]])
    if len(above) == 0:
        return HOLDS
    upper, lower = (taxonomy.labels[sorted_nodes[above[0] + i]] for i in (0, 1))
    return broken(f"{lower!r} is published, and so is {upper!r} above it: what is generalized is so for all users")


def _are_own_items(nodes: np.ndarray, evidence: Evidence, may_suppress: bool) -> Verdict:
    """Every profile holds what is published above its user's terms, and whoever has something has a profile."""
    profiles, release = evidence.profiles, evidence.release
    label = _label_above(nodes, evidence)
    if not may_suppress and (label == NOTHING).any():
        term = profiles.terms[int(np.argmax(label == NOTHING))]
        return broken(f"users typed {term!r}, which the taxonomy knows, but no published item is above it")
    own = csr_array(profiles.counts).tocoo()
    kept = label[own.col] >= 0
    expected = np.unique(own.row[kept].astype(np.int64) * len(release.labels) + label[own.col[kept]])
    weights, user = release.weights.tocoo(), np.full(len(release), -1)
    user[evidence.assignment.profile] = evidence.assignment.rows_for(profiles.users)
    said = np.sort(user[weights.row] * len(release.labels) + weights.col)
    if not np.array_equal(said, expected):
        return _differs(np.setxor1d(said, expected)[0], said, evidence)
    return _all_is_counted(evidence)


NOTHING, UNKNOWN = -1, -2  # no label is above a term, or the taxonomy does not know it


def _label_above(nodes: np.ndarray, evidence: Evidence) -> np.ndarray:
    """The column of the published label at or above each term."""
    taxonomy, order = evidence.knowledge.taxonomy, np.argsort(nodes)
    leaves = np.array([-1 if (v := taxonomy.leaf(t)) is None else v for t in evidence.profiles.terms], dtype=np.int64)
    place = np.searchsorted(nodes[order], leaves, side="right") - 1
    label = np.full(len(leaves), NOTHING)
    some = np.flatnonzero(place >= 0)
    below = some[leaves[some] < taxonomy.end[nodes[order[place[some]]]]]
    label[below] = order[place[below]]
    label[leaves < 0] = UNKNOWN
    return label


def _differs(key: int, said: np.ndarray, evidence: Evidence) -> Verdict:
    user, column = divmod(int(key), len(evidence.release.labels))
    name, label = evidence.profiles.users[user], evidence.release.labels[column]
    is_said = key in said
    return broken(
        f"the profile of user {name!r} {'holds' if is_said else 'does not hold'} {label!r}, "
        f"but the user typed {'no term' if is_said else 'a term'} below it"
    )


def _all_is_counted(evidence: Evidence) -> Verdict:
    """No profile is empty, and each published item stands for one occurrence; the others are suppressed."""
    release = evidence.release
    empty = np.flatnonzero(np.diff(release.weights.indptr) == 0)
    if len(empty):
        return broken(f"{release.pseudonyms[empty[0]]} holds nothing, but a user left with nothing has no profile")
    missing = int(evidence.profiles.occurrences.sum()) - release.weights.nnz
    return verify_left_out(missing, "are not published", evidence)


def _sets_are_shared(claim: Claim, evidence: Evidence) -> Verdict:
    release, k, m = evidence.release, int(claim.values["k"]), claim.values["m"]
    held = csr_array(release.weights.astype(bool).astype(np.int64))
    longest = int(np.diff(held.indptr).max(initial=0))
    whole = isinstance(m, str) or m >= longest
    rare = next(whole_sets_under_k(held, k) if whole else sets_under_k(held, k, int(m)), None)
    if rare is None:
        return HOLDS
    columns, users = rare
    items = " and ".join(sorted(repr(release.labels[column]) for column in columns))
    return broken(f"{items} stand together in {users} profiles, fewer than k={k}")


def sets_under_k(held: csr_array, k: int, m: int) -> Iterator[tuple[list[int], int]]:
    """Sets of up to m columns that some row holds and fewer than k do, and how many do.

    Up to pairs by a product; larger ones by looking, of each column, at the rows that hold it and at columns after it.
    """
    if m < 3:
        yield from _pairs_under_k(held, k, m)
        return
    by_column = held.tocsc()
    for column in range(held.shape[1]):
        rows = by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]]
        if 0 < len(rows) < k:
            yield [column], len(rows)
        rest = csr_array(held[rows][:, column + 1 :]) if len(rows) else held[:0]
        for columns, users in sets_under_k(rest, k, m - 1) if rest.nnz else ():
            yield [column, *(column + 1 + other for other in columns)], users


def _pairs_under_k(held: csr_array, k: int, m: int) -> Iterator[tuple[list[int], int]]:
    users = np.bincount(held.indices, minlength=held.shape[1])
    for column in np.flatnonzero((users > 0) & (users < k)):
        yield [int(column)], int(users[column])
    for begin in range(0, held.shape[1] if m == 2 else 0, LABELS_PER_BLOCK):
        both = triu(held[:, begin : begin + LABELS_PER_BLOCK].T @ held, k=begin + 1).tocoo()
        for i in np.flatnonzero((both.data > 0) & (both.data < k)):
            yield [begin + int(both.row[i]), int(both.col[i])], int(both.data[i])


def whole_sets_under_k(held: csr_array, k: int) -> Iterator[tuple[list[int], int]]:
    """The same where m is no bound: all sets of a row are held by k rows if and only if the whole row is."""
    held.sort_indices()
    contents = [held.indices[a:b] for a, b in zip(held.indptr[:-1], held.indptr[1:], strict=True)]
    number: dict[bytes, int] = {}
    kind = np.array([number.setdefault(content.tobytes(), len(number)) for content in contents], dtype=np.int64)
    first = np.unique(kind, return_index=True)[1]
    rows, times = csr_array(held[first]), np.bincount(kind, minlength=len(number))
    length = np.diff(rows.indptr)
    for begin in range(0, len(first), LABELS_PER_BLOCK):
        block = length[begin : begin + LABELS_PER_BLOCK]
        both = (rows[begin : begin + len(block)] @ rows.T).tocoo()
        within = both.data == block[both.row]
        users = np.bincount(both.row[within], weights=times[both.col[within]], minlength=len(block))
        for row in np.flatnonzero((users < k) & (block > 0)):
            yield contents[first[begin + row]].tolist(), int(users[row])


_SUPPRESSED = {"nothing": "", "items": ", without items that are left out of all profiles"}


def _sentence(values: Values) -> str:
    m = values["m"]
    some = "Any published items" if m == "any" else "Any published item" if m == 1 else f"Up to {m} published items"
    are = "is" if m == 1 else "are"
    return (
        f"{some} of a profile {are} in at least {values['k']} profiles, and each profile is what one user's terms are "
        f"under one cut of the taxonomy, the same for all users{_SUPPRESSED[str(values['suppressed'])]}."
    )


VERIFIERS = (
    Verifier(
        "km-anonymity",
        "user",
        verify_km,
        _sentence,
        {"k": AT_LEAST_TWO, "m": SET_SIZES, "suppressed": one_of(*_SUPPRESSED)},
    ),
)
