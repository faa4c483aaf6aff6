"""Does HgHs give what the thesis prints? Table 2.2, Figure 2.3 and Example 2.7.1, cheaper than Apriori.

Figure 2.3 is not in the text. Table 2.2 implies P over a to d and M over x to z; that all ends at the root without
suppression, that e and i have only the root in common. Whether f, g and e hang on a node of their own is left open, so
both trees are tried. Example 2.7.1 has a slip: that *more* than two transactions support {e, i} is no threat; one does,
which is fewer than two.
"""

from fractions import Fraction

import pytest

from shoal.anonymizer.cuts import nodes_above
from shoal.anonymizer.methods.apriori import Apriori
from shoal.anonymizer.methods.hghs import HgHs
from shoal.anonymizer.methods.hghs.literal import hghs
from shoal.anonymizer.transactions import transactions_of
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import silent
from tests.anonymizer.methods.apriori.small_logs import SmallLog, edges, small_log

TABLE_2_2 = {
    "b c d": {"P"},
    "a f g": {"P", "f", "g"},
    "d f y z": {"P", "f", "M"},
    "c d f x": {"P", "f", "M"},
    "a b c f g": {"P", "f", "g"},
    "e i": {"e"},
    "e": {"e"},
    "i": set(),
}


@pytest.fixture(scope="module", params=["T: P f g M e i", "Q: e f g, T: P Q M i"], ids=["flat", "Q over e, f, g"])
def log(request: pytest.FixtureRequest) -> SmallLog:
    return small_log(edges(f"P: a b c d, M: x y z, {request.param}"), list(TABLE_2_2))


@pytest.mark.parametrize("m", [5, "any"])
def test_table_2_2_comes_out_with_i_left_out(log: SmallLog, m: int | str) -> None:
    """No transaction has more than five items, so m = 5 is no bound."""
    made = log.anonymize("hghs", k=2, m=m)
    labels = log.knowledge.taxonomy.labels
    assert [{labels[v] for v in items} for items in log.published(made)] == list(TABLE_2_2.values())
    assert made.suppressed.users == 1  # t8 had nothing but i


def test_the_cut_of_example_2_7_1_costs_less_than_the_root_of_apriori(log: SmallLog) -> None:
    taxonomy = log.knowledge.taxonomy
    transactions = transactions_of(build_profiles(log.typed, log.knowledge.words), taxonomy)
    nodes = nodes_above(transactions, taxonomy)
    cut, gone = HgHs(log.knowledge, k=2, m=5).cut(transactions, nodes, taxonomy, silent)
    assert {taxonomy.labels[v] for v in nodes.node[cut]} == {"P", "f", "g", "M", "e", "i"}
    assert [taxonomy.labels[v] for v in nodes.node[gone]] == ["i"]
    raised = Apriori(log.knowledge, k=2, m=5).cut(transactions, nodes, silent)
    all_at_the_root = Fraction(int(raised.cost[0]), int(taxonomy.leaves[0]))
    assert all_at_the_root == 23
    assert Fraction(hghs(log.log, 2, 5).cost, int(taxonomy.leaves[0])) == Fraction(10 * 4 + 3 * 3, 11) + 2


def test_two_transactions_with_e_and_i_are_no_threat(log: SmallLog) -> None:
    """The slip of Example 2.7.1, held against the definition: with a second {e, i} nothing is left out."""
    tree = [(a, b) for a, b in (line.split("\t") for line in log.knowledge.taxonomy.lines())]
    again = small_log(tree, [*TABLE_2_2, "e i"])
    published = again.published(again.anonymize("hghs", k=2, m="any"))
    assert {again.knowledge.taxonomy.labels[v] for v in published[-1]} == {"e", "i"}
