"""What does a person care about? One to four topics, favourite documents in each, and weights that drift."""

from dataclasses import dataclass

import numpy as np

from shoal.corpus.people.simulated.passages import Passages

MOST_INTERESTS = 4
_HOW_MANY = np.array([0.25, 0.35, 0.25, 0.15])  # users with one, two, three and four interests
_ZIPF = 0.7  # of the popularity of topics
_FAVOURITES = 6
_OWN_TASTE = 0.5  # how often a query comes from a favourite document


@dataclass(frozen=True)
class Interests:
    """The interests of a block of users: topic -1 where a user has fewer than four."""

    topic: np.ndarray  # users x 4
    favourites: np.ndarray  # users x 4 x favourites: documents
    early: np.ndarray  # users x 4: weight at the first day of the log
    late: np.ndarray  # users x 4: weight at its last day


def popularity(passages: Passages) -> np.ndarray:
    """How likely each topic is as an interest. A topic without a word to type is nobody's."""
    weight = (1.0 + np.arange(passages.topics)) ** -_ZIPF
    weight[passages.weight[passages.high[:-1]] <= passages.weight[passages.low[:-1]]] = 0
    return weight / weight.sum()


def draw_interests(users: int, passages: Passages, rng: np.random.Generator) -> Interests:
    """Interests of a block of users, by popularity, without repetition."""
    likely = popularity(passages)
    places = min(MOST_INTERESTS, int((likely > 0).sum()))
    race = rng.exponential(size=(users, len(likely))) / np.maximum(likely, 1e-300)
    topic = np.full((users, MOST_INTERESTS), -1)
    topic[:, :places] = np.argsort(race, axis=1)[:, :places]
    number = 1 + np.searchsorted(np.cumsum(_HOW_MANY)[:-1], rng.random(users), side="right")
    topic[np.arange(MOST_INTERESTS) >= number[:, None]] = -1
    has = topic >= 0
    early, late = (np.where(has, rng.gamma(0.8, size=topic.shape) + 0.05, 0) for _ in range(2))
    return Interests(topic, _favourites(topic, passages, rng), early, late)


def draw_place(interests: Interests, user: np.ndarray, moment: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which interest a session at this moment (0 to 1) is about: the weights drift from early to late."""
    weight = interests.early[user] * (1 - moment)[:, None] + interests.late[user] * moment[:, None]
    heap = np.cumsum(weight, axis=1)
    return (heap <= (rng.random(len(user)) * heap[:, -1])[:, None]).sum(axis=1).clip(0, MOST_INTERESTS - 1)


def draw_anchors(
    interests: Interests, user: np.ndarray, place: np.ndarray, passages: Passages, rng: np.random.Generator
) -> np.ndarray:
    """A position each, where a query of this interest starts: in a favourite document, or anywhere in the topic."""
    topic = interests.topic[user, place]
    favourite = interests.favourites[user, place, rng.integers(0, _FAVOURITES, len(user))]
    own = rng.random(len(user)) < _OWN_TASTE
    low = np.where(own, passages.document_low[favourite], passages.low[topic])
    high = np.where(own, passages.document_high[favourite], passages.high[topic])
    return passages.draw(low, high, rng)


def _favourites(topic: np.ndarray, passages: Passages, rng: np.random.Generator) -> np.ndarray:
    shape = (*topic.shape, _FAVOURITES)
    wide = np.repeat(np.where(topic < 0, topic.max(axis=1, keepdims=True), topic).ravel(), _FAVOURITES)
    position = passages.draw(passages.low[wide], passages.high[wide], rng)
    return passages.document[position].reshape(shape)
