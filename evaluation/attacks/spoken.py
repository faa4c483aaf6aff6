"""What does the server hear of people at their searches? Words that devices said, as profiles that attacks can read.

A method of query time publishes no row of anybody, but a server that can link some searches of one person hears all
words of them. Attacks see these as the published profile of that person, with the queries beside them or without.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Method
from shoal.anonymizer.publish import publish
from shoal.corpus.searches import Device

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
