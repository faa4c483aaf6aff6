"""Is the fast Clump the literal one? Random taxonomies and bags against the thesis's pseudo-code and definitions."""

from collections import Counter
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.clump.literal import (
    Bag,
    Tree,
    clump,
    distortion,
    generalizes,
    lcg_by_buig,
    lcg_by_definition,
)
from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples


@st.composite
def parents(draw: st.DrawFn, nodes: int = 14) -> list[int]:
    """A random tree: the parent of each node but the root, always an earlier one."""
    return [draw(st.integers(0, v)) for v in range(draw(st.integers(1, nodes)))]


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """A tree, and transactions of its leaves; a number that is no leaf is a term that the taxonomy does not know."""
    above = draw(parents())
    items = st.lists(st.integers(0, len(above)), max_size=6)
    return above, draw(st.lists(items, min_size=1, max_size=14))


def knowledge(folder: str, above: list[int], dictionary: str = "any") -> Knowledge:
    path = Path(folder) / "tree"
    path.write_text("".join(f"n{v + 1}\tn{p}\n" for v, p in enumerate(above)))
    return Knowledge(path, dictionary)


def log_of(transactions: list[list[int]]) -> QueryLog:
    users = pl.Series([f"u{i:02d}" for i in range(len(transactions))], dtype=pl.String)
    return make_log(users, pl.Series([" ".join(f"n{v}" for v in t) for t in transactions], dtype=pl.String))


def bags_of(known: Knowledge, transactions: list[list[int]]) -> dict[int, Bag]:
    """The transactions that hold a leaf, in the tree's own numbers."""
    taxonomy = known.taxonomy
    leaves = [[v for x in t if (v := taxonomy.leaf(f"n{x}")) is not None] for t in transactions]
    return {i: dict(Counter(t)) for i, t in enumerate(leaves) if t}


def published(known: Knowledge, made: Anonymized) -> dict[tuple[int, ...], Bag]:
    table = {}
    for row in range(len(made.release)):
        members = tuple(sorted(made.assignment.user[made.assignment.profile == row].tolist()))
        table[members] = {known.taxonomy.node[x.lower()]: int(n) for x, n in made.release.profile(row).items()}
    return table


@examples(300)
@given(
    logs(),
    st.integers(2, 4),
    st.sampled_from([1, 2, 10, "all"]),
    st.sampled_from(["descending", "ascending"]),
    st.sampled_from(["exact", "buig"]),
)
def test_clump_is_the_literal_algorithm(
    example: tuple[list[int], list[list[int]]], k: int, r: int | str, order: str, lcg: str
) -> None:
    above, transactions = example
    with TemporaryDirectory() as folder:
        known = knowledge(folder, above)
        bags = bags_of(known, transactions)
        profiles = build_profiles(log_of(transactions), known.words)
        method = make_method("clump", {"k": k, "r": r, "order": order, "lcg": lcg}, known)
        if len(bags) < k:
            with pytest.raises(InputError, match="at least"):
                method.anonymize(profiles)
            return
        made = method.anonymize(profiles)
    descending = sorted(bags, key=lambda t: -sum(bags[t].values()))
    by_length = descending if order == "descending" else descending[::-1]
    rows = [bags.get(i, {}) for i in range(len(transactions))]
    literal_lcg = {"exact": lcg_by_definition, "buig": lcg_by_buig}[lcg]
    tries = len(rows) if r == "all" else int(r)
    clusters = clump(Tree(known.taxonomy.parent), rows, by_length, k, tries, literal_lcg)
    assert published(known, made) == {tuple(sorted(c.members)): c.lcg for c in clusters}
    assert made.suppressed.users == len(transactions) - len(bags)
    kept = sum(len(c.members) * sum(c.lcg.values()) for c in clusters)
    assert made.suppressed.occurrences == sum(map(len, transactions)) - kept


@examples(100)
@given(
    logs(),
    st.sampled_from(["clump", "partition"]),
    st.sampled_from([{}, {"duplicates": "drop"}, {"order": "random"}, {"lcg": "buig"}, {"bags": "yes"}]),
)
def test_every_release_is_verified(
    example: tuple[list[int], list[list[int]]], method: str, more: dict[str, str]
) -> None:
    above, transactions = example
    with TemporaryDirectory() as folder:
        known = knowledge(folder, above)
        log = log_of(transactions)
        known_settings = {"clump": ("duplicates", "order", "lcg"), "partition": ("bags",)}[method]
        chosen = {name: value for name, value in more.items() if name in known_settings}
        if len(bags_of(known, transactions)) < 2:
            return
        made = make_method(method, {"k": 2, **chosen}, known).anonymize(build_profiles(log, known.words), seed=3)
        assert made.release.users.min() >= 2
        verdict = verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, known))
    assert verdict.holds, verdict.counterexample


@examples(60)
@given(parents(7), st.data())
def test_the_closed_form_is_the_one_common_generalization_that_no_other_specializes(
    above: list[int], data: st.DataObject
) -> None:
    tree = Tree(np.array([-1, *above]))
    leaves = [v for v in range(len(tree.parent)) if not tree.children[v]]
    S = data.draw(st.lists(st.lists(st.sampled_from(leaves), min_size=1, max_size=3), min_size=2, max_size=3))
    shortest = min(map(len, S))
    bags = combinations_with_replacement(range(len(tree.parent)), shortest)
    common = [bag for bag in bags if all(generalizes(tree, bag, tuple(t)) for t in S)]
    closed = tuple(sorted(Counter(lcg_by_definition(tree, [dict(Counter(t)) for t in S])).elements()))
    assert closed in common  # Property 2: its length is the shortest transaction's
    assert all(generalizes(tree, bag, closed) for bag in common)  # Property 1: it is unique


@examples(200)
@given(logs())
def test_the_least_common_generalization_never_costs_more_than_what_buig_gives(
    example: tuple[list[int], list[list[int]]],
) -> None:
    above, transactions = example
    tree = Tree(np.array([-1, *above]))
    S = [dict(Counter(x for x in t if not tree.children[x])) for t in transactions]
    S = [t for t in S if t]
    if not S:
        return
    items = sum(sum(t.values()) for t in S)
    costs = [distortion(tree, items, len(S), lcg(tree, S)) for lcg in (lcg_by_definition, lcg_by_buig)]
    assert costs[0] <= costs[1]


def test_a_random_order_follows_the_seed_and_nothing_else(tmp_path: Path) -> None:
    known = knowledge(str(tmp_path), [0, 0, 0, 1, 1, 2, 2, 3, 3])
    rng = np.random.default_rng(1)
    profiles = build_profiles(log_of(rng.integers(4, 10, (40, 4)).tolist()), known.words)
    method = make_method("clump", {"k": 3, "order": "random"}, known)
    first, again, other = (method.anonymize(profiles, seed=seed) for seed in (7, 7, 8))
    assert np.array_equal(first.assignment.profile, again.assignment.profile)
    assert not np.array_equal(first.assignment.profile, other.assignment.profile)


def test_one_user_with_ten_thousand_terms_and_users_all_equal() -> None:
    known = Knowledge()
    words = [known.taxonomy.labels[v] for v in np.flatnonzero(known.taxonomy.is_leaf)]
    plain = sorted(word for word in words if word.isalpha() and word.islower())[:10_000]
    log = make_log(pl.Series(["long", *[f"u{i}" for i in range(9)]]), pl.Series([" ".join(plain), *["dog cat"] * 9]))
    for method in ("clump", "partition"):
        made = make_method(method, {"k": 5}, known).anonymize(build_profiles(log, known.words))
        assert made.release.users.min() >= 5
        assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, known)).holds


def test_it_tells_how_far_it_is_and_can_be_stopped(tmp_path: Path) -> None:
    known = knowledge(str(tmp_path), [0, 0, 0, 1, 1])
    profiles = build_profiles(log_of([[3, 4], [5], [4, 5], [3]] * 5), known.words)

    def stop(done: int, total: int, stage: str) -> None:
        raise Cancelled

    for method in ("clump", "partition"):
        with pytest.raises(Cancelled):
            make_method(method, {"k": 2}, known).anonymize(profiles, progress=stop)
