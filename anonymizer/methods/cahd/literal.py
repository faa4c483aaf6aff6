"""How does the thesis say it? Algorithm 2.2 line by line, over sets, with no shortcut."""

from collections import Counter
from collections.abc import Sequence

Terms = frozenset[str]


def cahd(order: Sequence[int], public: Sequence[Terms], private: Sequence[Terms], p: int, alpha: int) -> list[set[int]]:
    """The groups of the users in this order, the last one of all who remain (it may be empty)."""
    T = list(order)
    H = Counter(s for t in T for s in private[t])  # line 1
    remaining = len(T)  # line 2
    groups: list[set[int]] = []
    for t in [t for t in order if private[t]]:  # lines 3 and 4
        if t not in T:
            continue
        G = _closest(t, T, public, private, p, alpha * p)  # lines 5 and 6
        H.subtract(s for u in G for s in private[u])  # line 7
        left = remaining - len(G)
        if len(G) == p and not any(times * p > left for times in H.values()):  # line 8, with those left after G
            remaining = left  # line 9
            T = [u for u in T if u not in G]
            groups.append(set(G))
        else:
            H.update(s for u in G for s in private[u])  # line 11
    return [*groups, set(T)]  # line 13


def _closest(
    t: int, T: Sequence[int], public: Sequence[Terms], private: Sequence[Terms], p: int, reach: int
) -> list[int]:
    here = T.index(t)
    near = [(u, abs(i - here), i > here) for i, u in enumerate(T) if 0 < abs(i - here) <= reach]
    near.sort(key=lambda one: (-len(public[one[0]] & public[t]), one[1], one[2]))
    G = [t]
    for u, _, _ in near:
        if len(G) < p and not any(private[u] & private[member] for member in G):
            G.append(u)
    return G
