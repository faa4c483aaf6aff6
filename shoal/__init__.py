"""Search personalized with the profile of a group, and a workbench of what that costs and protects.

In a notebook: read_log, anonymize, load, open_corpus, evaluate, score_run. What they cannot work with is an InputError.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType
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


class Later:
    """Finds what others load and nobody asks anything of: it is loaded when somebody does.

    scipy takes over every name of numpy, and so loads what compiles Fortran, a tenth of the time of a start.
    """

    names = frozenset({"numpy.f2py"})

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in self.names else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


if not any(isinstance(finder, Later) for finder in sys.meta_path):
    sys.meta_path.insert(0, Later())
