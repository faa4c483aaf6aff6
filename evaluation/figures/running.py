"""Which further settings do the papers' figures need? They are measured on the workload of the experiment."""

from collections.abc import Sequence

from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment.settings import Setting
from shoal.evaluation.figures import all_figures, figure_settings
from shoal.evaluation.figures.sensitive import f_beta, sensitive_queries
from shoal.evaluation.run.outcomes import Run, with_controls
from shoal.evaluation.run.results import Results, Row, rounded
from shoal.evaluation.run.summary import summarize

QUERY_METHODS = ("equality", "affinity")


def measure_figures(run: Run, progress: Progress = silent) -> Results:
    """The results of all settings that the figures need, kept and resumed like those of the experiment."""
    settings = figure_settings(all_figures())
    outcomes = run.measure(with_controls(settings), progress)
    found = summarize(run, outcomes, len(settings))
    _tell_sensitive(run, settings, found.rows, progress)
    return found


def _tell_sensitive(run: Run, settings: Sequence[Setting], rows: Sequence[Row], progress: Progress) -> None:
    """Add F_beta to the rows of the methods that release queries as they were typed."""
    train, knowledge = run.workload.train, run.laboratory.knowledge
    sensitive = sensitive_queries(train, knowledge)
    wanted = [(s, row) for s, row in zip(settings, rows, strict=True) if s.method in QUERY_METHODS]
    for done, (setting, row) in enumerate(wanted):
        progress(done, len(wanted), "telling sensitive queries")
        made = setting.make(knowledge).run(train, seed=run.experiment.seeds[0], progress=progress)
        for name, beta in (("f_beta1", 1.0), ("f_beta01", 0.1)):
            row[name] = rounded(f_beta(made.release, train, sensitive, beta))
