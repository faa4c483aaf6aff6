"""Does `measure_release` give every measure that applies by the name of its column, and no other?"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.contract.sample_logs import awkward_logs, sample_log
from shoal.anonymizer.registry import make_method
from shoal.cli import main
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.registry import columns, columns_named, columns_of
from shoal.evaluation.measures.release import MeasuredRelease, measure_release

METHODS = [
    ("plain", {}), ("original", {}), ("everyone", {}), ("random", {"k": 4}), ("linkability", {"p": 0.2}),
    ("ssc", {"k": 2}), ("ssc", {"k": 2, "typical": "bags"}), ("ssc", {"k": 2, "gap": 90}), ("clump", {"k": 4}),
    ("partition", {"k": 4}), ("affinity", {"k": 2}), ("equality", {"k": 2}), ("wordnet-queries", {"k": 4}),
    ("microaggregation", {"k": 3}), ("apriori", {"k": 4}), ("hghs", {"k": 4}),
    ("secret-sharing", {"k": 3}), ("token-hashing", {}),
    ("split-personality", {}),
    ("dp-queries", {"epsilon": 8, "delta": 0.01, "per_user": 2}), ("dp-average", {"epsilon": 8, "delta": 0.01}),
]  # fmt: skip


def released(log: QueryLog, method: str, settings: dict[str, object]) -> Anonymized:
    made = make_method(method, settings, Knowledge())
    return made.run(log)


def measure(made: Anonymized, log: QueryLog, **more: Any) -> dict[str, float]:
    given = {"claim": made.claim, "suppressed": made.suppressed} | more
    return measure_release(MeasuredRelease(made.release, made.assignment, log, Knowledge(), **given))


def measured(log: QueryLog, method: str, settings: dict[str, object]) -> dict[str, float]:
    return measure(released(log, method, settings), log)


@pytest.mark.parametrize(("method", "settings"), METHODS, ids=lambda value: str(value))
def test_every_measure_is_a_number_in_its_range(method: str, settings: dict[str, object]) -> None:
    found = measured(sample_log(), method, settings)
    assert all(math.isfinite(value) for value in found.values())
    declared = {name: columns()[name].measure for name in found}
    assert {name for name, m in declared.items() if m.low is not None and found[name] < m.low} == set()
    assert {name for name, m in declared.items() if m.high is not None and found[name] > m.high} == set()
    assert found["bLM"] <= found["ggd_per_occurrence"] + 1e-9
    assert {"linkage1", "linkage3", "linkage5", "linkage10", "inference5", "ncp", "ggd"} <= set(found)


def test_all_that_results_may_hold_is_measured_and_nothing_else() -> None:
    log = sample_log()
    found = set()
    for method, settings in (
        ("random", {"k": 4}),
        ("linkability", {"p": 0.2}),
        ("equality", {"k": 2}),
        ("token-hashing", {}),
        ("split-personality", {}),
    ):
        made = released(log, method, dict(settings))
        found |= set(measure(made, log, later_log=log))
    at_searches = ["replayed"]  # of what devices say, which no release holds
    assert found == set(columns_of(ReleaseMeasure)) - set(columns_named(["thorough", *at_searches]))


def test_a_measure_that_does_not_apply_is_absent() -> None:
    log = sample_log()
    plain, groups = measured(log, "plain", {}), measured(log, "clump", {"k": 4})
    assert not {"anonymity_min", "length", "level", "srp1"} & set(plain)
    assert not {"released_distinct", "rare_term_share", "linking_max", "srp1", "linkage_test"} & set(groups)
    assert {"linking_mean", "linking_max"} <= set(measured(log, "linkability", {"p": 0.2}))
    queries, concepts = measured(log, "equality", {"k": 2}), measured(log, "wordnet-queries", {"k": 4})
    assert {
        "released_distinct",
        "released_occurrences",
        "rare_term_share",
        "rare_term_share_distinct",
        "query_linkage5",
    } <= set(queries)
    assert {"released_distinct", "query_linkage5"} & set(concepts) == set()


def test_crowds_are_counted() -> None:
    log = sample_log(41)
    groups, alone = measured(log, "random", {"k": 4}), measured(log, "original", {})
    assert (groups["anonymity_min"], groups["anonymity_median"], groups["alone"]) == (4, 4, 0)
    assert (alone["anonymity_min"], alone["alone"], alone["users_with_nothing"]) == (1, 41, 0)
    assert measured(log, "plain", {})["users_with_nothing"] == 41


def test_who_saw_the_victims_later_is_an_attacker_too() -> None:
    log = sample_log()
    made = released(log, "random", {"k": 4})
    found = measure(made, log, later_log=log)
    assert 0.15 < found["linkage_test"] <= 1 / 4


def test_the_same_seed_measures_the_same_and_another_draws_other_terms() -> None:
    log = sample_log()
    made = released(log, "original", {})
    first, again, other = (measure(made, log, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first["linkage1"] != other["linkage1"]


@pytest.mark.parametrize("name", sorted(awkward_logs()))
@pytest.mark.parametrize(("method", "settings"), [("plain", {}), ("original", {}), ("everyone", {}), ("equality", {})])
def test_awkward_logs_are_measured_too(name: str, method: str, settings: dict[str, object]) -> None:
    log = awkward_logs()[name]
    try:
        made = released(log, method, settings)
    except InputError:  # the method's right: too few users
        made = released(log, "plain", {})
    found = measure(made, log)
    assert all(math.isfinite(value) for value in found.values())


def test_measuring_can_be_stopped() -> None:
    def stop(done: int, total: int, stage: str) -> None:
        raise Cancelled("stopped")

    log = sample_log()
    made = released(log, "original", {})
    with pytest.raises(Cancelled):
        measure(made, log, progress=stop)


def test_the_command_measures_a_stored_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, tree, folder = tmp_path / "log.tsv", tmp_path / "tree.tsv", tmp_path / "release"
    tree.write_text("apple\tfruit\npear\tfruit\nbeef\tmeat\nlamb\tmeat\nfruit\tfood\nmeat\tfood\n")
    rows = [("1", "apple beef"), ("2", "pear beef"), ("3", "lamb"), ("4", "beef")]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(f"{u}\t{q}\t\t\t\n" for u, q in rows))
    given = ["--log", str(log), "--taxonomy", str(tree)]
    assert main(["anonymize", *given, "--method", "clump", "--set", "k=2", "--out", str(folder)]) == 0
    capsys.readouterr()
    assert main(["measure", str(folder), *given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # {apple, beef} and {pear, beef} become {fruit, beef}, the others meat; LM is 1/3 for both labels.
    assert found["ggd"] == pytest.approx(2 * 1 / 3 + 2 * 1 / 3)
    assert found["suppressed"] == 0
    assert main(["measure", str(folder), "--log", str(tmp_path / "none.tsv")]) == 2


def test_the_command_compares_topics_by_the_directory_that_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, topics, folder = tmp_path / "log.tsv", tmp_path / "topics.tsv", tmp_path / "release"
    rows = [("1", "dog"), ("1", "dog"), ("2", "cat"), ("2", "cat")]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(f"{u}\t{q}\t\t\t\n" for u, q in rows))
    make = ["anonymize", "--log", str(log), "--method", "microaggregation", "--set", "k=2", "--out", str(folder)]
    assert main(make) == 0
    shares = []
    for cat in ("pets", "wild"):  # with one topic, what a user lost is made good by the other's; with two it is not
        topics.write_text(f"pets\tdog\tdog\n{cat}\tcat\tcat\n")
        capsys.readouterr()
        assert main(["measure", str(folder), "--log", str(log), "--directory", str(topics), "--json"]) == 0
        shares.append(json.loads(capsys.readouterr().out)["srp1"])
    assert shares == [1, 1 / 2]
    missing = tmp_path / "none.tsv"
    assert main(["measure", str(folder), "--log", str(log), "--directory", str(missing)]) == 2
