"""How is an experiment run in Python? evaluate, its table of precision against privacy, and its plots."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.corpora import Corpus
from shoal.corpus.errors import InputError
from shoal.corpus.logs import Rejected
from shoal.corpus.logs.rows import no_rows
from shoal.corpus.progress import Progress, bar
from shoal.corpus.querylog import QueryLog, counted

_BEST = "ap10"


@dataclass(frozen=True, eq=False, repr=False)
class Plot:
    """A picture that shows itself in a notebook."""

    description: dict[str, Any]

    def __repr__(self) -> str:
        return "Plot(save it by .save('name.svg') or .save('name.png'))"

    def _repr_html_(self) -> str:
        from shoal.evaluation.report.plots import svg

        return svg(self.description)

    def save(self, path: str | Path) -> None:
        """Write the picture as .svg or .png."""
        from shoal.evaluation.report.plots import png, svg

        ending = Path(path).suffix.lower()
        if ending not in (".svg", ".png"):
            raise InputError(f"{path} ends in {ending or 'nothing'}: a plot is saved as .svg or .png")
        drawn = svg(self.description)
        Path(path).write_bytes(drawn.encode() if ending == ".svg" else png(drawn))


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Precision against privacy: a row per method and setting."""

    results: Any  # evaluation.run.results.Results
    rejected: Rejected  # rows of the log that could not be read
    figures: Any = None  # what was measured in the papers' set-ups
    growth: Sequence[dict[str, Any]] = ()  # times of parts of the log

    def __repr__(self) -> str:
        users = counted(self.results.data["evaluated_users"], "user")
        return f"Table({counted(len(self.results.rows), 'setting')}, {users})"

    def _repr_html_(self) -> str:
        return self.frame()._repr_html_()

    def frame(self) -> pl.DataFrame:
        """The rows of results.csv."""
        from shoal.evaluation.run.results import columns_in

        rows = self.results.rows
        return pl.DataFrame(
            [{name: row.get(name) for name in columns_in(rows)} for row in rows], infer_schema_length=None
        )

    def plot(self, name: str = "precision-risk") -> Plot:
        """Precision against the risk of being found, with the controls; `name` may be that of another picture."""
        from shoal.evaluation.report.report_files import picture_of

        drawn = picture_of(name, [*self.results.rows, *self.results.besides], self.results.data["users"])
        if drawn is None:
            raise InputError(f"nothing to draw as {name}: no setting has both measures")
        return Plot(drawn)

    def best(self, **at_most: float) -> dict[str, Any]:
        """The setting that keeps most precision among those whose measures are at most so high.

        >>> table.best(linkage5=0.5)["method"]
        'random'
        """
        rows = [row for row in self.results.rows if _BEST in row]
        for name in at_most:
            if not any(name in row for row in rows):
                raise InputError(f"no measure {name!r} in the table: it has {', '.join(self.frame().columns)}")
        good = [row for row in rows if all(row.get(name, 1e9) <= most for name, most in at_most.items())]
        if not good:
            raise InputError(
                f"no setting has {', '.join(f'{n} <= {m:g}' for n, m in at_most.items())}: try more private ones"
            )
        return dict(max(good, key=lambda row: float(row[_BEST])))

    def save(self, folder: str | Path, *, timings: bool = False) -> None:
        """Write results.csv, the report and its pictures; with `timings`, seconds and peak_mb in results.csv too."""
        from shoal.evaluation.report.report_files import write_report
        from shoal.evaluation.run.results import write_results

        write_results(Path(folder), self.results, timings)
        write_report(Path(folder), self.results, self.figures, self.growth)


def evaluate(
    corpus: Corpus | str | Path,
    log: QueryLog | str | Path | None = None,
    methods: Mapping[str, Mapping[str, Any]] | str | None = None,
    *,
    risk: str | None = None,
    trec: bool = False,
    figures: str = "",
    growth: bool = False,
    jobs: int = 1,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> Table:
    """Every method at every combination of its values, measured on a corpus and a log (a data set has its own).

    `more` is what an experiment declares: seeds, queries, victims, measures, taxonomy and so on. Finished settings are
    kept in `folder`, so that a run that was stopped goes on; with `trec`, runs, qrels and topics are written there. A
    `risk` such as "linkage5<=0.05" is sought between the values. `figures` ("some" or "full") are those of the papers,
    `growth` is how the time grows with the users.

    >>> table = shoal.evaluate(news, log, {"random": {"k": 3}}, measures=["ap10", "linkage5"])
    >>> table.frame()["method"].to_list()
    ['random']
    """
    from shoal.evaluation.figures.running import measure_figures
    from shoal.evaluation.run.growth import growth as measure_growth
    from shoal.evaluation.run.outcomes import begin
    from shoal.evaluation.run.summary import conduct
    from shoal.evaluation.run.target import parse_risk, seek
    from shoal.evaluation.run.trec import FOLDER, TrecFiles

    experiment = _experiment(corpus, log, methods, more)
    bound = parse_risk(risk) if risk is not None else None
    if trec and folder is None:
        raise InputError("runs and qrels are files: give folder=, where they are written")
    with tempfile.TemporaryDirectory() as own, bar(progress) as told:
        place = Path(folder or own)
        read = (log, Rejected(no_rows())) if isinstance(log, QueryLog) else None
        run = begin(experiment, place, jobs, told, read, trec)
        results = seek(run, bound, told) if bound else conduct(run, told)
        drawn = measure_figures(run, figures == "full", told) if figures else None
        grown = measure_growth(run, results, told) if growth else ()
        if trec:
            TrecFiles(run, place / FOLDER).write(results)
    return Table(results, run.rejected, drawn, grown)


def _experiment(
    corpus: Corpus | str | Path,
    log: QueryLog | str | Path | None,
    methods: Mapping[str, Mapping[str, Any]] | str | None,
    more: Mapping[str, Any],
) -> Any:
    """The experiment on what is open already or named; everything that can be wrong is refused before it begins."""
    from shoal.evaluation.experiment import make_experiment

    given: dict[str, Any] = {**more}
    if isinstance(corpus, Corpus):
        given = {"engine": corpus.index.engine_name, **given}
    given["corpus"] = corpus.source if isinstance(corpus, Corpus) else str(corpus)
    if methods is not None:
        given["methods"] = methods if isinstance(methods, str) else {id: dict(table) for id, table in methods.items()}
    if isinstance(log, QueryLog):
        return replace(make_experiment({**given, "log": "news"}), log="a log in memory")
    return make_experiment(given if log is None else {**given, "log": str(log)})
