"""How does the paper say it? SuppressControl and TDControl over sets, every rule counted anew, with no shortcut."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Items = frozenset[str]
Rule = tuple[Items, str]


def sure_rules(D: Sequence[Items], private: Items, rho: Fraction, size: int) -> list[Rule]:
    """The rules q -> e with so many items in q and a confidence above rho."""
    sets = {frozenset(q) for t in D if t & private for q in combinations(sorted(t), size)}
    return [(q, e) for q in sorted(sets, key=sorted) for e in sorted(private - q) if confidence(D, q, e) > rho]


def confidence(D: Sequence[Items], q: Items, e: str) -> Fraction:
    holders = [t for t in D if q <= t]
    return Fraction(sum(e in t for t in holders), len(holders))


def sure_closed_rules(D: Sequence[Items], private: Items, rho: Fraction) -> list[Rule]:
    """The same of any size, where q and e together are all that some rows have in common."""
    parts = {frozenset(part) for t in D for size in range(2, len(t) + 1) for part in combinations(sorted(t), size)}
    closed = [z for z in parts if frozenset.intersection(*(t for t in D if z <= t)) == z]
    rules = [(z - {e}, e) for z in sorted(closed, key=sorted) for e in sorted(z & private)]
    return [(q, e) for q, e in rules if confidence(D, q, e) > rho]


def suppress_control(
    D: Sequence[Items], private: Items, rho: Fraction, antecedent: int | None, place: Callable[[str], object] = str
) -> set[str]:
    """The suppressed items; `place` is the order in which equals are taken."""
    gone: set[str] = set()
    for size in range(1, (antecedent or 2) + 1):
        gone |= _break(sure_rules(without(D, gone), private, rho, size), D, place)
    while antecedent is None and (rules := sure_closed_rules(without(D, gone), private, rho)):
        gone |= _break(rules, D, place)
    return gone


def without(D: Sequence[Items], gone: set[str]) -> list[Items]:
    return [t - gone for t in D]


def _break(rules: list[Rule], D: Sequence[Items], place: Callable[[str], object]) -> set[str]:
    chosen: set[str] = set()
    while left := [q | {e} for q, e in rules if not chosen & (q | {e})]:
        items = sorted({item for z in left for item in z}, key=lambda item: (place(item), item))
        chosen.add(max(items, key=lambda i: Fraction(sum(i in z for z in left), sum(i in t for t in D))))
    return chosen


def td_control(
    D: Sequence[Items],
    private: Items,
    rho: Fraction,
    antecedent: int | None,
    tree: Mapping[str, Sequence[str]],
    root: str,
) -> list[Items]:
    """The rows that are left; `tree` gives the children of each inner node, in order; all terms are leaves of it."""
    leaves = {v: _leaves(v, tree) for v in [root, *(w for below in tree.values() for w in below)]}
    order = _depth_first(root, tree)
    held = {term: sum(term in t for t in D) for t in D for term in t}

    def safe(at: Mapping[str, str | None]) -> dict[str, str | None]:
        secrets = frozenset(term for term in private if at.get(term) is not None)
        rows = _rows(D, at)
        gone = suppress_control(rows, secrets, rho, antecedent, lambda i: i if i in private else f" {order.index(i):9}")
        return {term: None if v in gone else v for term, v in at.items()}

    def cost(at: Mapping[str, str | None]) -> int:
        lost = {term: len(leaves[root if v is None else v]) - 1 for term, v in at.items()}
        return sum(lost[term] * held[term] for term in at)

    at = safe({term: term if term in private else root for term in held})
    final: set[str] = set()
    while waiting := [v for v in order if v in tree and v not in final and v in at.values()]:
        v = max(waiting, key=lambda v: sum(held[term] for term in at if at[term] == v) * (len(leaves[v]) - 1))
        child = {term: next(c for c in tree[v] if term in leaves[c]) for term in at if at[term] == v}
        split = safe({**at, **child})
        fewer = list(split.values()).count(None) > list(at.values()).count(None)
        if cost(split) < cost(at) or (cost(split) == cost(at) and not fewer):
            at = split
        else:
            final.add(v)
    return _rows(D, at)


def _rows(D: Sequence[Items], at: Mapping[str, str | None]) -> list[Items]:
    return [frozenset(v for term in t if (v := at[term]) is not None) for t in D]


def _leaves(v: str, tree: Mapping[str, Sequence[str]]) -> set[str]:
    return set().union(*(_leaves(child, tree) for child in tree[v])) if v in tree else {v}


def _depth_first(v: str, tree: Mapping[str, Sequence[str]]) -> list[str]:
    return [v, *(w for child in tree.get(v, ()) for w in _depth_first(child, tree))]
