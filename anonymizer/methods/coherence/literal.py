"""How does the thesis say it? Definition 2.3.1 and Algorithm 2.1 line by line, over sets, with no shortcut."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Terms = frozenset[str]


def is_mole(beta: Terms, D: Sequence[Terms], private: Terms, h: Fraction, k: int) -> bool:
    """Definition 2.3.1: Sup(beta) > 0, and Sup(beta) < k or P_breach(beta) > h."""
    holders = [t for t in D if beta <= t]
    if not holders:
        return False
    breach = max((Fraction(sum(e in t for t in holders), len(holders)) for e in private), default=Fraction(0))
    return len(holders) < k or breach > h


def minimal_moles(D: Sequence[Terms], private: Terms, h: Fraction, k: int, p: int) -> set[Terms]:
    """The moles of at most p public terms that hold no smaller one."""
    public = sorted({term for t in D for term in t} - private)
    found: set[Terms] = set()
    for size in range(1, p + 1):
        for beta in map(frozenset, combinations(public, size)):
            if not any(mole < beta for mole in found) and is_mole(beta, D, private, h, k):
                found.add(beta)
    return found


def coherence(D: Sequence[Terms], private: Terms, h: Fraction, k: int, p: int) -> list[Terms]:
    """The sets that are left of the users."""
    D = _without(D, {term for mole in minimal_moles(D, private, h, k, 1) for term in mole})  # line 1
    while moles := minimal_moles(D, private, h, k, p):  # line 2
        D = _without(D, {_most_telling(moles, D)})  # line 3
    return list(D)


def _without(D: Iterable[Terms], suppressed: set[str]) -> list[Terms]:
    return [t - suppressed for t in D]


def _most_telling(moles: set[Terms], D: Sequence[Terms]) -> str:
    """The term with the largest Score; the first of equals."""
    terms = sorted({term for mole in moles for term in mole})
    score = {e: Fraction(sum(e in mole for mole in moles), sum(e in t for t in D)) for e in terms}
    return max(terms, key=lambda e: score[e])
