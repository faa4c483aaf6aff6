"""Is a published vocabulary shared by k vocabularies, and does it follow from them? (Liu & Wang 2010, Definition 2.)

What is claimed:
- every published vocabulary is shared by at least k users and not empty (their users are left with nothing, and counted
  so), and no user shares more of them than they have vocabularies;
- its labels are those of bags with one occurrence of each member. The terms of a bag are within epsilon edges of each
  other, and no occurrence is in two bags. A label of `vote` is the medoid of its bag (of several, the term that most
  users of the log use, then the first of the alphabet), one of `bags` all its terms, one of `generalize` their lowest
  common ancestor;
- all that is not represented so is counted as suppressed; a user is represented once in each bag that they share;
- users who have a vocabulary but share none are at least k, for a group that has nothing in common has as many.

Of sessions less can be checked, for it is not told which of a user's sessions share a vocabulary, nor how many. Some
choice must give each published vocabulary a session of each of its users that has an occurrence for each bag. From all
such sessions together the bags must be filled; more terms of the same users may be in them, so a label of `vote` need
only be in its bag, and the terms of a label of `bags`, or two below one of `generalize`, be there at all.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.fitting_terms import Fitting, find_fitting
from shoal.anonymizer.claims.groups import verify_left_out
from shoal.anonymizer.claims.vocabulary_bags import MOST_BAGS, Naming, can_fill, find_bags
from shoal.anonymizer.parameters import AT_LEAST_TWO, Range, Value, one_of, whole_number
from shoal.corpus.knowledge.taxonomy import bag_label, bag_members
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import cut_sessions, sessions_as_users


@dataclass(frozen=True, eq=False)
class Case:
    """A claim and its evidence, seen as published vocabularies (rows) and the vocabularies of their members."""

    claim: Claim
    evidence: Evidence

    @cached_property
    def k(self) -> int:
        return int(self.claim.values["k"])

    @cached_property
    def sessions(self) -> bool:
        return "gap" in self.claim.values

    @cached_property
    def naming(self) -> Naming:
        taxonomy, profiles = self.evidence.knowledge.taxonomy, self.evidence.profiles
        leaf = np.array([-1 if (v := taxonomy.leaf(term)) is None else v for term in profiles.terms], dtype=np.int64)
        users = np.bincount(profiles.counts.indices, minlength=len(profiles.terms))
        epsilon, typical = int(self.claim.values["epsilon"]), str(self.claim.values["typical"])
        return Naming(taxonomy, epsilon, typical, profiles.terms, leaf, users, all_members=not self.sessions)

    @cached_property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Who shares what: rows of the release, ascending, and users by their place in the log."""
        assignment = self.evidence.assignment
        row, user = np.unique(np.stack([assignment.profile, assignment.rows_for(self.evidence.log.users)]), axis=1)
        return row.astype(np.int64), user.astype(np.int64)

    @cached_property
    def own(self) -> tuple[csr_array, np.ndarray]:
        """The vocabularies that are not empty (terms that the taxonomy knows), and the user of each, ascending."""
        profiles, user = self._vocabularies()
        known = self.naming.leaf[profiles.counts.indices] >= 0
        start = np.concatenate([[0], np.cumsum(known)])[profiles.counts.indptr]
        parts = (profiles.counts.data[known].astype(np.int64), profiles.counts.indices[known], start)
        some = np.flatnonzero(np.diff(start) > 0)
        return csr_array(csr_array(parts, shape=profiles.counts.shape)[some]), user[some]

    def _vocabularies(self) -> tuple[Profiles, np.ndarray]:
        log = self.evidence.log
        if not self.sessions:
            return self.evidence.profiles, np.arange(len(log.users))
        sessions = cut_sessions(log, int(self.claim.values["gap"]))
        return build_profiles(sessions_as_users(log, sessions), self.evidence.knowledge.words), sessions.user

    def name(self, user: int) -> str:
        return repr(self.evidence.log.users[user])


def verify_vocabularies(claim: Claim, evidence: Evidence) -> Verdict:
    case = Case(claim, evidence)
    for check in (_k_users, _labels_can_be, _no_more_than_they_have, _the_rest, _bags_can_be_filled):
        verdict = check(case)
        if not verdict.holds:
            return verdict
    return verdict


def _k_users(case: Case) -> Verdict:
    members = np.bincount(case.shares[0], minlength=len(case.evidence.release))
    few = np.flatnonzero(members < case.k)
    if len(few):
        name = case.evidence.release.pseudonyms[int(few[0])]
        return broken(f"{name} is shared by the vocabularies of {members[few[0]]} users, fewer than k={case.k}")
    return HOLDS


def _labels_can_be(case: Case) -> Verdict:
    """Every label is a term or, where the claim allows it, stands for terms that are within epsilon."""
    release = case.evidence.release
    if np.any((release.weights.data <= 0) | (release.weights.data % 1 != 0)):
        return broken("a published weight is no number of bags")
    empty = np.flatnonzero(np.diff(release.weights.indptr) == 0)
    if len(empty):
        return broken(
            f"{release.pseudonyms[int(empty[0])]} is empty: its users are left with nothing, but not counted so"
        )
    for label, general in zip(release.labels, release.generalized.tolist(), strict=True):
        parts = bag_members(label) if case.naming.typical == "bags" else [label]
        wrong = _no_label(case.naming, label, parts)
        if wrong:
            return broken(f"{label!r} is published, but {wrong}")
        if general != (label not in case.naming.number):
            return broken(f"{label!r} is {'' if general else 'not '}flagged as generalized")
    return HOLDS


def _no_label(naming: Naming, label: str, parts: list[str]) -> str:
    """What is wrong with a label, if anything."""
    term = naming.number
    if naming.typical == "generalize" and label not in term:
        node = naming.taxonomy.node.get(label.lower())
        known = node is not None and not naming.taxonomy.is_leaf[node] and naming.taxonomy.labels[node] == label
        return "" if known else "it is no term that was typed and no kind of terms"
    if any(part not in term for part in parts):
        return "it is no term that was typed"
    if naming.typical == "bags" and label != bag_label(parts):
        return "the terms of a bag stand in the order of the alphabet, each once"
    for a, b in combinations(parts, 2):
        if naming.distance(term[a], term[b]) > naming.epsilon:
            return f"{a!r} and {b!r} are {naming.distance(term[a], term[b])} edges apart"
    return ""


def _no_more_than_they_have(case: Case) -> Verdict:
    users = len(case.evidence.log.users)
    shared = np.bincount(case.shares[1], minlength=users)
    own = np.bincount(case.own[1], minlength=users)
    more = np.flatnonzero(shared > own)
    if len(more):
        some = f"has {own[more[0]]} vocabularies, but {shared[more[0]]} published ones"
        return broken(f"user {case.name(int(more[0]))} {some}")
    without = np.flatnonzero((own > 0) & (shared == 0))
    if not case.sessions and 0 < len(without) < case.k:
        alone = f"has a vocabulary and shares none, as do {len(without) - 1} others: fewer than k={case.k} in all"
        return broken(f"user {case.name(int(without[0]))} {alone}")
    return HOLDS


def _the_rest(case: Case) -> Verdict:
    """What no published occurrence represents is counted as suppressed, no more and no less."""
    bags = np.asarray(case.evidence.release.weights.sum(axis=1)).ravel()
    represented = int(bags[case.shares[0]].sum())
    typed = int(case.evidence.profiles.occurrences.sum())
    return verify_left_out(typed - represented, f"of {typed} are not represented", case.evidence)


def _bags_can_be_filled(case: Case) -> Verdict:
    members = _members(case)
    if isinstance(members, Verdict):
        return members
    fitting = _fitting(case, case.shares[0], np.arange(len(case.shares[0])), members)
    short = np.flatnonzero(~fitting.enough())
    if len(short):
        return _cannot_supply(case, int(short[0]))
    left_open = 0
    for row in fitting.rows_to_search().tolist():
        filled = _fills(case, fitting, row)
        if isinstance(filled, Verdict):
            return filled
        left_open += not filled
    return Verdict(True, sentence=_left_open(left_open, len(case.evidence.release)))


def _members(case: Case) -> csr_array | Verdict:
    """The vocabulary of each share of a published one; of several sessions, all together that can fill its bags."""
    own, owner = case.own
    row, user = case.shares
    first = np.searchsorted(owner, user)
    several = np.searchsorted(owner, user, side="right") - first
    if (several == 1).all():
        return csr_array(own[first])
    from scipy.sparse.csgraph import maximum_bipartite_matching  # loads half of scipy: no start waits for it

    share = np.repeat(np.arange(len(user)), several)
    vocabulary = np.arange(len(share)) - np.repeat(np.cumsum(several) - several - first, several)
    able = _able(_fitting(case, row[share], vocabulary, own))
    choices = np.ones(int(able.sum()), dtype=np.int64), (share[able], vocabulary[able])
    sessions = csr_array(choices, shape=(len(row), own.shape[0]))
    without = np.flatnonzero(maximum_bipartite_matching(sessions, perm_type="column") < 0)
    if len(without):
        return _cannot_supply(case, int(without[0]))
    return csr_array(sessions @ own)


def _fitting(case: Case, row: np.ndarray, vocabulary: np.ndarray, typed: csr_array) -> Fitting:
    release = case.evidence.release
    return find_fitting(case.naming, release.labels, release.weights, row, vocabulary, typed)


def _able(fitting: Fitting) -> np.ndarray:
    """Per member: whether it can give each published occurrence one of its own."""
    able = fitting.enough()
    for m in np.flatnonzero(able & fitting.contested).tolist():
        able[m] = fitting.supplies(m)
    return able


def _cannot_supply(case: Case, share: int) -> Verdict:
    row, user = (int(column[share]) for column in case.shares)
    pseudonym = case.evidence.release.pseudonyms[row]
    return broken(f"user {case.name(user)} cannot supply an occurrence for every one of {pseudonym}, which they share")


def _fills(case: Case, fitting: Fitting, row: int) -> bool | Verdict:
    """Whether the members of a row can fill its bags for sure; what shows that they cannot; False where it is open."""
    pseudonym, members = case.evidence.release.pseudonyms[row], fitting.members(row)
    competing = bool(fitting.contested[members.start : members.stop].any())
    wanted = fitting.wanted(row, every=competing)
    for most in MOST_BAGS:
        bags = [find_bags(case.naming, some, most) for some in wanted]
        for some, found in zip(wanted, bags, strict=True):
            if found.all and not found.of:
                return broken(f"{pseudonym} publishes {some.label!r}, but no bag of its members' terms is called so")
        if all(found.of for found in bags):
            filled = can_fill(wanted, bags, fitting.counts(row)) if competing else True
            if filled is False:
                return broken(f"no choice of terms of the members of {pseudonym} fills all its bags at once")
            if filled:
                return True
    short = [m for m in members if not fitting.supplies(m)]
    return _cannot_supply(case, short[0]) if short else False


def _left_open(open_ones: int, published: int) -> str:
    if not open_ones:
        return ""
    which = f"For {open_ones} of the {published} vocabularies the bags are too many to look for"
    return f"{which}: there it was checked that each member alone has a word for each of them."


def _of_users(values: Values) -> str:
    stands = {
        "vote": "each word in it is the most central of a bag",
        "bags": "each entry of it is a bag",
        "generalize": "each word in it is the lowest common ancestor of a bag",
    }
    which = f"{stands[str(values['typical'])]} with one word of each of them, at most {values['epsilon']} edges apart"
    return f"Every vocabulary is shared by at least {values['k']} users, and {which}."


def _of_sessions(values: Values) -> str:
    stands = {
        "vote": "each word in it is in a bag",
        "bags": "each entry of it covers a bag",
        "generalize": "each word in it is above a bag",
    }
    which = (
        f"{stands[str(values['typical'])]} with one word of each of those users, whichever of their sessions it is of"
    )
    return (
        f"Every vocabulary is shared by sessions of at least {values['k']} users, where {values['gap']} minutes of "
        f"silence end a session, and {which}, at most {values['epsilon']} edges apart."
    )


_VALUES: dict[str, Range[Value]] = {
    "k": AT_LEAST_TWO,
    "epsilon": whole_number(0, 12),
    "typical": one_of("vote", "bags", "generalize"),
}

VERIFIERS = (
    Verifier(
        "vocabulary-k-anonymity",
        "user",
        verify_vocabularies,
        _of_users,
        _VALUES,
    ),
    Verifier(
        "session-vocabulary-k-anonymity",
        "session",
        verify_vocabularies,
        _of_sessions,
        {**_VALUES, "gap": whole_number(1, 10**6)},
    ),
)
