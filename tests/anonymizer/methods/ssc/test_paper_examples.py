"""Does ssc give the running example of Liu & Wang 2010? Every number that the paper prints of it."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linear_sum_assignment

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.ssc import SSC
from shoal.anonymizer.methods.ssc.literal import LiteralSSC
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, cut_sessions, make_log, sessions_as_users

GOODS = {
    "Wine": "Alcohol", "Vino": "Alcohol", "Raw-milk": "Milk", "Homo-milk": "Milk", "Alcohol": "Edibles",
    "Milk": "Edibles", "Jackets": "Clothes", "Pants": "Clothes", "Boots": "Footwear", "Shoes": "Footwear",
    "Clothes": "Apparel", "Footwear": "Apparel", "Edibles": "Goods", "Apparel": "Goods",
}  # fmt: skip
T = {
    "t1": "Wine, Wine, Jackets, Boots",
    "t2": "Vino, Vino, Jackets, Shoes",
    "t3": "Wine, Vino, Raw-milk, Jackets, Shoes",
    "t4": "Vino, Raw-milk, Raw-milk, Homo-milk",
    "t5": "Raw-milk, Homo-milk, Homo-milk, Jackets, Pants",
}


@pytest.fixture
def goods(tmp_path: Path) -> Knowledge:
    """Figure 2 (a)."""
    path = tmp_path / "goods.tsv"
    path.write_text("".join(f"{child}\t{parent}\n" for child, parent in GOODS.items()))
    return Knowledge(path)


@pytest.fixture
def log() -> QueryLog:
    """Figure 1 (b)."""
    return make_log(pl.Series(list(T)), pl.Series(list(T.values())))


def groups(made: Anonymized) -> dict[tuple[str, ...], dict[str, float]]:
    names = made.assignment.users.gather(made.assignment.user).to_list()
    return {
        tuple(sorted(name for name, p in zip(names, made.assignment.profile, strict=True) if p == row)): (
            made.release.profile(row)
        )
        for row in range(len(made.release))
    }


def literal(**settings: object) -> LiteralSSC:
    parent = {child.lower(): above.lower() for child, above in GOODS.items()}
    leaves = sorted(set(parent) - set(parent.values()))
    return LiteralSSC(parent, leaves, k=2, **settings)  # type: ignore[arg-type]


def terms(name: str) -> list[str]:
    return [term.strip().lower() for term in T[name].split(",")]


def distance(reference: LiteralSSC, one: str, other: str) -> int:
    return reference.distance(reference.numbers(terms(one)), reference.numbers(terms(other)).reshape(-1, 1))


def test_the_running_example_gives_the_papers_two_clusters_and_typical_vocabularies(
    goods: Knowledge, log: QueryLog
) -> None:
    made = SSC(goods, k=2, epsilon=4, omega=5, seeding="farthest").anonymize(log)
    assert groups(made) == {
        ("t1", "t2", "t3"): {"wine": 1, "vino": 1, "jackets": 1, "shoes": 1},
        ("t4", "t5"): {"raw-milk": 2, "homo-milk": 1},
    }
    assert not made.release.generalized.any()
    # t3's raw-milk, t4's vino, t5's jackets and pants.
    assert (made.suppressed.occurrences, made.suppressed.users) == (4, 0)
    assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, goods)).holds


def test_the_bags_of_the_running_example_can_be_published_themselves(goods: Knowledge, log: QueryLog) -> None:
    made = SSC(goods, k=2, typical="bags").anonymize(log)
    assert groups(made) == {
        ("t1", "t2", "t3"): {"vino|wine": 2, "jackets": 1, "boots|shoes": 1},
        ("t4", "t5"): {"raw-milk": 1, "homo-milk": 1, "homo-milk|raw-milk": 1},
    }
    flagged = {label for label, flag in zip(made.release.labels, made.release.generalized, strict=True) if flag}
    assert flagged == {"vino|wine", "boots|shoes", "homo-milk|raw-milk"}


def test_the_bags_of_the_running_example_can_be_generalized(goods: Knowledge, log: QueryLog) -> None:
    made = SSC(goods, k=2, typical="generalize").anonymize(log)
    assert groups(made) == {
        ("t1", "t2", "t3"): {"Alcohol": 2, "jackets": 1, "Footwear": 1},
        ("t4", "t5"): {"raw-milk": 1, "homo-milk": 1, "Milk": 1},
    }
    flagged = {label for label, flag in zip(made.release.labels, made.release.generalized, strict=True) if flag}
    assert flagged == {"Alcohol", "Footwear", "Milk"}


def test_the_first_left_as_seed_gives_other_clusters_than_the_papers(goods: Knowledge, log: QueryLog) -> None:
    made = SSC(goods, k=2, seeding="first").anonymize(log)
    assert set(groups(made)) == {("t1", "t2"), ("t3", "t4", "t5")}


def test_the_distances_of_section_three() -> None:
    reference = literal()
    assert reference.between("wine", "vino") == 2
    assert reference.between("wine", "jackets") == 6
    assert distance(reference, "t2", "t1") == 6  # Figure 3


def test_the_first_model_gives_the_distance_of_figure_three_and_charges_nothing_for_unmatched_terms() -> None:
    first, second = literal(model=1), literal(model=2, omega=Fraction(100))
    assert distance(first, "t2", "t1") == distance(second, "t2", "t1") == 6  # all are matched: the models agree
    # Raw-milk of t3 finds no partner in t1: two wines, a pair of jackets and boots with shoes are matched, at 2 + 2.
    assert (distance(first, "t3", "t1"), distance(second, "t3", "t1")) == (4, 104)


def test_the_distance_is_that_of_a_perfect_matching_padded_with_nil_terms() -> None:
    reference = literal()
    for one in T:
        for other in T:
            left, right = reference.numbers(terms(one)), reference.numbers(terms(other))
            padded = np.zeros((len(left) + len(right),) * 2)  # Figure 3
            padded[: len(left), len(right) :] = padded[len(left) :, : len(right)] = 5
            apart = reference.distances[np.ix_(left, right)]
            padded[: len(left), : len(right)] = np.where(apart <= 4, apart, 1000)
            assert distance(reference, one, other) == padded[linear_sum_assignment(padded)].sum()


def test_the_nearest_to_t1_is_t2_only_if_an_unmatched_term_costs_more_than_two() -> None:
    for omega, nearest in ((Fraction(1), "t3"), (Fraction(3), "t2"), (Fraction(5), "t2")):
        reference = literal(omega=omega)
        rivals = {name: distance(reference, name, "t1") for name in ("t3", "t2")}
        assert min(rivals, key=lambda name: rivals[name]) == nearest


def test_the_centre_of_the_first_cluster_is_the_papers() -> None:
    reference = literal()
    first = reference.numbers(terms("t1")).reshape(-1, 1)
    second = reference.match(reference.numbers(terms("t2")), first)
    assert reference.bags(second) == sorted(
        [("wine", "vino"), ("wine", "vino"), ("jackets", "jackets"), ("boots", "shoes")]
    )
    third = reference.match(reference.numbers(terms("t3")), second)
    assert reference.bags(third) == sorted(
        [("wine", "vino", "wine"), ("wine", "vino", "vino"), ("jackets",) * 3, ("boots", "shoes", "shoes")]
    )


def test_the_query_log_of_figure_one_is_cut_into_sessions_by_its_gap(goods: Knowledge) -> None:
    queries = ["Wine", "Wine", "Jackets, Boots", "Jackets, Boots", "Wine"]
    minutes = np.array([60, 60, 75, 75, 125])
    urls = pl.Series(["a.c", "b.c", "c.c", "d.c", "x.c"])
    log = make_log(pl.Series(["01"] * 5), pl.Series(queries), 60 * minutes, urls)
    whole = build_profiles(log, goods.words)
    assert whole.of(0) == {"wine": 2, "jackets": 1, "boots": 1}  # t1 of Figure 1 (b): one vocabulary per user
    apart = build_profiles(sessions_as_users(log, cut_sessions(log, 30)), goods.words)
    assert [apart.of(s) for s in range(len(apart))] == [{"wine": 1, "jackets": 1, "boots": 1}, {"wine": 1}]
