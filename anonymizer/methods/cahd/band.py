"""A band matrix of users: an order in which neighbours share many public terms, by reverse Cuthill-McKee."""

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from shoal.anonymizer.distinct_queries import only_columns

PAIRS_PER_USER = 200  # of users who share a term, at most, in the matrix that is ordered
WHOLE_UP_TO = 4_000_000  # such pairs: a log of 2,000 users has no more


def band_order(public: csr_array) -> np.ndarray:
    """An order of the users in which the ones of M lie close to the diagonal, by M M^T (section 2.4).

    The whole product would have nearly as many entries as pairs of users, since a few terms are everybody's. So only
    the rarest terms enter it, as many as make PAIRS_PER_USER pairs per user together (all of them on a small log):
    they are those that tell who is like whom, and the product grows with the users, not with their square.
    """
    users = public.shape[0]
    holders = np.bincount(public.indices, minlength=public.shape[1])
    rarest = np.argsort(holders, kind="stable")
    pairs = np.cumsum(holders[rarest].astype(np.int64) ** 2)
    kept = np.zeros(len(holders), dtype=bool)
    kept[rarest[pairs <= max(WHOLE_UP_TO, PAIRS_PER_USER * users)]] = True
    M = only_columns(public, kept).sign()
    together = csr_matrix(M @ M.T)  # the library takes no sparse array
    return reverse_cuthill_mckee(together, symmetric_mode=True).astype(np.int64)
