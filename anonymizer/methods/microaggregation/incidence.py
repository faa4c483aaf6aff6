"""How alike are users by topic? The incidence of Erola et al.: what their categories have in common, level by level."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from shoal.corpus.progress import Progress, silent

KEPT_USERS = 4000  # up to here the matrix of all users is kept (64 MB), above it rows are computed when asked for
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
