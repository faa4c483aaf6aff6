"""What does a cluster of users publish? A centroid log of their mean size, with queries of each by their share."""

import numba
import numpy as np
from scipy.sparse import csr_array


def centroid_logs(asked: csr_array, cluster: np.ndarray, rng: np.random.Generator) -> csr_array:
    """Algorithm 5 of Erola et al. for every cluster: how often each query enters its centroid log.

    `asked` is users x queries with repetitions, each user asked something; `cluster` is each user's cluster.
    """
    size = np.asarray(asked.sum(axis=1)).ravel().astype(np.int64)
    total = np.bincount(cluster, weights=size).astype(np.int64)
    quota = quotas(size, cluster, rng.random(len(size)))
    order = _by_repetitions(asked, rng.random(asked.nnz))
    repetitions = asked.data[order].astype(np.int64)
    copies = chosen_copies(
        asked.indptr.astype(np.int64), repetitions, size, total[cluster], quota, rng.random(asked.nnz)
    )
    row = np.repeat(cluster, np.diff(asked.indptr))
    logs = csr_array((copies, (row, asked.indices[order])), shape=(len(total), asked.shape[1]))
    logs.eliminate_zeros()
    return logs


def quotas(size: np.ndarray, cluster: np.ndarray, tie: np.ndarray) -> np.ndarray:
    """Quota_i = |Q_i| / k (Equation 3) in whole queries, so that together they make the mean size of the logs.

    All get the whole part; the rest goes to the largest fractions, and among equals to the smallest `tie`.
    """
    members = np.bincount(cluster)
    total = np.bincount(cluster, weights=size).astype(np.int64)
    quota, fraction = np.divmod(size, members[cluster])
    mean = (2 * total + members) // (2 * members)
    rest = mean - np.bincount(cluster, weights=quota).astype(np.int64)
    order = np.lexsort((tie, -fraction, cluster))
    place = np.arange(len(order)) - np.concatenate([[0], np.cumsum(members)])[cluster[order]]
    quota[order] += place < rest[cluster[order]]
    return quota


def _by_repetitions(asked: csr_array, tie: np.ndarray) -> np.ndarray:
    """The entries of each user, the most repeated query first; among equals the smallest `tie`."""
    user = np.repeat(np.arange(asked.shape[0]), np.diff(asked.indptr))
    return np.lexsort((tie, -asked.data, user))


@numba.njit(cache=True)
def chosen_copies(
    start: np.ndarray,
    repetitions: np.ndarray,
    size: np.ndarray,
    total: np.ndarray,
    quota: np.ndarray,
    chance: np.ndarray,
) -> np.ndarray:
    """How often each query of each user enters the centroid log.

    In order: floor(x) times, and once more with probability frac(x), for x = Contrib_i * repetitions and
    Contrib_i = |Q_i| / sum of |Q| (Equation 2), until the quota is reached. A list that ends before (x is small where
    a user asked less than the others) is walked again, each query with repetitions left entering once, so that
    the log gets its mean size and no user less than the quota.
    """
    copies = np.zeros(len(repetitions), dtype=np.int64)
    for user in range(len(quota)):
        missing = quota[user]
        for entry in range(start[user], start[user + 1]):
            x = size[user] * repetitions[entry]
            enters = x // total[user] + (chance[entry] * total[user] < x % total[user])
            copies[entry] = min(enters, missing)
            missing -= copies[entry]
        while missing > 0:
            for entry in range(start[user], start[user + 1]):
                if missing > 0 and copies[entry] < repetitions[entry]:
                    copies[entry] += 1
                    missing -= 1
    return copies
