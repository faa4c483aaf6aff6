"""What does each family of methods cost and protect? One measured sentence for each: group, generalize, hash, noise."""

from collections.abc import Sequence

from shoal.anonymizer.base import FAMILIES, Family
from shoal.anonymizer.registry import methods
from shoal.evaluation.measures.precision import HASHED
from shoal.evaluation.report.blocks import Block, Heading, Points, Text, listed, number, percent
from shoal.evaluation.report.points import best_at, having, name_of
from shoal.evaluation.run.results import Results, Row

_BOUND = 0.05  # the risk at which families are set side by side


def families(results: Results) -> list[Block]:
    """A sentence for each family of which something was measured."""
    rows = having([*results.rows, *results.besides], "ap10", "linkage5")
    told = [_sentence(family, part) for family in FAMILIES if family != "none" and (part := _of(family, rows))]
    if not told:
        return []
    lead = "Over all settings that were measured: AP@10 is what is left, people found and guesses are what is at risk."
    return [Heading("What each family costs and protects", 2), Text(lead), Points(tuple(told))]


def _of(family: Family, rows: Sequence[Row]) -> list[Row]:
    table = methods()
    return [row for row in rows if row["method"] in table and table[row["method"]].info.family == family]


def _sentence(family: Family, rows: Sequence[Row]) -> str:
    names = listed([f"`{name}`" for name in dict.fromkeys(row["method"] for row in rows)])
    costs = f"AP@10 {_span([row['ap10'] for row in rows])}{_kept(rows)}"
    found = f"{_span([row['linkage5'] for row in rows], share=True)} of people found by five known terms"
    return f"**{family}**, {FAMILIES[family]} ({names}): {costs}, with {found}{_guessed(rows)}; {_at_bound(rows)}."


def _kept(rows: Sequence[Row]) -> str:
    kept = [row["kept"] for row in having(rows, "kept")]
    return f" ({_span(kept, share=True)} of what is personal)" if kept else ""


def _guessed(rows: Sequence[Row]) -> str:
    guessed = [row["inference5"] for row in having(rows, "inference5")]
    return f" and {_span(guessed, share=True)} more of their terms guessed than without it" if guessed else ""


def _at_bound(rows: Sequence[Row]) -> str:
    best = best_at([row for row in rows if row["method"] != HASHED], "ap10", "linkage5", _BOUND)
    if best is None:
        return f"no setting that promises anything keeps those found at {percent(_BOUND)} or below"
    return f"where at most {percent(_BOUND)} are found, `{name_of(best)}` keeps most, AP@10 {number(best['ap10'])}"


def _span(values: Sequence[float], share: bool = False) -> str:
    """The smallest and the largest, once if they read the same."""
    written = [percent(value) if share else f"{value:.2f}" for value in (min(values), max(values))]
    return " to ".join(dict.fromkeys(written))
