"""How many users protect each query, at least? Cores of a graph grown around each query (Carpineto & Romano 3.4).

The graph of a query takes in its neighbours, the closest first and equally close ones in the order of their strings,
then theirs, and so on, until there are none left or it holds v_max queries. It is a part of the whole graph, so the
degree of the query in it is a lower bound of the exact one. Five facts save work, and change no degree:
- a component of at most v_max queries is the graph of each of its queries, and gives exact degrees;
- a degree is at least the users of the query's class and at most exact: where the two are equal nothing is grown;
- most other degrees are exact too, and whether one is takes one level of peeling to see;
- queries of one class have the same graph, unless the class alone has more than v_max queries;
- in a graph, a class has its first queries in the order of strings: all of them, but for those that came last.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.distinct_queries import DistinctQueries
from shoal.anonymizer.methods.affinity.concepts import AffinityClasses
from shoal.anonymizer.methods.affinity.pairs import AffinityGraph, cores_of_small_graph, cosine
from shoal.corpus.progress import Progress

_GRAPHS_AT_ONCE = 200
_PARTS = 20  # one such part of the graph, around the query, shows most exact degrees already
_DIGITS = 9  # cosines that agree so far are equally close


class _Near(NamedTuple):
    """The neighbours of every class, the closest first, and the queries of every class in the order of strings."""

    start: np.ndarray
    neighbour: np.ndarray
    cosine: np.ndarray  # rounded
    query_start: np.ndarray
    query: np.ndarray
    rank: np.ndarray  # of each of these queries among all strings


class _Users(NamedTuple):
    """Who asked each class, with room for those of classes that are in a graph in part, and who asked each query."""

    class_start: np.ndarray
    of_class: np.ndarray
    query_start: np.ndarray
    of_query: np.ndarray


class _Scratch(NamedTuple):
    """Room that all graphs share, so that a small one costs little."""

    members: np.ndarray  # the classes of the graph that grows now
    taken: np.ndarray  # how many queries of each are in it
    first: np.ndarray  # where the users of each stand
    last: np.ndarray
    local: np.ndarray  # the place of a class among the members, -1 for none
    seen_users: np.ndarray
    clock: np.ndarray  # tells which marks in seen_users are old


def degrees_in_grown_graphs(
    queries: DistinctQueries,
    classes: AffinityClasses,
    graph: AffinityGraph,
    exact: np.ndarray,
    v_max: int,
    progress: Progress,
) -> np.ndarray:
    """The degree in its own graph of every query that has a class; `exact` is the exact degree of every class."""
    near, users = _near(queries, classes, graph), _users(queries, classes, v_max)
    scratch = _scratch(queries, classes, v_max)
    size = np.diff(near.query_start)
    seeds = np.flatnonzero(
        (_queries_of_component(graph, size) > v_max) & (size <= v_max) & (exact > np.diff(classes.user_start))
    )
    degree = exact.copy()
    for begin in range(0, len(seeds), _GRAPHS_AT_ONCE):
        progress(begin, len(seeds), "growing graphs of affine queries")
        _grow_around(seeds[begin : begin + _GRAPHS_AT_ONCE], near, users, scratch, exact, degree)
    progress(len(seeds), len(seeds), "growing graphs of affine queries")
    of_query = np.zeros(len(queries), dtype=np.int64)
    of_query[near.query] = np.repeat(degree, size)
    for c in np.flatnonzero(size > v_max):
        own = near.query[near.query_start[c] : near.query_start[c + 1]]
        of_query[own] = _users_of_first(own, v_max, users, scratch)
    return of_query[classes.of_query >= 0]


def _near(queries: DistinctQueries, classes: AffinityClasses, graph: AffinityGraph) -> _Near:
    rank = queries.texts.rank("ordinal").to_numpy().astype(np.int64)
    query = np.lexsort((rank, classes.of_query))[(classes.of_query < 0).sum() :]
    query_start = np.searchsorted(classes.of_query[query], np.arange(len(classes) + 1))
    row = np.repeat(np.arange(len(classes)), np.diff(graph.start))
    close = np.round(_cosines(row, graph.neighbour, *classes.vectors), _DIGITS)
    first = rank[query[query_start[:-1]]]
    order = np.lexsort((first[graph.neighbour], -close, row))
    return _Near(graph.start, graph.neighbour[order], close[order], query_start, query, rank[query])


def _users(queries: DistinctQueries, classes: AffinityClasses, v_max: int) -> _Users:
    most = np.sort(queries.users)[-v_max:].sum()  # no graph of v_max queries needs more room
    room = np.zeros(most, dtype=classes.user.dtype)
    asked = queries.askers
    return _Users(classes.user_start, np.concatenate([classes.user, room]), asked.indptr, asked.indices)


def _scratch(queries: DistinctQueries, classes: AffinityClasses, v_max: int) -> _Scratch:
    members, taken, first, last = np.zeros((4, min(v_max, len(queries))), dtype=np.int64)
    local, seen_users = np.full(len(classes), -1), np.full(queries.asked.shape[0], -1)
    return _Scratch(members, taken, first, last, local, seen_users, np.zeros(1, dtype=np.int64))


def _queries_of_component(graph: AffinityGraph, size: np.ndarray) -> np.ndarray:
    """How many queries are in the component of each class."""
    from scipy.sparse.csgraph import connected_components  # loads half of scipy: no start waits for it

    ones = np.ones(len(graph.neighbour), dtype=np.int8)
    matrix = csr_array((ones, graph.neighbour, graph.start), shape=(len(size), len(size)))
    number, component = connected_components(matrix, directed=False)
    return np.bincount(component, weights=size, minlength=number)[component]


@njit(cache=True)
def _cosines(
    a: np.ndarray, b: np.ndarray, start: np.ndarray, concept: np.ndarray, square: np.ndarray, norm: np.ndarray
) -> np.ndarray:
    found = np.empty(len(a))
    for i in range(len(a)):
        found[i] = cosine(a[i], b[i], start, concept, square, norm)
    return found


@njit(cache=True)
def _grow_around(
    seeds: np.ndarray, near: _Near, users: _Users, scratch: _Scratch, exact: np.ndarray, degree: np.ndarray
) -> None:
    """Grow a graph around each seed, and note the degree of the seed in it: exact if it is so in a part already."""
    for seed in seeds:
        for v_max in (max(1, len(scratch.members) // _PARTS), len(scratch.members)):
            size = _grow(seed, v_max, near, scratch)
            start, neighbour = _edges_within(size, near, scratch)
            _find_users(size, near, users, scratch)
            could_stay = exact[scratch.members[:size]] >= exact[seed]
            for c in scratch.members[:size]:
                scratch.local[c] = -1
            if _first_stays(exact[seed], could_stay, start, neighbour, users, scratch):
                break
            if v_max == len(scratch.members):
                degree[seed] = _degree_of_first(size, start, neighbour, users, scratch)


@njit(cache=True)
def _degree_of_first(size: int, start: np.ndarray, neighbour: np.ndarray, users: _Users, scratch: _Scratch) -> int:
    first, last = scratch.first[:size], scratch.last[:size]
    cores, scratch.clock[0] = cores_of_small_graph(
        start, neighbour, first, last, users.of_class, scratch.seen_users, scratch.clock[0]
    )
    return int(cores[0])


@njit(cache=True)
def _first_stays(
    level: int, stays: np.ndarray, start: np.ndarray, neighbour: np.ndarray, users: _Users, scratch: _Scratch
) -> bool:
    """Whether the first member is in the core of this level; only those that stay can be."""
    doubtful = stays.copy()
    left = True
    while left and stays[0]:
        left = False
        for at in range(len(stays)):
            if stays[at] and doubtful[at]:
                doubtful[at] = False
                if not _has_users_around(level, at, stays, start, neighbour, users, scratch):
                    stays[at] = False
                    doubtful[neighbour[start[at] : start[at + 1]]] = True
                    left = True
    return bool(stays[0])


@njit(cache=True)
def _has_users_around(
    level: int, at: int, stays: np.ndarray, start: np.ndarray, neighbour: np.ndarray, users: _Users, scratch: _Scratch
) -> bool:
    """Whether a member and its neighbours that stay have so many users."""
    found = scratch.last[at] - scratch.first[at]
    scratch.clock[0] += 1
    for u in users.of_class[scratch.first[at] : scratch.last[at]]:
        scratch.seen_users[u] = scratch.clock[0]
    for w in neighbour[start[at] : start[at + 1]]:
        if found >= level:
            break
        if stays[w]:
            for u in users.of_class[scratch.first[w] : scratch.last[w]]:
                found += scratch.seen_users[u] != scratch.clock[0]
                scratch.seen_users[u] = scratch.clock[0]
    return bool(found >= level)


@njit(cache=True)
def _grow(seed: int, v_max: int, near: _Near, scratch: _Scratch) -> int:
    """Fill in the members of the graph around a class, breadth first: how many classes it has."""
    start, neighbour, close, query_start, _, rank = near
    members, taken, local = scratch.members, scratch.taken, scratch.local
    members[0], taken[0], local[seed] = seed, query_start[seed + 1] - query_start[seed], 0
    size, room, at = 1, v_max - taken[0], 0
    while at < size and room > 0:
        i, end = start[members[at]], start[members[at] + 1]
        at += 1
        while i < end and room > 0:
            tied = i + 1
            while tied < end and close[tied] == close[i]:
                tied += 1
            last_rank, wanted = _last_rank(neighbour[i:tied], room, query_start, rank, local)
            for c in neighbour[i:tied]:
                if local[c] < 0:
                    number = np.searchsorted(rank[query_start[c] : query_start[c + 1]], last_rank, side="right")
                    if number:
                        members[size], taken[size], local[c] = c, number, size
                        size += 1
            room -= min(wanted, room)
            i = tied
    return size


@njit(cache=True)
def _last_rank(
    tied: np.ndarray, room: int, query_start: np.ndarray, rank: np.ndarray, local: np.ndarray
) -> tuple[int, int]:
    """The last string of these classes that there is room for, and how many of their queries are not there yet."""
    wanted = 0
    for c in tied:
        if local[c] < 0:
            wanted += query_start[c + 1] - query_start[c]
    if wanted <= room:
        return np.iinfo(np.int64).max, wanted
    ranks = np.empty(wanted, dtype=np.int64)
    end = 0
    for c in tied:
        if local[c] < 0:
            own = rank[query_start[c] : query_start[c + 1]]
            ranks[end : end + len(own)] = own
            end += len(own)
    return np.sort(ranks)[room - 1], wanted


@njit(cache=True)
def _edges_within(size: int, near: _Near, scratch: _Scratch) -> tuple[np.ndarray, np.ndarray]:
    """The neighbours of each member among the members, as places."""
    members, local = scratch.members, scratch.local
    start = np.zeros(size + 1, dtype=np.int64)
    for at in range(size):
        start[at + 1] = start[at]
        for c in near.neighbour[near.start[members[at]] : near.start[members[at] + 1]]:
            start[at + 1] += local[c] >= 0
    neighbour = np.empty(start[size], dtype=np.int64)
    end = 0
    for at in range(size):
        for c in near.neighbour[near.start[members[at]] : near.start[members[at] + 1]]:
            if local[c] >= 0:
                neighbour[end] = local[c]
                end += 1
    return start, neighbour


@njit(cache=True)
def _find_users(size: int, near: _Near, users: _Users, scratch: _Scratch) -> None:
    """Say where the users of each member stand; those of a class that is there in part are gathered behind the rest."""
    end = users.class_start[-1]
    for at in range(size):
        c = scratch.members[at]
        own = near.query[near.query_start[c] : near.query_start[c + 1]]
        scratch.first[at], scratch.last[at] = users.class_start[c], users.class_start[c + 1]
        if scratch.taken[at] < len(own):
            scratch.first[at] = end
            scratch.clock[0] += 1
            end = _add_users(own[: scratch.taken[at]], end, users, scratch)
            scratch.last[at] = end


@njit(cache=True)
def _add_users(some: np.ndarray, end: int, users: _Users, scratch: _Scratch) -> int:
    """Write the users of these queries who were not seen yet behind `end`: the new end."""
    for query in some:
        for u in users.of_query[users.query_start[query] : users.query_start[query + 1]]:
            if scratch.seen_users[u] != scratch.clock[0]:
                scratch.seen_users[u] = scratch.clock[0]
                users.of_class[end] = u
                end += 1
    return end


@njit(cache=True)
def _users_of_first(own: np.ndarray, v_max: int, users: _Users, scratch: _Scratch) -> np.ndarray:
    """The degree of each query of a class that alone fills a graph: the users of it and of the first others."""
    degree = np.empty(len(own), dtype=np.int64)
    begin = users.class_start[-1]
    for i in range(len(own)):
        scratch.clock[0] += 1
        end = _add_users(own[: v_max - 1], begin, users, scratch)
        degree[i] = _add_users(own[max(i, v_max - 1) :][:1], end, users, scratch) - begin
    return degree
