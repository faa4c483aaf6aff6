"""How much of the log came out? The share of queries that a query method releases (Carpineto & Romano, Fig. 5)."""

from shoal.anonymizer.base import Release
from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.corpus.querylog import QueryLog


def released_occurrences(release: Release, log: QueryLog) -> float:
    """Of the events of the log, those published in some form."""
    return float(release.queries.count.sum()) / max(1, len(log)) if release.queries is not None else 0.0


def released_distinct(release: Release, log: QueryLog) -> float:
    """Of the distinct queries of the log, in lower case and with single blanks, those published as they are."""
    asked = distinct_queries(log)
    if release.queries is None or len(asked) == 0:
        return 0.0
    return float(asked.texts.is_in(release.queries.query.unique().implode()).sum()) / len(asked)
