"""Is each published log the centroid log of its k members? Its queries must be theirs, each giving its quota."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import QUERIES, Claim, ReleasedQueries
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import (
    verify_at_least_k,
    verify_left_out,
    verify_nothing_generalized,
    verify_weights,
)
from shoal.anonymizer.claims.queries import TypedQueries, typed_queries
from shoal.anonymizer.claims.transport import FEASIBLE, Transport
from shoal.anonymizer.parameters import AT_LEAST_TWO
from shoal.corpus.profiles import query_term_counts

NOBODY = -1


@dataclass(frozen=True, eq=False)
class _Members:
    """Which centroid log each user of the log shares, and what they typed that can be in it."""

    profile: np.ndarray  # of each user of the log, NOBODY for one who shares none
    members: np.ndarray  # how many users share each log
    typed: TypedQueries
    terms: list[str]
    text_terms: csr_array  # texts x terms
    user: np.ndarray  # of each pair of a member and a text with a term that the member typed
    text: np.ndarray
    times: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """|Q| of each user of the log: the events that hold a term."""
        return np.bincount(self.user, weights=self.times, minlength=len(self.profile)).astype(np.int64)

    @property
    def total(self) -> np.ndarray:
        """The sum of |Q| over the members of each log."""
        part = self.profile[self.user]
        return np.bincount(part, weights=self.times, minlength=len(self.members)).astype(np.int64)


def verify_user_k_anonymity(claim: Claim, evidence: Evidence) -> Verdict:
    """What the sentence says, and that profiles and counts are those of the published logs."""
    few = verify_at_least_k(int(claim.values["k"]), evidence)
    rows = evidence.release.queries
    if not few.holds or rows is None:
        return few if rows is not None else broken("no queries are published, but the claim is about query logs")
    asked = _members(evidence)
    code = asked.typed.numbers(rows.query)
    for verdict in (
        _verify_rows(evidence, rows),
        _verify_typed(evidence, rows, asked, code),
        _verify_sizes(evidence, rows, asked),
    ):
        if not verdict.holds:
            return verdict
    listed = _listed(rows, asked, code)
    for check in (_verify_first_ones, _verify_quotas, _verify_suppressed):
        verdict = check(evidence, rows, asked, listed)
        if not verdict.holds:
            return verdict
    return _verify_profiles(evidence, rows, asked, code)


def _members(evidence: Evidence) -> _Members:
    log, assignment, typed = evidence.log, evidence.assignment, typed_queries(evidence.log)
    profile = np.full(len(log.users), NOBODY, dtype=np.int64)
    profile[assignment.rows_for(log.users)] = assignment.profile
    terms, counts = query_term_counts(log, evidence.knowledge.words)
    text_terms = csr_array(counts[typed.source])
    pairs = typed.times.tocoo()
    kept = (profile[pairs.row] != NOBODY) & (np.diff(text_terms.indptr) > 0)[pairs.col]
    user, text, times = pairs.row[kept], pairs.col[kept], pairs.data[kept]
    return _Members(profile, evidence.release.users, typed, terms, text_terms, user, text, times)


def _verify_rows(evidence: Evidence, rows: ReleasedQueries) -> Verdict:
    """No query stands twice or never in a log, and its degree is the number of members who share the log."""
    names, sharing = evidence.release.pseudonyms, evidence.release.users[rows.pseudonym]
    order = np.lexsort((rows.query.rank("dense").to_numpy(), rows.pseudonym))
    same = (np.diff(rows.pseudonym[order]) == 0) & (
        rows.query.gather(order[1:]) == rows.query.gather(order[:-1])
    ).to_numpy()
    twice = np.zeros(len(order), dtype=bool)
    twice[order[1:]] = same
    for wrong, what in (
        (rows.count < 1, "less than once"),
        (twice, "twice"),
        (rows.degree != sharing, "with another degree than the number of its members"),
    ):
        if wrong.any():
            row = int(wrong.argmax())
            return broken(f"{names[rows.pseudonym[row]]} lists {rows.query[row]!r} {what}")
    return HOLDS


def _verify_typed(evidence: Evidence, rows: ReleasedQueries, asked: _Members, code: np.ndarray) -> Verdict:
    """Every member typed a query with a term, and every published query holds one."""
    hollow = np.flatnonzero((asked.profile != NOBODY) & (asked.size == 0))
    if len(hollow):
        return broken(f"user {evidence.log.users[int(hollow[0])]!r} shares a log, but typed no query with a term")
    held = np.append(np.diff(asked.text_terms.indptr) > 0, False)  # the last is for what nobody typed
    wrong = np.flatnonzero(~held[code])
    if len(wrong) == 0:
        return HOLDS
    row = int(wrong[0])
    why = "nobody typed it" if code[row] < 0 else "it holds no term"
    return broken(f"{evidence.release.pseudonyms[rows.pseudonym[row]]} lists {rows.query[row]!r}, but {why}")


def _verify_sizes(evidence: Evidence, rows: ReleasedQueries, asked: _Members) -> Verdict:
    """The size of a log is the mean of its members' (half rounds up)."""
    members = np.maximum(asked.members, 1)
    mean = (2 * asked.total + members) // (2 * members)
    found = np.bincount(rows.pseudonym, weights=rows.count, minlength=len(mean))
    wrong = np.flatnonzero(found != mean)
    if len(wrong) == 0:
        return HOLDS
    row = int(wrong[0])
    name = evidence.release.pseudonyms[row]
    return broken(f"{name} holds {found[row]:.0f} queries, but its members typed {mean[row]} on average")


def _listed(rows: ReleasedQueries, asked: _Members, code: np.ndarray) -> np.ndarray:
    """For each pair of a member and a text, the row that lists it in the member's log, or NOBODY."""
    keys = rows.pseudonym * np.int64(len(asked.typed.texts)) + code
    wanted = asked.profile[asked.user] * np.int64(len(asked.typed.texts)) + asked.text
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)] if len(keys) else wanted
    return np.where(keys[place] == wanted, place, NOBODY) if len(keys) else np.full(len(wanted), NOBODY)


def _verify_first_ones(evidence: Evidence, rows: ReleasedQueries, asked: _Members, listed: np.ndarray) -> Verdict:
    """What a member repeated so often that Algorithm 5 cannot pass it over is there."""
    missing = np.flatnonzero((listed == NOBODY) & (_bounds(asked).low > 0))
    if len(missing) == 0:
        return HOLDS
    pair = int(missing[0])
    name = evidence.release.pseudonyms[asked.profile[asked.user[pair]]]
    query = asked.typed.texts[int(asked.text[pair])]
    return broken(f"{name} does not list {query!r}, which a member typed {asked.times[pair]} times, before others")


def _verify_quotas(evidence: Evidence, rows: ReleasedQueries, asked: _Members, listed: np.ndarray) -> Verdict:
    """One assignment of all published queries to the members gives each of them its quota, in order."""
    names, bounds, there = evidence.release.pseudonyms, _bounds(asked), np.flatnonzero(listed != NOBODY)
    sharing = np.flatnonzero(asked.profile != NOBODY)
    giver = np.searchsorted(sharing, asked.user[there])
    part = Transport(
        asked.profile[sharing], bounds.least[sharing], bounds.most[sharing], rows.pseudonym, rows.count,
        giver, listed[there], bounds.low[there], bounds.high[there],
    ).impossible_part()  # fmt: skip
    if part == FEASIBLE:
        return HOLDS
    return broken(
        f"{names[part]} holds queries that cannot be shared out among its {asked.members[part]} members so that each "
        "gives its quota, none more often than they typed it, and those they repeated most first"
    )


@dataclass(frozen=True, eq=False)
class _Bounds:
    low: np.ndarray  # of each pair: how often the text enters the log from the member
    high: np.ndarray
    least: np.ndarray  # of each user: how many queries are theirs
    most: np.ndarray


def _bounds(asked: _Members) -> _Bounds:
    """How often each text can enter the log from each member, and how many of the log are of each.

    Algorithm 5 takes the texts of a member by repetitions, x = Contrib * repetitions of each, rounded down or up,
    until the quota |Q| / members, rounded down or up, is reached. So a text enters rounded down at least, unless others
    that are repeated as often take the quota before; and not at all if those that are repeated more often must fill
    it. If all together fall short of the quota, the list is walked again, and a text enters up to its repetitions.
    """
    size, members = asked.size, np.ones(len(asked.profile), dtype=np.int64)
    shares = asked.profile != NOBODY
    members[shares] = asked.members[asked.profile[shares]]
    least, most = size // members, -(-size // members)
    x = size[asked.user] * asked.times
    total = asked.total[asked.profile[asked.user]]
    whole, upper = x // total, -(-x // total)
    more, as_often = _before(asked.user, asked.times, whole, upper)
    low = np.clip(least[asked.user] - (as_often - upper), 0, whole)
    again = np.bincount(asked.user, weights=whole, minlength=len(size)) < most
    room = np.maximum(most[asked.user] - more, 0)
    return _Bounds(low, np.minimum(np.where(again[asked.user], asked.times, upper), room), least, most)


def _before(user: np.ndarray, times: np.ndarray, whole: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each text of a user: `whole` of all repeated more often, and `upper` of all repeated at least as often."""
    order = np.lexsort((-times, user))
    new_user = np.diff(user[order], prepend=-1) != 0
    new = new_user | (np.diff(times[order], prepend=-1) != 0)
    first = np.flatnonzero(new)[np.cumsum(new) - 1]  # of those repeated as often
    last = np.append(np.flatnonzero(new)[1:], len(order))[np.cumsum(new) - 1]
    start = np.flatnonzero(new_user)[np.cumsum(new_user) - 1]
    wholes, uppers = (np.concatenate([[0], np.cumsum(values[order])]) for values in (whole, upper))
    more, as_often = np.empty_like(whole), np.empty_like(upper)
    more[order], as_often[order] = wholes[first] - wholes[start], uppers[last] - uppers[start]
    return more, as_often


def _verify_suppressed(evidence: Evidence, rows: ReleasedQueries, asked: _Members, listed: np.ndarray) -> Verdict:
    """Suppressed is every event whose query is not in the log that its user shares."""
    left_out = len(evidence.log) - int(asked.times[listed != NOBODY].sum())
    return verify_left_out(left_out, "events have a query that is not in the log that their user shares", evidence)


def _verify_profiles(evidence: Evidence, rows: ReleasedQueries, asked: _Members, code: np.ndarray) -> Verdict:
    """The profile of a log holds the terms of its queries, as often as they stand there."""
    release, shape = evidence.release, (len(evidence.release), len(asked.typed.texts))
    plain = verify_nothing_generalized(release)
    logs = csr_array((rows.count, (rows.pseudonym, code)), shape=shape)
    expected = csr_array(logs @ asked.text_terms)
    return verify_weights(release, expected, asked.terms, "its queries") if plain.holds else plain


def _sentence(values: Values) -> str:
    return (
        f"Every published log is shared by at least {values['k']} users and has their mean size; one assignment gives "
        "all its queries to users who typed them, to each the quota that the size of their log asks for, those they "
        "repeated most first."
    )


VERIFIERS = (
    Verifier("user-k-anonymity", "user", verify_user_k_anonymity, _sentence, {"k": AT_LEAST_TWO}, files=(QUERIES,)),
)
