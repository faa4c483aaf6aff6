"""Do attacks see what devices said at linked searches, and measure a murmur by it?"""

from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.methods.device import OwnDevice
from shoal.anonymizer.methods.everyone import Everyone
from shoal.anonymizer.methods.murmur import Murmur
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import load_log
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.searches import Device
from shoal.evaluation.attacks.spoken import LINKED, speaks, spoken
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.evaluation.protocol.precision import Trial, choose_queries
from shoal.evaluation.protocol.workload import split_by_time
from shoal.search.index import index_for
from shoal.search.vectors import own_profiles

USERS = pl.Series(["ann", "bob", "cem"])
NOBODY = csr_array((1, 1))


def made_of(users: pl.Series) -> Anonymized:
    words = Profiles(users, ["bread", "wine"], csr_array(np.ones((len(users), 2), dtype=np.int64)))
    return Murmur(k=2).anonymize(words)


def device(*said: str) -> Device:
    return Device(NOBODY, NOBODY, Random(0), {f"query {i}": word for i, word in enumerate(said)})


def test_each_device_that_answered_has_a_row_of_its_words() -> None:
    seen = spoken(made_of(USERS), {0: device("wine", "", "wine", "bread"), 1: device(), 2: device("")}, USERS)
    rows = {
        USERS[int(user)]: seen.release.profile(int(row))
        for user, row in zip(seen.assignment.user, seen.assignment.profile, strict=True)
    }
    assert rows == {"ann": {"wine": 2.0, "bread": 1.0}, "cem": {}}


def test_no_more_searches_are_linked_than_five() -> None:
    seen = spoken(made_of(USERS), {0: device(*["wine"] * LINKED, "bread")}, USERS)
    assert seen.release.profile(0) == {"wine": float(LINKED)}


def test_where_nobody_spoke_what_was_made_is_what_is_seen() -> None:
    made = made_of(USERS)
    assert spoken(made, {0: device()}, USERS) is made


def test_methods_of_query_time_are_known() -> None:
    assert speaks(Murmur())
    assert speaks(OwnDevice())
    assert not speaks(Everyone())


@pytest.mark.parametrize(("epsilon", "least", "most"), [("none", 1 / 24, 0.2), (0.5, 0.0, 0.1)])
def test_a_murmur_is_attacked_by_what_was_said(
    corpus_file: Path, log_file: Path, epsilon: object, least: float, most: float
) -> None:
    train, test = split_by_time(load_log(str(log_file))[0])
    index, method = index_for(corpus_file), Murmur(k=2, epsilon=epsilon)
    profiles = build_profiles(train, method.knowledge.words)
    made = method.run(train)
    trial = Trial(choose_queries(test, index, 3), train.users, own_profiles(profiles, index.vectors), index)
    devices = trial.devices(method, made.release, made.assignment, 0)
    trial.cosines(method, made.release, made.assignment, 0, devices)
    seen = spoken(made, devices, train.users)
    assert len(seen.release) == len(devices) == 24
    assert max(len(seen.release.profile(row)) for row in range(24)) <= method.words
    measured = MeasuredRelease(seen.release, seen.assignment, train, Knowledge(), later_log=test)
    found = measure_release(measured, ["linkage5", "server5_5", "queries_only5_5"])
    assert least <= found["linkage5"] <= most  # six people have each topic
    assert found["server5_5"] >= found["queries_only5_5"]
    unheard = MeasuredRelease(made.release, made.assignment, train, Knowledge())
    assert measure_release(unheard, ["linkage5"])["linkage5"] == pytest.approx(1 / 24)
