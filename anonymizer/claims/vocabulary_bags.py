"""Can the members of a group fill the bags behind a published vocabulary? (Liu & Wang 2010, section IV-B.)

A bag holds one term of each member, all within epsilon of each other, and bears one label: its medoid (`vote`), all its
terms (`bags`) or their lowest common ancestor (`generalize`). Whether some choice of terms fills all bags at once is
decided by a program in whole numbers; where that is too large, it is left open.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.knowledge.taxonomy import Taxonomy, bag_label

MOST_BAGS = (32, 1000)  # different ones that are followed for one label: mostly a few are enough
FIRST_BAGS = (4, 32, 128, 400)  # how many of them are tried first in a program
MOST_COLUMNS = 20_000  # of a program in whole numbers
MOST_NODES = 1000  # of the search for its solution

Bag = tuple[int, ...]  # terms in ascending order, one of each member


@dataclass(frozen=True, eq=False)
class Naming:
    """The terms of a log, how far they are apart in the taxonomy, and what a bag of them is called."""

    taxonomy: Taxonomy
    epsilon: int
    typical: str
    terms: Sequence[str]
    leaf: np.ndarray  # of each term
    users: np.ndarray  # of each term, in the whole log
    all_members: bool = True  # no bag holds terms of more vocabularies than are known to share it
    _paths: dict[int, frozenset[int]] = field(default_factory=dict)
    _edges: dict[tuple[int, int], int] = field(default_factory=dict)

    @cached_property
    def number(self) -> dict[str, int]:
        """The place of each term that the taxonomy knows."""
        return {term: i for i, term in enumerate(self.terms) if self.leaf[i] >= 0}

    def path(self, term: int) -> frozenset[int]:
        if term not in self._paths:
            self._paths[term] = frozenset(self.taxonomy.path(int(self.leaf[term])))
        return self._paths[term]

    def distance(self, a: int, b: int) -> int:
        if (a, b) not in self._edges:
            self._edges[a, b] = len(self.path(a) ^ self.path(b))
        return self._edges[a, b]

    def label(self, bag: Bag) -> str:
        if self.typical == "vote":
            return self.terms[self.medoid(bag)]
        if self.typical == "bags":
            return bag_label(self.terms[i] for i in bag)
        if len(set(bag)) == 1:
            return self.terms[bag[0]]
        shared = frozenset.intersection(*map(self.path, bag))
        return self.taxonomy.labels[max(shared)]  # in depth-first order the deepest of a path comes last

    def bears(self, bag: Bag, wanted: "Wanted") -> bool:
        """Whether a bag is called so or, where it may hold more terms of the same members, whether it could be."""
        if self.all_members:
            return self.label(bag) == wanted.label
        if self.typical == "vote":
            return self.number[wanted.label] in bag
        terms = sorted({i for some in wanted.fitting for i in some})
        if self.typical == "bags":
            return bag_label(self.terms[i] for i in terms) == wanted.label
        pairs = combinations_with_replacement(terms, 2)
        return any(self.distance(*pair) <= self.epsilon and self.label(pair) == wanted.label for pair in pairs)

    def unlikely(self, bag: Bag, label: str) -> int:
        """Least of the bags that hold a label most often or, where it is no term, hold most different terms."""
        return -(bag.count(self.number[label]) if self.typical == "vote" else len(set(bag)))

    def medoid(self, bag: Bag) -> int:
        """The term closest to all; of several, that of most users of the whole log, then the first of the alphabet."""
        total = self.totals(bag)
        return min(total, key=lambda i: (total[i], -self.users[i], self.terms[i]))

    def spread(self, bag: Bag) -> int:
        return min(self.totals(bag).values())

    def totals(self, bag: Bag) -> dict[int, int]:
        """For each term of a bag, the sum of its distances to all."""
        times = Counter(bag)
        return {i: sum(n * self.distance(i, j) for j, n in times.items()) for i in times}


@dataclass(frozen=True)
class Wanted:
    """A published label, how many bags bear it, and which terms of each member may be in them."""

    label: str
    copies: int
    fitting: list[list[int]]


@dataclass(frozen=True, eq=False)
class Bags:
    """The bags that bear a label, the tightest first: all of them, or only the likeliest."""

    of: list[Bag]
    all: bool


def find_bags(naming: Naming, wanted: Wanted, most: int) -> Bags:
    """Member after member, each bag so far with each term that fits it; no more than the likeliest are followed."""
    terms = {i for some in wanted.fitting for i in some}
    near = {i: frozenset(j for j in terms if naming.distance(i, j) <= naming.epsilon) for i in terms}
    found: dict[Bag, frozenset[int]] = {(): frozenset(terms)}  # and what fits each bag
    complete = True
    for some in sorted(wanted.fitting, key=len):
        found = {
            tuple(sorted((*bag, i))): fits & near[i] for bag, fits in found.items() for i in fits.intersection(some)
        }
        if len(found) > most:
            likeliest = sorted(found, key=lambda bag: (naming.unlikely(bag, wanted.label), bag))[:most]
            found, complete = {bag: found[bag] for bag in likeliest}, False
    bags = [bag for bag in found if naming.bears(bag, wanted)]
    return Bags(sorted(bags, key=lambda bag: (naming.spread(bag), bag)), complete)


def can_fill(wanted: Sequence[Wanted], bags: Sequence[Bags], typed: dict[tuple[int, int], int]) -> bool | None:
    """Whether all bags can be filled at once, where typed[member, term] occurrences are there; None if left open."""
    found = [
        _can_fill_competing([wanted[x] for x in some], [bags[x] for x in some], typed)
        for some in _competing(wanted, bags, typed)
    ]
    return False if False in found else None if None in found else True


def _competing(wanted: Sequence[Wanted], bags: Sequence[Bags], typed: dict[tuple[int, int], int]) -> list[list[int]]:
    """Labels whose bags may want more occurrences than there are, put together where they want the same."""
    wanting: dict[tuple[int, int], list[int]] = {}
    for x, (some, found) in enumerate(zip(wanted, bags, strict=True)):
        useful = {i for bag in found.of for i in bag}
        for m, terms in enumerate(some.fitting):
            for i in useful.intersection(terms):
                wanting.setdefault((m, i), []).append(x)
    scarce = [labels for pair, labels in wanting.items() if sum(wanted[x].copies for x in labels) > typed[pair]]
    edges = np.array([(labels[0], x) for labels in scarce for x in labels], dtype=np.int64).reshape(-1, 2).T
    graph = csr_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(len(wanted), len(wanted)))
    from scipy.sparse.csgraph import connected_components  # loads half of scipy: no start waits for it

    component = connected_components(graph, directed=False)[1]
    return [np.flatnonzero(component == c).tolist() for c in np.unique(component[edges[1]])]


def _can_fill_competing(
    wanted: Sequence[Wanted], bags: Sequence[Bags], typed: dict[tuple[int, int], int]
) -> bool | None:
    if _can_deal_out(wanted, bags, dict(typed)):
        return True
    found = None
    for most in (*FIRST_BAGS, MOST_BAGS[-1]):
        found = Program(wanted, [_varied(some.of, most) for some in bags], typed).solve()
        if found or all(len(some.of) <= most for some in bags):
            break
    return found if found or all(some.all for some in bags) else None


def _can_deal_out(wanted: Sequence[Wanted], bags: Sequence[Bags], left: dict[tuple[int, int], int]) -> bool:
    """Whether all are filled when each label, those of the fewest bags first, takes the tightest bag that is left."""
    for some, found in sorted(zip(wanted, bags, strict=True), key=lambda pair: len(pair[1].of)):
        for _ in range(some.copies):
            given = next((given for bag in found.of if (given := _giving(some, bag, left))), None)
            if given is None:
                return False
            for pair in given:
                left[pair] -= 1
    return True


def _giving(wanted: Wanted, bag: Bag, left: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Who gives which term to a bag, first come, first served; nothing if somebody cannot."""
    needed = Counter(bag)
    able = [[i for i in terms if i in needed and left[m, i] > 0] for m, terms in enumerate(wanted.fitting)]
    given = []
    for m in sorted(range(len(able)), key=lambda m: len(able[m])):
        term = next((i for i in able[m] if needed[i] > 0), None)
        if term is None:
            return []
        needed[term] -= 1
        given.append((m, term))
    return given


def _varied(bags: Sequence[Bag], most: int) -> list[Bag]:
    """The tightest bags that use terms which the ones before use least: there are not enough of what all would want."""
    if len(bags) <= most:
        return list(bags)
    used: Counter[int] = Counter()
    left = dict.fromkeys(bags)
    chosen: list[Bag] = []
    while len(chosen) < most:
        bag = min(left, key=lambda bag: sum(used[i] for i in set(bag)))
        chosen.append(bag)
        used.update(set(bag))
        del left[bag]
    return chosen


class Program:
    """Whole numbers: how often each bag is used, and how often each member gives each term to it.

    If every member gives as many terms to a bag as it is used, and every term of the bag is given as often as its
    copies are, then the terms can be dealt out so that each use has one of each member (a regular bipartite graph is
    a sum of perfect matchings). So nothing needs to be said of who gives what to which use.
    """

    def __init__(
        self, wanted: Sequence[Wanted], bags: Sequence[Sequence[Bag]], typed: dict[tuple[int, int], int]
    ) -> None:
        self._entries: list[tuple[int, int, int]] = []  # row, column, factor
        self._low: list[int] = []  # of each row
        self._high: list[int] = []
        self._most: list[int] = []  # of each column
        self._typed = typed
        pairs = {(m, i) for some in wanted for m, terms in enumerate(some.fitting) for i in terms}
        self._given = {pair: self._row(0, typed[pair]) for pair in sorted(pairs)}
        for some, found in zip(wanted, bags, strict=True):
            published = self._row(some.copies, some.copies)
            for bag in found:
                self._use(some, bag, published)

    def solve(self) -> bool | None:
        """Whether there is a solution; None if it is too large, or its search was cut short."""
        if len(self._most) > MOST_COLUMNS:
            return None
        from scipy.optimize import Bounds, LinearConstraint, milp  # 0.3 s to load, and seldom needed

        row, column, factor = np.array(self._entries).T
        matrix = csr_array((factor, (row, column)), shape=(len(self._low), len(self._most)))
        found = milp(
            np.zeros(len(self._most)),
            constraints=LinearConstraint(matrix, self._low, self._high),
            integrality=np.ones(len(self._most)),
            bounds=Bounds(0, self._most),
            options={"node_limit": MOST_NODES},
        )
        return {0: True, 2: False}.get(found.status)

    def _use(self, wanted: Wanted, bag: Bag, published: int) -> None:
        used = self._column(wanted.copies)
        self._entries.append((published, used, 1))
        of_term = {i: self._row(0, 0) for i in set(bag)}
        self._entries += [(row, used, -bag.count(i)) for i, row in of_term.items()]
        for m, terms in enumerate(wanted.fitting):
            of_member = self._row(0, 0)
            self._entries.append((of_member, used, -1))
            for i in of_term.keys() & terms:
                column = self._column(min(wanted.copies, self._typed[m, i]))
                self._entries += [(of_member, column, 1), (of_term[i], column, 1), (self._given[m, i], column, 1)]

    def _row(self, low: int, high: int) -> int:
        self._low.append(low)
        self._high.append(high)
        return len(self._low) - 1

    def _column(self, most: int) -> int:
        self._most.append(most)
        return len(self._most) - 1
