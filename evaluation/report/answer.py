"""Which method, at which risk, keeps which precision? The answer in plain words, before any table."""

from collections.abc import Sequence

from shoal.corpus.store.datasets import CORPORA
from shoal.evaluation.report.blocks import Block, Heading, Points, Table, Text, listed, number, percent
from shoal.evaluation.report.points import best_at, front, having, is_control, name_of
from shoal.evaluation.run.results import Results, Row

RISKS = (0.01, 0.05, 0.1, 0.2)
_SHARE = {0.01: "one in a hundred", 0.05: "one in twenty", 0.1: "one in ten", 0.2: "one in five"}


def simulated(results: Results) -> bool:
    """Whether the users of the log are made up: its name says so."""
    log = str(results.experiment["log"])
    return log in CORPORA or log.startswith("simulated")


def answer(results: Results) -> list[Block]:
    """What a hurried reader should take home."""
    rows = having(results.rows, "ap10")
    blocks: list[Block] = [Heading("The answer", 2)]
    if simulated(results):
        blocks.append(Text("**Simulated users.** The log of this experiment is made up, calibrated to AOL's.", "label"))
    blocks.append(Text(_lead(rows), "lead"))
    blocks.append(Points(tuple(_findings(results, rows))))
    blocks += [table for table in (_target(results), _at_risks(rows)) if table]
    return [*blocks, Text(_measured_on(results), "aside")]


def _lead(rows: Sequence[Row]) -> str:
    methods = [row for row in rows if not is_control(row)]
    best = best_at(methods, "ap10", "linkage5", 0.05)
    if not having(methods, "ap10", "linkage5"):
        return "No method was attacked in this experiment, so precision cannot be set against risk."
    if best is None:
        least = min(having(methods, "linkage5"), key=lambda row: row["linkage5"])
        return (
            f"No setting keeps the risk of being found at one in twenty or less. The safest is `{name_of(least)}`: an "
            f"attacker who knows five of a person's terms finds {percent(least['linkage5'])} of the people."
        )
    return (
        f"If an attacker who knows five of a person's terms may find at most one person in twenty, `{name_of(best)}` "
        f"keeps most precision: **AP@10 {_with_interval(best)}** (1 is the ranking by the own profile), and "
        f"{percent(best['linkage5'])} of the people are found.{_kept(best)}"
    )


def _with_interval(row: Row, name: str = "ap10") -> str:
    value = f"{row[name]:.3f}"
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return value if low is None or high is None else f"{value} [{low:.3f}, {high:.3f}]"


def _kept(row: Row) -> str:
    if "kept" not in row:
        return ""
    if row["kept"] < 0:
        return " That is worse than serving everyone by the average of all."
    return f" It keeps {percent(row['kept'])} of what is personal in a ranking."


def _findings(results: Results, rows: Sequence[Row]) -> list[str]:
    found = [_controls(rows), _front(rows), _grouping(results), _worse(rows), _clicks(results), _failures(results)]
    return [text for text in found if text]


def _controls(rows: Sequence[Row]) -> str:
    """What the floor, the ceiling and the averages get."""
    told = {
        "original": "each person's own profile", "plain": "no profile at all", "everyone": "the average of all people",
        "random": "groups made at random",
    }  # fmt: skip
    parts = []
    for method, meaning in told.items():
        same = having([row for row in rows if row["method"] == method], "ap10")
        if same:
            values = sorted(row["ap10"] for row in same)
            span = f"{values[0]:.2f}" if len(same) == 1 else f"{values[0]:.2f} to {values[-1]:.2f}"
            parts.append(f"{meaning} (`{method}`) {'have' if method == 'random' else 'has'} {span}{_risk(same)}")
    return f"The controls: {'; '.join(parts)}." if parts else ""


def _risk(rows: Sequence[Row]) -> str:
    values = sorted(row["linkage5"] for row in having(rows, "linkage5"))
    if not values:
        return ""
    span = percent(values[0]) if values[0] == values[-1] else f"{percent(values[0])} to {percent(values[-1])}"
    return f" with {span} found"


def _front(rows: Sequence[Row]) -> str:
    methods = list(dict.fromkeys(row["method"] for row in front(rows, "ap10", "linkage5") if not is_control(row)))
    if not methods:
        return ""
    named = listed([f"`{method}`" for method in methods])
    return f"Nothing beats {named} on both precision and risk: the front is made of some of their settings."


def _grouping(results: Results) -> str:
    """Is it grouping well, or grouping at all? Each setting against random groups of about the same size."""
    against = [row for row in results.comparisons if row["truth"] == "profile" and row["against"].startswith("random")]
    against = [row for row in against if row["method"] not in ("plain", "everyone", "original")]
    if not against:
        return ""
    clear = [row for row in against if row["p_holm"] < 0.05]
    better = sum(row["difference"] > 0 for row in clear)
    return (
        f"Against random groups of about the same size, {better} of {len(against)} settings keep more precision, "
        f"{len(clear) - better} keep less, and {len(against) - len(clear)} cannot be told apart (paired "
        "tests over people, corrected by Holm)."
    )


def _worse(rows: Sequence[Row]) -> str:
    worse = [row for row in having(rows, "kept") if row["kept"] < 0 and not is_control(row)]
    methods = list(dict.fromkeys(row["method"] for row in worse))
    if not worse:
        return ""
    return (
        f"{len(worse)} settings of {listed([f'`{m}`' for m in methods])} serve people worse than one profile for "
        "everyone would, and that one needs no method."
    )


def _clicks(results: Results) -> str:
    """Does a profile help to find what was clicked?"""
    rows = having(results.rows, "ap10_clicks")
    clicked = {row["method"]: row for row in rows if is_control(row)}
    if "original" not in clicked or "plain" not in clicked:
        return ""
    own, plain = clicked["original"], clicked["plain"]
    best = max((row for row in rows if not is_control(row)), key=lambda row: row["ap10_clicks"], default=None)
    more = f"; of the methods `{name_of(best)}` has most, {_with_interval(best, 'ap10_clicks')}" if best else ""
    return (
        f"Measured by what people clicked, the own profile {_verdict(results)}: AP@10 "
        f"{_with_interval(own, 'ap10_clicks')} against {_with_interval(plain, 'ap10_clicks')} without any{more}. "
        "(Candidates are ordered by the profile alone, as in the papers; the engine's order then counts for nothing.)"
    )


def _verdict(results: Results) -> str:
    """Whether the own profile serves better than none, by the paired test over people."""
    for row in results.comparisons:
        if (row["method"], row["truth"], row["against"]) == ("original", "clicks", "plain"):
            if row["p_holm"] >= 0.05:
                return "makes no clear difference"
            return "helps" if row["difference"] > 0 else "**hurts**"
    return "was not compared with none"


def _failures(results: Results) -> str:
    if not results.failures:
        return ""
    names = [f"`{name_of(row)}` ({row['reason']})" for row in results.failures]
    return f"{len(names)} settings gave nothing and score 0: {listed(names)}."


def _target(results: Results) -> Table | None:
    """Where a risk was asked for: each method's setting that meets it."""
    if not results.target:
        return None
    columns = tuple(dict.fromkeys(name for row in results.target for name in row))
    lines = tuple(tuple(row.get(name, "") for name in columns) for row in results.target)
    return Table(columns, lines, "The setting of each method that meets the risk asked for and keeps most precision.")


def _at_risks(rows: Sequence[Row]) -> Table | None:
    """The best setting at each of some risks, and what random groups get there."""
    lines = []
    for bound in RISKS:
        best = best_at([row for row in rows if not is_control(row)], "ap10", "linkage5", bound)
        chance = best_at([row for row in rows if row["method"] == "random"], "ap10", "linkage5", bound)
        if best is not None:
            lines.append((
                f"at most {percent(bound)} ({_SHARE[bound]})", name_of(best), _with_interval(best),
                percent(best.get("kept", 0.0)), percent(best["linkage5"]),
                f"{chance['ap10']:.3f} ({name_of(chance)})" if chance else "none",
            ))  # fmt: skip
    header = ("people found", "best setting", "AP@10 [95 %]", "kept", "found", "random groups at that risk")
    return Table(header, tuple(lines), "The best setting at each risk (linkage@5).") if lines else None


def _measured_on(results: Results) -> str:
    data, experiment = results.data, results.experiment
    seeds = experiment["seeds"]
    return (
        f"Measured on {number(data['evaluated_users'])} of {number(data['users'])} "
        f"{'simulated ' if simulated(results) else ''}users of `{experiment['log']}` over `{experiment['corpus']}`, "
        f"{number(data['evaluated_queries'])} test queries ({number(data['queries_with_too_few_candidates'])} left out "
        f"for want of candidates), seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}. "
        "Profiles are made from the first 70 % of each person's queries; the rest are the test."
    )
