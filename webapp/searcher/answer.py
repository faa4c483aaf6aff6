"""/answer: which method should one take, what does it cost, and who could find me? What was measured, for everybody."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Response, render_template, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from shoal.anonymizer.registry import methods
from shoal.corpus.errors import NotFound
from shoal.evaluation.measures.precision import share_kept
from shoal.evaluation.report.answer import CHOSEN, EASIER, answer, simulated
from shoal.evaluation.report.blocks import listed
from shoal.evaluation.report.html import inline
from shoal.evaluation.report.points import is_control
from shoal.evaluation.report.tables import how_to_read
from shoal.evaluation.run.results import Results, Row
from shoal.webapp.core.context import database, service, settings
from shoal.webapp.core.logs import list_logs
from shoal.webapp.core.picture import Mark, inline_svg
from shoal.webapp.core.withdrawal import evaluation_folder
from shoal.webapp.database import Job
from shoal.webapp.database.models import QUEUED, RUNNING
from shoal.webapp.jobs.evaluation import list_evaluations, published_evaluation, results_so_far
from shoal.webapp.jobs.levels import levels_under_way
from shoal.webapp.searcher import pages

PICTURE = "precision-risk"
FILES = {"csv": ("results.csv", "text/csv"), "json": ("results.json", "application/json")}
_FREE = {"plain": "no profile at all", "everyone": "everyone's average", "random": "groups made at random"}


@dataclass(frozen=True)
class AtRisk:
    """What people get if so many may be found."""

    risk: float
    verdict: str
    leading: tuple[str, ...]  # ids of methods, or of the control that no method beats
    kept: float
    between: tuple[str, ...]  # the settings that it was measured at
    perhaps: tuple[str, ...] = ()  # ids of methods that were not measured near it, and may keep more

    @property
    def of_hundred(self) -> str:
        return f"{100 * self.risk:g} in 100"

    @property
    def is_free(self) -> str:
        """What no method is better than; empty where one is."""
        if self.verdict == "no method":
            return _FREE[next(name for name in self.leading if name in _FREE and name != "random")]
        return _FREE["random"] if self.verdict == "no better than random" else ""

    @property
    def says(self) -> str:
        """In words, without a number that means nothing to who was told nothing."""
        first = f"If at most {self.of_hundred} people may be found,"
        if self.is_free:
            nothing = ", which needs nothing of you" if self.verdict == "no method" else ""
            return f"{first} no method is better than {self.is_free}{nothing}; on your device: all."
        names = listed([f"“{title_of(name)}”" for name in self.leading])
        keeps = f"keep{'s' if len(self.leading) == 1 else ''} {max(0.0, 100 * self.kept):.0f} % of what is personal"
        tie = "" if len(self.leading) == 1 else " (which of them keeps more cannot be told)"
        if self.perhaps:
            others = listed([f"“{title_of(name)}”" for name in self.perhaps])
            tie += f", and {others}, not measured near that risk, may keep more"
        return f"{first} {names} {keeps}{tie}; on your device: all."


def title_of(method: str) -> str:
    return methods()[method].info.title if method in methods() else method


def at_risks(results: Results) -> list[AtRisk]:
    """The answer at each of the risks that were asked for."""
    floor = next((row["ap10"] for row in results.rows if row["method"] == results.data["kept_is_counted_from"]), 0.0)
    found = []
    for row in results.answers:
        best = next(one for one in row["candidates"] if one["name"] == row["leading"][0])
        leading = tuple(dict.fromkeys(name.split()[0] for name in row["leading"]))
        kept = float(share_kept(best["ap10"], floor))
        perhaps = tuple(dict.fromkeys(name.split()[0] for name in row["perhaps"]))
        found.append(AtRisk(row["risk"], row["verdict"], leading, kept, tuple(best["between"]), perhaps))
    return found


def standing(method: str, risks: Sequence[AtRisk]) -> str:
    """Where a method leads, or a control is not beaten, in words."""
    mine = [one for one in risks if method in one.leading and (not one.is_free or method in _FREE)]
    where = listed([one.of_hundred for one in mine])
    if not mine:
        return f"It leads at none of the risks that were asked for: {listed([one.of_hundred for one in risks])}."
    if method in _FREE:
        return f"No method is better where at most {where} may be found."
    alone = all(len(one.leading) == 1 for one in mine)
    keeps = listed([f"{max(0.0, 100 * one.kept):.0f} %" for one in mine])
    return (
        f"{'The best' if alone else 'Among the best'} where at most {where} may be found: the best keep {keeps} there."
    )


def published() -> tuple[Job, Results]:
    """What everybody may see; an error that says what is missing, where nothing was published."""
    log = next((log.id for log in list_logs(database()) if log.digest == service().digest), 0)
    job = published_evaluation(database(), log, settings().corpus_source)
    results = results_so_far(settings().instance, job.id) if job else None
    if job is None or results is None:
        raise NotFound(f"nothing was measured for everybody to see yet: {_waits_for(log)}")
    return job, results


def _waits_for(log: int) -> str:
    """What has to happen before there is an answer, and how far it is."""
    if (making := levels_under_way(database(), service().digest)) is not None:
        return f"{making.done} of {making.total or 'all'} releases are made, then they are measured; look again soon"
    running = (job for job in list_evaluations(database()) if job.state in (QUEUED, RUNNING) and job.task["log"] == log)
    if (job := next(running, None)) is not None:
        return f"{job.done} of {job.total or 'all'} settings are measured; look again soon"
    return "the operator starts an evaluation and publishes it"


@pages.get("/answer")
def the_answer() -> str:
    job, results = published()
    return render_template("searcher/answer.html", job=job, **shown(results))


def shown(results: Results) -> dict[str, object]:
    """All that the page, and the panel while it grows, say of results."""
    risks = at_risks(results)
    own, bare = (_row(results, name) for name in ("original", "plain"))
    return {
        "results": results, "risks": risks, "chosen": next((one for one in risks if one.risk == CHOSEN), None),
        "own": own, "bare": bare, "picture": picture(results.rows, results),
        "easier": EASIER if simulated(results) else "",
        "rows": results.rows, "titles": {row["method"]: title_of(row["method"]) for row in results.rows},
        "more": answer(results)[1:], "read": how_to_read(results)[1:], "inline": lambda text: Markup(inline(text)),
    }  # fmt: skip


def _row(results: Results, method: str) -> Row | None:
    return next((row for row in results.rows if row["method"] == method and "ap10" in row), None)


def picture(rows: Sequence[Row], results: Results) -> Markup | None:
    """Precision against risk; each mark leads to the page of its method."""
    from shoal.evaluation.report.report_files import picture_of  # loads altair, which a start need not wait for

    drawn = picture_of(PICTURE, rows, results.data["users"])
    if drawn is None:
        return None
    return inline_svg(drawn, "Precision against risk", _page_of)


def _page_of(told: str) -> Mark | None:
    method = told.split()[0].rstrip(":")
    return Mark(url_for("searcher.answer_of_method", method=method), told) if method in methods() else None


@pages.get("/answer/<method>")
def answer_of_method(method: str) -> str:
    job, results = published()
    rows = [row for row in results.rows if row["method"] == method]
    if not rows or method not in methods():
        raise NotFound("this method was not measured: choose one from the answer")
    beside = [row for row in results.rows if is_control(row) and row["method"] != method]
    against = [row for row in results.comparisons if row["method"] == method and row["truth"] == "profile"]
    return render_template(
        "searcher/answer_method.html", info=methods()[method].info, rows=rows, against=against, job=job,
        picture=picture([*rows, *beside], results), stands=standing(method, at_risks(results)),
    )  # fmt: skip


@pages.get("/answer.<any(csv, json, svg):ending>")
def answer_file(ending: str) -> ResponseReturnValue:
    job, results = published()
    if ending == "svg":
        from shoal.evaluation.report.plots import svg
        from shoal.evaluation.report.report_files import picture_of

        drawn = picture_of(PICTURE, results.rows, results.data["users"])
        if drawn is None:
            raise NotFound("no method has both precision and risk: there is no picture")
        return Response(svg(drawn), content_type="image/svg+xml")
    name, kind = FILES[ending]
    try:
        text = (evaluation_folder(settings().instance, job.id) / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:  # it was deleted a moment ago
        raise NotFound("this answer was deleted: look again, there may be another") from error
    headers = {"Content-Disposition": f"attachment; filename=shoal-answer.{ending}"}
    return Response(text, headers=headers, content_type=f"{kind}; charset=utf-8")
