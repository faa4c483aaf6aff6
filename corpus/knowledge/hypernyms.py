"""What is above a sense? Its hypernyms, and all that are reached by them, with the fewest steps to each."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np


class Above(NamedTuple):
    """What is at or above sense s is node[start[s]:start[s + 1]], each once, the nearest first: s itself at 0 steps."""

    start: np.ndarray  # int64
    node: np.ndarray  # int32
    steps: np.ndarray  # int16: the fewest


@dataclass(frozen=True, eq=False)
class Hypernyms:
    """The hypernyms of sense s are above[start[s]:start[s + 1]]: several in WordNet, at most one in a tree."""

    start: np.ndarray  # int64
    above: np.ndarray  # int32

    @classmethod
    def of_tree(cls, parent: np.ndarray) -> "Hypernyms":
        """Each node under its parent, -1 at the root."""
        return cls(np.concatenate([[0], np.cumsum(parent >= 0)]), parent[parent >= 0].astype(np.int32))

    @cached_property
    def first(self) -> np.ndarray:
        """The first hypernym of each sense, -1 at the top."""
        has = self.start[1:] > self.start[:-1]
        first = np.full(len(has), -1, dtype=np.int32)
        first[has] = self.above[self.start[:-1][has]]
        return first

    @cached_property
    def all_above(self) -> Above:
        """Along all paths to the top."""
        senses = len(self.start) - 1
        sense = node = np.arange(senses)
        levels = []
        while len(node):
            levels.append(sense * senses + node)
            sense, node = np.divmod(np.unique(self._one_step(sense, node)), senses)
        key, found = np.unique(np.concatenate(levels), return_index=True)  # the first time is the nearest
        steps = np.repeat(np.arange(len(levels)), [len(level) for level in levels])[found]
        order = np.lexsort((steps, key // senses))
        start = np.searchsorted(key, np.arange(senses + 1) * senses)
        return Above(start, (key % senses)[order].astype(np.int32), steps[order].astype(np.int16))

    def _one_step(self, sense: np.ndarray, node: np.ndarray) -> np.ndarray:
        """The pairs (sense, hypernym of its node), as numbers."""
        width = self.start[node + 1] - self.start[node]
        skipped = np.repeat(self.start[node] - np.cumsum(width) + width, width)
        return np.repeat(sense, width) * (len(self.start) - 1) + self.above[skipped + np.arange(width.sum())]
