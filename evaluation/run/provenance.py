"""Where do results come from? Version, digests, seeds and the command that makes them again; and how to cite them."""

import shlex
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from shoal.anonymizer.manifest import digests_of
from shoal.anonymizer.registry import find_method
from shoal.corpus.version import VERSION
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting, written
from shoal.evaluation.protocol.workload import Workload
from shoal.evaluation.run.cache import code_digest

LAYERS = ("corpus", "search", "anonymizer", "evaluation")


def provenance(experiment: Experiment, workload: Workload, risk: str = "") -> dict[str, Any]:
    """All that the results depend on. Where they were written, and by how many processes, changes nothing in them."""
    sensitive = any(find_method(setting.method).info.sensitive for setting in experiment.settings)
    known = digests_of(experiment.knowledge(), sensitive)
    return {
        "version": VERSION,
        "command": command(experiment, risk),
        "seeds": list(experiment.seeds),
        "digests": dict(workload.digests) | known | {"code": code_digest(*LAYERS)},
    }


def command(experiment: Experiment, risk: str = "") -> str:
    """The command line that makes the results again, the same for an experiment from a file and from options."""
    given: dict[str, object] = {
        "corpus": Path(experiment.corpus).name,
        "log": Path(experiment.log).name,
        "methods": methods_text(experiment.settings),
        "seed": ",".join(map(str, experiment.seeds)),
        "queries": experiment.queries,
        "victims": experiment.victims,
        "measures": ",".join(experiment.measures),
        "engine": "" if experiment.engine == "auto" else experiment.engine,
        "taxonomy": Path(experiment.taxonomy).name,
        "directory": Path(experiment.directory).name,
        "sensitive": Path(experiment.sensitive).name,
        "dictionary": experiment.dictionary,
        "risk": risk,
    }
    words = [word for name, value in given.items() if value != "" for word in (f"--{name}", str(value))]
    return shlex.join(["shoal", "evaluate", *words, *(["--strict"] if experiment.strict else [])])


def methods_text(settings: Sequence[Setting]) -> str:
    """Settings as --methods takes them; neighbours that differ in their one named parameter are one list."""
    parts = []
    for (method, named), same in groupby(settings, key=lambda setting: (setting.method, setting.named)):
        rows = [[written(setting.value(name)) for name in named] for setting in same]
        if len(named) == 1:
            rows = [[",".join(row[0] for row in rows)]]
        parts += [":".join([method, *(f"{n}={v}" for n, v in zip(named, row, strict=True))]) for row in rows]
    return ";".join(parts)


def bibtex(made: dict[str, Any]) -> str:
    """An entry for the program and the very results, which their digests name."""
    digests = made["digests"]
    about = ", ".join(f"{name} {digests[name][:12]}" for name in ("log", "corpus", "code") if name in digests)
    return (
        "@software{shoal,\n"
        "  title = {Shoal: search personalized by groups, and what each way of grouping costs and protects},\n"
        "  author = {{The maintainers of Shoal}},\n"
        f"  version = {{{made['version']}}},\n"
        f"  note = {{Results of {about}; seeds {', '.join(map(str, made['seeds']))}}},\n"
        "}"
    )
