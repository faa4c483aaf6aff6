"""How alike are users by topic, and who forms a cluster? The most similar pair, then who is most similar to all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numba
import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from shoal.corpus.progress import Progress, silent

KEPT_USERS = 4000  # up to here the matrix of all users is kept (64 MB), above it rows are computed when asked for
NOBODY = -1
BLOCK_USERS = 2000  # of partition_in_blocks
_ROWS_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class Incidence:
    """M(u, v) = sum over levels and categories of min(M_l(u, c), M_l(v, c)) (Algorithm 2)."""

    categories: csr_array  # users x categories, the levels side by side
    kept: np.ndarray | None = None  # the whole matrix, where it is small

    def __len__(self) -> int:
        return int(self.categories.shape[0])

    @cached_property
    def _users_of(self) -> csc_array:
        return csc_array(self.categories)

    def row(self, user: int) -> np.ndarray:
        """The similarity of one user to every user, int32."""
        return self.rows(user, user + 1)[0] if self.kept is None else self.kept[user]

    def rows(self, first: int, last: int) -> np.ndarray:
        of_user, of_category = self.categories, self._users_of
        out = np.zeros((last - first, len(self)), dtype=np.int32)
        _add_minima(
            first, of_user.indptr, of_user.indices, of_user.data,
            of_category.indptr, of_category.indices, of_category.data, out,
        )  # fmt: skip
        return out


def make_incidence(matrices: Sequence[csr_array]) -> Incidence:
    """The incidence of users from their classification matrices, one per level."""
    return Incidence(csr_array(hstack([csr_array(m, dtype=np.int32) for m in matrices], format="csr")))


def with_matrix(incidence: Incidence, progress: Progress = silent) -> Incidence:
    """The same with its matrix computed and kept, if there are few users."""
    users = len(incidence)
    if users > KEPT_USERS or incidence.kept is not None:
        return incidence
    matrix = np.empty((users, users), dtype=np.int32)
    for first in range(0, users, _ROWS_AT_ONCE):
        progress(first, users, "comparing users")
        last = min(users, first + _ROWS_AT_ONCE)
        matrix[first:last] = incidence.rows(first, last)
    return Incidence(incidence.categories, matrix)


@numba.njit(cache=True)
def _add_minima(
    first: int,
    start: np.ndarray,
    category: np.ndarray,
    count: np.ndarray,
    posting_start: np.ndarray,
    posting_user: np.ndarray,
    posting_count: np.ndarray,
    out: np.ndarray,
) -> None:
    for i in range(out.shape[0]):
        for entry in range(start[first + i], start[first + i + 1]):
            mine = count[entry]
            for p in range(posting_start[category[entry]], posting_start[category[entry] + 1]):
                out[i, posting_user[p]] += min(mine, posting_count[p])


@dataclass(eq=False)
class _MostSimilar:
    """The most similar partner of each user among those left.

    What is stored is never too low: users only leave. So the highest is true as soon as its partner is still there.
    """

    incidence: Incidence
    left: np.ndarray  # bool
    value: np.ndarray = field(init=False)
    partner: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.value = np.full(len(self.incidence), NOBODY, dtype=np.int64)
        self.partner = np.full(len(self.incidence), NOBODY, dtype=np.int64)

    def look(self, user: int) -> None:
        row = np.where(self.left, self.incidence.row(user), NOBODY)
        row[user] = NOBODY
        self.partner[user] = row.argmax()
        self.value[user] = row[self.partner[user]]

    def pair(self) -> tuple[int, int]:
        """The most similar two users left; among equals the first."""
        while True:
            user = int(np.where(self.left, self.value, NOBODY - 1).argmax())
            if self.left[self.partner[user]]:
                return user, int(self.partner[user])
            self.look(user)


def partition(incidence: Incidence, k: int, progress: Progress = silent) -> np.ndarray:
    """Algorithm 3: clusters of k users while at least k are left. Each user's cluster, NOBODY for those left over."""
    users = len(incidence)
    cluster = np.full(users, NOBODY, dtype=np.int64)
    if users < k:
        return cluster
    incidence = with_matrix(incidence, progress)
    left = np.ones(users, dtype=bool)
    most_similar = _MostSimilar(incidence, left)
    for user in range(users):
        if user % 256 == 0:
            progress(user, users, "finding the most similar users")
        most_similar.look(user)
    for number in range(users // k):
        if number % 32 == 0:
            progress(number * k, users, "grouping similar users")
        members = _grow(incidence, left, most_similar.pair(), k, progress)
        cluster[members] = number
    return cluster


def _grow(incidence: Incidence, left: np.ndarray, pair: tuple[int, int], k: int, progress: Progress) -> list[int]:
    """Algorithm 4: to the pair, add who has the largest sum of similarities to the members. They leave `left`."""
    members = list(pair)
    left[members] = False
    total = incidence.row(pair[0]).astype(np.int64) + incidence.row(pair[1])
    while len(members) < k:
        if len(members) % 64 == 0:
            progress(int((~left).sum()), len(left), "grouping similar users")
        user = int(np.where(left, total, NOBODY).argmax())
        members.append(user)
        left[user] = False
        total += incidence.row(user)
    return members


def partition_in_blocks(categories: csr_array, k: int, progress: Progress = silent) -> np.ndarray:
    """The same inside blocks of users with about as many categories; who is left over in a block goes to the next.

    M(u, v) is at most the smaller of M(u, u) and M(v, v), so the most similar pairs are found among the largest users,
    and whoever is most similar to a user is seldom far from it in this order.
    """
    block = max(BLOCK_USERS, 2 * k)
    order = np.argsort(-np.asarray(categories.sum(axis=1)).ravel(), kind="stable")
    cluster = np.full(len(order), NOBODY, dtype=np.int64)
    left_over, position = order[:0], 0
    while position < len(order):
        step = block - len(left_over)
        users = np.concatenate([left_over, order[position : position + step]])
        found = partition(Incidence(csr_array(categories[users])), k, _at(progress, position, len(order)))
        grouped = found != NOBODY
        cluster[users[grouped]] = found[grouped] + cluster.max() + 1
        left_over = users[~grouped]
        position += step
    return cluster


def join_most_similar(incidence: Incidence, cluster: np.ndarray, progress: Progress = silent) -> np.ndarray:
    """Fewer than k users left over would be a group under k: each joins the cluster it is most similar to.

    That is the largest sum of similarities to the k users the cluster was made of; among equals the first.
    """
    joined = cluster.copy()
    grouped = np.flatnonzero(cluster != NOBODY)
    left_over = np.flatnonzero(cluster == NOBODY)
    for done, user in enumerate(left_over.tolist()):
        progress(done, len(left_over), "placing the users left over")
        joined[user] = np.bincount(cluster[grouped], weights=incidence.row(user)[grouped]).argmax()
    return joined


def _at(progress: Progress, position: int, users: int) -> Progress:
    """Progress of a block, told as progress of the whole."""
    return lambda done, total, stage: progress(position, users, "grouping similar users, block by block")
