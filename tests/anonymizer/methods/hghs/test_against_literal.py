"""Is the fast HgHs the literal one? Random taxonomies and logs against section 2.7 of the thesis in plain sets."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.hghs.literal import hghs
from tests.anonymizer.methods.apriori.small_logs import SmallLog, small_logs
from tests.examples import examples


@examples(180)
@given(small_logs(), st.integers(2, 4), st.sampled_from([1, 2, 3, "any"]))
def test_hghs_is_the_literal_algorithm_and_keeps_its_promise(example: SmallLog, k: int, m: int | str) -> None:
    if len(example.transactions) < k:
        return
    made = example.anonymize("hghs", k=k, m=m)
    found = hghs(example.log, k, len(example.log.labels) if isinstance(m, str) else m)
    assert example.published(made) == [found.published(example.log, t) for t in example.transactions]
    evidence = Evidence(made.release, made.assignment, made.suppressed, example.typed, example.knowledge)
    verdict = verify(made.claim, evidence)
    assert verdict.holds, verdict.counterexample
