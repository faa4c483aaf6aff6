"""How is a corpus searched and an experiment run in Python? open_corpus, evaluate, their answers, tables and plots."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import Rejected
from shoal.corpus.logs.rows import no_rows
from shoal.corpus.logs.tables import as_frame
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Chooser
from shoal.corpus.store.folders import cache_folder
from shoal.notebook import Profile
from shoal.search.index import Index, index_for
from shoal.search.personal import CANDIDATES, PLAIN, Found, Result, search
from shoal.search.query import MAX_CHARACTERS, parse_query
from shoal.search.vectors import profile_space

_PERSONAL = "personal"  # the name of the ranking by the profile
_BEST = "ap10"


@dataclass(frozen=True)
class Shown:
    """One result; `before` is its rank without a profile, from 1."""

    rank: int
    before: int
    id: str
    title: str
    snippet: str
    score: float
    engine: tuple[tuple[str, float], ...]
    profile: tuple[tuple[str, float], ...]
    everyone: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Answer:
    """The results of a query, whose profile ordered them, and what may have been meant."""

    query: str
    profile: str
    weight: float  # of it
    suggestion: str
    results: tuple[Shown, ...]

    def frame(self) -> pl.DataFrame:
        """A row per result."""
        names = ("rank", "before", "id", "title", "score", "snippet")
        return pl.DataFrame([{name: getattr(one, name) for name in names} for one in self.results])

    def _repr_html_(self) -> str:
        return self.frame()._repr_html_()

    def trec(self, topic: str = "1", run: str = "shoal") -> str:
        """The lines of a TREC run: topic, Q0, document, rank, score and the name of the run."""
        return "".join(f"{topic} Q0 {one.id} {one.rank} {one.score:.12g} {run}\n" for one in self.results)


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """An opened corpus: its documents can be searched, plain or ordered by a profile."""

    source: str
    index: Index

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        return f"Corpus({self.index.name}, {len(self):,} documents, {self.index.engine_name})"

    def search(
        self,
        query: str,
        profile: Profile | Mapping[str, float] | None = None,
        weight: float | None = None,
        limit: int = 10,
    ) -> Answer:
        """The best documents for a query; a profile, of a release or terms with weights, reorders the first 100.

        Its weight is what the release says or 0.85, unless it is given.

        >>> news.search("dinner", limit=1).results[0].rank
        1
        """
        check_search(query, weight, limit)
        profiles = {} if profile is None else {_PERSONAL: self._row(profile)}
        average = profile.average(self.index) if isinstance(profile, Profile) else None
        found = search(self.index, query, profiles, weight, {} if average is None else {_PERSONAL: average})
        name = next(reversed(found.rankings))
        shown = tuple(_shown(result, found, name) for result in found.results([name], slice(limit))[name])
        whose = getattr(profile, "name", "the given profile") if found.profiles[name].nnz else "no profile"
        suggestion = self.index.engine.suggest(found.query) or ""
        return Answer(found.query, whose, found.rankings[name].blend.profile, suggestion, shown)

    def _row(self, profile: Profile | Mapping[str, float]) -> csr_array | Chooser:
        if isinstance(profile, Profile):
            return profile.in_space(self.index)
        labels = list(profile)
        space = profile_space(labels, np.zeros(len(labels), dtype=bool), self.index.vectors, Knowledge())
        return csr_array(csr_array([[float(profile[label]) for label in labels]]) @ space)

    def close(self) -> None:
        self.index.close()


def check_search(query: str, weight: float | None, limit: int) -> None:
    if not parse_query(query):
        raise InputError(
            f"nothing to search for in {query[:40]!r}: give at least one word of letters or digits "
            f"(the first {MAX_CHARACTERS:,} characters are read)"
        )
    if weight is not None and not 0 <= weight <= 1:
        raise InputError(f"--weight {weight}: expected a number from 0 (engine alone) to 1 (profile alone)")
    if not 1 <= limit <= CANDIDATES:
        raise InputError(f"--limit {limit}: expected a number of results from 1 to {CANDIDATES}")


def _shown(result: Result, found: Found, name: str) -> Shown:
    document, reason = found.index.documents[result.document], found.reason(name, result.document)
    assert reason is not None
    return Shown(
        result.rank,
        result.ranks[PLAIN],
        document.id,
        document.title,
        str(result.snippet),
        result.score,
        reason.engine,
        reason.profile,
        reason.everyone,
    )


def open_corpus(source: Any, *, engine: str = "auto", progress: Progress = silent) -> Corpus:
    """The corpus of a data set's name, a JSON-lines file, or a frame with id, title and text; indexed once.

    >>> news = shoal.open_corpus(corpus_file)
    >>> len(news)
    280
    """
    path = source if isinstance(source, str | Path) else _written(as_frame(source))
    return Corpus(str(path), index_for(path, engine=engine, progress=progress))


def _written(frame: pl.DataFrame) -> Path:
    """The documents of a frame as a file of the cache, named by their content."""
    if missing := [name for name in ("id", "title", "text") if name not in frame.columns]:
        raise InputError(f"the frame has no column {missing[0]}: documents have id, title and text (and url, date)")
    names = [name for name in ("id", "title", "text", "url", "date") if name in frame.columns]
    rows = frame.select(pl.col(names).cast(pl.String).fill_null("")).to_dicts()
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path = cache_folder() / "frames" / f"{pl.Series([text]).hash()[0]:016x}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path


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

    def __repr__(self) -> str:
        return f"Table({len(self.results.rows)} settings, {self.results.data['evaluated_users']} users)"

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
        """Precision against the risk of being found, with the controls."""
        from shoal.evaluation.report.report_files import picture_of

        drawn = picture_of(name, [*self.results.rows, *self.results.besides], self.results.data["users"])
        if drawn is None:
            raise InputError(f"nothing to draw as {name}: no setting has both measures")
        return Plot(drawn)

    def best(self, **at_most: float) -> dict[str, Any]:
        """The setting that keeps most precision among those whose measures are at most so high: best(linkage5=0.05)."""
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

    def save(self, folder: str | Path) -> None:
        """Write results.csv, the report and its pictures, as `shoal evaluate` does."""
        from shoal.evaluation.report.report_files import write_report
        from shoal.evaluation.run.results import write_results

        write_results(Path(folder), self.results)
        write_report(Path(folder), self.results)


def evaluate(
    corpus: Corpus,
    log: QueryLog,
    methods: Mapping[str, Mapping[str, Any]],
    *,
    jobs: int = 1,
    folder: str | Path | None = None,
    progress: Progress = silent,
    **more: Any,
) -> Table:
    """Every method at every combination of its values, measured on a corpus and a log.

    `more` is what an experiment declares: seeds, queries, victims, measures, taxonomy and so on. Finished settings are
    kept in `folder`, so that a run that was stopped goes on.

    >>> table = shoal.evaluate(news, log, {"random": {"k": 3}}, measures=["ap10", "linkage5"])
    >>> table.frame()["method"].to_list()
    ['random']
    """
    from shoal.evaluation.experiment import make_experiment
    from shoal.evaluation.run.outcomes import begin
    from shoal.evaluation.run.summary import conduct

    given = {"corpus": corpus.source, "methods": {id: dict(ranges) for id, ranges in methods.items()}, **more}
    experiment = replace(make_experiment({**given, "log": "news"}), log="a log in memory")
    with tempfile.TemporaryDirectory() as own:
        read = (log, Rejected(no_rows()))
        run = begin(experiment, Path(folder or own), jobs, progress, read)
        return Table(conduct(run, progress))
