"""Which method, at which risk, keeps which precision? The answer in plain words, before any table."""

from collections.abc import Sequence

from shoal.evaluation.measures.precision import DEVICE, HASHED
from shoal.evaluation.report.as_served import served
from shoal.evaluation.report.blocks import Block, Heading, Points, Table, Text, listed, number, percent
from shoal.evaluation.report.points import front, having, is_control, name_of
from shoal.evaluation.run.outcomes import CONTROLS
from shoal.evaluation.run.results import Results, Row, by_method
from shoal.evaluation.statistics import CLEAR

CHOSEN = 0.05  # the risk that the first sentence speaks of
_SHARE = {0.01: "one in a hundred", 0.05: "one in twenty", 0.1: "one in ten"}
_MEANING = {"plain": "no profile at all", "everyone": "everyone's average", "random": "groups made at random"}


def simulated(results: Results) -> bool:
    """Whether the users of the log are made up, as the log says."""
    return results.data.get("people") == "simulated"


EASIER = (
    "**Simulated users.** The log of this experiment is made up, calibrated to AOL's, and made-up people are easier "
    "than real ones: in our one comparison with a real log, groups kept about a quarter of what the simulation "
    "promises at 5 % risk. Read `kept` as a ceiling."
)


def answer(results: Results, picture: Sequence[Block] = ()) -> list[Block]:
    """What a hurried reader should take home: the sentence, the picture, the table, then what else was found."""
    rows = having(results.rows, "ap10")
    blocks: list[Block] = [Heading("The answer", 2)]
    if simulated(results):
        blocks.append(Text(EASIER, "label"))
    blocks += [Text(_lead(results), "lead"), *picture]
    blocks += [table for table in (_at_risks(results), _target(results)) if table]
    return [*blocks, Points(tuple(_findings(results, rows))), *served(results), Text(_measured_on(results), "aside")]


def _lead(results: Results) -> str:
    chosen = next((row for row in results.answers if row["risk"] == CHOSEN), None)
    if chosen is None:
        return "No method was attacked in this experiment, so precision cannot be set against risk."
    return sentence(chosen)


def sentence(row: Row) -> str:
    """Who is best at a risk, in words."""
    by = {one["name"]: one for one in row["candidates"]}
    names = [f"`{name}`" for name in row["leading"]]
    best = _at_least(by[row["leading"][0]])
    # A method with more, which may be luck, leaves it open what another grid would find.
    better = "better" if row["leading"][0] in CONTROLS else "clearly better"
    found = f"If an attacker who knows five of a person's terms may find at most {_SHARE[row['risk']]},"
    match row["verdict"]:
        case "no method":
            free = next(name for name in row["leading"] if name in _MEANING and name != "random")
            has = f"`{free}`, AP@10 {interval_of(by[free])}"
            told = f"**no method is {better} than {_MEANING[free]}** ({has}), which gives nothing away{_as_good(row)}"
        case "no better than random":
            has = f"AP@10 {interval_of(by['random'])}"
            told = f"**no method is {better} than {_MEANING['random']}** ({has}){_as_good(row)}"
        case "best":
            told = f"**{names[0]} serves people best**: AP@10 {best}, where 1 is the ranking by the own profile"
        case "undecided":
            every = _named([*row["leading"], *row["perhaps"]])
            near = f"{names[0]} has AP@10 {best}, and {_named(row['perhaps'])} may be better"
            told = f"**{every} cannot be told apart** by the settings that were measured near it: {near}"
        case _:
            told = f"**{listed(names)} cannot be told apart**; the first has AP@10 {best}"
    return f"{found} {told}."


def _as_good(row: Row) -> str:
    """The methods that lead with a control."""
    names = [name for name in row["leading"] if name not in CONTROLS]
    return f"; {_named(names)} cannot be told from it" if names else ""


def _at_least(row: Row) -> str:
    """A value and its interval; where only safer settings were measured, riskier ones may have more."""
    return f"{'at least ' if row['is_least'] else ''}{interval_of(row)}"


def _named(names: Sequence[str]) -> str:
    return listed([f"`{name}`" for name in names])


def interval_of(row: Row, name: str = "ap10") -> str:
    value = f"{row[name]:.3f}"
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return value if low is None or high is None else f"{value} [{low:.3f}, {high:.3f}]"


def _findings(results: Results, rows: Sequence[Row]) -> list[str]:
    every = having([*results.rows, *results.besides], "ap10")
    found = [
        _controls(every), _on_device(every), _hashed(every), _own(results), _floor(results), _front(results, every),
        _against_everyone(results), _grouping(results), _worse(rows), _clicks(results), _failures(results),
    ]  # fmt: skip
    return [text for text in found if text]


def _floor(results: Results) -> str:
    """What `kept` is counted from."""
    floor = results.data.get("kept_is_counted_from")
    if not floor or not having(results.rows, "kept"):
        return ""
    return (
        f"`kept` is counted from {_MEANING[floor]} (`{floor}`), which serves better than the other control that needs "
        "no personal data."
    )


def _controls(rows: Sequence[Row]) -> str:
    """What the floor, the ceiling and the averages get."""
    told = {
        "original": "each person's own profile", "plain": "no profile at all", "everyone": "the average of all people",
        "random": "groups made at random", DEVICE: "the own profile on the own device",
    }  # fmt: skip
    parts = []
    for method, meaning in told.items():
        same = having([row for row in rows if row["method"] == method], "ap10")
        if same:
            values = sorted(row["ap10"] for row in same)
            span = f"{values[0]:.2f}" if len(same) == 1 else f"{values[0]:.2f} to {values[-1]:.2f}"
            parts.append(f"{meaning} (`{method}`) {'have' if method == 'random' else 'has'} {span}{_risk(same)}")
    return f"The controls: {'; '.join(parts)}." if parts else ""


def _on_device(rows: Sequence[Row]) -> str:
    """What no method beats, wherever it is possible."""
    if not any(row["method"] == DEVICE for row in rows):
        return ""
    return (
        f"**On the own device** (`{DEVICE}`) the ranking is that of the own profile, and nothing is published. "
        "No method is better, and none is needed where the device can rank. A group is for where the server must: for "
        "candidates beyond the first hundred, for thin clients, for statistics over people."
    )


def _hashed(rows: Sequence[Row]) -> str:
    """What is shown because it is done, and answers nothing."""
    same = [row for row in rows if row["method"] == HASHED]
    if not same:
        return ""
    read = having(same, "inverted_occurrences")
    told = f", who reads {percent(read[0]['inverted_occurrences'])} of what is published" if read else ""
    return (
        f"**Hashed terms** (`{HASHED}`) rank as the own profile does{_risk(same)} by our attacker, who has another "
        f"log{told}. That is a lower bound, and nothing is promised: they are no answer to which method is best."
    )


def _risk(rows: Sequence[Row]) -> str:
    values = sorted(row["linkage5"] for row in having(rows, "linkage5"))
    if not values:
        return ""
    span = percent(values[0]) if values[0] == values[-1] else f"{percent(values[0])} to {percent(values[-1])}"
    return f" with {span} found"


def _front(results: Results, rows: Sequence[Row]) -> str:
    on_it = front(rows, "ap10", "linkage5", 1 / max(1, results.data["users"]))
    methods = list(dict.fromkeys(row["method"] for row in on_it if not is_control(row)))
    if not methods:
        return ""
    return (
        f"The front, above which no measured setting lies at no more risk, is of {_named(methods)}. Less than one "
        "person's worth of risk is not less; whether a difference is more than chance, the tests say."
    )


def _own(results: Results) -> str:
    """Is there anything personal to keep?"""
    for row in results.comparisons:
        if (row["method"], row["truth"], row["against"]) == ("original", "profile", "plain") and row[
            "p_holm"
        ] is not None:
            differs = "differs from" if row["p_holm"] < CLEAR else "cannot be told from"
            return (
                f"The own profile {differs} none: {row['difference']:+.3f} AP@10 [{row['low']:.3f}, "
                f"{row['high']:.3f}], {chance(row['p_holm'])} after correction over {_family(results)} comparisons."
            )
    return ""


def _family(results: Results) -> int:
    return sum(row["truth"] == "profile" and row["p_holm"] is not None for row in results.comparisons)


def chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _against_everyone(results: Results) -> str:
    """Which settings differ from everyone's average, by the paired tests."""
    rows = [row for row in results.comparisons if (row["truth"], row["against"]) == ("profile", "everyone")]
    rows = [row for row in rows if not is_control(row) and row["p_holm"] is not None]
    if not rows:
        return ""
    clear = [row for row in rows if row["p_holm"] < CLEAR]
    kinds = {
        "better": [row for row in clear if row["difference"] > 0],
        "worse": [row for row in clear if row["difference"] < 0],
        "not to be told apart": [row for row in rows if row not in clear],
    }
    told = [f"{kind}: {_settings(some)}" for kind, some in kinds.items() if some]
    return f"Against everyone's average, {'; '.join(told)}."


def _settings(rows: Sequence[Row]) -> str:
    """Settings by name; of a method with many, the first and the last."""
    return listed(
        [
            f"`{method}` {same[0]['params']} to {same[-1]['params']} ({len(same)} settings)"
            if len(same) > 4
            else f"`{method}` {', '.join(row['params'] for row in same)}".strip()
            for method, same in by_method(rows).items()
        ]
    )


def _grouping(results: Results) -> str:
    """Is it grouping well, or grouping at all? Each setting against random groups at the same risk."""
    against = [row for row in results.comparisons if row["truth"] == "profile" and row["against"].startswith("random")]
    if not against:
        return ""
    clear = [row for row in against if row["p_holm"] is not None and row["p_holm"] < CLEAR]
    better = sum(row["difference"] > 0 for row in clear)
    return (
        f"Against random groups at equal risk, {better} of {len(against)} settings keep more precision, "
        f"{len(clear) - better} keep less, and {len(against) - len(clear)} cannot be told apart (paired tests over "
        "people, corrected by Holm)."
    )


def _worse(rows: Sequence[Row]) -> str:
    worse = [row for row in having(rows, "kept_high") if row["kept_high"] < 0 and not is_control(row)]
    methods = list(dict.fromkeys(row["method"] for row in worse))
    if not worse:
        return ""
    return f"{len(worse)} settings of {_named(methods)} serve people worse than what needs no personal data."


def _clicks(results: Results) -> str:
    """Does a profile help to find what was clicked?"""
    rows = having(results.rows, "ap10_clicks")
    clicked = {row["method"]: row for row in rows if is_control(row)}
    if "original" not in clicked or "plain" not in clicked:
        return ""
    own, plain = clicked["original"], clicked["plain"]
    best = max((row for row in rows if not is_control(row)), key=lambda row: row["ap10_clicks"], default=None)
    more = f"; of the methods `{name_of(best)}` has most, {interval_of(best, 'ap10_clicks')}" if best else ""
    return (
        f"Measured by what people clicked, the own profile {_verdict(results)}: AP@10 "
        f"{interval_of(own, 'ap10_clicks')} against {interval_of(plain, 'ap10_clicks')} without any{more}. "
        "(Candidates are ordered by the profile alone, as in the papers; the engine's order then counts for nothing.)"
    )


def _verdict(results: Results) -> str:
    """Whether the own profile serves better than none, by the paired test over people."""
    for row in results.comparisons:
        if (row["method"], row["truth"], row["against"]) == ("original", "clicks", "plain"):
            if row["p_holm"] >= CLEAR:
                return "makes no clear difference"
            return "helps" if row["difference"] > 0 else "**hurts**"
    return "was not compared with none"


def _failures(results: Results) -> str:
    if not results.failures:
        return ""
    names = [f"`{name_of(row)}` ({row['reason']})" for row in results.failures]
    return f"{len(names)} settings gave nothing, and their rows are blank: {listed(names)}."


def _target(results: Results) -> Table | None:
    """Where a risk was asked for: each method's setting that meets it."""
    if not results.target:
        return None
    columns = tuple(dict.fromkeys(name for row in results.target for name in row))
    lines = tuple(tuple(row.get(name, "") for name in columns) for row in results.target)
    return Table(columns, lines, "The setting of each method that meets the risk asked for and keeps most precision.")


def _at_risks(results: Results) -> Table | None:
    """Who is best at each of the risks, and who else was measured there."""
    lines = []
    for row in results.answers:
        by = {one["name"]: one for one in row["candidates"]}
        behind = [f"{name} {by[name]['ap10']:.3f}" for name in by if name not in row["leading"]]
        best = by[row["leading"][0]]
        lines.append((
            f"at most {percent(row['risk'])}", _short(row), " to ".join(best["between"]), _at_least(best),
            ", ".join(behind), ", ".join(row["perhaps"]),
        ))  # fmt: skip
    header = (
        "people found",
        "best",
        "the first lies at",
        "its AP@10 [95 %]",
        "clearly behind",
        "not measured near it, perhaps as good",
    )
    caption = (
        "Methods and controls at the same measured risk (linkage@5), each between its two nearest settings. All pairs "
        "are tested over people and corrected together by Holm; the tests know that risks are measured, too, and that "
        "between two settings precision may rise linearly with the risk, with its inverse or anyhow between. Settings "
        "that are in no other table were measured to decide this."
    )
    return Table(header, tuple(lines), caption) if lines else None


def _short(row: Row) -> str:
    names = listed(row["leading"])
    return {
        "best": names, "tie": f"tie: {names}", "no method": f"no method beats a control: {names}",
        "no better than random": f"no method beats random groups: {names}",
        "undecided": f"undecided: {listed([*row['leading'], *row['perhaps']])}",
    }[row["verdict"]]  # fmt: skip


def _measured_on(results: Results) -> str:
    data, experiment = results.data, results.experiment
    seeds = experiment["seeds"]
    return (
        f"Measured on {number(data['evaluated_users'])} of {number(data['users'])} "
        f"{'simulated ' if simulated(results) else ''}users of `{experiment['log']}` over `{experiment['corpus']}`, "
        f"{number(data['evaluated_queries'])} test queries ({number(data['queries_with_too_few_candidates'])} left out "
        f"for want of candidates), seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}. "
        "Profiles are made from the first 70 % of each person's queries; the rest are the test."
        f"{' ' + data['sensitive'] + '.' if 'sensitive' in data else ''}"
    )
