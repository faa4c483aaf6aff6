"""Which events make the profiles, and which are the test? The first 70 % of each user's events, and the rest."""

import numpy as np

from shoal.corpus.querylog import QueryLog

PROFILE_TENTHS = 7


def split_by_time(log: QueryLog) -> tuple[QueryLog, QueryLog]:
    """The log that profiles are made from and the log of test events, with the same users.

    Both are compacted, so that no query, url or statistic of a test event can be found in the first. A part of an
    event counts for the profile: a user with up to three events has a profile and no test.
    """
    counts = np.diff(log.start)
    first = -(-counts * PROFILE_TENTHS // 10)
    place = np.arange(len(log)) - np.repeat(log.start[:-1], counts)
    early = place < np.repeat(first, counts)
    return log.select(early).compacted(), log.select(~early).compacted()
