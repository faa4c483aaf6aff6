"""Are people found by replayed devices where these say what known terms tell, and by chance where they do not?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from math import exp, log
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Catalogue, Release
from shoal.anonymizer.methods.device import OwnDevice
from shoal.anonymizer.methods.everyone import Everyone
from shoal.anonymizer.methods.murmur import Murmur
from shoal.anonymizer.methods.murmur.answer import OWN_FIRST, gains
from shoal.anonymizer.methods.murmur.literal import average_precision, page
from shoal.anonymizer.methods.murmur.literal import product as cosine
from shoal.anonymizer.methods.murmur.menu import NONE, Menu, products
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import load_log
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.searches import Device
from shoal.evaluation.attacks.spoken import (
    AVERAGES,
    LINKED,
    SLIP,
    TEMPERATURES,
    Exchange,
    Overheard,
    mark_first,
    overhear,
    replay,
    spoken,
    write_gains,
)
from shoal.evaluation.attacks.victims import Victims, choose_victims
from shoal.evaluation.measures.registry import columns_named
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.evaluation.protocol.precision import Trial, choose_queries
from shoal.evaluation.protocol.workload import split_by_time
from shoal.search.index import index_for
from shoal.search.vectors import DocumentVectors, own_profiles

WORDS = [f"word{number}" for number in range(30)]
PEOPLE, KNOWN = 100, 5
Answer = Callable[[int, Exchange, Overheard], str]


def world(people: int, seed: int = 3, documents: int = 300) -> tuple[Victims, DocumentVectors]:
    """People with five words each, all of which are known, and documents of six words."""
    rng = np.random.default_rng(seed)
    held = np.array([rng.permutation(len(WORDS)) < KNOWN for _ in range(people)]).astype(np.int64)
    profiles = Profiles(pl.Series([f"u{user}" for user in range(people)]), WORDS, csr_array(held))
    about = np.array([np.where(rng.permutation(len(WORDS)) < 6, rng.integers(1, 4), 0) for _ in range(documents)])
    columns = {word: column for column, word in enumerate(WORDS)}
    return choose_victims(profiles, people), DocumentVectors(csr_array(about.astype(np.float32)), columns, WORDS)


def searched(people: int, vectors: DocumentVectors, method: Murmur, answer: Answer, found: int = 100) -> Overheard:
    """Five searches of each person with candidates of their own, at which devices answer."""
    rng = np.random.default_rng(5)
    mean = np.linspace(0.5, 1, len(WORDS)).round(1) * 0.25
    release = Release([], np.empty(0, dtype=np.int64), [], np.empty(0, dtype=bool), csr_array((0, 0)),
                      catalogue=Catalogue(WORDS, np.full(len(WORDS), 20), mean))  # fmt: skip
    heard = Overheard(method, release, vectors, {})
    streams: dict[int, list[Exchange]] = {}
    for user, number in product(range(people), range(LINKED)):
        asked = Exchange(f"query {number}", rng.permutation(len(vectors))[:found], NONE)
        streams.setdefault(user, []).append(replace(asked, said=answer(user, asked, heard)))
    return replace(heard, streams=streams)


def honest(victims: Victims, method: Murmur) -> Answer:
    devices = [
        Device(csr_array(victims.profiles.counts[[user]].astype(float)), csr_array((1, len(WORDS))), Random(user))
        for user in range(len(victims.profiles))
    ]
    return lambda user, asked, heard: method.said(heard.menu(asked), asked.query, devices[user])


def found(method: Murmur, answer: Callable[[Victims], Answer]) -> float:
    victims, vectors = world(PEOPLE)
    heard = searched(PEOPLE, vectors, method, answer(victims))
    return float(replay(heard, victims, [victims.known(KNOWN)])[0].mean())


def test_who_says_what_known_terms_tell_is_found() -> None:
    method = Murmur(k=2, words=LINKED)
    assert found(method, lambda victims: honest(victims, method)) > 0.9


def test_who_says_nothing_or_just_anything_is_found_by_chance() -> None:
    random, method = Random(1), Murmur(k=2, words=LINKED)
    assert found(method, lambda _: lambda user, asked, heard: NONE) < 6 / PEOPLE
    assert found(method, lambda _: lambda user, asked, heard: random.choice(heard.menu(asked).words)) < 6 / PEOPLE


def test_a_small_epsilon_hides_people_and_a_large_one_does_not() -> None:
    hidden, shown = Murmur(k=2, epsilon=0.5, words=LINKED), Murmur(k=2, epsilon=8, words=LINKED)
    assert found(hidden, lambda victims: honest(victims, hidden)) < 5 / PEOPLE
    assert found(shown, lambda victims: honest(victims, shown)) > 0.8


def test_who_never_searched_is_guessed() -> None:
    method = Murmur(k=2, words=LINKED)
    victims, vectors = world(PEOPLE)
    heard = searched(PEOPLE // 2, vectors, method, honest(victims, method))
    (success,) = replay(heard, victims, [victims.known(KNOWN)])
    assert success[: PEOPLE // 2].mean() > 0.9
    assert success[PEOPLE // 2 :].tolist() == [1 / PEOPLE] * (PEOPLE // 2)


def test_gains_are_those_that_a_device_reckons_with() -> None:
    victims, vectors = world(PEOPLE)
    heard = searched(1, vectors, Murmur(k=2), lambda user, asked, heard: NONE)
    for exchange in heard.streams[0]:
        menu = heard.menu(exchange)
        for known in victims.known(KNOWN):
            own = csr_array(known.reshape(1, -1))
            scores, ours = products(menu.candidates, own), np.empty(len(menu) + 1, dtype=np.int64)
            first, work = np.empty(len(scores), dtype=bool), np.empty(len(scores) + 1)
            for floor in (-1.0, 0.0, np.sort(scores)[-min(OWN_FIRST, len(scores) // 2)]):
                mark_first(scores, floor, first, work)
                write_gains(first, menu.pages, ours)
                assert ours.tolist() == [*gains(menu, own).tolist(), 0]


@pytest.mark.parametrize("epsilon", ["none", 3])
@pytest.mark.parametrize("candidates", [14, 70])
def test_the_attack_is_the_literal_one(epsilon: object, candidates: int) -> None:
    method = Murmur(k=2, epsilon=epsilon, menu=4, words=2)
    victims, vectors = world(4, documents=candidates + 10)
    heard = searched(3, vectors, method, honest(victims, method), candidates)
    ways = (1, 2, 5) if candidates == 14 else (2,)
    for m, ours in zip(ways, replay(heard, victims, [victims.known(m) for m in ways]), strict=True):
        assert ours == pytest.approx(literal(heard, victims, m))


def literal(heard: Overheard, victims: Victims, m: int) -> list[float]:
    """Victim by victim, word by word."""
    known = [{WORDS[term]: 1.0 for term in row.nonzero()[-1]} for row in victims.known(m)]
    tries = []
    for weight, temperature, relative in product(AVERAGES, TEMPERATURES, (False, True)):
        score: list[dict[int, float]] = [{} for _ in known]
        for user, stream in heard.streams.items():
            logs = [told(heard, stream, bag, weight, temperature) for bag in known]
            for number in range(len(stream)):
                mean = log(sum(exp(one[number]) for one in logs) / len(logs)) if relative else 0.0
                for of, one in zip(score, logs, strict=True):
                    of[user] = of.get(user, 0.0) + one[number] - mean
        tries.append([success(of, int(user), len(known)) for of, user in zip(score, victims.user, strict=True)])
    return max(tries, key=sum)


def success(score: Mapping[int, float], user: int, people: int) -> float:
    best = [other for other in score if score[other] > max(score.values()) - 1e-9]
    return 1 / people if user not in score else (user in best) / len(best)


def told(
    heard: Overheard, stream: Sequence[Exchange], bag: Mapping[str, float], weight: float, temperature: float
) -> list[float]:
    """The logarithm of the probability of each word that was said."""
    catalogue, logs, before = heard.release.catalogue, [], set()
    assert catalogue is not None
    mean = dict(zip(catalogue.terms, catalogue.mean.tolist(), strict=True))
    for exchange in stream:
        menu, candidates, shown = pages_of(heard, exchange)
        scores = [cosine(bag, one) + weight * cosine(mean, one) for one in candidates]
        ranked = [{"score": score} for score in scores]
        worth = {
            word: float(average_precision({"score": 1.0}, shown[word], ranked) / 10) if any(scores) else 0.0
            for word in (*menu.words, NONE)
            if word == NONE or word in before or len(before) < heard.method.words
        }
        share = exp(worth[exchange.said] / temperature) / sum(exp(one / temperature) for one in worth.values())
        logs.append(log(probability(share, len(worth), heard.epsilon)))
        before |= {exchange.said} - {NONE}
    return logs


@cache  # whoever is thought of, the pages are the same
def pages_of(heard: Overheard, exchange: Exchange) -> tuple[Menu, list[dict[str, float]], dict[str, list[int]]]:
    menu = heard.menu(exchange)
    candidates = [bag_of(row) for row in menu.candidates]
    return menu, candidates, {word: page(word, candidates) for word in (*menu.words, NONE)}


def bag_of(row: csr_array) -> dict[str, float]:
    return {WORDS[column]: float(row.toarray().ravel()[column]) for column in row.nonzero()[-1]}


def probability(best: float, options: int, epsilon: float | None) -> float:
    if epsilon is None:
        return (1 - SLIP) * best + SLIP / options
    return (best * exp(epsilon) + (1 - best)) / (exp(epsilon) + options - 1)


def heard_at_searches(corpus: Path, log: Path) -> tuple[dict[int, Device], MeasuredRelease]:
    """What devices said at the later searches of a log, and what was seen of them."""
    train, test = split_by_time(load_log(str(log))[0])
    index, method = index_for(corpus), Murmur(k=2)
    profiles = build_profiles(train, method.knowledge.words)
    trial = Trial(choose_queries(test, index, 9), train.users, own_profiles(profiles, index.vectors), index)
    made = method.run(train)
    devices = trial.devices(method, made.release, made.assignment, 0)
    trial.cosines(method, made.release, made.assignment, 0, devices)
    for other in (Everyone(), OwnDevice()):
        assert overhear(other, made.release, trial, devices) is None
    seen = spoken(made, devices, train.users)
    heard = overhear(method, made.release, trial, devices)
    return devices, MeasuredRelease(seen.release, seen.assignment, train, Knowledge(), heard=heard)


def test_what_was_heard_reaches_the_column_and_nothing_else_has_one(corpus_file: Path, log_file: Path) -> None:
    devices, measured = heard_at_searches(corpus_file, log_file)
    assert measured.heard is not None
    for user, stream in measured.heard.streams.items():
        assert [exchange.said for exchange in stream] == list(devices[user].said.values())[:LINKED]
    row = measure_release(measured, columns_named(["replayed"]))
    assert 1 / 24 <= row["replayed5_low"] <= row["replayed5"] <= row["replayed5_high"] <= 0.5  # six have each topic
    assert measure_release(replace(measured, heard=None, _made={}), ["replayed5"]) == {}


def test_of_replayed_devices_and_of_what_is_seen_the_stronger_attack_counts(corpus_file: Path, log_file: Path) -> None:
    _, measured = heard_at_searches(corpus_file, log_file)
    assert measured.heard is not None
    said = {user: [replace(one, said=NONE) for one in stream] for user, stream in measured.heard.streams.items()}
    silent = replace(measured.heard, streams=said)
    words_tell = measure_release(replace(measured, heard=silent, _made={}), ["linkage5", "replayed5"])
    assert words_tell["linkage5"] > words_tell["replayed5"]
    assert words_tell["linkage5"] == measure_release(replace(measured, heard=None, _made={}), ["linkage5"])["linkage5"]
    nothing_seen = Murmur(k=2).run(measured.log)
    published = replace(measured, release=nothing_seen.release, assignment=nothing_seen.assignment, _made={})
    by_replay = measure_release(published, ["linkage5", "replayed5"])
    assert by_replay["linkage5"] == by_replay["replayed5"]
    assert by_replay["linkage5"] > measure_release(replace(published, heard=None, _made={}), ["linkage5"])["linkage5"]
