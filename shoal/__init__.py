"""Search personalized with the profile of a group, and a workbench of what that costs and protects.

In a notebook: read_log, anonymize, load, open_corpus, evaluate, score_run. What they cannot work with is an InputError.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.corpora import open_corpus
    from shoal.corpus.errors import InputError
    from shoal.evaluation.run.trec import score_run
    from shoal.experiments import evaluate
    from shoal.notebook import anonymize, load, read_log

__all__ = ["InputError", "anonymize", "evaluate", "load", "open_corpus", "read_log", "score_run"]
_HOME = {
    "InputError": "shoal.corpus.errors",
    "anonymize": "shoal.notebook",
    "evaluate": "shoal.experiments",
    "load": "shoal.notebook",
    "open_corpus": "shoal.corpora",
    "read_log": "shoal.notebook",
    "score_run": "shoal.evaluation.run.trec",
}


def __getattr__(name: str) -> Any:
    """The names of a notebook, loaded when they are asked for: `shoal --help` must answer at once."""
    if name not in _HOME:
        raise AttributeError(f"shoal has no {name!r}: it has {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
