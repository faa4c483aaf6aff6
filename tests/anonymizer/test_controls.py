"""Do the floor, the ceiling and the controls do what their names say?"""

from random import Random

import numpy as np
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.contract.sample_logs import log_of, sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Device
from shoal.search.vectors import DocumentVectors

LOG = log_of([("ann", "wine cheese"), ("ann", "wine"), ("bob", "wine"), ("cem", "qxqxq"), ("dee", "car")])


def release(id: str, log: QueryLog = LOG, seed: int = 0, **settings: object) -> Anonymized:
    return make_method(id, settings).run(log, seed=seed)


def test_plain_publishes_nothing_and_counts_everything() -> None:
    made = release("plain")
    assert len(made.release) == 0
    assert made.suppressed.users == 4
    assert made.suppressed.occurrences == 5


def test_original_publishes_each_profile_as_it_is() -> None:
    made = release("original")
    rows = [made.release.profile(row) for row in range(len(made.release))]
    assert sorted(rows, key=str) == sorted([{"cheese": 1, "wine": 2}, {"wine": 1}, {"car": 1}], key=str)
    assert made.suppressed.users == 1  # cem typed nothing that the dictionary knows


def test_a_device_publishes_nothing_and_ranks_by_the_own_profile() -> None:
    made = release("device")
    assert (len(made.release), made.suppressed.users, made.suppressed.occurrences) == (0, 4, 5)
    rows = [csr_array(np.array([[weight, 0.0]])) for weight in (1.0, 2.0)]
    search = DocumentVectors(csr_array((0, 2)), {"wine": 0, "car": 1}, ["wine", "car"]).search("wine", np.empty(0))
    assert make_method("device", {}).choose(search, Device(*rows, Random(0)), made.release) is rows[0]
    assert make_method("plain", {}).choose(search, Device(*rows, Random(0)), made.release) is rows[1]


def test_everyone_publishes_one_mean() -> None:
    made = release("everyone")
    assert len(made.release) == 1
    assert made.release.profile(0) == pytest.approx({"wine": 1, "cheese": 1 / 3, "car": 1 / 3})
    assert made.release.users.tolist() == [3]


@pytest.mark.parametrize("k", [2, 3, 7, 40])
def test_random_makes_groups_of_k_or_a_few_more(k: int) -> None:
    made = release("random", sample_log(), k=k)
    assert made.release.users.min() >= k
    assert made.release.users.max() < 2 * k
    assert made.release.users.sum() == 40


def test_random_groups_differ_with_the_seed() -> None:
    first, second = (release("random", sample_log(), seed).assignment.profile for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_too_few_users_are_refused_with_their_number() -> None:
    with pytest.raises(InputError, match="random needs at least 5 users with a profile, the log has 3"):
        release("random")
    with pytest.raises(InputError, match="no user of the log has a profile"):
        release("everyone", log_of([("ann", "qxqxq")]))


def test_no_control_changes_the_profiles() -> None:
    profiles = build_profiles(LOG, Knowledge().words)
    before = profiles.counts.toarray().copy()
    for id in ("plain", "device", "original", "everyone"):
        make_method(id, {}).anonymize(profiles)
    assert np.array_equal(profiles.counts.toarray(), before)
