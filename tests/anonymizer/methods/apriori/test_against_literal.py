"""Is the fast Apriori the literal one? Random taxonomies and logs against Algorithm 2.3 in plain sets."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.methods.apriori.literal import apriori
from tests.anonymizer.methods.apriori.small_logs import SmallLog, small_logs
from tests.examples import examples


@examples(180)
@given(small_logs(), st.integers(2, 4), st.sampled_from([1, 2, 3, "any"]))
def test_apriori_is_the_literal_algorithm(example: SmallLog, k: int, m: int | str) -> None:
    if len(example.transactions) < k:
        return
    made = example.anonymize("apriori", k=k, m=m)
    cut = apriori(example.log, k, max(map(len, example.transactions)) if isinstance(m, str) else m)
    assert example.published(made) == [example.log.under(cut, t) for t in example.transactions]
