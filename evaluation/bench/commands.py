"""What do people wait for? Whole commands as they are typed, in processor seconds and memory, and how they grow.

With `--against`, another program (that of an earlier checkout) runs each command in turns with this one. It sees the
same environment: where its caches must be its own, name a Python script of its own that sets SHOAL_CACHE and starts it.
"""

import csv
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from shoal.corpus.logs import load_log
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.run.programs import OURS, Cost, Program, beside, cost_of, in_turns, taking_part
from shoal.evaluation.run.server import Server, served
from shoal.evaluation.run.timing import fitted_exponent, timed

SIZES = {False: (1_000, 4_000), True: (10_000, 40_000, 160_000)}  # users of the simulated logs
METHODS = ("everyone", "common", "partition", "affinity", "wordnet-queries")  # on profiles three, on queries two
SETTINGS = "random:k=3,5,10"
GROWTH = 1.2
STARTS = 3  # of a server that was set up before
SECONDS, MILLISECONDS = 3, 20  # of a start up to its first page; of first searches above the next ones
_FIRST, _NEXT = 4, 20  # searches: each process of a server has a first one

Work = Callable[[Program, Path], Cost]  # of a program, in a folder that holds log.tsv and is the program's own


def run(full: bool, progress: Progress) -> list[Row]:
    return compare(full, progress, "")


def compare(full: bool, progress: Progress, against: str) -> list[Row]:
    """A row per command; with another program, how many times as long it takes."""
    programs = taking_part(against)
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for done, (what, (limit, work)) in enumerate(_at_any_size().items()):
            progress(done, len(_at_any_size()), what)
            rows.append(row(what, [0], [best(work, programs, Path(folder) / "any", 2)], limit))
        starts = starts_in_turns(programs, Path(folder) / "starts", progress)
        return [*rows, *start_rows(starts), *_growing(SIZES[full], programs, Path(folder), progress)]


def _growing(sizes: Sequence[int], programs: Sequence[Program], folder: Path, progress: Progress) -> list[Row]:
    """The commands that read a log, at each size. At the first each is run twice, so that compiling is not counted."""
    costs: dict[str, list[list[Cost]]] = {what: [] for what in _with_log()}
    for users in sizes:
        log = folder / f"{users}.tsv"
        cost_of(OURS, ["simulate", "--users", str(users), "--out", str(log)])
        for done, (what, work) in enumerate(_with_log().items()):
            progress(done, len(costs), f"{users:,} users: {what}")
            repeats = 2 if users == sizes[0] else 1
            costs[what].append(best(work, programs, folder / str(users), repeats, log))
    return [row(what, sizes, measured, 0) for what, measured in costs.items()]


def best(work: Work, programs: Sequence[Program], folder: Path, repeats: int, log: Path | None = None) -> list[Cost]:
    """The least that each program takes, each in a folder of its own."""
    own = {program: folder / str(number) for number, program in enumerate(programs)}
    for path in own.values():
        path.mkdir(parents=True, exist_ok=True)
        if log and not (path / "log.tsv").exists():
            (path / "log.tsv").symlink_to(log)
    given = in_turns(lambda program: work(program, own[program]), programs, repeats)
    return [min(costs, key=lambda cost: cost.seconds) for costs in given]


def row(what: str, sizes: Sequence[int], measured: Sequence[Sequence[Cost]], limit: float) -> Row:
    """The cost at the largest size, the growth over all, and the other program's."""
    ours, *others = measured[-1]
    parts = [f"{ours.seconds:.2f} s, {ours.megabytes:,.0f} MB"]
    exponent = fitted_exponent(sizes, [costs[0].seconds for costs in measured]) if len(sizes) > 1 else 0.0
    if len(sizes) > 1:
        parts.append(f"growth {exponent:.2f}")
    for other in others:
        times = f"{other.seconds / ours.seconds:.2f} times as long"
        parts.append(f"the other {times} ({other.seconds:.2f} s, {other.megabytes:,.0f} MB)")
    at = f"{sizes[-1]:,} simulated users" if sizes[-1] else "news"
    if limit:
        return Row(what, at, f"{limit:g} s", "; ".join(parts), ours.seconds <= limit)
    return Row(what, at, f"growth <= {GROWTH}", "; ".join(parts), exponent <= GROWTH)


def _at_any_size() -> dict[str, tuple[float, Work]]:
    """What does not depend on a log of the user's: its limit in processor seconds, and the command."""
    return {
        "shoal anonymize --help": (0.3, _typed("anonymize", "--help")),
        "shoal anonymize --no-such-option": (0.3, _typed("anonymize", "--no-such-option", ends=2)),
        "shoal methods": (0.3, _typed("methods")),
        "shoal search": (3, _typed("search", "climate change", "--corpus", "news")),
    }


def _with_log() -> dict[str, Work]:
    """The commands of a release, each after the one that it needs, and an evaluation."""
    works: dict[str, Work] = {}
    for method in METHODS:
        made = ("--method", method, "--out", method, "--force")
        works[f"shoal anonymize, {method}"] = _typed("anonymize", "--log", "log.tsv", *made)
        works[f"shoal verify, {method}"] = _typed("verify", method, "--log", "log.tsv")
        works[f"shoal measure, {method}"] = _typed("measure", method, "--log", "log.tsv")
    return {**works, "shoal evaluate, a setting": _evaluated}


def _typed(*arguments: str, ends: int = 0) -> Work:
    return lambda program, folder: cost_of(program, arguments, folder, ends)


def _evaluated(program: Program, folder: Path) -> Cost:
    """An evaluation divided by its settings, the controls among them. None is read of an earlier run."""
    shutil.rmtree(folder / "results", ignore_errors=True)
    asked = ["evaluate", "--corpus", "news", "--log", "log.tsv", "--methods", SETTINGS, "--out", "results"]
    cost = cost_of(program, asked, folder)
    with (folder / "results" / "results.csv").open(encoding="utf-8") as file:
        settings = sum(1 for _ in csv.DictReader(file))
    return Cost(cost.seconds / settings, cost.megabytes)


@dataclass(frozen=True)
class Searches:
    """Some searches of a server: milliseconds of its processors for each, and by the clock."""

    processor: float
    clock: Sequence[float]


@dataclass(frozen=True)
class Start:
    """A start of a server: what it took up to its first page, its first searches, and the next ones."""

    cost: Cost
    clock: float
    first: Searches
    later: Searches


def starts_in_turns(programs: Sequence[Program], folder: Path, progress: Progress) -> list[list[Start]]:
    """Starts of each program over `news` in a folder that an earlier start set up."""
    own = {program: folder / str(number) for number, program in enumerate(programs)}
    log, _ = load_log("news", progress=progress)
    events = np.random.default_rng(0).integers(0, len(log), _FIRST + _NEXT)
    queries = [log.queries[int(log.query[event])] for event in events]
    users = {}
    for program, path in own.items():
        with served(program, "news", path, progress) as server:
            users[program] = server.people()[0]

    def start(program: Program) -> Start:
        with served(program, "news", own[program], progress) as server:
            cost = Cost(server.processor_seconds, server.megabytes)
            asked = [f"/search?{urlencode({'q': query, 'user': users[program]})}" for query in queries]
            return Start(cost, server.clock, _searched(server, asked[:_FIRST]), _searched(server, asked[_FIRST:]))

    return in_turns(start, programs, STARTS)


def _searched(server: Server, paths: Sequence[str]) -> Searches:
    before = server.processor_seconds
    clock = [1000 * timed(partial(server.read, path))[1] for path in paths]
    return Searches(1000 * (server.processor_seconds - before) / len(paths), clock)


def start_rows(starts: Sequence[Sequence[Start]]) -> list[Row]:
    """The least that a start takes, by the processor and by the clock, and its searches at the median of the starts."""
    costs = [min((start.cost for start in each), key=lambda cost: cost.seconds) for each in starts]
    measured = row("shoal serve, a second start to its first page", [0], [costs], SECONDS)
    clock = beside([min(start.clock for start in each) for each in starts], "{:.2f} s by the clock")
    first, later = ([float(np.median([getattr(start, when).processor for start in each])) for each in starts]
                    for when in ("first", "later"))  # fmt: skip
    told = "; the other ".join(map(_told, starts, first, later))
    what, limit = f"shoal serve, its first {_FIRST} searches", f"{MILLISECONDS} ms above the next"
    return [
        replace(measured, reached=f"{measured.reached}; {clock}"),
        Row(what, "news", limit, told, first[0] <= later[0] + MILLISECONDS),
    ]


def _told(starts: Sequence[Start], first: float, later: float) -> str:
    longest = np.median([max(start.first.clock) for start in starts])
    usual = np.median([np.median(start.later.clock) for start in starts])
    clock = f"the longest {longest:.0f} ms by the clock, the next {usual:.0f} ms"
    return f"{first:.0f} ms of processor each, the next {later:.0f} ms; {clock}"
