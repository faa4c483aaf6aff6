"""Which numbers stand behind the answer? The tables of a report.

What does each family of methods cost and protect? One measured sentence for each: group, generalize, hash, noise.
"""

from collections.abc import Sequence

from shoal.anonymizer.base import FAMILIES, Family
from shoal.anonymizer.registry import find_method, methods
from shoal.evaluation.measures.base import HEADINGS, Column
from shoal.evaluation.measures.precision import HASHED
from shoal.evaluation.measures.registry import columns, headline
from shoal.evaluation.report.blocks import Block, Heading, Points, Table, Text, listed, number, percent
from shoal.evaluation.report.points import best_at, having, name_of
from shoal.evaluation.run.results import Results, Row, columns_in

_CONTROLS = (
    "**original, plain, everyone, random, device**: the controls. The own profile, none at all, the average of all, "
    "groups made at random, and the own profile on the person's own device."
)


def how_to_read(results: Results) -> list[Block]:
    """The few measures that the answer speaks of; all are defined below."""
    there = columns_in(results.rows)
    told = [f"**{column.short}**: {column.says}" for column in headline() if column.name in there and not column.clicks]
    return [Heading("How to read this", 2), Points((*told, _CONTROLS))]


def tables(results: Results) -> list[Block]:
    """The measures under their headings, each setting against its controls, and what every measure means."""
    there = [columns()[name] for name in columns_in(results.rows) if name in columns()]
    made: list[Block] = [Heading("All numbers", 2)]
    for caption, wanted in _parts(there):
        if wanted:
            made.append(_table(results.rows, [column.name for column in wanted], caption))
    return [*made, *_comparisons(results), *_losers(results), *_definitions(there), *_methods(results)]


def _parts(there: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """The columns under each heading; precision twice, since clicks are another truth."""
    parts = []
    for heading in HEADINGS:
        for clicks in (False, True):
            caption = heading.capitalize() + (", against what people clicked" if clicks else "")
            parts.append((caption, [c for c in there if c.measure.heading == heading and c.clicks == clicks]))
    return parts


def _definitions(there: Sequence[Column]) -> list[Block]:
    """Every measure that stands in a table of the report."""
    used = list(dict.fromkeys(column.measure for column in there))
    lines = tuple(
        (", ".join(c.name for c in m.columns if c in there), m.told(m.title), m.told(m.says), m.told(m.formula),
         f"{m.better} is better" if m.better != "neither" else "", m.range, m.paper)
        for m in used
    )  # fmt: skip
    header = ("column", "measure", "what it says", "formula", "direction", "range", "from")
    return [Heading("The measures", 2), Table(header, lines, "What every number means", folded=True)]


def _table(rows: Sequence[Row], columns: Sequence[str], caption: str) -> Table:
    lines = tuple((row["method"], row["params"], *(row.get(name, "") for name in columns)) for row in rows)
    return Table(("method", "setting", *columns), lines, caption, folded=len(rows) > 12)


def _comparisons(results: Results) -> list[Block]:
    if not results.comparisons:
        return []
    columns = ("truth", "against", "difference", "low", "high", "p_holm", "wins", "ties", "losses")
    return [_table(results.comparisons, columns, "Each setting against the controls, paired over people (AP@10)")]


def _losers(results: Results) -> list[Block]:
    """Who is served worst."""
    if not results.losers:
        return []
    quarters = max(len(row["quarters"]) for row in results.losers)
    header = ("method", "setting", "worst tenth", *(f"profiles, quarter {i + 1}" for i in range(quarters)))
    lines = tuple((r["method"], r["params"], r["worst_tenth"], *r["quarters"]) for r in results.losers)
    caption = "Who loses most: AP@10 of the worst tenth of people, and by size of profile (smallest first)"
    return [Table(header, lines, caption, folded=len(lines) > 12)]


def _methods(results: Results) -> list[Block]:
    ids = list(dict.fromkeys(row["method"] for row in results.rows))
    infos = [find_method(id).info for id in ids]
    lines = tuple((i.id, i.title, i.family, i.paper or "control", i.protects, i.does_not_protect) for i in infos)
    return [
        Heading("The methods", 2),
        Text("What each one promises, and where the promise ends. `shoal methods` tells all parameters."),
        Table(("method", "what it does", "family", "from", "protects", "does not protect"), lines),
    ]


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
