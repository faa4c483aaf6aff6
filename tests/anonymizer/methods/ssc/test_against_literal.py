"""Is ssc, with its bounds and sparse matchings, the same as the paper's algorithm done to the letter?"""

import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.ssc import SSC
from shoal.anonymizer.methods.ssc.literal import Bag, LiteralSSC
from shoal.anonymizer.methods.ssc.matching import best_matching, find_neighbourhoods
from shoal.corpus.documents import load_documents
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.people.simulated import simulate_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, cut_sessions, make_log, sessions_as_users
from tests.examples import examples


@dataclass(frozen=True)
class Problem:
    """A random taxonomy (child -> parent), who typed which terms at which hour, and settings."""

    parent: dict[str, str]
    rows: list[tuple[int, list[str], int]]
    settings: dict[str, object]

    @property
    def log(self) -> QueryLog:
        users = pl.Series([f"u{user}" for user, _, _ in self.rows])
        queries = pl.Series([" ".join(terms) for _, terms, _ in self.rows])
        return make_log(users, queries, np.array([3600 * hour for _, _, hour in self.rows], dtype=np.int64))

    def users_of(self, term: str) -> int:
        """How many users of the whole log typed a term."""
        return len({user for user, terms, _ in self.rows if term in terms})

    def knowledge(self, folder: str) -> Knowledge:
        path = Path(folder) / "taxonomy.tsv"
        path.write_text("".join(f"{child}\t{above}\n" for child, above in self.parent.items()))
        return Knowledge(path)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    nodes = draw(st.integers(2, 30))
    near = draw(st.integers(1, 10))  # small: a deep tree; large: a flat one
    parent = {}
    for v in range(nodes):
        above = draw(st.integers(max(0, v - near), v))
        parent[f"n{v}"] = "root" if above == v else f"n{above}"
    leaves = sorted(set(parent) - set(parent.values()))
    k = draw(st.integers(2, 4))
    users = draw(st.integers(k, 12))
    typed = st.tuples(st.lists(st.sampled_from(leaves), min_size=1, max_size=5), st.integers(0, 6))
    rows = [
        (user, terms, hour) for user in range(users) for terms, hour in draw(st.lists(typed, min_size=1, max_size=3))
    ]
    chosen = {
        "k": k,
        "epsilon": draw(st.integers(0, 8)),
        "omega": draw(st.sampled_from([0.5, 1, 2.5, 3, 5, 100])),
        "seeding": draw(st.sampled_from(["farthest", "first"])),
        "model": draw(st.sampled_from([2, 1])),
        "gap": draw(st.sampled_from(["none", 30, 100])),
    }
    return Problem(parent, rows, chosen)


def shared(made: Anonymized) -> list[tuple[list[str], list[tuple[str, float]]]]:
    """Who shares what, in an order of its own."""
    names = made.assignment.users.gather(made.assignment.user).to_list()
    rows = range(len(made.release))
    members = [[n for n, p in zip(names, made.assignment.profile, strict=True) if p == row] for row in rows]
    return sorted((sorted(members[row]), sorted(made.release.profile(row).items())) for row in rows)


def by_the_letter(problem: Problem, knowledge: Knowledge) -> tuple[LiteralSSC, list[tuple[list[str], list[Bag]]]]:
    log, gap = problem.log, problem.settings["gap"]
    sessions = None if gap == "none" else cut_sessions(log, int(str(gap)))
    profiles = build_profiles(log if sessions is None else sessions_as_users(log, sessions), knowledge.words)
    user = list(range(len(log.users))) if sessions is None else sessions.user.tolist()
    T = [[term for term, n in profiles.of(t).items() for _ in range(n)] for t in range(len(profiles))]
    literal = LiteralSSC(
        problem.parent,
        profiles.terms,
        int(str(problem.settings["k"])),
        int(str(problem.settings["epsilon"])),
        Fraction(str(problem.settings["omega"])),
        str(problem.settings["seeding"]),
        int(str(problem.settings["model"])),
    )
    names = log.users.to_list()
    return literal, [(sorted({names[user[t]] for t in C}), bags) for C, bags in literal.clusters(T, user)]


@examples(300)
@given(problems(), st.sampled_from(["vote", "bags"]))
def test_the_clusters_and_what_is_published_are_those_of_the_literal_algorithm(problem: Problem, typical: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        knowledge = problem.knowledge(folder)
        made = SSC(knowledge, typical=typical, **problem.settings).anonymize(problem.log)
        literal, clusters = by_the_letter(problem, knowledge)

    def medoid(bag: Bag) -> str:
        total = {term: sum(literal.between(term, other) for other in bag) for term in bag}
        return min(bag, key=lambda term: (total[term], -problem.users_of(term), term))

    def name(bag: Bag) -> str:
        return medoid(bag) if typical == "vote" else "|".join(sorted(set(bag)))

    found = sorted((members, sorted(Counter(map(name, bags)).items())) for members, bags in clusters)
    assert shared(made) == [(members, published) for members, published in found if published]
    served = {member for members, published in found if published for member in members}
    assert made.suppressed.users == len(problem.log.users) - len(served)
    # Each user is represented once in each bag of their clusters, also by several sessions in one.
    represented = sum(len(members) * len(bags) for members, bags in clusters)
    assert made.suppressed.occurrences == sum(len(terms) for _, terms, _ in problem.rows) - represented


@examples(100)
@given(problems(), st.sampled_from(["vote", "bags", "generalize"]))
def test_every_release_keeps_its_claim(problem: Problem, typical: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        knowledge = problem.knowledge(folder)
        made = SSC(knowledge, typical=typical, **problem.settings).anonymize(problem.log)
        evidence = Evidence(made.release, made.assignment, made.suppressed, problem.log, knowledge)
        assert verify(made.claim, evidence).counterexample == ""
    assert (made.release.users >= problem.settings["k"]).all()


@examples(150)
@given(st.integers(0, 10**9))
def test_a_sparse_matching_gains_as_much_as_a_dense_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    supply, capacity = rng.integers(1, 4, rng.integers(1, 7)), rng.integers(1, 4, rng.integers(1, 7))
    gain = rng.integers(1, 12, (len(supply), len(capacity))) * (rng.random((len(supply), len(capacity))) < 0.6)
    left, right = (side.copy() for side in np.nonzero(gain))  # contiguous, as a run has them
    start = np.searchsorted(left, np.arange(len(supply) + 1))
    flow = best_matching(supply, start, right, gain[left, right], capacity)
    dense = np.repeat(np.repeat(gain, supply, axis=0), capacity, axis=1)
    assert (flow * gain[left, right]).sum() == dense[linear_sum_assignment(-dense)].sum()
    assert (np.bincount(left, flow, len(supply)) <= supply).all()
    assert (np.bincount(right, flow, len(capacity)) <= capacity).all()


@examples(60)
@given(problems(), st.integers(0, 8))
def test_neighbourhoods_hold_all_pairs_within_epsilon(problem: Problem, epsilon: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        taxonomy = problem.knowledge(folder).taxonomy
    names = sorted(set(problem.parent) - set(problem.parent.values()))
    literal = LiteralSSC(problem.parent, names, 2)
    leaf = np.array([taxonomy.leaf(name) for name in names])
    near = find_neighbourhoods(taxonomy, leaf, np.full(len(leaf), -1), epsilon)
    for i, name in enumerate(names):
        part = slice(near.start[i], near.start[i + 1])
        found = dict(zip(near.term[part].tolist(), near.distance[part].tolist(), strict=True))
        expected = {j: literal.between(name, other) for j, other in enumerate(names)}
        assert found == {j: d for j, d in expected.items() if d <= epsilon}
        assert list(found) == sorted(found)


def words_log(vocabularies: list[str]) -> QueryLog:
    return make_log(pl.Series([f"u{u}" for u in range(len(vocabularies))], dtype=pl.String),
                    pl.Series(vocabularies, dtype=pl.String))  # fmt: skip


def test_users_with_the_same_vocabulary_share_it_whole() -> None:
    made = SSC(k=3).anonymize(words_log(["dog cat wine wine"] * 7))
    assert made.release.users.tolist() in ([3, 4], [4, 3])
    assert all(made.release.profile(row) == {"dog": 1, "cat": 1, "wine": 2} for row in range(2))
    assert made.suppressed.occurrences == 0


def test_users_with_nothing_in_common_are_left_with_nothing_and_counted() -> None:
    made = SSC(k=2, epsilon=0).anonymize(words_log(["dog", "wine", "dog", "theory"]))
    assert [made.release.profile(row) for row in range(len(made.release))] == [{"dog": 1}]
    assert made.assignment.user.tolist() == [0, 2]
    assert (made.suppressed.occurrences, made.suppressed.users) == (2, 2)


def test_a_log_without_anything_in_common_gives_an_empty_release() -> None:
    made = SSC(k=2, epsilon=0).anonymize(words_log(["dog", "wine", "bridge", "theory"]))
    assert len(made.release) == 0
    assert (made.suppressed.occurrences, made.suppressed.users) == (4, 4)


@pytest.mark.parametrize("turn", [1, -1])
def test_a_tie_goes_to_the_term_of_most_users_whoever_came_first(turn: int) -> None:
    made = SSC(k=2).anonymize(words_log(["ale", "beer", "beer wolf", "wolf"][::turn]))
    published = [made.release.profile(row) for row in range(len(made.release))]
    assert sorted(published, key=str) == [{"beer": 1}, {"wolf": 1}]


@pytest.mark.parametrize("turn", [1, -1])
def test_a_tie_of_terms_with_as_many_users_goes_to_the_first_of_the_alphabet(turn: int) -> None:
    made = SSC(k=2).anonymize(words_log(["violin", "cello"][::turn]))
    assert made.release.profile(0) == {"cello": 1}


def test_in_model_one_vocabularies_without_anything_in_common_are_nearest() -> None:
    log = words_log(["dog", "wolf", "theory", "theory"])
    members = [sorted(names) for names, _ in shared(SSC(k=2, model=2, seeding="first").anonymize(log))]
    assert members == [["u0", "u1"], ["u2", "u3"]]
    alone = SSC(k=2, model=1, seeding="first").anonymize(log)
    assert (len(alone.release), alone.suppressed.users) == (0, 4)


def test_model_one_matches_as_many_as_it_can_and_model_two_only_what_is_cheaper_than_nil() -> None:
    log = words_log(["dog", "wolf"])
    assert len(SSC(k=2, omega=0.5, model=2).anonymize(log).release) == 0
    assert len(SSC(k=2, omega=0.5, model=1).anonymize(log).release) == 1


def test_about_one_group_in_twenty_of_two_publishes_the_vocabulary_of_a_member_verbatim() -> None:
    """What the method is said not to protect, on a simulated log."""
    knowledge = Knowledge()
    log = simulate_log(load_documents("news"), 1000).typed()
    made = SSC(knowledge, k=2).anonymize(log)
    profiles = build_profiles(log, knowledge.words)
    own = [profiles.of(user) for user in made.assignment.user]
    shared_by = zip(own, made.assignment.profile.tolist(), strict=True)
    verbatim = {row for vocabulary, row in shared_by if vocabulary == made.release.profile(row)}
    assert 1 / 30 < len(verbatim) / len(made.release) < 1 / 15


def test_too_few_users_are_refused_in_one_line() -> None:
    for vocabularies in ([], ["dog"], ["dog", "cat"], ["dog", "cat", "xqzzy"]):
        with pytest.raises(InputError, match="needs at least 3 users"):
            SSC(k=3).anonymize(words_log(vocabularies))


def test_more_users_than_it_takes_are_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SSC, "info", replace(SSC.info, most_users=2))
    with pytest.raises(InputError, match=r"ssc takes at most 2 users, .* the log has 3: anonymize some at a time"):
        SSC(k=2).run(words_log(["dog", "cat", "cow"]))


def test_terms_that_no_taxonomy_knows_are_counted_as_suppressed() -> None:
    knowledge = Knowledge(dictionary_name="any")
    made = SSC(knowledge, k=2).anonymize(words_log(["dog xqzzy", "dog xqzzy xqzzy", "xqzzy"]))
    assert made.release.profile(0) == {"dog": 1}
    assert (made.suppressed.occurrences, made.suppressed.users) == (4, 1)


def test_sessions_of_length_one_are_grouped_over_different_users() -> None:
    users = [f"u{x % 4}" for x in range(16)]
    log = make_log(pl.Series(users), pl.Series(["dog", "wolf"] * 8), np.arange(16) * 10**5)
    made = SSC(k=3, gap=30).anonymize(log)
    assert made.claim.id == "session-vocabulary-k-anonymity"
    assert made.release.users.min() >= 3
    assert verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, Knowledge())).holds


@pytest.mark.parametrize("epsilon", [0, 4, 12])
def test_one_user_with_ten_thousand_terms_is_no_burden(epsilon: int) -> None:
    taxonomy = Knowledge().taxonomy
    nouns = [label for label in np.array(taxonomy.labels)[taxonomy.is_leaf] if label.isalpha()][::3]
    few = [" ".join(nouns[x : x + 2000 : 100]) for x in range(0, 12000, 1000)]
    made = SSC(k=3, epsilon=epsilon).anonymize(words_log([" ".join(nouns[:10000]), *few]))
    assert made.release.users.sum() + made.suppressed.users == 13


def test_a_run_can_be_cancelled() -> None:
    def stop(done: int, total: int, stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        SSC(k=2).anonymize(words_log(["dog"] * 10), progress=stop)


def test_the_release_is_the_same_every_time() -> None:
    log = words_log(["dog cat", "cat wine", "wine beer", "dog wolf", "beer cat dog"])
    first, second = SSC(k=2).anonymize(log, seed=1), SSC(k=2).anonymize(log, seed=1)
    assert shared(first) == shared(second)
    assert first.release.labels == second.release.labels
