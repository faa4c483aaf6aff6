"""How does Partition go, step by step? Algorithm 2.4 of the thesis in plain sets, with no shortcut.

A tree is the one of the literal Clump; a transaction is a set of leaves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.anonymizer.methods.clump.literal import Tree


@dataclass(frozen=True)
class Part:
    """Transactions that all generalize to the same cut; nodes in `kept` are not expanded any more."""

    members: tuple[int, ...]
    cut: frozenset[int]
    kept: frozenset[int] = frozenset()


def partition(tree: Tree, transactions: Sequence[frozenset[int]], k: int) -> list[Part]:
    """All final partitions, from one in which every item is the root."""
    return list(_anonymize(tree, transactions, Part(tuple(range(len(transactions))), frozenset({0})), k))


def _anonymize(tree: Tree, transactions: Sequence[frozenset[int]], part: Part, k: int) -> Iterator[Part]:
    possible = [v for v in part.cut - part.kept if tree.children[v]]
    gain = {v: sum(_loss(tree, transactions[t], v) for t in part.members) for v in possible}
    for v in sorted(possible, key=lambda v: (-gain[v], v)):
        subpartitions = _distribute(tree, transactions, part, v, k)
        if subpartitions:
            for subpartition in subpartitions:
                yield from _anonymize(tree, transactions, subpartition, k)
            return
        part = Part(part.members, part.cut, part.kept | {v})
    yield part


def _loss(tree: Tree, transaction: frozenset[int], v: int) -> int:
    """How much more the items of a transaction below v cost at v than at v's children (NCP times a constant)."""
    return sum(tree.LM[v] - tree.LM[_child_above(tree, v, i)] for i in transaction if _is_below(tree, v, i))


def _is_below(tree: Tree, v: int, item: int) -> bool:
    while item > v:
        item = int(tree.parent[item])
    return item == v


def _child_above(tree: Tree, v: int, item: int) -> int:
    while tree.parent[item] != v:
        item = int(tree.parent[item])
    return item


def _distribute(tree: Tree, transactions: Sequence[frozenset[int]], part: Part, v: int, k: int) -> list[Part]:
    """The sub-partitions that expanding v makes, the leftover last; none where k cannot be kept."""
    by_children: dict[frozenset[int], list[int]] = {}
    for t in part.members:
        held = frozenset(_child_above(tree, v, i) for i in transactions[t] if _is_below(tree, v, i))
        by_children.setdefault(held, []).append(t)
    large = {held: members for held, members in by_children.items() if len(members) >= k}
    leftover = [t for members in by_children.values() if len(members) < k for t in members]
    loss = {t: _loss(tree, transactions[t], v) for t in part.members}
    if 0 < len(leftover) < k:
        _balance(large, leftover, loss, k)
    parts = [Part(tuple(m), part.cut - {v} | held, part.kept) for held, m in large.items()]
    if leftover and parts:
        parts.append(Part(tuple(sorted(leftover)), part.cut, part.kept | {v}))
    return parts


def _balance(large: dict[frozenset[int], list[int]], leftover: list[int], loss: dict[int, int], k: int) -> None:
    """Fill the leftover up to k: with those who lose least, or with the whole sub-partition that does."""
    spare = sum(len(members) - k for members in large.values())
    if len(leftover) + spare < k:
        if len(large) < 2:
            large.clear()
        else:
            least = min(large, key=lambda held: sum(loss[t] for t in large[held]))
            leftover.extend(large.pop(least))
        return
    candidates = [(loss[t], t, held) for held, members in large.items() for t in members]
    for _, t, held in sorted(candidates, key=lambda candidate: candidate[:2]):
        if len(leftover) < k and len(large[held]) > k:
            large[held].remove(t)
            leftover.append(t)
