"""Do released queries give a victim away? Linkage by any word of the queries, not only by those that profiles keep."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.dictionary import dictionary
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import tokenize_column
from shoal.evaluation.attacks.linkage import link
from shoal.evaluation.attacks.victims import choose_victims
from shoal.evaluation.attacks.view import PublishedView


def query_linkage(release: Release, assignment: Assignment, log: QueryLog, victims: int, m: int, seed: int) -> float:
    """The success of an attacker who knows m words of the victim's queries and reads all that is released of them."""
    words = dictionary("any")
    chosen = choose_victims(build_profiles(log, words), victims, seed)
    view = PublishedView(as_words(release), Knowledge())
    success = link(view, assignment, chosen, chosen.known(m)).success
    return float(success.mean()) if len(success) else 0.0


def as_words(release: Release) -> Release:
    """The release whose profiles are all the words of the released queries, as often as they were asked."""
    asked = release.queries
    assert asked is not None
    words = dictionary("any")
    tokens = tokenize_column(asked.query)
    kept = np.array([words(token) is not None for token in tokens.vocabulary], dtype=bool)
    row = np.repeat(asked.pseudonym, np.diff(tokens.start))
    count = np.repeat(asked.count, np.diff(tokens.start)).astype(float)
    used = kept[tokens.ids] if len(kept) else np.zeros(0, dtype=bool)
    shape = (len(release), len(tokens.vocabulary))
    weights = csr_array((count[used], (row[used], tokens.ids[used])), shape=shape)
    weights.sum_duplicates()
    plain = np.zeros(len(tokens.vocabulary), dtype=bool)
    return Release(release.pseudonyms, release.users, list(tokens.vocabulary), plain, weights)


@dataclass(frozen=True)
class RareTermShare:
    """How much of what is released holds a word typed by fewer than k users."""

    events: float  # of the released query occurrences
    distinct: float  # of the distinct released queries


def rare_term_share(release: Release, log: QueryLog, k: int) -> RareTermShare | None:
    """The queries that hold a rare word, as typed and each counted once; None if nothing is released."""
    asked = release.queries
    if asked is None or int(asked.count.sum()) == 0:
        return None
    typed = _users_per_word(build_profiles(log, dictionary("any")))
    queries = pl.DataFrame({"query": asked.query, "count": asked.count}).group_by("query").sum()
    tokens = tokenize_column(queries["query"])
    rare = np.array([0 < typed.get(token, 0) < k for token in tokens.vocabulary], dtype=bool)
    holds = np.zeros(len(queries), dtype=bool)
    holds[np.repeat(np.arange(len(queries)), np.diff(tokens.start))[rare[tokens.ids]]] = True
    count = queries["count"].to_numpy()
    return RareTermShare(float(count[holds].sum() / count.sum()), float(holds.mean()))


def _users_per_word(profiles: Profiles) -> dict[str, int]:
    users = np.bincount(profiles.counts.indices, minlength=len(profiles.terms))
    return dict(zip(profiles.terms, users.tolist(), strict=True))
