"""CAHD: how are users grouped by a band matrix, so that nobody can be connected with a sensitive term of the group?

G. Ghinita, Y. Tao & P. Kalnis, On the Anonymization of Sparse High-Dimensional Data, ICDE 2008; thesis of A. Milani
Fard, 2010, section 2.4, Algorithm 2.2.
"""

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod, Suppressed
from shoal.anonymizer.distinct_queries import only_columns
from shoal.anonymizer.methods.cahd.groups import form_groups, open_line
from shoal.anonymizer.parameters import AT_LEAST_TWO, Parameter, whole_number
from shoal.anonymizer.publish import publish
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

USERS_PER_BLOCK = 2_000  # between two calls of progress
PAIRS_PER_USER = 200  # of users who share a term, at most, in the matrix that is ordered
WHOLE_UP_TO = 4_000_000  # such pairs: a log of 2,000 users has no more


class Cahd(ProfileMethod):
    """Guarantee: a row of the release connects its user with a sensitive term with probability 1/p at most.

    Each user's public terms are published as they are. The sensitive ones are those of the user's group, each with the
    share of the group that typed it, which is 1/p at most. A sensitive term that more than 1/p of all users typed can
    be in no such grouping, and is published of nobody; the paper takes for granted that there is none.

    The window of line 5 holds the alpha * p users before and after that are still there. The p - 1 closest of them
    are taken one after the other, each only if it shares no sensitive term with those before ("one occurrence per
    group"); where fewer are left, the group is not formed. Line 8 as printed compares with the users that remained
    *before* the group: the last group could then leave too few. Here it is those who remain after it.
    """

    info = MethodInfo(
        id="cahd",
        title="Band matrix groups that share their sensitive terms",
        paper="G. Ghinita, Y. Tao & P. Kalnis (2008), On the Anonymization of Sparse High-Dimensional Data, ICDE",
        unit="user",
        family="group",
        protects="Which member of a group of p or more users typed a sensitive term that is published of the group.",
        does_not_protect=(
            "Who is behind a row: public terms stand in it as they are, so a person is found by a few of them as well "
            "as on the original, and all other public terms are read; and what is on no list of sensitive terms is "
            "public, however private it is."
        ),
        sensitive=True,
        cluster="whether a sensitive term may be published is decided by how many of all users typed it",
    )
    p = Parameter(5, AT_LEAST_TWO, "a sensitive term is a member's with a probability of 1/p at most", "higher")
    alpha = Parameter(
        3,
        whole_number(1, 1000),
        "how far similar users are sought: alpha times p before and after, in the band",
        "neither",
    )

    def claim(self) -> Claim:
        return Claim("privacy-degree", {"p": self.p})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        users = np.flatnonzero(profiles.size)
        self.need_users(len(users), self.p)
        counts = csr_array(profiles.counts[users])
        private = self.knowledge.sensitive.among(profiles.terms)
        holders = np.bincount(counts.indices, minlength=len(private))
        hidden = private & (holders * self.p > len(users))
        public, shown = only_columns(counts, ~private), only_columns(counts, private & ~hidden)
        group = self._groups(public, shown, progress)
        weights = csr_array(public + _shares(shown, group))
        rows = np.flatnonzero(np.diff(weights.indptr))
        typed = np.asarray(counts.sum(axis=0)).ravel()
        suppressed = Suppressed(int(typed[hidden].sum()), len(profiles) - len(rows))
        members = (users[rows], np.arange(len(rows)))
        return publish(profiles.users, members, csr_array(weights[rows]), profiles.terms, self.claim(), suppressed)

    def _groups(self, public: csr_array, private: csr_array, progress: Progress) -> np.ndarray:
        """The group of each user, by Algorithm 2.2 along the band; those who remain are the last one."""
        progress(0, public.shape[0], "ordering users into a band")
        line = open_line(band_order(public), public, private)
        for begin in range(0, len(line.order), USERS_PER_BLOCK):
            progress(begin, len(line.order), "grouping users")
            form_groups(line, begin, min(begin + USERS_PER_BLOCK, len(line.order)), self.p, self.alpha * self.p)
        return np.where(line.group < 0, line.formed[0], line.group)


def _shares(private: csr_array, group: np.ndarray) -> csr_array:
    """Users x terms: the share of each user's group that typed a sensitive term."""
    sizes = np.bincount(group)
    ones = np.ones(len(group), dtype=np.int64)
    members = csr_array((ones, (group, np.arange(len(group)))), shape=(len(sizes), len(group)))
    typed = csr_array(members @ private.sign())
    shares = csr_array(
        (typed.data / np.repeat(sizes, np.diff(typed.indptr)), typed.indices, typed.indptr), shape=typed.shape
    )
    return csr_array(shares[group])


def band_order(public: csr_array) -> np.ndarray:
    """The band matrix: an order of the users in which the ones of M lie close to the diagonal, by M M^T (section 2.4).

    The whole product would have nearly as many entries as pairs of users, since a few terms are everybody's. So only
    the rarest terms enter it, as many as make PAIRS_PER_USER pairs per user together (all of them on a small log):
    they are those that tell who is like whom, and the product grows with the users, not with their square.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # loads half of scipy: no start waits for it

    users = public.shape[0]
    holders = np.bincount(public.indices, minlength=public.shape[1])
    rarest = np.argsort(holders, kind="stable")
    pairs = np.cumsum(holders[rarest].astype(np.int64) ** 2)
    kept = np.zeros(len(holders), dtype=bool)
    kept[rarest[pairs <= max(WHOLE_UP_TO, PAIRS_PER_USER * users)]] = True
    M = only_columns(public, kept).sign()
    together = csr_matrix(M @ M.T)  # the library takes no sparse array
    return reverse_cuthill_mckee(together, symmetric_mode=True).astype(np.int64)
