"""What does the server hear of people at their searches? Words that devices said, as profiles that attacks can read.

A method of query time publishes no row of anybody, but a server that can link some searches of one person hears all
words of them. Attacks see these as the published profile of that person, with the queries beside them or without.

Do devices give people away by what they say? An attacker with the queries replays them, with known terms as profile.

Who knows some terms of a victim puts them in place of the profile, asks what such a device would have said at each of
the searches that are linked, and takes the person whose device said so. What the victim's device ranks by more than
these terms is not known: so the better a word's page is by them, the likelier the word. How much likelier, whether
everyone's average stands beside the terms, and whether words count that most victims would have said, the attacker may
choose, and the strongest choice counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import NamedTuple

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array, vstack

from shoal.anonymizer.base import Anonymized, Method, Release
from shoal.anonymizer.methods.murmur import Murmur
from shoal.anonymizer.methods.murmur.answer import OWN_FIRST, PARTS, as_asked, open_words
from shoal.anonymizer.methods.murmur.menu import NONE, PAGE, Menu
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.progress import Progress, silent
from shoal.corpus.searches import Device
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.protocol.precision import Trial
from shoal.search.vectors import Vectors, profile_space

LINKED = 5  # searches of one person that are linked, at most


def speaks(method: Method) -> bool:
    """Whether the method decides at each search what is used, so that its release alone does not tell its risk."""
    return type(method).choose is not Method.choose


def spoken(made: Anonymized, devices: Mapping[int, Device], users: pl.Series) -> Anonymized:
    """A row for each user whose device answered, of the words of its first linked searches, each as often as it fell.

    Where no device said anything, what was made is what is seen.
    """
    heard = {user: list(device.said.values())[:LINKED] for user, device in devices.items() if device.said}
    if not heard:
        return made
    words = sorted({word for said in heard.values() for word in said if word})
    number = {word: column for column, word in enumerate(words)}
    pairs = [(row, number[word]) for row, said in enumerate(heard.values()) for word in said if word]
    row, column = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    weights = csr_array((np.ones(len(pairs)), (row, column)), shape=(len(heard), len(words)))
    members = (np.array(list(heard), dtype=np.int32), np.arange(len(heard), dtype=np.int32))
    as_seen = publish(users, members, weights, words, made.claim, made.suppressed)
    return replace(made, release=as_seen.release, assignment=as_seen.assignment)


TEMPERATURES = (0.1, 0.4)  # of the choice among words, by what their pages gain
AVERAGES = (0.0, 0.3)  # what everyone's average weighs beside the known terms
SLIP = 0.05  # how often a device without epsilon is thought to say just anything
_WHOLE = 2520 * PAGE  # the precision of a page of hits
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Exchange:
    """What the server knows of one search: the query, its candidates, and the word that was said."""

    query: str
    documents: np.ndarray
    said: str


@dataclass(frozen=True, eq=False)
class Overheard:
    """The linked searches of each user, and all that is public of the devices: the method and the release."""

    method: Murmur
    release: Release
    vectors: Vectors
    streams: Mapping[int, Sequence[Exchange]]

    def menu(self, exchange: Exchange) -> Menu:
        return self.method.offered(self.vectors.search(exchange.query, exchange.documents), self.release)

    @property
    def epsilon(self) -> float | None:
        return None if isinstance(self.method.epsilon, str) else self.method.epsilon


def overhear(method: Method, release: Release, trial: Trial, devices: Mapping[int, Device]) -> Overheard | None:
    """What is heard of devices that have answered a trial; None of a method whose devices choose from no menu."""
    if not isinstance(method, Murmur):
        return None
    asked = trial.queries
    texts = asked.texts.gather(asked.query).to_list()
    heard: dict[int, dict[str, Exchange]] = {}
    for user, text, documents in zip(asked.user.tolist(), texts, asked.documents, strict=True):
        stream, query = heard.setdefault(user, {}), as_asked(text)
        if query not in stream and len(stream) < LINKED:  # an answer is remembered
            stream[query] = Exchange(text, documents[documents >= 0], devices[user].said[query])
    return Overheard(
        method, release, trial.index.vectors, {user: list(stream.values()) for user, stream in heard.items()}
    )


class _Known(NamedTuple):
    """Sparse rows over the known forms: all victims, once for each way of knowing some of their terms."""

    start: np.ndarray
    form: np.ndarray  # ascending in each row
    weight: np.ndarray
    forms: int


@dataclass(frozen=True, eq=False)
class _Guess:
    """What stands in place of the profiles, over the word forms of the documents."""

    known: _Known
    place: np.ndarray  # of each form among the known ones, -1 of others
    average: np.ndarray  # of each form
    victims: int


def _guess(heard: Overheard, victims: Victims, known: Sequence[csr_array]) -> _Guess:
    catalogue = heard.release.catalogue
    assert catalogue is not None
    terms, typed = (_space(terms, heard.vectors) for terms in (victims.profiles.terms, catalogue.terms))
    rows = csr_array(vstack(known, format="csr") @ terms)
    rows.sum_duplicates()  # ascending, as candidates have them
    forms = np.unique(rows.indices)
    place = np.full(rows.shape[1], -1)
    place[forms] = np.arange(len(forms))
    held = _Known(rows.indptr, place[rows.indices], rows.data, len(forms))
    return _Guess(held, place, csr_array(catalogue.mean[None] @ typed).toarray().ravel(), len(victims))


def _space(terms: list[str], vectors: Vectors) -> csr_array:
    return csr_array(profile_space(terms, [False] * len(terms), vectors, Knowledge()))


def replay(
    heard: Overheard, victims: Victims, known: Sequence[csr_array], progress: Progress = silent
) -> list[np.ndarray]:
    """For each victim the chance that the strongest attacker names them, for each way of knowing some of their terms.

    Ties are shared; who never asked is guessed.
    """
    guess = _guess(heard, victims, known)
    shape = (len(AVERAGES) * len(TEMPERATURES) * 2, len(known), len(victims))
    best, ties, own = np.full(shape, -np.inf), np.ones(shape), np.full(shape, -np.inf)
    for number, (user, stream) in enumerate(heard.streams.items()):
        progress(number, len(heard.streams), "replaying devices")
        score = _evidence(heard, stream, guess)
        ties = np.where(score > best + _TIE, 1, ties + (score >= best - _TIE))
        best = np.maximum(score, best)
        own[..., victims.user == user] = score[..., victims.user == user]
    found = np.where(own >= best - _TIE, 1 / ties, 0.0)
    found[..., ~np.isin(victims.user, list(heard.streams))] = 1 / max(1, len(victims.profiles))
    return [np.asarray(max(found[:, m], key=lambda success: float(success.sum()))) for m in range(len(known))]


def _evidence(heard: Overheard, stream: Sequence[Exchange], guess: _Guess) -> np.ndarray:
    """Attackers x known x victims: how likely the device says these words, or how much likelier than most, as logs."""
    total, before = np.zeros(()), set[str]()
    for exchange in stream:
        menu = heard.menu(exchange)
        may = np.append(open_words(menu, before, heard.method.words), True)
        said = _chances(menu, guess, may, [*menu.words, NONE].index(exchange.said), heard.epsilon)
        said = said.reshape(len(said), -1, guess.victims)
        likelier = said / said.mean(axis=2, keepdims=True)
        total = total + np.log(np.concatenate([said, likelier]))
        before |= {exchange.said} - {NONE}
    return np.asarray(total)


def _chances(menu: Menu, guess: _Guess, may: np.ndarray, place: int, epsilon: float | None) -> np.ndarray:
    """(Averages and temperatures) x guesses: the chance of each device to say the word of this place."""
    candidates, options = menu.candidates, int(may.sum())
    least = SLIP / options if epsilon is None else 1 / (exp(epsilon) + options - 1)  # the exact table of answers
    best = np.empty((len(AVERAGES), len(TEMPERATURES), len(guess.known.start) - 1))
    average = np.array(AVERAGES)[:, None] * (candidates @ guess.average)
    write_best(
        candidates.indptr, guess.place[candidates.indices], candidates.data.astype(float),
        average, _floor(average),
        guess.known, guess.victims,
        menu.pages, may, place, np.array(TEMPERATURES), best,
    )  # fmt: skip
    return np.asarray(least + (1 - options * least) * best.reshape(-1, len(guess.known.start) - 1))


def _floor(average: np.ndarray) -> np.ndarray:
    """What the last of those scores that are ranked first by the average alone; known terms make none lower."""
    most = min(OWN_FIRST, average.shape[1] // 2)
    return np.sort(average, axis=1)[:, -most] if most else np.full(len(average), np.inf)


@njit(cache=True)
def write_best(
    row_start: np.ndarray, form: np.ndarray, weight: np.ndarray, average: np.ndarray, floor: np.ndarray,
    known: _Known, victims: int,
    pages: np.ndarray, may: np.ndarray, place: int, temperatures: np.ndarray, best: np.ndarray,
) -> None:  # fmt: skip
    """How surely each guess takes the word of this place for the best, for each average and temperature.

    Who knows the same of all that candidates hold as another, or as with fewer terms, guesses the same.
    """
    number, start, holder, held_weight = candidates_by_form(row_start, form, weight, known.forms)
    candidates = average.shape[1]
    scores, both, work = np.empty(candidates), np.empty(candidates), np.empty(candidates + 1)
    first, gains = np.empty(candidates, dtype=np.bool_), np.empty(len(pages) + 1, dtype=np.int64)
    of_one = np.full(len(start), -1)  # the guess that holds this form and no other; at the end that which holds none
    for guess in range(best.shape[2]):
        forms_held, only = 0, len(start) - 1
        for i in range(known.start[guess], known.start[guess + 1]):
            if number[known.form[i]] >= 0:
                forms_held += 1
                only = number[known.form[i]] if known.weight[i] == 1 else -1
        alone = forms_held == 0 or (forms_held == 1 and only >= 0)
        like = of_one[only] if alone else -1
        if like < 0 and guess >= victims and holds_the_same(guess, guess - victims, known, number):
            like = guess - victims
        if like >= 0:
            for a in range(best.shape[0]):
                for t in range(best.shape[1]):
                    best[a, t, guess] = best[a, t, like]
            continue
        if alone:
            of_one[only] = guess
        for d in range(candidates):
            scores[d] = 0.0
        for i in range(known.start[guess], known.start[guess + 1]):
            f = number[known.form[i]]
            if f >= 0:
                for j in range(start[f], start[f + 1]):
                    scores[holder[j]] += known.weight[i] * held_weight[j]
        for a in range(best.shape[0]):
            told = False
            for d in range(candidates):
                both[d] = scores[d] + average[a, d]
                told |= both[d] != 0
            if told:
                mark_first(both, floor[a], first, work)
                write_gains(first, pages, gains)
            else:
                for word in range(len(gains)):
                    gains[word] = 0
            for t in range(best.shape[1]):
                best[a, t, guess] = share_of(place, gains, may, temperatures[t])


@njit(cache=True)
def candidates_by_form(
    row_start: np.ndarray, form: np.ndarray, weight: np.ndarray, forms: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The number of each known form among those that candidates hold (-1 of others), and the holders of each."""
    number, many = np.full(forms, -1), 0
    for f in form:
        if f >= 0 and number[f] < 0:
            number[f] = many
            many += 1
    start = np.zeros(many + 1, dtype=np.int64)
    for f in form:
        if f >= 0:
            start[number[f] + 1] += 1
    for f in range(many):
        start[f + 1] += start[f]
    filled = start.copy()
    holder, held_weight = np.empty(start[many], dtype=np.int64), np.empty(start[many])
    for d in range(len(row_start) - 1):
        for i in range(row_start[d], row_start[d + 1]):
            if form[i] >= 0:
                at = filled[number[form[i]]]
                holder[at], held_weight[at] = d, weight[i]
                filled[number[form[i]]] += 1
    return number, start, holder, held_weight


@njit(cache=True)
def holds_the_same(one: int, other: int, known: _Known, number: np.ndarray) -> bool:
    """Whether two guesses differ by nothing that a candidate holds."""
    j, last = known.start[other], known.start[other + 1]
    for i in range(known.start[one], known.start[one + 1]):
        if number[known.form[i]] < 0:
            continue
        while j < last and number[known.form[j]] < 0:
            j += 1
        if j == last or known.form[i] != known.form[j] or known.weight[i] != known.weight[j]:
            return False
        j += 1
    while j < last and number[known.form[j]] < 0:
        j += 1
    return bool(j == last)


@njit(cache=True)
def mark_first(scores: np.ndarray, floor: float, first: np.ndarray, work: np.ndarray) -> None:
    """Which candidates are ranked first, as many as a device holds pages against; ties as the engine has them.

    At least so many scores are not below the floor.
    """
    most = min(OWN_FIRST, len(scores) // 2)
    many = 0
    for score in scores:
        work[many] = score
        many += score > floor  # without a branch, which nobody could foretell
    least = largest(work, many, most) if many >= most > 0 else floor
    above, level = 0, 0
    for score in scores:
        above += score > least
        level += score == least
    for d in range(len(scores)):
        first[d] = scores[d] >= least
    if above + level > most:
        for d in range(len(scores)):
            if scores[d] == least:
                first[d] = above < most
                above += 1


@njit(cache=True)
def largest(values: np.ndarray, many: int, place: int) -> float:
    """The value of this place, counted from 1, among the first so many, the largest first; they are moved about."""
    low, high, place = 0, many - 1, place - 1
    while low < high:
        middle = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > middle:
                i += 1
            while values[j] < middle:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return float(values[place])


@njit(cache=True)
def write_gains(first: np.ndarray, pages: np.ndarray, gains: np.ndarray) -> None:
    """What the page of each word, and of none, gains over the engine's by what is ranked first."""
    engine, hits = 0, 0
    for rank in range(pages.shape[1]):
        hits += first[rank]
        engine += first[rank] * hits * PARTS[rank]
    for word in range(len(pages)):
        worth, hits = 0, 0
        for rank in range(pages.shape[1]):
            hit = first[pages[word, rank]]
            hits += hit
            worth += hit * hits * PARTS[rank]
        gains[word] = worth - engine
    gains[len(pages)] = 0


@njit(cache=True)
def share_of(place: int, gains: np.ndarray, may: np.ndarray, temperature: float) -> float:
    """Of the choice among the words that may be said, by what they gain."""
    most = gains[-1]  # of none, which may always be said
    for word in range(len(gains)):
        if may[word]:
            most = max(most, gains[word])
    none = exp(-most / _WHOLE / temperature)  # of most words, which gain as much as none
    own, whole = 0.0, 0.0
    for word in range(len(gains)):
        if may[word]:
            chance = none if gains[word] == 0 else exp((gains[word] - most) / _WHOLE / temperature)
            whole += chance
            if word == place:
                own = chance
    return own / whole
