"""What is compared on which data? An experiment, declared by options or by one TOML file, checked before it runs."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import DICTIONARIES
from shoal.corpus.logs import Rejected, files_of, load_log, log_format
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog
from shoal.corpus.store.datasets import CORPORA
from shoal.corpus.store.ir_datasets import documents_file, is_ir_dataset
from shoal.evaluation.experiment.settings import Setting, all_settings, default_settings, distinct, parse_methods
from shoal.evaluation.measures.registry import columns_named
from shoal.search.index import choose_engine

DEFAULT_CORPUS = "reuters"


@dataclass(frozen=True)
class Experiment:
    """One page: the data, the methods with their settings, the measures and the seeds."""

    corpus: str
    log: str
    settings: tuple[Setting, ...]
    seeds: tuple[int, ...] = (0,)  # results are means over seeds; the first one draws the test queries
    queries: int = 5  # test queries per user, at most
    victims: int = 1000  # of each attack
    measures: tuple[str, ...] = ()  # columns of the results; empty: all
    engine: str = "auto"
    taxonomy: str = ""
    directory: str = ""
    sensitive: str = ""
    dictionary: str = ""
    strict: bool = False
    columns: str = ""  # of the log, where its heading does not tell them: user=NAME,query=NAME
    encoding: str = ""  # of the log, where it is not UTF-8

    def knowledge(self) -> Knowledge:
        names = (self.taxonomy, self.directory, self.sensitive)
        taxonomy, directory, sensitive = (Path(name) if name else None for name in names)
        return Knowledge(taxonomy, dictionary_name=self.dictionary, directory_file=directory, sensitive_file=sensitive)

    def read_log(self, progress: Progress) -> tuple[QueryLog, Rejected]:
        """The log, and its rows that could not be read."""
        format = log_format(self.columns, self.encoding)
        return load_log(self.log, format=format, strict=self.strict, progress=progress)


def make_experiment(given: Mapping[str, Any]) -> Experiment:
    """An experiment from what is given, the rest at its defaults; `methods` is text or a table of ranges.

    Everything that can be wrong without reading the log or the corpus is refused here.
    """
    known = [field.name for field in fields(Experiment) if field.name != "settings"]
    for name in given:
        if name not in {*known, "methods"}:
            raise InputError(f"an experiment has no {name!r}: it has {', '.join([*known, 'methods'])}")
    rest = {name: given[name] for name in known if name in given}
    corpus = str(rest.pop("corpus", DEFAULT_CORPUS))
    log = str(rest.pop("log", corpus if corpus in CORPORA else ""))
    seeds, measures = tuple(_list(rest.pop("seeds", 0))), tuple(columns_named(_list(rest.pop("measures", []))))
    made = Experiment(corpus, log, _settings(given.get("methods")), seeds=seeds, measures=measures, **rest)
    _check(made)
    return made


def read_experiment(path: Path) -> dict[str, Any]:
    """What a TOML file gives: corpus, log, seeds, measures and so on, and a table [methods.ID] of ranges for each."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): give the path of a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML file ({error}): see the example in the README") from error


def _settings(methods: object) -> tuple[Setting, ...]:
    if methods is None:
        return tuple(default_settings())
    if isinstance(methods, str):
        return tuple(parse_methods(methods))
    if not isinstance(methods, dict) or not methods or not all(isinstance(v, dict) for v in methods.values()):
        raise InputError("methods is a text like random:k=3,5 or a table like [methods.random] with k = [3, 5]")
    ranges = {id: {name: _list(value) for name, value in table.items()} for id, table in methods.items()}
    return tuple(distinct(setting for id, table in ranges.items() for setting in all_settings(id, table)))


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _corpus_file(name: str) -> Path:
    return documents_file(name) if is_ir_dataset(name) else Path(name)


def _check(made: Experiment) -> None:
    numbers = {"queries": made.queries, "victims": made.victims}
    for name, number in numbers.items():
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise InputError(f"{name}={number} is not allowed: {name} is a whole number from 1")
    if not made.seeds or not all(type(seed) is int and seed >= 0 for seed in made.seeds):
        raise InputError(f"seeds={list(made.seeds)} is not allowed: seeds are whole numbers from 0")
    if made.dictionary and made.dictionary not in DICTIONARIES:
        raise InputError(f"unknown dictionary {made.dictionary!r}: choose one of {', '.join(DICTIONARIES)}")
    choose_engine(made.engine, 0)
    for what, name in (("corpus", made.corpus), ("log", made.log)):
        if not name and what == "log":
            raise InputError(f"no log for the corpus {made.corpus}: give a file by --log")
        if name not in CORPORA and not all(
            path.is_file() for path in (files_of(name) if what == "log" else [_corpus_file(name)])
        ):
            raise InputError(f"no {what} {name!r}: give a file, or a data set's name ({', '.join(CORPORA)})")
    made.knowledge().refuse_bad_files()
