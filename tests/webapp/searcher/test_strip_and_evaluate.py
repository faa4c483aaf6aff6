"""Does the strip tell what `shoal evaluate` tells? The same people, profiles and queries, to three digits."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from flask.testing import FlaskClient

from shoal.corpus.logs import load_log
from shoal.evaluation.experiment import make_experiment
from shoal.evaluation.protocol.workload import prepare, split_by_time
from shoal.evaluation.run.results import read_results
from shoal.webapp import create_app
from shoal.webapp.core.settings import Settings
from tests.webapp.instances import EVALUATED

MARKS = {"plain": "plain", "everyone": "everyone", "linkability": "ap10", "original": "own"}


@pytest.fixture(scope="module")
def early(small_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A server over the part of the log that the evaluation makes its profiles of."""
    path = tmp_path_factory.mktemp("early") / "early.tsv"
    heading = small_log.read_text().splitlines()[0]
    train, _ = split_by_time(load_log(str(small_log))[0])
    texts = train.queries.gather(train.query).to_list()
    moments = [datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S") for time in train.time.tolist()]
    rows = zip(train.user.tolist(), texts, moments, strict=True)
    path.write_text("\n".join([heading, *(f"{train.users[who]}\t{query}\t{at}\t\t" for who, query, at in rows)]) + "\n")
    return Settings(log=str(path), instance=tmp_path_factory.mktemp("instance"), levels=False)


def test_the_marks_over_the_queries_of_an_evaluation_are_its_numbers(
    small_log: Path, evaluated: Path, early: Settings
) -> None:
    app = create_app(early)
    here = app.extensions["shoal.service"]
    work, _ = prepare(make_experiment({"log": str(small_log), **EVALUATED}), evaluated)
    texts = work.test.queries.gather(work.queries.query).to_list()
    row = {name: place for place, name in enumerate(here.log.users)}
    people = [here.people.at(row[work.test.users[user]]) for user in work.queries.user.tolist()]
    told = [quality(app.test_client(), person.key, text) for person, text in zip(people, texts, strict=True)]
    assert len(told) > 30
    rows = {one["method"]: one for one in read_results(evaluated).rows}
    for method, mark in MARKS.items():
        assert np.mean([one[mark] for one in told]) == pytest.approx(rows[method]["ap10"], abs=5e-4), method


def quality(client: FlaskClient, user: str, query: str) -> dict[str, float]:
    found: dict[str, float] = client.get("/api/v1/search", query_string={"q": query, "user": user}).json["quality"]
    return found
