"""Does the report say where our own methods keep less than is claimed for them?"""

from shoal.evaluation.report.own_methods import against_papers
from shoal.evaluation.run.results import Row


def row(method: str, params: str, kept: float, risk: float) -> Row:
    return {"method": method, "params": params, "kept_served": kept, "linkage5": risk}


SSC, CLUMP = row("ssc", "k=3", 0.1, 0.03), row("clump", "k=2", 0.3, 0.08)
COMMON = row("common", "k=10 t=4", 0.16, 0.03)


def told(*rows: Row, people: int = 1_000) -> str:
    return against_papers(rows, "kept_served", people)


def test_a_claim_that_holds_is_said_to_hold() -> None:
    assert told(SSC, CLUMP, COMMON) == (
        "`common` is said to keep at least 1.5 times what the best paper's method does at equal risk: so it is here, "
        "with `common k=10 t=4` (1.6 times)."
    )


def test_a_claim_that_does_not_hold_names_the_setting_and_what_is_as_good() -> None:
    less = row("common", "k=5 t=3", 0.14, 0.03)
    found = told(SSC, CLUMP, COMMON, less)
    assert "**here that does not hold** in 1 of 2 settings: `common k=5 t=3` keeps 0.14 with 3.0 % found" in found
    assert "(`ssc k=3`: 0.10); it holds with `common k=10 t=4` (1.6 times)." in found


def test_only_settings_of_no_more_risk_are_compared_and_one_person_more_is_no_more() -> None:
    riskier = row("clump", "k=3", 0.3, 0.032)
    assert "so it is here" in told(SSC, riskier, COMMON)
    assert "does not hold" in told(SSC, riskier, COMMON, people=500)


def test_between_two_settings_of_a_papers_method_the_line_counts() -> None:
    both = row("ssc", "k=3", 0.1, 0.02), row("ssc", "k=2", 0.3, 0.06)
    assert "so it is here" in told(*both, row("common", "k=5 t=3", 0.31, 0.039))
    found = told(*both, row("common", "k=5 t=3", 0.29, 0.039))
    assert "0.29 with 3.9 % found (between `ssc k=3` and `ssc k=2`: 0.20)" in found
    assert "so it is here" in told(both[0], row("clump", "k=2", 0.3, 0.06), row("common", "k=5 t=3", 0.2, 0.039))


def test_what_promises_nothing_is_no_measure_of_what_a_promise_costs() -> None:
    assert "so it is here" in told(SSC, row("token-hashing", "", 1.0, 0.004), COMMON)


def test_to_keep_nothing_is_no_success_where_papers_keep_less() -> None:
    assert "does not hold" in told(row("ssc", "k=3", -0.2, 0.03), row("common", "k=5 t=3", -0.1, 0.03))


def test_murmur_has_a_claim_with_epsilon_and_one_without() -> None:
    quiet, noisy = row("murmur", "menu=10", 0.4, 0.05), row("murmur", "menu=5 epsilon=3", 0.12, 0.03)
    found = told(SSC, CLUMP, quiet, noisy)
    assert "`murmur` without epsilon is said to keep at least 2 times" in found
    assert "`murmur` with epsilon is said" in found
    assert found.count("does not hold") == 1


def test_controls_are_no_papers_methods_and_nothing_is_said_without_either_side() -> None:
    assert told(row("random", "k=5", 0.9, 0.01), COMMON) == ""
    assert told(SSC, CLUMP) == ""
