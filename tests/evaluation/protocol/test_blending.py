"""Are the weights of a blend learned on the earlier part only, and does it serve nobody worse than no profile there?"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.publish import FEWEST_USERS
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import load_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Blend
from shoal.evaluation.protocol.blending import (
    GRID,
    Lesson,
    everyones_average,
    make_lesson,
    split_for_lesson,
)
from shoal.evaluation.protocol.precision import choose_queries
from shoal.search.index import Index, index_for
from shoal.search.rerank import blended, engine_order

WORDS = Knowledge().words
NOTHING, ALONE = Blend(0, 0), Blend(1, 0)


@pytest.fixture(scope="module")
def index(corpus_file: Path) -> Index:
    return index_for(corpus_file)


@pytest.fixture(scope="module")
def log(log_file: Path) -> QueryLog:
    return load_log(str(log_file))[0]


@pytest.fixture(scope="module")
def lesson(log: QueryLog, index: Index) -> Lesson:
    early, late = split_for_lesson(log)
    return make_lesson(early, choose_queries(late, index, 2), WORDS, index)


def test_a_tenth_of_each_persons_events_is_held_back_and_at_least_one_of_four(log: QueryLog) -> None:
    early, late = split_for_lesson(log)
    assert np.diff(early.start).tolist() == [9] * 24
    assert np.diff(late.start).tolist() == [1] * 24
    assert early.users.to_list() == late.users.to_list() == log.users.to_list()
    assert "".join(late.queries.to_list()) != "".join(early.queries.to_list())


@pytest.mark.parametrize(("method", "settings"), [("random", {"k": 6}), ("original", {}), ("everyone", {})])
def test_what_is_learned_serves_no_worse_than_no_profile_and_nearly_best_with_most_of_the_profile(
    lesson: Lesson, method: str, settings: dict[str, object]
) -> None:
    chosen = make_method(method, settings)
    made = chosen.run(lesson.log)
    cosine = lesson.trial.trial.cosines(chosen, made.release, made.assignment)
    people = dict(zip(GRID, lesson.trial.ap10(lesson.truth, cosine, GRID), strict=True))
    served = {blend: values.mean() for blend, values in people.items()}
    learned = lesson.learn(chosen)
    assert learned == lesson.learn(chosen)
    assert served[learned] >= served[NOTHING] - 1e-12
    behind = people[max(GRID, key=lambda blend: served[blend])] - people[learned]
    assert behind.mean() <= behind.std() / np.sqrt(len(behind)) + 1e-9
    assert all(blend.profile <= learned.profile for blend in GRID if served[blend] == max(served.values()))
    alone = lesson.truth.scores(cosine)["ap10"].mean()
    assert served[ALONE] == pytest.approx(alone)


def test_the_own_profile_is_served_alone_and_nothing_weighs_nothing(lesson: Lesson) -> None:
    assert lesson.learn(make_method("original", {})) == lesson.learn(make_method("device", {})) == ALONE
    assert lesson.learn(make_method("plain", {})).profile == 0


def test_everyones_average_is_of_terms_that_twenty_users_hold(log: QueryLog, index: Index) -> None:
    profiles = build_profiles(log, WORDS)
    row = everyones_average(profiles, index)
    dense = profiles.counts.toarray()
    held = {term: int((dense[:, t] > 0).sum()) for t, term in enumerate(profiles.terms)}
    shared = {term for term, many in held.items() if many >= FEWEST_USERS}
    assert 0 < len(shared) < len(held)
    assert {index.vectors.terms[column] for column in row.indices} == {
        index.vectors.terms[index.vectors.vocabulary[term]] for term in shared
    }


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.sampled_from(GRID))
def test_the_parts_of_a_blend_weigh_what_they_say(cosines: list[float], blend: Blend) -> None:
    profile, everyone = np.array(cosines), np.array(cosines[::-1])
    order = engine_order(np.array([7, 5, 3, 1]))
    best = max(cosines)
    by_hand = [
        (1 - blend.profile - blend.everyone) * (1 - i / 4)
        + (blend.profile * cosines[i] / best + blend.everyone * cosines[3 - i] / best if best else 0)
        for i in range(4)
    ]
    np.testing.assert_allclose(blended(order, profile, everyone, blend), by_hand, atol=1e-9)


@given(st.sampled_from(GRID), st.floats(0, 1))
def test_another_weight_of_the_profile_takes_the_average_along(blend: Blend, weight: float) -> None:
    moved = blend.with_profile(weight)
    assert moved.profile == weight
    assert moved.engine >= -1e-12
    assert 0 <= moved.everyone <= blend.everyone + 1e-12
    assert blend.with_profile(blend.profile).everyone == pytest.approx(blend.everyone)
    assert blend.profile == 1 or blend.with_profile(1).everyone == 0
    assert blend.profile == 0 or blend.with_profile(0) == NOTHING
    rest = blend.without_profile()
    assert rest.profile == 0
    assert rest.everyone * blend.engine == pytest.approx(rest.engine * blend.everyone, abs=1e-9)
