"""How are vocabularies made alike? Semantic similarity based clustering: Liu & Wang 2010, Algorithm 1 (SSC)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo, Suppressed
from shoal.anonymizer.blocks import CountedMethod, counts_of, totals
from shoal.anonymizer.methods.ssc.hyper_terms import (
    Centre,
    Cost,
    Wording,
    first_centre,
    joined,
    matching_cost,
    typical_vocabularies,
)
from shoal.anonymizer.methods.ssc.matching import Neighbourhoods, find_neighbourhoods
from shoal.anonymizer.methods.ssc.nearest_vocabulary import Centres, Vocabularies
from shoal.anonymizer.parameters import Parameter, Value, group_size, number, one_of, whole_number
from shoal.anonymizer.publish import publish
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog, cut_sessions, sessions_as_users


@dataclass(frozen=True, eq=False)
class Cluster:
    members: list[int]  # vocabularies, in the order in which they came
    centre: Centre


class SSC(LogMethod, CountedMethod):
    """Guarantee: each published vocabulary is shared by at least k vocabularies of k different users (Definition 2)."""

    info = MethodInfo(
        id="ssc",
        title="Typical vocabularies of similar users",
        paper="Liu & Wang 2010, Enforcing Vocabulary k-Anonymity by Semantic Similarity Based Clustering",
        unit="user",
        family="generalize",
        protects="Which of at least k users a published vocabulary is of: only what all of them share is in it.",
        does_not_protect="What the members have in common: whoever knows the group knows the topics of everyone in it. "
        "Nor a rare word: what is published may have been typed by a single member. Nor who has little to say: what "
        "all share may be one member's vocabulary verbatim (one group in twenty of two simulated users, one in fifty "
        "of five). With sessions, nor several sessions of a user seen together.",
        cluster="counts",
        most_users=150_000,
    )
    k = group_size()
    epsilon = Parameter(
        4, whole_number(0, 12), "the most edges between two terms that may stand for each other", "neither"
    )
    omega = Parameter(
        5, number(0.01, 1000), "what an occurrence that finds no partner adds to a distance in model 2", "neither"
    )
    model = Parameter(
        2,
        whole_number(1, 2),
        "2: the least distances, where no partner costs omega; 1: as many partners as can be, and to have none is "
        "free, so that vocabularies without anything in common are at distance 0",
        "neither",
    )
    seeding = Parameter(
        "farthest",
        one_of("farthest", "first"),
        "who opens the next group: the one farthest from the last, or the first",
        "neither",
    )
    typical = Parameter(
        "vote",
        one_of("vote", "bags", "generalize"),
        "what stands for matched terms: the most central, all of them, or their kind",
        "neither",
    )
    gap = Parameter(
        "none",
        whole_number(1, 10**6) | one_of("none"),
        "minutes of silence that end a session; each session is then a vocabulary",
        "neither",
    )

    def claim(self) -> Claim:
        values: dict[str, Value] = {"k": self.k, "epsilon": self.epsilon, "typical": self.typical}
        if self.gap == "none":
            return Claim("vocabulary-k-anonymity", values)
        return Claim("session-vocabulary-k-anonymity", {**values, "gap": self.gap})

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        return self._anonymized(log, None, progress)

    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        profiles = build_profiles(log, self.knowledge.words)
        users = np.bincount(profiles.counts.indices, minlength=len(profiles.terms)).tolist()
        return totals(users=dict(zip(profiles.terms, users, strict=True)))

    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        return self._anonymized(log, counts_of(totals, "users"), progress)

    def _anonymized(self, log: QueryLog, users_of: Mapping[str, int] | None, progress: Progress) -> Anonymized:
        """Algorithm 1; how many users use each term is counted here, or given of more than these."""
        T, user = self._vocabularies(log)
        self.refuse_too_many(len(user), "users" if self.gap == "none" else "sessions")
        leaf = np.array([_or_none(self.knowledge.taxonomy.leaf(term)) for term in T.terms], dtype=np.int64)
        known = np.flatnonzero(leaf >= 0)
        counts = csr_array(T.counts[:, known])
        some = np.flatnonzero(np.diff(counts.indptr) > 0)
        self.need_users(len(np.unique(user[some])), self.k)
        near = find_neighbourhoods(self.knowledge.taxonomy, leaf[known], _owners(counts), self.epsilon)
        clusters = self._cluster(Vocabularies(counts), user, near, progress)
        # Who has nothing in common with the rest of the cluster is left with nothing: no vocabulary is published.
        common = [cluster for cluster in clusters if cluster.centre.occurrences]
        terms = [T.terms[i] for i in known]
        users = _users_of_terms(counts, user) if users_of is None else np.array([users_of[term] for term in terms])
        wording = Wording(self.knowledge.taxonomy, leaf[known], terms, users)
        typical = typical_vocabularies([c.centre for c in common], wording, self.typical)
        sharing = _pairs(common, user)
        represented = sum(common[row].centre.occurrences for row in sharing[1])
        left_out = Suppressed(int(T.counts.sum()) - represented, len(log.users) - len(np.unique(sharing[0])))
        return publish(log.users, sharing, typical.weights, typical.labels, self.claim(), left_out, typical.generalized)

    def _vocabularies(self, log: QueryLog) -> tuple[Profiles, np.ndarray]:
        """T = Vocabulary(Q, sGap) of Definition 1, and the user of each vocabulary."""
        if self.gap == "none":
            return build_profiles(log, self.knowledge.words), np.arange(len(log.users))
        sessions = cut_sessions(log, int(self.gap))
        return build_profiles(sessions_as_users(log, sessions), self.knowledge.words), sessions.user

    def _cluster(self, T: Vocabularies, user: np.ndarray, near: Neighbourhoods, progress: Progress) -> list[Cluster]:
        """Algorithm 1."""
        cost = matching_cost(self.model, self.omega, int(T.size.max()), self.epsilon)
        CL: list[Cluster] = []
        total = T.remaining
        while _users(T, user) >= self.k:  # lines 1 to 7
            t = self._next_seed(T, CL, cost)
            C, centre = [t], first_centre(*T.of(t), near)
            T.take(t)
            others = T.left & (user != user[t])
            for _ in range(2, self.k + 1):
                progress(total - T.remaining, total, "clustering vocabularies")
                r = T.nearest(centre, others, cost)
                T.take(r)
                others &= user != user[r]
                C.append(r)
                centre = joined(centre, *T.of(r), near, cost)
            CL.append(Cluster(C, centre))
        return self._place_the_rest(T, CL, near, cost, progress)

    def _next_seed(self, T: Vocabularies, CL: list[Cluster], cost: Cost) -> int:
        """Line 2: the first left, or (what the paper's example does) the farthest from the last centre."""
        if self.seeding == "first" or not CL:
            return int(np.argmax(T.left))
        return T.farthest(CL[-1].centre, T.left, cost)

    def _place_the_rest(
        self, T: Vocabularies, CL: list[Cluster], near: Neighbourhoods, cost: Cost, progress: Progress
    ) -> list[Cluster]:
        """Lines 8 to 10: each vocabulary that is left joins the cluster nearest to it."""
        centres = Centres([C.centre for C in CL], T, cost)
        rest = np.flatnonzero(T.left)
        for done, t in enumerate(rest.tolist()):
            progress(done, len(rest), "placing the vocabularies left over")
            c = centres.nearest(t)
            centres.move(c, joined(centres.of[c], *T.of(t), near, cost))
            CL[c].members.append(t)
        return [Cluster(C.members, centre) for C, centre in zip(CL, centres.of, strict=True)]


def _or_none(leaf: int | None) -> int:
    return -1 if leaf is None else leaf


def _users(T: Vocabularies, user: np.ndarray) -> int:
    """How many users still have a vocabulary; those of one user stand in a row."""
    of = user[T.left]
    return int(np.count_nonzero(np.diff(of))) + int(len(of) > 0)


def _owners(counts: csr_array) -> np.ndarray:
    """The only vocabulary that uses each term, or -1 where several do."""
    vocabulary = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    owner = np.full(counts.shape[1], -1, dtype=np.int64)
    owner[counts.indices] = vocabulary
    owner[np.bincount(counts.indices, minlength=counts.shape[1]) > 1] = -1
    return owner


def _users_of_terms(counts: csr_array, user: np.ndarray) -> np.ndarray:
    """How many users use each term, in one vocabulary or several."""
    vocabulary = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    pairs = np.unique(np.stack([user[vocabulary], counts.indices]), axis=1)
    return np.bincount(pairs[1], minlength=counts.shape[1])


def _pairs(clusters: list[Cluster], user: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Who shares which vocabulary; several sessions of a user in one cluster are one share, and represented once."""
    pairs = [(int(user[t]), row) for row, cluster in enumerate(clusters) for t in cluster.members]
    table = np.unique(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=0)
    return table[:, 0], table[:, 1]
