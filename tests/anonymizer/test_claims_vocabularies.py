"""Does the verifier of vocabulary k-anonymity reject releases that were tampered with?"""

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Claim, Release, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify, vocabularies
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.methods.ssc import SSC
from shoal.anonymizer.methods.ssc.literal import Bag, LiteralSSC
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

TYPED = {
    "a1": "dog dog cat beer", "a2": "puppy dog cat beer", "a3": "dog cat kitten wine", "a4": "dog dog cat ale hill",
    "b1": "violin piano concert", "b2": "cello piano concert", "b3": "violin guitar concert",
}  # fmt: skip
KNOWLEDGE = Knowledge()


@pytest.fixture(scope="module")
def log() -> QueryLog:
    return make_log(pl.Series(list(TYPED)), pl.Series(list(TYPED.values())))


@pytest.fixture(scope="module")
def made(log: QueryLog) -> Anonymized:
    return SSC(KNOWLEDGE, k=3).anonymize(log)


def verdict(made: Anonymized, log: QueryLog) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE))


def large(made: Anonymized) -> int:
    return int(np.argmax(made.release.users))


def with_profile(made: Anonymized, row: int, profile: dict[str, float], general: tuple[str, ...] = ()) -> Anonymized:
    """The release with another profile in one row."""
    rows = [profile if r == row else made.release.profile(r) for r in range(len(made.release))]
    labels = sorted({label for p in rows for label in p})
    old = dict(zip(made.release.labels, made.release.generalized.tolist(), strict=True))
    weights = csr_array(np.array([[p.get(label, 0.0) for label in labels] for p in rows]))
    flags = np.array([label in general or old.get(label, False) for label in labels], dtype=bool)
    changed = Release(made.release.pseudonyms, made.release.users, labels, flags, weights)
    return replace(made, release=changed)


def counted(made: Anonymized, more: int) -> Anonymized:
    """The number of suppressed occurrences forged, so that only what is published can give it away."""
    return replace(made, suppressed=Suppressed(made.suppressed.occurrences + more, made.suppressed.users))


def moved(made: Anonymized) -> Anonymized:
    """One member of the large group sent to the small one, all counts adjusted."""
    row = large(made)
    other = 1 - row
    one = int(np.flatnonzero(made.assignment.profile == row)[0])
    profile = made.assignment.profile.copy()
    profile[one] = other
    users = made.release.users + np.where(np.arange(2) == row, -1, 1)
    bags = np.asarray(made.release.weights.sum(axis=1)).ravel()
    release = replace(made.release, users=users)
    assignment = Assignment(made.assignment.users, made.assignment.user, profile)
    return counted(replace(made, release=release, assignment=assignment), int(bags[row] - bags[other]))


def with_a_foreign_term(made: Anonymized) -> Anonymized:
    row = large(made)
    return counted(with_profile(made, row, {**made.release.profile(row), "theory": 1.0}), -4)


def with_a_near_term_that_nobody_typed(made: Anonymized) -> Anonymized:
    row = large(made)
    profile = made.release.profile(row)
    assert profile.pop("cat") == 1
    return with_profile(made, row, {**profile, "feline": 1.0})


def with_one_copy_too_many(made: Anonymized) -> Anonymized:
    row = large(made)
    profile = made.release.profile(row)
    return counted(with_profile(made, row, {**profile, "dog": profile["dog"] + 2}), -8)


def with_a_term_left_out(made: Anonymized) -> Anonymized:
    row = large(made)
    profile = made.release.profile(row)
    del profile["dog"]
    return with_profile(made, row, profile)


def with_half_a_bag(made: Anonymized) -> Anonymized:
    row = large(made)
    return with_profile(made, row, {label: w / 2 for label, w in made.release.profile(row).items()})


def with_an_unknown_label(made: Anonymized) -> Anonymized:
    return with_profile(made, 0, {"xqzzy": 1.0})


def with_an_inner_node(made: Anonymized) -> Anonymized:
    return with_profile(made, 0, {"dog.n.01": 1.0}, ("dog.n.01",))


def with_a_flag_on_a_plain_term(made: Anonymized) -> Anonymized:
    row = large(made)
    return with_profile(made, row, made.release.profile(row), ("dog",))


def with_a_stricter_promise(made: Anonymized) -> Anonymized:
    return replace(made, claim=Claim(made.claim.id, {**made.claim.values, "k": 4}))


def with_a_word_of_one_member_for_the_medoid(made: Anonymized) -> Anonymized:
    row = 1 - large(made)
    profile = made.release.profile(row)
    assert profile.pop("violin") == 1
    return with_profile(made, row, {**profile, "cello": 1.0})


def with_a_capital(made: Anonymized) -> Anonymized:
    row = large(made)
    profile = made.release.profile(row)
    return with_profile(made, row, {**profile, "Cat": profile.pop("cat")})


def with_an_empty_vocabulary(made: Anonymized) -> Anonymized:
    row = large(made)
    return counted(with_profile(made, row, {}), 4 * int(made.release.weights[[row]].sum()))


def without_a_member(made: Anonymized) -> Anonymized:
    """One of the four left with nothing, and counted so."""
    row = large(made)
    keep = np.ones(len(made.assignment.user), dtype=bool)
    keep[np.flatnonzero(made.assignment.profile == row)[0]] = False
    assignment = Assignment(made.assignment.users, made.assignment.user[keep], made.assignment.profile[keep])
    release = replace(made.release, users=made.release.users - (np.arange(2) == row))
    bags = int(made.release.weights[[row]].sum())
    suppressed = Suppressed(made.suppressed.occurrences + bags, made.suppressed.users + 1)
    return replace(made, release=release, assignment=assignment, suppressed=suppressed)


MUTANTS = [
    moved, with_a_foreign_term, with_a_near_term_that_nobody_typed, with_one_copy_too_many, with_a_term_left_out,
    with_half_a_bag, with_an_unknown_label, with_an_inner_node, with_a_flag_on_a_plain_term, with_a_stricter_promise,
    with_a_word_of_one_member_for_the_medoid, with_a_capital, with_an_empty_vocabulary, without_a_member,
]  # fmt: skip


def test_the_true_release_is_accepted(made: Anonymized, log: QueryLog) -> None:
    assert sorted(made.release.users.tolist()) == [3, 4]
    assert "dog" in made.release.profile(large(made))
    assert verdict(made, log).holds


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_release_is_rejected(mutant: Callable[[Anonymized], Anonymized], made: Anonymized, log: QueryLog) -> None:
    broken = mutant(made)
    found = verdict(broken, log)
    assert not found.holds
    assert found.counterexample
    assert "\n" not in found.counterexample
    assert not is_true(broken.claim, Evidence(broken.release, broken.assignment, broken.suppressed, log, KNOWLEDGE))


@pytest.mark.parametrize(
    ("typical", "label"), [("bags", "cat|dog|hill"), ("bags", "cat|theory"), ("generalize", "entity.n.01")]
)
def test_a_label_that_the_members_do_not_give_is_rejected(log: QueryLog, typical: str, label: str) -> None:
    made = SSC(KNOWLEDGE, k=3, typical=typical).anonymize(log)
    assert verdict(made, log).holds
    row = large(made)
    count = float(made.release.weights[[row]].sum())
    forged = with_profile(made, row, {label: count}, (label,))
    assert not verdict(forged, log).holds


def test_less_may_be_published_if_it_is_counted(made: Anonymized, log: QueryLog) -> None:
    row = large(made)
    profile = made.release.profile(row)
    del profile["cat"]
    assert verdict(counted(with_profile(made, row, profile), 4), log).holds


def shared_by_all(
    knowledge: Knowledge, typed: list[str], typical: str, epsilon: int, profile: dict[str, int]
) -> Verdict:
    """What is said of one vocabulary that all share, correctly counted."""
    log = make_log(pl.Series([f"u{u}" for u in range(len(typed))]), pl.Series(typed))
    labels = sorted(profile)
    generalized = np.array([typical != "vote" and label not in " ".join(typed).split() for label in labels], dtype=bool)
    weights = csr_array(np.array([[float(profile[label]) for label in labels]]))
    members = (np.arange(len(typed)), np.zeros(len(typed), dtype=np.int64))
    occurrences = sum(len(words.split()) for words in typed) - len(typed) * sum(profile.values())
    claim = Claim("vocabulary-k-anonymity", {"k": 2, "epsilon": epsilon, "typical": typical})
    made = publish(log.users, members, weights, labels, claim, Suppressed(occurrences, 0), generalized)
    return verify(claim, Evidence(made.release, made.assignment, made.suppressed, log, knowledge))


@pytest.mark.parametrize(
    ("profile", "found"),
    [
        ({"beer": 1, "wine": 1}, ""),
        ({"beer": 2}, ""),  # beer, wine, ale and wine, beer, ale
        ({"wine": 2}, "no choice of terms of the members of p0001 fills all its bags at once"),
        ({"ale": 1}, "p0001 publishes 'ale', but no bag of its members' terms is called so"),
    ],
)
def test_bags_that_no_choice_of_terms_of_the_members_fills_are_rejected(profile: dict[str, int], found: str) -> None:
    typed = ["beer wine", "beer wine", "ale ale"]
    assert shared_by_all(KNOWLEDGE, typed, "vote", 6, profile).counterexample == found


def test_where_the_bags_are_too_many_the_sentence_says_what_was_checked(
    made: Anonymized, log: QueryLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = verdict(made, log).sentence
    assert whole == (
        "Every vocabulary is shared by at least 3 users, and each word in it is the most central of a bag with one "
        "word of each of them, at most 4 edges apart."
    )
    monkeypatch.setattr(vocabularies, "MOST_BAGS", (0,))
    less = verdict(made, log)
    assert less.holds
    assert less.sentence == (
        f"{whole} For 1 of the 2 vocabularies the bags are too many to look for: "
        "there it was checked that each member alone has a word for each of them."
    )
    assert not verdict(with_one_copy_too_many(made), log).holds


@dataclass(frozen=True)
class Literal:
    """Members of one group, and all that can be published of them, tried to the letter."""

    ssc: LiteralSSC
    typed: list[list[str]]
    typical: str

    def bags(self, typed: Sequence[Sequence[str]]) -> set[Bag]:
        near = self.ssc.epsilon
        chosen = product(*map(set, typed))
        return {bag for bag in chosen if all(self.ssc.between(a, b) <= near for a, b in combinations(bag, 2))}

    def label(self, bag: Bag) -> str:
        if self.typical == "vote":
            total = {i: sum(self.ssc.between(i, j) for j in bag) for i in bag}
            return min(bag, key=lambda i: (total[i], -sum(i in words for words in self.typed), i))
        if self.typical == "bags":
            return "|".join(sorted(set(bag)))
        return next(node for node in self.ssc.path(bag[0]) if all(node in self.ssc.path(i) for i in bag))

    def can_be(self, published: Sequence[str], typed: Sequence[Sequence[str]]) -> bool:
        if not published:
            return True
        fillings = [bag for bag in self.bags(typed) if self.label(bag) == published[0]]
        rests = [[_without(words, i) for words, i in zip(typed, bag, strict=True)] for bag in fillings]
        return any(self.can_be(published[1:], rest) for rest in rests)


def _without(words: Sequence[str], word: str) -> list[str]:
    place = list(words).index(word)
    return [*words[:place], *words[place + 1 :]]


@examples(400)
@given(st.data(), st.sampled_from(["vote", "bags", "generalize"]))
def test_a_vocabulary_is_accepted_exactly_if_some_choice_of_bags_gives_it(data: st.DataObject, typical: str) -> None:
    parent: dict[str, str] = {}
    for v in range(data.draw(st.integers(3, 12))):
        above = data.draw(st.integers(max(0, v - 4), v))
        parent[f"n{v}"] = "root" if above == v else f"n{above}"
    leaves = sorted(set(parent) - set(parent.values()))
    words = st.lists(st.sampled_from(leaves), min_size=2, max_size=4)
    typed = data.draw(st.lists(words, min_size=2, max_size=4))
    literal = Literal(LiteralSSC(parent, leaves, 2, data.draw(st.integers(1, 6))), typed, typical)
    labels = sorted(set(map(literal.label, literal.bags(typed))) | ({typed[0][0]} if typical == "vote" else set()))
    assume(labels)
    published = data.draw(st.lists(st.sampled_from(labels), min_size=1, max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "taxonomy.tsv"
        path.write_text("".join(f"{child}\t{above}\n" for child, above in parent.items()))
        found = shared_by_all(
            Knowledge(path), list(map(" ".join, typed)), typical, literal.ssc.epsilon, Counter(published)
        )
    assert found.holds == literal.can_be(published, typed), found.counterexample
    assert "too many" not in found.sentence


def test_a_session_that_supplies_nothing_published_for_its_user_is_rejected(log: QueryLog) -> None:
    times = np.arange(14) * 10**5
    users, queries = list(TYPED) * 2, [*TYPED.values(), *reversed(TYPED.values())]
    twice = make_log(pl.Series(users), pl.Series(queries), times)
    made = SSC(KNOWLEDGE, k=3, gap=30).anonymize(twice)
    assert verdict(made, twice).holds
    row = int(np.argmax(np.asarray(made.release.weights.sum(axis=1)).ravel()))
    keep = ~(
        (made.assignment.profile == row)
        & (made.assignment.user == made.assignment.user[made.assignment.profile == row][0])
    )
    fewer = Assignment(made.assignment.users, made.assignment.user[keep], made.assignment.profile[keep])
    users_left = made.release.users - (np.arange(len(made.release)) == row)
    forged = replace(made, assignment=fewer, release=replace(made.release, users=users_left))
    assert not verdict(forged, twice).holds
