"""Split personality: a pseudonym for each topic of a user, so that no published profile tells of two topics."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo, Suppressed
from shoal.anonymizer.parameters import Parameter, whole_number
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge.directory import CategoryPath
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog

TOPICS = whole_number(1, 20)
_STAGE = "finding the topics of queries"


class SplitPersonality(LogMethod):
    """Adar 2007, section 5; thesis 2.2. Topics are those of the directory of `microaggregation`.

    Guarantee: each pseudonym is of one user and one topic, and nothing that is published links two pseudonyms of a
    user. It stops there: every profile is the user's own, as typed.

    The topic of a term is its best category, cut at a level. That of a query is the one most of its terms have, the
    first in the order of the directory's names among equals; queries without a topic are together.
    """

    info = MethodInfo(
        id="split-personality",
        title="A pseudonym for each topic of a user",
        paper="E. Adar: User 4XXXXX9: Anonymizing query logs. Query Log Analysis Workshop at WWW, 2007",
        unit="user",
        family="split",
        protects="What else a user does who was found by one topic: each topic has a pseudonym of its own.",
        does_not_protect=(
            "The topic that was found, which is published as it was typed. Where one search or session uses several "
            "pseudonyms, as our searches do, the server sees their sum (`linkage_sum`): the own profile again."
        ),
        cluster="blocks",
    )
    topics = Parameter(3, TOPICS, "how deep in the topic directory a topic is: deeper ones are narrower", "higher")

    def claim(self) -> Claim:
        return Claim("one-topic-per-pseudonym", {"topics": self.topics})

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        terms, held = query_term_counts(log, self.knowledge.words)
        topic = self._topic_of_queries(terms, held, progress)
        events = np.flatnonzero(topic[log.query] >= 0)
        several = int(topic.max(initial=0)) + 1
        part, row = np.unique(
            log.user[events].astype(np.int64) * several + topic[log.query[events]], return_inverse=True
        )
        shape = (len(part), len(log.queries))
        asked = csr_array((np.ones(len(events), dtype=np.int64), (row, log.query[events])), shape=shape)
        users = part // several
        suppressed = Suppressed(0, len(log.users) - len(np.unique(users)))
        weights = csr_array(asked @ held).astype(float)
        return publish(log.users, (users, np.arange(len(part))), weights, terms, self.claim(), suppressed)

    def _topic_of_queries(self, terms: list[str], held: csr_array, progress: Progress) -> np.ndarray:
        """The number of each query's topic, 0 where its terms have none; -1 of a query without a term."""
        best: list[CategoryPath] = []
        for place, term in enumerate(terms):
            if place % 2000 == 0:
                progress(place, len(terms), _STAGE)
            best.append(next(iter(self.knowledge.directory.categories(term)), ())[: self.topics])
        progress(len(terms), len(terms), _STAGE)
        number = {path: i for i, path in enumerate(sorted({(), *best}))}  # () is the first
        of_term = np.array([number[path] for path in best], dtype=np.int64)
        known = np.flatnonzero(of_term)
        votes = csr_array((np.ones(len(known)), (known, of_term[known])), shape=(len(terms), len(number)))
        topic = _most_voted(csr_array(held @ votes))
        topic[np.diff(held.indptr) == 0] = -1
        return topic


def _most_voted(votes: csr_array) -> np.ndarray:
    """The column with the largest entry of each row, the first among equals; 0 for an empty row."""
    row = np.repeat(np.arange(votes.shape[0]), np.diff(votes.indptr))
    order = np.lexsort((votes.indices, -votes.data, row))
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.diff(row[order]) != 0
    found = np.zeros(votes.shape[0], dtype=np.int64)
    found[row[order[first]]] = votes.indices[order[first]]
    return found
