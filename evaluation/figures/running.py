"""Which further settings do the papers' figures need? They are measured on the workload of the experiment."""

from shoal.corpus.progress import Progress, silent
from shoal.evaluation.figures import all_figures, figure_settings
from shoal.evaluation.run.outcomes import Run, with_controls
from shoal.evaluation.run.results import Results
from shoal.evaluation.run.summary import summarize


def measure_figures(run: Run, progress: Progress = silent) -> Results:
    """The results of all settings that the figures need, kept and resumed like those of the experiment."""
    settings = figure_settings(all_figures())
    outcomes = run.measure(with_controls(settings), progress)
    return summarize(run, outcomes, len(settings))
