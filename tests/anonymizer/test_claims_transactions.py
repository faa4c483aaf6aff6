"""Does the verifier of generalized profiles see what is wrong? Broken twins of true releases, each with its reason."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Claim, Release, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.methods.clump.literal import Tree, generalizes, lcg_by_definition
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

TREE = (
    "Apple Fruit,Orange Fruit,Banana Fruit,Beef Meat,Chicken Meat,Milk Dairy,Cheese Dairy,Butter Dairy,"
    "Fruit Food,Meat Food,Dairy Food"
)
ITEMS = ["Apple", "Orange", "Banana", "Beef", "Chicken", "Milk", "Cheese", "Butter"]
METHODS = [
    ("clump", {}),
    ("clump", {"duplicates": "drop"}),
    ("clump", {"lcg": "buig"}),
    ("partition", {}),
    ("partition", {"bags": "yes"}),
]


@pytest.fixture
def food(tmp_path: Path) -> Knowledge:
    (tmp_path / "food").write_text(TREE.replace(" ", "\t").replace(",", "\n"))
    return Knowledge(tmp_path / "food")


def random_log(seed: int, users: int = 23) -> QueryLog:
    rng = np.random.default_rng(seed)
    queries = [" ".join(rng.choice(ITEMS, rng.integers(1, 6))) for _ in range(users)]
    return make_log(pl.Series([f"u{i}" for i in range(users)]), pl.Series(queries))


def made_by(method: str, settings: dict[str, str], log: QueryLog, known: Knowledge) -> Anonymized:
    return make_method(method, {"k": 3, **settings}, known).anonymize(build_profiles(log, known.words))


def verdict_on(made: Anonymized, log: QueryLog, known: Knowledge) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, known))


def with_release(made: Anonymized, **changes: object) -> Anonymized:
    return replace(made, release=replace(made.release, **changes))


def with_members(made: Anonymized, profile: np.ndarray) -> Anonymized:
    """Users moved between groups, with the counts of the public file changed to fit."""
    assignment = Assignment(made.assignment.users, made.assignment.user, profile.astype(np.int32))
    users = np.bincount(profile, minlength=len(made.release)).astype(np.int64)
    return replace(with_release(made, users=users), assignment=assignment)


def a_group_of_k_less_one(made: Anonymized) -> Anonymized:
    profile = made.assignment.profile.copy()
    small = int(np.argmin(made.release.users))
    for u in np.flatnonzero(profile == small)[: made.release.users[small] - 2]:
        profile[u] = (small + 1) % len(made.release)
    return with_members(made, profile)


def two_members_exchanged(made: Anonymized) -> Anonymized:
    """Of two groups, the first members change places; sizes stay."""
    profile = made.assignment.profile.copy()
    one, other = (int(np.flatnonzero(profile == group)[0]) for group in (0, 1))
    profile[[one, other]] = profile[[other, one]]
    return with_members(made, profile)


def one_copy_more(made: Anonymized) -> Anonymized:
    weights = made.release.weights.copy()
    weights.data[0] += 1
    return with_release(made, weights=weights)


def one_item_less(made: Anonymized) -> Anonymized:
    weights = made.release.weights.copy()
    weights.data[-1] = 0
    weights.eliminate_zeros()
    return with_release(made, weights=weights)


def a_term_that_leaks(made: Anonymized) -> Anonymized:
    """An inner node is published as one of its terms."""
    release = made.release
    general = int(np.flatnonzero(release.generalized)[0])
    labels = [*release.labels]
    labels[general] = next(x.lower() for x in ITEMS if x.lower() not in labels)
    flags = release.generalized.copy()
    flags[general] = False
    return with_release(made, labels=labels, generalized=flags)


def a_word_of_nobody(made: Anonymized) -> Anonymized:
    release = made.release
    column = csr_array(([1.0], ([0], [0])), shape=(len(release), 1))
    weights = csr_array(np.hstack([release.weights.toarray(), column.toarray()]))
    labels = [*release.labels, "zzyzx"]
    return with_release(made, labels=labels, generalized=np.append(release.generalized, False), weights=weights)


def a_leaf_flagged_as_general(made: Anonymized) -> Anonymized:
    return with_release(made, generalized=~made.release.generalized)


def a_user_in_two_groups(made: Anonymized) -> Anonymized:
    old = made.assignment
    both = Assignment(old.users, np.append(old.user, old.user[0]), np.append(old.profile, (old.profile[0] + 1) % 2))
    return replace(made, assignment=both)


def less_suppressed_than_is_missing(made: Anonymized) -> Anonymized:
    return replace(made, suppressed=Suppressed(made.suppressed.occurrences + 1, made.suppressed.users))


def another_spelling(made: Anonymized) -> Anonymized:
    return with_release(made, labels=[label.upper() for label in made.release.labels])


def half_a_copy(made: Anonymized) -> Anonymized:
    weights = made.release.weights.copy()
    weights.data[0] -= 0.5
    return with_release(made, weights=weights)


MUTANTS = {
    a_group_of_k_less_one: "fewer than k=3",
    two_members_exchanged: "members|a member",
    one_copy_more: "with weight|but a member has only",
    one_item_less: "with weight|no item|the manifest counts",
    half_a_copy: "no number of copies",
    a_term_that_leaks: "with weight|no item|but a member has only",
    a_word_of_nobody: "zzyzx",
    a_leaf_flagged_as_general: "which it is not",
    another_spelling: "which it is not",
    a_user_in_two_groups: "in 2 groups",
    less_suppressed_than_is_missing: "the manifest counts",
}


@pytest.mark.parametrize(("method", "settings"), METHODS)
@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda mutate: mutate.__name__)
def test_a_broken_twin_is_rejected_with_its_reason(
    food: Knowledge, method: str, settings: dict[str, str], mutate: Callable[[Anonymized], Anonymized]
) -> None:
    log = random_log(5)
    made = made_by(method, settings, log, food)
    assert verdict_on(made, log, food).holds
    verdict = verdict_on(mutate(made), log, food)
    assert not verdict.holds
    assert any(reason in verdict.counterexample for reason in MUTANTS[mutate].split("|")), verdict.counterexample


@pytest.mark.parametrize(("method", "settings"), METHODS)
def test_true_releases_are_accepted_over_many_logs(food: Knowledge, method: str, settings: dict[str, str]) -> None:
    for seed in range(40):
        log = random_log(seed, users=3 + seed)
        verdict = verdict_on(made_by(method, settings, log, food), log, food)
        assert verdict.holds, verdict.counterexample


@pytest.mark.parametrize(("method", "settings"), METHODS)
def test_a_check_in_many_blocks_sees_the_last_group_too(
    food: Knowledge, method: str, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.anonymizer.claims.transactions.MEMBERS_PER_BLOCK", 4)
    log = random_log(8, users=60)
    made = made_by(method, settings, log, food)
    assert verdict_on(made, log, food).holds
    last: Release = one_item_less(made).release
    verdict = verdict_on(replace(made, release=last), log, food)
    assert not verdict.holds
    assert made.release.pseudonyms[-1] in verdict.counterexample or settings == {"lcg": "buig"}


def test_another_log_than_the_one_anonymized_is_rejected(food: Knowledge) -> None:
    log = random_log(5)
    made = made_by("clump", {}, log, food)
    assert not verdict_on(made, random_log(6), food).holds


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[int], list[list[int]], Counter[int]]:
    """A tree, the transactions of a group, and a profile: their least common generalization, or near it, or any."""
    above = [draw(st.integers(0, v)) for v in range(draw(st.integers(1, 6)))]
    leaves = [v for v in range(len(above) + 1) if v not in above]
    group = draw(st.lists(st.lists(st.sampled_from(leaves), min_size=1, max_size=3), min_size=2, max_size=3))
    nodes = st.integers(0, len(above))
    least = Counter(lcg_by_definition(Tree(np.array([-1, *above])), [Counter(t) for t in group]))
    near = least + Counter(draw(st.lists(nodes, max_size=1))) - Counter(draw(st.lists(nodes, max_size=2)))
    return above, group, draw(st.sampled_from([least, near, +Counter(draw(st.lists(nodes, max_size=3)))]))


def is_true(claim: Claim, tree: Tree, group: list[list[int]], profile: Counter[int]) -> bool:
    """The claim by its definitions, with every bag of nodes tried."""
    once = claim.values["duplicates"] == "drop"
    if claim.values["published"] == "cut":
        supply = [Counter(v for item in t for v in profile if generalizes(tree, [v], [item])) for t in group]
        cut = all(sum(count.values()) == len(t) for count, t in zip(supply, group, strict=True))
        fewest = {v: min(count[v] for count in supply) for v in profile}
        return cut and all(0 < copies == (min(1, fewest[v]) if once else fewest[v]) for v, copies in profile.items())
    sizes = range(min(map(len, group)) + 1)
    bags = [bag for size in sizes for bag in combinations_with_replacement(range(len(tree.parent)), size)]
    common = [bag for bag in bags if all(generalizes(tree, bag, t) for t in group)]
    if claim.values["published"] == "common-generalization":
        return tuple(sorted(profile.elements())) in common and not (once and max(profile.values(), default=0) > 1)
    (least,) = [Counter(bag) for bag in common if all(generalizes(tree, other, bag) for other in common)]
    return profile == (Counter(set(least)) if once else least)


@examples(400)
@given(
    releases(),
    st.sampled_from(["least-common-generalization", "common-generalization", "cut"]),
    st.sampled_from(["keep", "drop"]),
)
def test_the_verifier_agrees_with_the_definition(
    example: tuple[list[int], list[list[int]], Counter[int]], published: str, duplicates: str
) -> None:
    above, group, profile = example
    log = make_log(
        pl.Series([f"u{i}" for i in range(len(group))]), pl.Series([" ".join(f"n{x}" for x in t) for t in group])
    )
    claim = Claim("transactional-k-anonymity", {"k": 2, "published": published, "duplicates": duplicates})
    with TemporaryDirectory() as folder:
        (Path(folder) / "tree").write_text("".join(f"n{v + 1}\tn{p}\n" for v, p in enumerate(above)))
        known = Knowledge(Path(folder) / "tree")
        node = [known.taxonomy.node[f"n{v}"] for v in range(len(above) + 1)]
        weights = csr_array(np.array([[*profile.values()]], dtype=float))
        labels, flags = [f"n{v}" for v in profile], np.array([v in above for v in profile], dtype=bool)
        release = Release(["p0001"], np.array([len(group)]), labels, flags, weights)
        assignment = Assignment(log.users, np.arange(len(group)), np.zeros(len(group), dtype=int))
        suppressed = Suppressed(sum(map(len, group)) - len(group) * profile.total())
        verdict = verify(claim, Evidence(release, assignment, suppressed, log, known))
    tree = Tree(known.taxonomy.parent)
    there = Counter({node[v]: copies for v, copies in profile.items()})
    assert verdict.holds == is_true(claim, tree, [[node[x] for x in t] for t in group], there), verdict.counterexample


def test_a_group_filled_with_a_user_whose_terms_no_taxonomy_knows_is_seen(food: Knowledge) -> None:
    log = make_log(pl.Series(["ann", "bob", "cem"]), pl.Series(["beef", "beef", "qxqxq"]))
    made = make_method("clump", {"k": 2}, food).run(log)
    nothing = with_release(made, users=np.array([3]), weights=csr_array((1, 1)))
    filled = replace(
        nothing, assignment=Assignment(log.users, np.arange(3), np.zeros(3, dtype=int)), suppressed=Suppressed(2)
    )
    assert "'cem' fills a group" in verdict_on(filled, log, food).counterexample


SENTENCES = {
    "exact": "the least common generalization of the profiles of 3 users or more",
    "buig": "a common generalization of the profiles of 3 users or more, not always the least one",
}


@pytest.mark.parametrize("lcg", SENTENCES)
def test_the_sentence_says_which_generalization_it_is(food: Knowledge, lcg: str) -> None:
    log = random_log(5)
    said = verdict_on(made_by("clump", {"lcg": lcg}, log, food), log, food).sentence
    assert said == f"Every profile is {SENTENCES[lcg]}, where an item may stand several times."
