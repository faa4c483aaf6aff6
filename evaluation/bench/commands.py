"""What do people wait for? Whole commands as they are typed, in processor seconds and memory, and how they grow.

With `--against`, another program (that of an earlier checkout) runs each command in turns with this one. It sees the
same environment: where its caches must be its own, name a script that sets SHOAL_CACHE and starts it.
"""

import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row, free_port
from shoal.evaluation.run.timing import fitted_exponent

SIZES = {False: (1_000, 4_000), True: (10_000, 40_000, 160_000)}  # users of the simulated logs
METHODS = ("common", "partition", "affinity")  # a grouping, a generalization and a method on queries
SETTINGS = "random:k=3,5,10"
GROWTH = 1.2
OURS = (sys.executable, "-P", "-m", "shoal")
# A process counts the memory of the one that started it for its own peak: a small one starts what is measured.
_WATCH = """
import json, os, signal, sys
pid = os.fork()
if not pid:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
_, status, used = os.wait4(pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""

Program = Sequence[str]
Work = Callable[[Program, Path], "Cost"]  # of a program, in a folder that holds log.tsv and is the program's own


@dataclass(frozen=True)
class Cost:
    """What a process and all that it started and waited for took."""

    seconds: float  # of processor time
    megabytes: float  # at most


def run(full: bool, progress: Progress) -> list[Row]:
    return compare(full, progress, "")


def compare(full: bool, progress: Progress, against: str) -> list[Row]:
    """A row per command; with another program, how many times as long it takes."""
    programs: list[Program] = [OURS, (against,)] if against else [OURS]
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for done, (what, (limit, work)) in enumerate(_at_any_size().items()):
            progress(done, len(_at_any_size()), what)
            rows.append(row(what, [0], [in_turns(work, programs, Path(folder) / "any", 2)], limit))
        return [*rows, *_growing(SIZES[full], programs, Path(folder), progress)]


def _growing(sizes: Sequence[int], programs: Sequence[Program], folder: Path, progress: Progress) -> list[Row]:
    """The commands that read a log, at each size. At the first each is run twice, so that compiling is not counted."""
    costs: dict[str, list[list[Cost]]] = {what: [] for what in _with_log()}
    for users in sizes:
        log = folder / f"{users}.tsv"
        cost_of(OURS, ["simulate", "--users", str(users), "--out", str(log)])
        for done, (what, work) in enumerate(_with_log().items()):
            progress(done, len(costs), f"{users:,} users: {what}")
            repeats = 2 if users == sizes[0] else 1
            costs[what].append(in_turns(work, programs, folder / str(users), repeats, log))
    return [row(what, sizes, measured, 0) for what, measured in costs.items()]


def in_turns(
    work: Work, programs: Sequence[Program], folder: Path, repeats: int, log: Path | None = None
) -> list[Cost]:
    """What each program takes: its best, one after the other."""
    own = [folder / str(number) for number in range(len(programs))]
    for path in own:
        path.mkdir(parents=True, exist_ok=True)
        if log and not (path / "log.tsv").exists():
            (path / "log.tsv").symlink_to(log)
    turns = [[work(program, path) for program, path in zip(programs, own, strict=True)] for _ in range(repeats)]
    return [min(costs, key=lambda cost: cost.seconds) for costs in zip(*turns, strict=True)]


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
        "shoal methods": (0.3, _typed("methods")),
        "shoal search": (3, _typed("search", "climate change", "--corpus", "news")),
        "shoal serve, to its first page and its end": (10, _first_page),
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


def _typed(*arguments: str) -> Work:
    return lambda program, folder: cost_of(program, arguments, folder)


def _evaluated(program: Program, folder: Path) -> Cost:
    """An evaluation divided by its settings, the controls among them. None is read of an earlier run."""
    shutil.rmtree(folder / "results", ignore_errors=True)
    asked = ["evaluate", "--corpus", "news", "--log", "log.tsv", "--methods", SETTINGS, "--out", "results"]
    cost = cost_of(program, asked, folder)
    with (folder / "results" / "results.csv").open(encoding="utf-8") as file:
        settings = sum(1 for _ in csv.DictReader(file))
    return Cost(cost.seconds / settings, cost.megabytes)


def _first_page(program: Program, folder: Path) -> Cost:
    """A start of the server until it has answered once. The first start in a folder sets it up; the next ones count."""
    port = free_port()
    asked = ["serve", "--data", "news", "--port", str(port), "--no-levels", "--instance", "instance"]

    def wait_and_end(server: "subprocess.Popen[bytes]") -> None:
        while server.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        server.terminate()

    return cost_of(program, asked, folder, wait_and_end)


def cost_of(
    program: Program,
    arguments: Sequence[str],
    folder: Path | None = None,
    meanwhile: "Callable[[subprocess.Popen[bytes]], None] | None" = None,
) -> Cost:
    """Run a command to its end. One that fails is an error, with the last that it said."""
    with tempfile.TemporaryFile() as said:
        watched = [sys.executable, "-I", "-S", "-c", _WATCH, *program, *arguments]
        process = subprocess.Popen(watched, cwd=folder, stdout=subprocess.PIPE, stderr=said)
        if meanwhile:
            meanwhile(process)
        told, _ = process.communicate()
        code, seconds, megabytes = json.loads(told)
        said.seek(0)
        if code and not meanwhile:
            last = said.read().decode(errors="replace").strip().splitlines()[-1:]
            raise InputError(f"{program[-1]} {' '.join(arguments)} ended with {code}: {' '.join(last)}")
    return Cost(seconds, megabytes)
