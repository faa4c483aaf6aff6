"""What changed between two evaluations, and is it more than noise? Paired by person where both know what each got."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.evaluation.measures.precision import FREE
from shoal.evaluation.run.matched_risk import RISK
from shoal.evaluation.run.results import Results, Row, rounded
from shoal.evaluation.statistics import CLEAR, Estimate, Paired, compare, holm, two_sided

MEASURES = (("ap10", "settings", "users"), (RISK, "attacked", "victims"))


@dataclass(frozen=True)
class Changes:
    """What two evaluations have in common, and how they differ."""

    setup: list[Row]  # what was declared otherwise: name, before, after
    only_before: list[str]
    only_after: list[str]
    settings: list[Row]  # of each setting in both and each measure, the difference and whether it is more than noise
    answers: list[Row]  # who is best at each risk, before and after


def changes(before: Results, after: Results, seed: int = 0) -> Changes:
    """What differs from one evaluation to another."""
    names = [[_name(row) for row in results.rows] for results in (before, after)]
    both = [name for name in names[0] if name in names[1]]
    return Changes(
        setup=_setup(before, after),
        only_before=[name for name in names[0] if name not in both],
        only_after=[name for name in names[1] if name not in both],
        settings=[row for measure in MEASURES for row in _differences(before, after, both, measure, seed)],
        answers=_answers(before, after),
    )


def _name(row: Row) -> str:
    return f"{row['method']} {row['params']}".strip()


def _setup(before: Results, after: Results) -> list[Row]:
    one, other = (_declared(results) for results in (before, after))
    names = list(dict.fromkeys([*one, *other]))
    return [
        {"what": name, "before": one.get(name, ""), "after": other.get(name, "")}
        for name in names
        if one.get(name) != other.get(name)
    ]


def _declared(results: Results) -> dict[str, Any]:
    """What an evaluation rests on; its settings are compared by themselves."""
    experiment = {name: value for name, value in results.experiment.items() if name not in ("settings", "strict")}
    digests = {f"digest of {name}": value[:12] for name, value in results.provenance["digests"].items()}
    return {"version": results.provenance["version"]} | experiment | digests


def _differences(
    before: Results, after: Results, both: Sequence[str], measure: tuple[str, str, str], seed: int
) -> list[Row]:
    """Later minus earlier, of each setting in both, corrected together."""
    name = measure[0]
    rows = [{_name(row): row for row in results.rows} for results in (before, after)]
    there = [setting for setting in both if all(name in one[setting] for one in rows)]
    paired = _paired(before, after, there, measure, seed)
    missing = [setting for setting in there if setting not in paired]
    paired |= dict(zip(missing, _unpaired([(rows[0][s], rows[1][s]) for s in missing], name), strict=True))
    return [
        {"setting": setting, "measure": name, "before": rows[0][setting][name], "after": rows[1][setting][name]}
        | _found(paired[setting], setting not in missing)
        for setting in there
    ]


def _found(paired: Paired, by_person: bool) -> Row:
    people = paired.wins + paired.ties + paired.losses
    return {
        "difference": rounded(paired.difference), "low": _finite(paired.low), "high": _finite(paired.high),
        "p_holm": None if paired.p_holm is None else rounded(paired.p_holm), "people": people if by_person else None,
        "is_more_than_noise": paired.p_holm is not None and paired.p_holm < CLEAR,
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return rounded(value) if np.isfinite(value) else None


def _paired(
    before: Results, after: Results, settings: Sequence[str], measure: tuple[str, str, str], seed: int
) -> dict[str, Paired]:
    """Person by person, over those who are in both."""
    name, rows, who = measure
    if any(key not in results.people for results in (before, after) for key in (name, rows, who)):
        return {}
    one, other = before.people, after.people
    _, first, second = np.intersect1d(one[who], other[who], return_indices=True)
    places = [{str(setting): i for i, setting in enumerate(people[rows])} for people in (one, other)]
    there = [setting for setting in settings if all(setting in place for place in places)]
    if len(first) < 2 or not there:
        return {}
    differences = [
        Estimate(other[name][places[1][setting], second] - one[name][places[0][setting], first]) for setting in there
    ]
    return dict(zip(there, compare(differences, seed=seed), strict=True))


def _unpaired(pairs: Sequence[tuple[Row, Row]], name: str) -> list[Paired]:
    """Where nobody knows what each person got: from the two intervals, as if the people were others."""
    difference = np.array([after[name] - before[name] for before, after in pairs])
    half = np.array([np.hypot(_half(before, name), _half(after, name)) for before, after in pairs])
    p = two_sided(difference / np.maximum(half / 1.96, 1e-12))
    corrected = holm(p)
    return [
        Paired(float(d), float(d - h), float(d + h), float(p[i]), float(corrected[i]), 0, 0, 0)
        for i, (d, h) in enumerate(zip(difference, half, strict=True))
    ]


def _half(row: Row, name: str) -> float:
    """Half of a 95 % interval; unknown where there is none, so that nothing follows."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return np.inf if low is None or high is None else (high - low) / 2


def _answers(before: Results, after: Results) -> list[Row]:
    one, other = ({row["risk"]: row for row in results.answers} for results in (before, after))
    return [
        {"risk": risk, "before": one[risk]["leading"], "after": other[risk]["leading"],
         "agree": _agree(one[risk], other[risk])}
        for risk in one if risk in other
    ]  # fmt: skip


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Two answers contradict each other if whoever leads in one was clearly behind in the other, or both need none."""
    free = [set(row["leading"]).intersection(FREE) for row in (one, other)]
    if free[0] and free[1]:
        return True
    possible = [{*row["leading"], *row["perhaps"]} for row in (one, other)]
    return bool(possible[0] & possible[1])
