"""Which term is a kind of which? A rooted tree from WordNet or a file; what a node or a bag a|b|c stands for.

Which tokens are terms? Dictionaries: WordNet's nouns, the leaves of a taxonomy file, or any token.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.wordnet import WordNet, load_wordnet
from shoal.corpus.tokens import STOP_WORDS

_BETWEEN = "|"  # a term never holds it (the tokenizer cuts there), and a taxonomy that does is refused


def bag_label(terms: Iterable[str]) -> str:
    """The label of a bag: its different terms, in the order of the alphabet."""
    return _BETWEEN.join(sorted(set(terms)))


def is_bag(label: str) -> bool:
    return _BETWEEN in label


def bag_members(label: str) -> list[str]:
    """The terms of a bag; a term is a bag of itself."""
    return label.split(_BETWEEN)


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A rooted tree in depth-first order: node 0 is the root, and the nodes at or below v are v:end[v].

    Terms are the leaves. Labels are told apart without case; `labels` keeps them as they were given.
    """

    labels: list[str]
    parent: np.ndarray  # int32, -1 at the root
    end: np.ndarray  # int32: one past the last node below v
    is_wordnet: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def node(self) -> dict[str, int]:
        """Node of a lower-cased label."""
        return {label.lower(): v for v, label in enumerate(self.labels)}

    @cached_property
    def is_leaf(self) -> np.ndarray:
        return self.end == np.arange(1, len(self) + 1)

    @cached_property
    def leaves(self) -> np.ndarray:
        """leaves(v): the number of leaves at or below each node."""
        before = np.concatenate([[0], np.cumsum(self.is_leaf)])
        return (before[self.end] - before[:-1]).astype(np.int64)

    @cached_property
    def LM(self) -> np.ndarray:
        """LM(v) = (leaves(v) - 1) / (leaves(root) - 1): 0 at a leaf, 1 at the root."""
        return (self.leaves - 1) / max(1, self.leaves[0] - 1)

    @cached_property
    def depth(self) -> np.ndarray:
        """Edges from the root."""
        depth = np.zeros(len(self), dtype=np.int32)
        for v in range(1, len(self)):  # a parent comes before its children
            depth[v] = depth[self.parent[v]] + 1
        return depth

    def leaf(self, term: str) -> int | None:
        """The leaf that a term is, or None."""
        v = self.node.get(term)
        return v if v is not None and self.is_leaf[v] else None

    def path(self, v: int) -> list[int]:
        """The node and all above it, up to the root."""
        nodes = []
        while v >= 0:
            nodes.append(v)
            v = int(self.parent[v])
        return nodes

    def leaves_below(self, label: str) -> list[str]:
        """The terms that a label stands for, lower-cased."""
        v = self.node[label.lower()]
        terms, before = self._terms
        return terms[before[v] : before[self.end[v]]]

    @cached_property
    def _terms(self) -> tuple[list[str], np.ndarray]:
        """All leaves in their order, lower-cased, and how many of them come before each node and after the last."""
        terms = [self.labels[leaf].lower() for leaf in np.flatnonzero(self.is_leaf).tolist()]
        return terms, np.concatenate([[0], np.cumsum(self.is_leaf)])

    def lines(self) -> Iterable[str]:
        """The tree as child<TAB>parent lines."""
        above = [self.labels[v] for v in self.parent[1:].tolist()]
        return [f"{child}\t{parent}" for child, parent in zip(self.labels[1:], above, strict=True)]

    @cached_property
    def digest(self) -> str:
        """A sha-256 of the tree: that of a file, and that of the lines written from it."""
        return hashlib.sha256("\n".join(self.lines()).encode()).hexdigest()


@lru_cache(maxsize=1)
def wordnet_taxonomy() -> Taxonomy:
    """WordNet's nouns as a tree: each word a leaf under its first sense, each synset under its first hypernym."""
    wordnet = load_wordnet()
    first = wordnet.sense[wordnet.sense_start[:-1]]
    needed = _with_all_above(first, wordnet)
    number = np.cumsum(needed) - 1
    kept = np.flatnonzero(needed)
    above = np.where(wordnet.hypernym[kept] >= 0, number[wordnet.hypernym[kept]], -1)
    labels = [wordnet.synsets[s] for s in kept] + wordnet.words
    return _in_depth_first_order(labels, np.concatenate([above, number[first]]), is_wordnet=True)


def _with_all_above(synsets: np.ndarray, wordnet: WordNet) -> np.ndarray:
    needed = np.zeros(len(wordnet.synsets), dtype=bool)
    level = np.unique(synsets)
    while len(level):
        needed[level] = True
        above = wordnet.hypernym[level]
        level = np.unique(above[above >= 0])
    return needed


def read_taxonomy(path: str | Path) -> Taxonomy:
    """The tree in a file of child<TAB>parent lines; a cycle, two parents or two roots is an error with its line."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"no taxonomy can be read at {path}: give a text file of child<TAB>parent lines") from error
    spelling: dict[str, str] = {}
    above: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            _add_edge(line, number, path.name, spelling, above)
    if not above:
        raise InputError(f"{path.name} is empty: a taxonomy has at least one child<TAB>parent line")
    _refuse_cycles(above, path.name)
    _one_root(spelling, above, path.name)
    number_of = {key: i for i, key in enumerate(spelling)}
    parent = np.array([number_of[above[key][0]] if key in above else -1 for key in spelling], dtype=np.int64)
    return _in_depth_first_order(list(spelling.values()), parent)


def _add_edge(line: str, number: int, name: str, spelling: dict[str, str], above: dict[str, tuple[str, int]]) -> None:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) != 2 or not all(fields):
        raise InputError(f"{name}, line {number}: expected child<TAB>parent, got {line[:60]!r}")
    if bag := next((field for field in fields if is_bag(field)), None):
        raise InputError(f"{name}, line {number}: {bag!r} reads like a bag of terms; write it without |")
    child, parent = (field.lower() for field in fields)
    for key, label in zip((child, parent), fields, strict=True):
        spelling.setdefault(key, label)
    if child in above and above[child][0] != parent:
        raise InputError(
            f"{name}, line {number}: {fields[0]} has two parents, {spelling[above[child][0]]} (line {above[child][1]}) "
            f"and {fields[1]}; keep one"
        )
    above[child] = (parent, number)


def _refuse_cycles(above: dict[str, tuple[str, int]], name: str) -> None:
    safe: set[str] = set()
    for start in above:
        walk: dict[str, None] = {}
        key = start
        while key in above and key not in safe:
            if key in walk:
                raise InputError(
                    f"{name}, line {above[key][1]}: {key} is above itself (a cycle); remove one of its lines"
                )
            walk[key] = None
            key = above[key][0]
        safe.update(walk)


def _one_root(spelling: dict[str, str], above: dict[str, tuple[str, int]], name: str) -> None:
    roots = [key for key in spelling if key not in above]
    if len(roots) > 1:
        line = next(number for parent, number in above.values() if parent == roots[1])
        raise InputError(
            f"{name}, line {line}: two roots, {spelling[roots[0]]} and {spelling[roots[1]]}; put them under one node"
        )


def _in_depth_first_order(labels: list[str], parent: np.ndarray, is_wordnet: bool = False) -> Taxonomy:
    """Each node before what is below it, and nodes under one parent as they were given."""
    levels = _levels(parent)
    size = np.ones(len(parent), dtype=np.int64)  # of what is below each node, with itself
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    position = np.zeros(len(parent), dtype=np.int32)
    for level in levels[1:]:
        before = np.cumsum(size[level]) - size[level]
        first = np.flatnonzero(np.diff(parent[level], prepend=-1))
        of_siblings = before - np.repeat(before[first], np.diff(first, append=len(level)))
        position[level] = position[parent[level]] + 1 + of_siblings
    order = np.empty(len(parent), dtype=np.int64)
    order[position] = np.arange(len(parent))
    of_each = parent[order]
    above = np.where(of_each >= 0, position[of_each], -1).astype(np.int32)
    end = (np.arange(len(parent)) + size[order]).astype(np.int32)
    return Taxonomy([labels[v] for v in order.tolist()], above, end, is_wordnet)


def _levels(parent: np.ndarray) -> list[np.ndarray]:
    """The root, what is right below it, and so on; in each level, nodes under one parent stand together."""
    by_parent = np.argsort(parent, kind="stable")
    start = np.searchsorted(parent[by_parent], np.arange(len(parent) + 1))
    levels = [by_parent[: start[0]]]
    while len(levels[-1]):
        levels.append(_spans(by_parent, start[levels[-1]], start[levels[-1] + 1]))
    return levels[:-1]


def _spans(values: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The values from each start to its end, one span after the other."""
    length = end - start
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return values[np.repeat(start, length) + within]


DICTIONARIES = ("wordnet", "taxonomy", "any")


class Dictionary(Protocol):
    """Which term a token is, or None where it is none."""

    def __call__(self, token: str) -> str | None: ...


@lru_cache(maxsize=8)  # one object for one dictionary, by which profiles are kept
def dictionary(name: str, taxonomy: Taxonomy | None = None) -> Dictionary:
    """WordNet's nouns, the leaves of a taxonomy file, or any token that is no stop word."""
    if name == "wordnet":
        wordnet = load_wordnet()
        return lambda token: None if token in STOP_WORDS else wordnet.lemma(token)
    if name == "taxonomy":
        if taxonomy is None:
            raise InputError("the dictionary 'taxonomy' needs a taxonomy file: give one by --taxonomy")
        leaves = taxonomy
        return lambda token: token if leaves.leaf(token) is not None else None
    if name == "any":
        return lambda token: None if token in STOP_WORDS else token
    raise InputError(f"unknown dictionary {name!r}: choose one of {', '.join(DICTIONARIES)}")
