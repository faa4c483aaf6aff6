"""Do the query methods come through awkward logs, report how far they are, and stop when told to?"""

import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.base import Method
from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.affinity import Affinity
from shoal.anonymizer.methods.equality import Equality
from shoal.anonymizer.methods.wordnet_queries import WordnetQueries
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log

METHODS: list[Method] = [
    Equality(k=3), Affinity(k=3), Affinity(k=3, exact="no", support=2), Affinity(k=2, theta=0.1, support=3),
    Affinity(k=3, theta=1, support=2), WordnetQueries(k=3), WordnetQueries(Knowledge(dictionary_name="any"), k=3),
]  # fmt: skip
WIDE = [f"w{i}x" for i in range(10_000)]
AWKWARD: dict[str, list[tuple[str, str]]] = {
    "all users equal": [(f"u{i}", q) for i in range(6) for q in ("red wine", "dog", "red wine")],
    "all users different": [(f"u{i}", f"own{i} thing{i}") for i in range(6)],
    "one user with 10,000 terms": [("big", " ".join(WIDE)), *[(f"u{i}", f"dog {WIDE[i]}") for i in range(5)]],
    "no word at all": [(f"u{i}", "?? !!") for i in range(4)],
    "function words only": [(f"u{i}", "the of and") for i in range(4)],
    "blanks only": [(f"u{i}", "   ") for i in range(4)],
    "words beyond ascii": [(f"u{i}", "Ångström Σίσυφος 东京") for i in range(4)],
    "a word repeated": [(f"u{i}", "dog dog dog dog") for i in range(4)],
}


def log_of(rows: list[tuple[str, str]]) -> QueryLog:
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", AWKWARD)
def test_an_awkward_log_gives_a_release_that_holds(method: Method, name: str) -> None:
    log = log_of(AWKWARD[name])
    made = method.anonymize(log)
    verdict = verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, method.knowledge))
    assert verdict.holds, verdict.counterexample
    assert made.release.queries is not None
    assert "" not in made.release.queries.query.to_list()


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_fewer_than_k_users_are_an_error(method: Method) -> None:
    with pytest.raises(InputError, match="needs at least"):
        method.anonymize(log_of([("only", "red wine")]))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_every_stage_can_be_cancelled(method: Method) -> None:
    log = log_of(AWKWARD["all users equal"])
    calls: list[str] = []
    method.anonymize(log, progress=lambda done, total, stage: calls.append(stage))

    for number in range(len(calls)):
        left = [number]

        def stop(done: int, total: int, stage: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Cancelled

        with pytest.raises(Cancelled):
            method.anonymize(log, progress=stop)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_order_of_users_in_the_log_does_not_show(method: Method) -> None:
    rows = [row for name in ("all users equal", "function words only") for row in AWKWARD[name]]
    rows += [(f"u{i}", "the dog") for i in range(3)] + [(f"v{i}", "wine the of") for i in range(4)]
    one, two = (method.anonymize(log_of(part)).release for part in (rows, rows[::-1]))
    assert one.queries is not None
    assert two.queries is not None
    assert one.queries.query.to_list() == two.queries.query.to_list()
    assert np.array_equal(one.queries.pseudonym, two.queries.pseudonym)
    assert [one.profile(row) for row in range(len(one))] == [two.profile(row) for row in range(len(two))]
