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

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Method, Release
from shoal.anonymizer.methods.murmur import Murmur
from shoal.anonymizer.methods.murmur.answer import OWN_FIRST, as_asked, open_words, precision
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


@dataclass(frozen=True, eq=False)
class _Guess:
    """What stands in place of the profiles, over the word forms of the documents."""

    known: csr_array  # forms x victims
    average: csr_array  # forms x 1

    def scores(self, candidates: csr_array) -> list[np.ndarray]:
        """Victims x candidates, for each weight of everyone's average."""
        known, average = (np.asarray((candidates @ part).todense(), dtype=float) for part in (self.known, self.average))
        return [np.ascontiguousarray((known + weight * average).T) for weight in AVERAGES]


def _guess(heard: Overheard, victims: Victims, known: csr_array) -> _Guess:
    catalogue = heard.release.catalogue
    assert catalogue is not None
    terms, typed = (_space(terms, heard.vectors) for terms in (victims.profiles.terms, catalogue.terms))
    return _Guess(csr_array((known @ terms).T), csr_array((csr_array(catalogue.mean[None]) @ typed).T))


def _space(terms: list[str], vectors: Vectors) -> csr_array:
    return csr_array(profile_space(terms, [False] * len(terms), vectors, Knowledge()))


def replay(heard: Overheard, victims: Victims, known: csr_array, progress: Progress = silent) -> np.ndarray:
    """For each victim the chance that the strongest attacker names them; ties are shared, who never asked guessed."""
    guess = _guess(heard, victims, known)
    best = np.full((len(AVERAGES) * len(TEMPERATURES) * 2, len(victims)), -np.inf)
    ties, own = np.ones(best.shape), np.full(best.shape, -np.inf)
    for number, (user, stream) in enumerate(heard.streams.items()):
        progress(number, len(heard.streams), "replaying devices")
        score = _evidence(heard, stream, guess)
        ties = np.where(score > best + _TIE, 1, ties + (score >= best - _TIE))
        best = np.maximum(score, best)
        own[:, victims.user == user] = score[:, victims.user == user]
    found = np.where(own >= best - _TIE, 1 / ties, 0.0)
    found[:, ~np.isin(victims.user, list(heard.streams))] = 1 / max(1, len(victims.profiles))
    return np.asarray(max(found, key=lambda success: float(success.sum())))


def _evidence(heard: Overheard, stream: Sequence[Exchange], guess: _Guess) -> np.ndarray:
    """Attackers x victims: how likely the victim's device says these words, or how much likelier than most, as logs."""
    total, before = np.zeros(()), set[str]()
    for exchange in stream:
        menu = heard.menu(exchange)
        may = np.append(open_words(menu, before, heard.method.words), True)
        place = [*menu.words, NONE].index(exchange.said)
        gained = [np.where(may, replayed_gains(menu, scores), -np.inf) for scores in guess.scores(menu.candidates)]
        said = [chance(gains, place, t, heard.epsilon) for gains in gained for t in TEMPERATURES]
        total = total + np.log([one / by for one in said for by in (1.0, one.mean())])
        before |= {exchange.said} - {NONE}
    return np.asarray(total)


def replayed_gains(menu: Menu, scores: np.ndarray) -> np.ndarray:
    """Victims x (words and none): what each page gains by a ranking of the candidates; 0 where that tells nothing."""
    first = _first(scores)
    page = np.arange(menu.pages.shape[1])
    told = scores.any(axis=1, keepdims=True)
    gains = precision(first[:, menu.pages]) - precision(first[:, page])[:, None]
    return np.pad(np.where(told, gains, 0) / _WHOLE, ((0, 0), (0, 1)))


def _first(scores: np.ndarray) -> np.ndarray:
    """Which candidates each row ranks first, as many as a device holds pages against; ties as the engine has them."""
    many = min(OWN_FIRST, scores.shape[1] // 2)
    if not many:
        return np.zeros(scores.shape, dtype=bool)
    least = -np.partition(-scores, many - 1, axis=1)[:, [many - 1]]
    above, level = scores > least, scores == least
    return above | (level & (np.cumsum(level, axis=1) <= many - above.sum(axis=1, keepdims=True)))


def chance(gains: np.ndarray, place: int, temperature: float, epsilon: float | None) -> np.ndarray:
    """Of each victim's device to say the word of this place; what gains -inf may not be said."""
    weight = np.exp((gains - gains.max(axis=1, keepdims=True)) / temperature)
    best = weight[:, place] / weight.sum(axis=1)
    options = int(np.isfinite(gains[0]).sum())
    least = SLIP / options if epsilon is None else 1 / (exp(epsilon) + options - 1)  # the exact table of answers
    return np.asarray(least + (1 - options * least) * best)
