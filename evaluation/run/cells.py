"""What does one setting give? A method run with one seed on the profile part of the log, and all that is measured."""

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from shoal.anonymizer.base import Anonymized, Method
from shoal.anonymizer.registry import find_method
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.searches import Blend
from shoal.evaluation.attacks.spoken import Overheard, overhear, spoken
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting
from shoal.evaluation.measures.base import BlendMeasure, ReleaseMeasure
from shoal.evaluation.measures.registry import columns_of, measures, measures_of
from shoal.evaluation.measures.release import MeasuredRelease, Measurements, take_measures
from shoal.evaluation.protocol.blending import BlendTrial, Lesson, blend_trial, make_lesson
from shoal.evaluation.protocol.workload import Workload
from shoal.evaluation.run.cache import plugin_digest, read_arrays, write_arrays
from shoal.evaluation.run.timing import PeakMemory
from shoal.search.index import Index, index_for
from shoal.search.rerank import best_first

_FEW = 60  # users
_ALONE = Blend(1.0)  # the papers' protocol: nothing ranks but the profile
NOTHING = Measurements({}, {}, np.empty(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Cell:
    """The scores of every evaluated user, the measures of the release, and the cost of making it."""

    scores: dict[str, np.ndarray]
    measured: Measurements
    seconds: float  # of the method
    peak_mb: float
    cell_seconds: float  # of the method and of all that is measured of it
    failure: str = ""  # why the method gave nothing, and nothing was measured


class Laboratory:
    """Runs settings on one workload. Every process has its own, with the index opened once."""

    def __init__(self, experiment: Experiment, workload: Workload, folder: Path, keep_orders: bool = False) -> None:
        self.experiment = experiment
        self.workload = workload
        self.folder = folder
        self.keep_orders = keep_orders  # of the candidates, for those who want the rankings themselves
        self._warm: set[str] = set()

    @cached_property
    def index(self) -> Index:
        return index_for(self.experiment.corpus, engine=self.experiment.engine)

    @cached_property
    def profiles(self) -> Profiles:
        return build_profiles(self.workload.train, self.knowledge.words)

    @cached_property
    def knowledge(self) -> Knowledge:
        return self.experiment.knowledge()

    def path(self, setting: Setting, seed: int) -> Path:
        """Where a cell is kept: a name made from all that it depends on."""
        inputs = [
            self.workload.data, setting.method, setting.values, seed, self.experiment.queries,
            self.experiment.seeds[0], self.experiment.victims, self.experiment.measures, *_other_code(setting.method),
        ]  # fmt: skip
        name = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:20]
        return self.folder / f"{setting.method}-{name}.npz"

    def kept(self, setting: Setting, seed: int) -> Cell | None:
        """The cell of an earlier run."""
        arrays = read_arrays(self.path(setting, seed))
        if arrays is None or "rest" not in arrays or (self.keep_orders and not self.orders(setting, seed)):
            return None
        rest = json.loads(str(arrays["rest"]))
        scores, of_victims = (_under(name, arrays) for name in ("scores", "victims"))
        return Cell(scores, Measurements(rest.pop("measures"), of_victims, arrays["who"]), **rest)

    def run(self, setting: Setting, seed: int, progress: Progress = silent) -> Cell:
        """Make a cell and keep it. A method that refuses the log, or breaks on it, is a result and not an end."""
        try:
            cell = self._measured(setting, seed, progress)
        except Cancelled:
            raise
        except InputError as error:
            cell = failed(str(error))
        except Exception as error:  # any method may be of another package
            return failed(f"{type(error).__name__}: {error}")
        rest = {"measures": cell.measured.values, "seconds": cell.seconds, "peak_mb": cell.peak_mb,
                "cell_seconds": cell.cell_seconds, "failure": cell.failure}  # fmt: skip
        arrays = {f"scores.{name}": values for name, values in cell.scores.items()}
        arrays |= {f"victims.{name}": values for name, values in cell.measured.of_victims.items()}
        write_arrays(self.path(setting, seed), **arrays, who=cell.measured.victims, rest=np.array(json.dumps(rest)))
        return cell

    def _measured(self, setting: Setting, seed: int, progress: Progress) -> Cell:
        method = setting.make(self.knowledge)
        self._warm_up(method, progress)
        with PeakMemory() as memory:
            start = time.perf_counter()
            made = method.run(self.workload.train, profiles=self.profiles, seed=seed, progress=progress)
            seconds = time.perf_counter() - start
        scores, seen, heard = self._scores(made, method, setting, seed)
        measured = self._measures(seen, heard, method, seed, progress)
        return Cell(scores, measured, seconds, memory.megabytes, time.perf_counter() - start)

    def _warm_up(self, method: Method, progress: Progress) -> None:
        """Run a method on a few users first, so that its time is not that of loading a dictionary or of compiling."""
        if method.info.id in self._warm:
            return
        self._warm.add(method.info.id)
        few = self.workload.train.for_users(np.arange(min(_FEW, len(self.workload.train.users)))).compacted()
        # Too few users for this setting: the loading is then a part of the time.
        with contextlib.suppress(InputError):
            method.run(few, progress=progress)

    @cached_property
    def trial(self) -> BlendTrial:
        return blend_trial(self.workload.queries, self.profiles, self.index)

    @cached_property
    def lesson(self) -> Lesson | None:
        """What the weights of every release are learned on, where they are wanted."""
        given = self.workload.lesson
        return None if given is None else make_lesson(*given, self.knowledge.words, self.index)

    def orders(self, setting: Setting, seed: int) -> dict[str, np.ndarray]:
        """The order of every query's candidates by the profile `alone` and, where weights were learned, as `served`."""
        return read_arrays(self._orders_path(setting, seed)) or {}

    def _orders_path(self, setting: Setting, seed: int) -> Path:
        return self.path(setting, seed).with_suffix(".orders.npz")

    def _scores(
        self, made: Anonymized, method: Method, setting: Setting, seed: int
    ) -> tuple[dict[str, np.ndarray], Anonymized, Overheard | None]:
        """The scores of each person, what is seen of people (what is published, or was said), and where it was said."""
        if not self.workload.truths:  # nobody asks anything
            return {}, made, None
        trial = self.trial.trial
        devices = trial.devices(method, made.release, made.assignment, seed)
        cosine = trial.cosines(method, made.release, made.assignment, seed, devices)
        given = {"alone": self.trial.scores(cosine, _ALONE)}
        if (blend := self._learned(method, seed)) is not None:
            given["served"] = self.trial.scores(cosine, blend)
        if self.keep_orders:  # of up to 100 candidates, so that a byte holds each
            orders = {name: best_first(scores).astype(np.uint8) for name, scores in given.items()}
            write_arrays(self._orders_path(setting, seed), **orders)
        heard = overhear(method, made.release, trial, devices)
        return self._scored(given), spoken(made, devices, self.workload.train.users), heard

    def _scored(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Every measure of what people get by the profile alone, and of how they are served."""
        found = {
            name: values for truth in self.workload.truths for name, values in truth.scores(given["alone"]).items()
        }
        if "served" in given:
            truth = self.workload.truths[0]
            rankings = truth.rankings(given["served"])
            found |= {measure.name: truth.by_user(measure.compute(rankings)) for measure in measures_of(BlendMeasure)}
        return found

    def _learned(self, method: Method, seed: int) -> Blend | None:
        """What each part of the blend weighs; None where the method refuses what that is learned on."""
        try:
            return None if self.lesson is None else self.lesson.learn(method, seed)
        except InputError:
            return None

    def _measures(
        self, made: Anonymized, heard: Overheard | None, method: Method, seed: int, progress: Progress
    ) -> Measurements:
        """Attacks on the release and its utility: all, or those that are wanted."""
        wanted = [name for name in columns_of(ReleaseMeasure) if name in self.experiment.measures]
        if self.experiment.measures and not wanted:
            return NOTHING
        measured = MeasuredRelease(
            made.release, made.assignment, self.workload.train, self.knowledge, seed, self.experiment.victims,
            made.claim, made.suppressed, self.workload.test, method, progress, heard,
        )  # fmt: skip
        return take_measures(measured, wanted)


def failed(reason: str) -> Cell:
    """The cell of a method that gave nothing."""
    return Cell({}, NOTHING, 0.0, 0.0, 0.0, " ".join(reason.split()))


def _under(name: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {key.partition(".")[2]: values for key, values in arrays.items() if key.startswith(f"{name}.")}


def _other_code(method: str) -> list[str]:
    """Digests of the code of other packages that a cell is made by: its method's, and that of measures."""
    modules = [find_method(method).__module__, *(measure.module for measure in measures().values())]
    return [plugin_digest(module) for module in sorted(set(modules)) if not module.startswith("shoal.")]
