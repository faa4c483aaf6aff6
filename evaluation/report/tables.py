"""Which numbers stand behind the answer? The tables of a report."""

from collections.abc import Sequence

from shoal.anonymizer.registry import find_method
from shoal.evaluation.report.blocks import Block, Heading, Points, Table, Text
from shoal.evaluation.results import BY_CLICKS, Results, Row, columns_of

_PRECISION = ("ap10", "ap10_low", "ap10_high", "kept", "p10", "ndcg10", "mrr")
_SIZES = ("users", "queries", "users_clicks", "queries_clicks")
_RISK = (
    "linkage", "inference", "anonymity", "uniqueness", "alone", "prosecutor", "journalist", "marketer", "fit",
    "linking", "query_linkage", "rare",
)  # fmt: skip
_WORDS = (
    "**AP@10**: how well the first ten results agree with what the person's own profile ranks first; 1 is the same.",
    "**kept**: the share of what is personal that is left: 1 like the own profile, 0 like one profile for everyone, "
    "below 0 worse than that.",
    "**linkage@m**: an attacker who knows m terms of a person picks the published profile that fits best and names one "
    "of its users; the share of people found so.",
    "**inference@m**: how many of ten further terms that attacker then guesses, above naming the commonest ones.",
    "**original, plain, everyone, random**: the controls. The own profile, none at all, the average of all, and groups "
    "made at random.",
)


def how_to_read() -> list[Block]:
    return [Heading("How to read this", 2), Points(_WORDS)]


def tables(results: Results) -> list[Block]:
    """Precision, clicks, risk, utility, the methods, and each setting against its controls."""
    there = [name for name in columns_of(results.rows) if name not in ("method", "params", *_SIZES)]
    risk = [name for name in there if name.startswith(_RISK)]
    clicks = [name for name in BY_CLICKS if name in there]
    rest = [name for name in there if name not in (*_PRECISION, *risk, *clicks)]
    parts = [
        ("Precision, against the own ranking (means over people, 95 % bootstrap intervals)", [*_PRECISION]),
        ("Precision, against what people clicked", clicks),
        ("Risk: what an attacker gets", risk),
        ("Utility: what is lost", rest),
    ]
    made: list[Block] = [Heading("All numbers", 2)]
    for caption, names in parts:
        present = [name for name in names if name in there]
        if present:
            made.append(_table(results.rows, present, caption))
    return [*made, *_comparisons(results), *_losers(results), *_methods(results)]


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
    lines = tuple((i.id, i.title, i.paper or "control", i.protects, i.does_not_protect) for i in infos)
    return [
        Heading("The methods", 2),
        Text("What each one promises, and where the promise ends. `shoal methods` tells all parameters."),
        Table(("method", "what it does", "from", "protects", "does not protect"), lines),
    ]
