"""Does CAHD do what the thesis says of its Example 2.4.1?

Figure 2.1 is a picture without text: the log here is one of which all that the example says of it is true.
"""

from pathlib import Path

import numpy as np
import pytest

from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.contract.sample_logs import log_of, sample_log
from shoal.anonymizer.methods.cahd import Cahd, band_order
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.notebook import anonymize

BOUGHT = ("beef test", "beef wine milk", "cream milk", "milk cream viagra", "beef wine test", "wine beef milk")
SHOPPERS = {str(number): bought for number, bought in enumerate(BOUGHT)}


@pytest.fixture
def known(tmp_path: Path) -> Knowledge:
    (tmp_path / "private").write_text("test\nviagra\n")
    return Knowledge(dictionary_name="any", sensitive_file=tmp_path / "private")


def log() -> QueryLog:
    return log_of(list(SHOPPERS.items()))


def test_who_bought_beef_and_no_milk_is_known_of_the_original_and_half_known_of_the_release(known: Knowledge) -> None:
    made = Cahd(known, p=2).run(log())
    rows = [made.release.profile(row) for row in range(len(made.release))]
    found = [row for row in rows if "beef" in row and "milk" not in row]
    assert [row["test"] for row in found] == [0.5, 0.5]  # with certainty, in the original
    assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log(), known)).holds


def test_public_terms_stand_as_they_are_and_nobody_is_left_out(known: Knowledge) -> None:
    made, profiles = Cahd(known, p=2).run(log()), build_profiles(log(), known.words)
    for user, row in zip(made.assignment.user.tolist(), made.assignment.profile.tolist(), strict=True):
        published = {t: w for t, w in made.release.profile(row).items() if t not in ("test", "viagra")}
        assert published == {t: n for t, n in profiles.of(user).items() if t not in ("test", "viagra")}
    assert len(made.release) == len(SHOPPERS)
    assert made.suppressed.occurrences == 0


def test_a_term_that_more_than_one_of_p_typed_is_published_of_nobody(known: Knowledge) -> None:
    made = Cahd(known, p=4).run(log())
    assert "test" not in made.release.labels
    assert made.suppressed.occurrences == 2
    assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log(), known)).holds


def test_a_band_puts_users_who_share_terms_side_by_side() -> None:
    rows = [(f"u{i}", f"term{i % 10} word{i % 10} own{i}") for i in range(30)]
    profiles = build_profiles(log_of(rows), Knowledge(dictionary_name="any").words)
    order = band_order(profiles.counts)
    assert sorted(order.tolist()) == list(range(30))
    assert np.count_nonzero(np.diff(order % 10)) == 9


def test_a_person_is_found_as_well_as_in_the_original() -> None:
    log = sample_log(60)
    known, found = (
        anonymize(log, method).measure(measures=["linkage5"])["linkage5"] for method in ("original", "cahd")
    )
    assert found == pytest.approx(known, abs=0.02)
