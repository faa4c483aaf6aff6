"""Which queries does only one person type? The long tail: phrases of a session's passage, refined and misspelt."""

import numpy as np

from shoal.corpus.people.simulated.interests import draw_anchors
from shoal.corpus.people.simulated.mixing import below
from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.people.simulated.people import People
from shoal.corpus.people.simulated.phrases import Anchors

_STAY = 6  # of ten queries start where their session started, so that they refine one another


def own_anchors(
    people: People, events: np.ndarray, user: np.ndarray, passages: Passages, rng: np.random.Generator
) -> Anchors:
    """Where these events' queries start: where the session does, or elsewhere in the same interest."""
    session = people.session[events].astype(np.int64)
    place = people.session_place[session].astype(np.int64)
    elsewhere = draw_anchors(people.interests, user, place, passages, rng)
    own = 1 + len(people.session_topic) + events
    stays = below(10, own) < _STAY
    return Anchors(
        position=np.where(stays, people.session_anchor[session], elsewhere).astype(np.int64),
        topic=people.session_topic[session].astype(np.int64),
        token=np.where(stays, 1 + session, own),
        own=own,
    )
