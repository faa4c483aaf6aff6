"""What do 943 people teach? Whether personalization helps at all, and what each method keeps of that help."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from shoal.anonymizer.registry import find_method
from shoal.evaluation.films.experiment import FilmResults
from shoal.evaluation.films.workload import DESIGNS, Design
from shoal.evaluation.report.blocks import Block, Heading, Picture, Points, Table, Text, listed, number, percent
from shoal.evaluation.report.own_methods import against_papers
from shoal.evaluation.report.plots import axis, finished
from shoal.evaluation.report.points import best_at, is_control, name_of
from shoal.evaluation.report.styles import CONTROL_COLOUR
from shoal.evaluation.report.tradeoff import tradeoff
from shoal.evaluation.run.results import Row

MAIN: Design = "held out"


def film_blocks(results: FilmResults) -> list[Block]:
    """The section of the report."""
    data = results.data
    return [
        Heading("Real people: what they liked later", 2),
        Text(headline(results), "lead"),
        Points(
            tuple(
                text
                for text in (_at_risk(results), _kept(results), _ours(results), _checks(results), _failures(results))
                if text
            )
        ),
        Text(_how(data)),
        *_pictures(results),
        *_tables(results),
    ]


def headline(results: FilmResults) -> str:
    """Does personalization help, and is a group's profile better than the own? By the airtight design."""
    rows = _rows(results, MAIN)
    by = {row["method"]: row for row in rows}
    helps = _against(results, MAIN, "original", "plain")[0]
    verb = _direction(helps, "helps to find", "is in the way of finding", "makes no clear difference to finding")
    told = (
        f"For {number(rows[0]['people'])} of {number(results.data['people'])} real people there is a test. The own "
        f"profile {verb} films that the person likes later: AP@10 {_interval(by['original'])}, against "
        f"{_interval(by['plain'])} without a profile and {_interval(by['everyone'])} with the average of all. "
    )
    return told + _group_verdict(results, MAIN)


def _group_verdict(results: FilmResults, design: str) -> str:
    """Whether a group of similar people serves better than the own profile."""
    groups, better = _groups(results, design), _better(results, design)
    if better:
        best = max(better, key=lambda row: row["difference"])
        return (
            f"**The profile of a group serves a person better than the own:** `{name_of(best)}` by {_difference(best)}."
        )
    if not groups:
        return ""
    best = max(groups, key=lambda row: row["difference"])
    return (
        f"**No group of similar people serves a person better than the own profile.** The nearest is "
        f"`{name_of(best)}`: {_difference(best)}."
    )


def _groups(results: FilmResults, design: str) -> list[Row]:
    """The methods that group people, against the own profile."""
    return [row for row in _against_own(results, design) if _groups_people(row["method"])]


def _better(results: FilmResults, design: str) -> list[Row]:
    """Those that serve people better than the own profile, beyond chance."""
    return [row for row in _groups(results, design) if row["p_holm"] < 0.05 and row["difference"] > 0]


def _groups_people(method: str) -> bool:
    return method != "random" and not is_control({"method": method}) and find_method(method).info.unit == "user"


def _at_risk(results: FilmResults) -> str:
    """What is best where few people are found."""
    rows = [row for row in _rows(results, MAIN) if not is_control(row)]
    best = best_at(rows, "ap10", "linkage5", 0.05)
    own = next(row for row in _rows(results, MAIN) if row["method"] == "original")
    if best is None or best.get("help_kept") is None or own["linkage5"] is None:
        return ""
    return (
        f"An attacker who knows five terms finds {percent(own['linkage5'])} of the people by their own profiles. Where "
        f"at most one in twenty is found, `{name_of(best)}` serves best: AP@10 {_interval(best)}, "
        f"{percent(best['help_kept'])} of the help, {percent(best['linkage5'])} found."
    )


def _kept(results: FilmResults) -> str:
    rows = [row for row in _rows(results, MAIN) if not is_control(row) and row.get("help_kept") is not None]
    if not rows:
        return ""
    told = [f"`{name_of(row)}` {percent(row['help_kept'])}" for row in sorted(rows, key=lambda row: -row["help_kept"])]
    by = {row["method"]: row for row in _rows(results, MAIN)}
    return (
        f"Of the help of the own profile over none, the average of all people (`everyone`) already gives "
        f"{percent(by['everyone']['help_kept'])}. The methods keep: {', '.join(told)}."
    )


def _ours(results: FilmResults) -> str:
    rows = _rows(results, MAIN)
    told = against_papers(rows, "help_kept", rows[0]["people"]) if rows else ""
    return f"Our own methods were made for searches, not for films that are liked later. {told}" if told else ""


def _checks(results: FilmResults) -> str:
    """What the other designs say of the same question."""
    told = []
    for design in DESIGNS:
        if design == MAIN or not _rows(results, design):
            continue
        people = _rows(results, design)[0]["people"]
        told.append(f"**{design}** ({people} people: {DESIGNS[design]}). {_group_verdict(results, design)}")
    if _better(results, "loose") and not _better(results, MAIN):
        told.append(
            "With the tested films held out that gain is gone: it was knowledge of those films, which others of the "
            "group had liked already, rather than a better picture of the person."
        )
    return "The same question in other designs. " + " ".join(told) if told else ""


def _failures(results: FilmResults) -> str:
    names = [f"`{name_of(row)}` ({row['reason']})" for row in results.failures]
    return f"These settings gave nothing and score 0: {listed(names)}." if names else ""


def _how(data: Row) -> str:
    return (
        f"The design **{MAIN}**: {DESIGNS[MAIN]}. A profile is the nouns of the titles and keywords of the films rated "
        "4 or 5. Queries are genres and keywords; candidates are the films of the other half that the engine finds and "
        "the person has not rated before, at least 20, the first 100; relevant is what the person later rates 4 or 5. "
        "So nobody's profile is made of a film that is tested, or of a rating after its owner's test begins. Each of "
        f"{len(data['seeds'])} seeds draws other halves and other queries (up to 5 per person). Numbers are means over "
        "people of their means over seeds, intervals are over people, p-values are corrected by Holm."
    )


def _pictures(results: FilmResults) -> list[Block]:
    rows = _rows(results, MAIN)
    caption = "AP@10 with 95 % intervals over people. Open marks and dotted lines: the controls."
    blocks: list[Block] = [Picture("films-precision", _dots(rows), caption)]
    title = "How well are people served at which risk of being found?"
    drawn = tradeoff(rows, "ap10", "linkage5", title, "AP@10 against what was liked later")
    if drawn is not None:
        blocks.append(Picture("films-risk", drawn, "AP@10 against linkage@5. Up and to the left is better."))
    return blocks


def _dots(rows: Sequence[Row]) -> dict[str, Any]:
    data = [
        {"name": name_of(row), "x": row["ap10"], "low": row["ap10_low"], "high": row["ap10_high"],
         "kind": "control" if is_control(row) else "method",
         "tell": f"{name_of(row)}: AP@10 {row['ap10']:.4f} [{row['ap10_low']:.4f}, {row['ap10_high']:.4f}]"}
        for row in sorted(rows, key=lambda row: -row["ap10"])
    ]  # fmt: skip
    x = alt.X("x:Q", title="AP@10 against what was liked later", scale=alt.Scale(zero=False), axis=axis(tickCount=6))
    y = alt.Y("name:N", title=None, sort=[row["name"] for row in data], axis=alt.Axis(labelLimit=240))
    base = alt.Chart(alt.Data(values=data)).encode(y=y)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=["method", "control"], range=["#0072B2", CONTROL_COLOUR]),
                       legend=None)  # fmt: skip
    bars = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=colour)
    fill = alt.Fill("kind:N", scale=alt.Scale(domain=["method", "control"], range=["#0072B2", "white"]), legend=None)
    marks = base.mark_point(size=70, opacity=1).encode(
        x=x, color=colour, fill=fill, description=alt.Description("tell:N")
    )
    levels = [{"x": row["ap10"]} for row in rows if row["method"] in ("plain", "everyone", "original")]
    lines = alt.Chart(alt.Data(values=levels)).mark_rule(strokeDash=[1, 3], color=CONTROL_COLOUR).encode(x=x)
    title = "Who finds what they will like?"
    return finished(
        alt.layer(lines, bars, marks), title, "943 real people; dotted lines: the controls", 480, 22 * len(data)
    )


def _tables(results: FilmResults) -> list[Block]:
    columns = ("ap10", "ap10_low", "ap10_high", "help_kept", "p10", "ndcg10", "mrr", "linkage5")
    rows = tuple(
        (row["design"], row["method"], row["params"], row["people"], *(_or_blank(row.get(name)) for name in columns))
        for row in results.rows
    )
    against = ("against", "difference", "low", "high", "p_holm", "wins", "ties", "losses")
    pairs = tuple(
        (row["design"], row["method"], row["params"], *(row[name] for name in against)) for row in results.comparisons
    )
    return [
        Table(
            ("design", "method", "setting", "people", *columns), rows, "Films: all settings and designs", folded=True
        ),
        Table(
            ("design", "method", "setting", *against), pairs, "Films: each setting against the controls", folded=True
        ),
    ]


def _or_blank(value: float | None) -> float | str:
    return "" if value is None else value


def _rows(results: FilmResults, design: str) -> list[Row]:
    return [row for row in results.rows if row["design"] == design]


def _against(results: FilmResults, design: str, method: str, control: str) -> list[Row]:
    same = [row for row in results.comparisons if (row["design"], row["method"]) == (design, method)]
    return [row for row in same if row["against"] == control]


def _against_own(results: FilmResults, design: str) -> list[Row]:
    return [row for row in results.comparisons if row["design"] == design and row["against"] == "original"]


def _direction(row: Row, more: str, less: str, unclear: str) -> str:
    if row["p_holm"] >= 0.05:
        return unclear
    return more if row["difference"] > 0 else less


def _interval(row: Row) -> str:
    return f"{row['ap10']:.3f} [{row['ap10_low']:.3f}, {row['ap10_high']:.3f}]"


def _difference(row: Row) -> str:
    return f"{row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}] AP@10 against the own profile"
