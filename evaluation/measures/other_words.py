"""What of the words that no profile holds? How many no dictionary knows, and how many stand in released queries."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import tokenize_column
from shoal.evaluation.measures.occurrences import profiles_held


@dataclass(frozen=True)
class OtherWords:
    """Occurrences in the queries of all users; `released` are those that their published queries still have."""

    occurrences: int = 0
    released: int = 0


def other_words(release: Release, assignment: Assignment, log: QueryLog, knowledge: Knowledge) -> OtherWords:
    known = knowledge.words
    own = build_profiles(log, lambda token: token if known(token) is None else None)
    total = int(own.occurrences.sum())
    if release.queries is None or release.generalized.any():  # what is generalized is no query that anyone typed
        return OtherWords(total)
    published = profiles_held(assignment, own, len(release)) @ _in_queries(release, own)
    return OtherWords(total, int(csr_array(own.counts).minimum(csr_array(published)).sum()))


def _in_queries(release: Release, words: Profiles) -> csr_array:
    """Pseudonyms x words: how often each stands in the released queries."""
    queries = release.queries
    assert queries is not None
    tokens = tokenize_column(queries.query)
    number = {word: i for i, word in enumerate(words.terms)}
    column = np.array([number.get(token, -1) for token in tokens.vocabulary], dtype=np.int64)[tokens.ids]
    query = np.repeat(np.arange(len(tokens)), np.diff(tokens.start))[column >= 0]
    places = (queries.pseudonym[query], column[column >= 0])
    return csr_array((queries.count[query], places), shape=(len(release), len(words.terms)))
