"""/admin/releases, /admin/history: in which state is a release, what may be done with it, and which files may leave?"""

from dataclasses import dataclass
from pathlib import Path

from flask import flash, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from shoal.anonymizer.registry import methods
from shoal.anonymizer.release_files import CATALOGUE, MANIFEST, PROFILES, QUERIES, TABLES, TAXONOMY
from shoal.corpus.errors import Gone, InputError, NotFound
from shoal.webapp.core.activation import activate, findings_of, get_release, history, previous, roll_back
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.context import database, releases, settings
from shoal.webapp.core.gate import LONGEST_NOTE, Consent, Findings, NeedsConfirmation, Policy, read_policy, set_policy
from shoal.webapp.core.login import account
from shoal.webapp.core.seal import Damaged, check_seal, release_folder
from shoal.webapp.core.withdrawal import OUT_OF_REACH, delete_release, withdraw
from shoal.webapp.database import Database, LogFile, Proposal, Release
from shoal.webapp.database.models import ACTIVE, DELETED, MADE, RETIRED, WITHDRAWN
from shoal.webapp.operator import active_id, panel, whole_number

# A list of what is allowed: a file that is added to releases later stays here until somebody thought of it.
PUBLIC = (PROFILES, QUERIES, CATALOGUE, MANIFEST, TAXONOMY, *TABLES.values())
ABOUT = ("certificate.json", "measures.json")


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """A release as its page shows it: its state, the numbers of the gate, and what may be done with it now."""

    release: Release
    findings: Findings
    is_served: bool  # whether it is of the log that is served
    proposal: Proposal | None

    @property
    def is_there(self) -> bool:
        return self.release.state in (MADE, ACTIVE, RETIRED)

    @property
    def is_public(self) -> bool:
        return self.is_there and self.release.published_at is not None

    @property
    def can_activate(self) -> bool:
        return (
            self.is_there and self.is_served and self.release.holds and not self.release.damaged and not self.is_active
        )

    @property
    def is_active(self) -> bool:
        return self.release.state == ACTIVE

    @property
    def acts(self) -> list[str]:
        """What its state allows."""
        possible = {
            "activate": self.can_activate,
            "withdraw": self.is_public,
            "delete": self.release.state != DELETED and not self.is_active,
        }
        return [act for act, allowed in possible.items() if allowed]


def view_of(release_id: str) -> ReleaseView:
    release = get_release(database(), release_id)
    with database().reading() as session:
        log, proposal = session.get_one(LogFile, release.log_id), session.get(Proposal, release_id)
    return ReleaseView(release, findings_of(releases(), release), log.digest == releases().log_digest, proposal)


def all_releases(database: Database) -> list[Release]:
    """Every release that there ever was, the newest first."""
    with database.reading() as session:
        return list(session.scalars(select(Release).order_by(Release.job_id.desc())))


@panel.get("/releases")
def list_releases() -> str:
    return render_template("operator/releases.html", listed=all_releases(database()), policy=read_policy(database()))


@panel.post("/releases/policy")
def change_policy() -> ResponseReturnValue:
    form = request.form
    set_policy(
        database(),
        Policy(
            ceiling=_share(form.get("ceiling", "")),
            fewest=whole_number(form.get("fewest", ""), "fewest"),
            most_public=whole_number(form.get("most_public", ""), "most_public"),
            second=form.get("second") == "yes",
        ),
        account().name,
    )
    flash("What is published without a question is changed from now on.")
    return redirect(url_for("operator.list_releases"))


def _share(text: str) -> float:
    """How many in 100 people, as a share."""
    try:
        return float(text) / 100
    except ValueError as error:
        raise InputError(f"ceiling={text[:20]} is not allowed: give how many in 100 people may be found") from error


@panel.get("/releases/<release_id>")
def release_page(release_id: str) -> str:
    view = view_of(release_id)
    method = methods().get(view.release.method)
    return render_template(
        "operator/release.html", view=view, release=view.release, findings=view.findings,
        does_not_protect=method.info.does_not_protect if method else "", going_back=request.args.get("back") == "1",
        events=list_events(database(), subject=release_id), out_of_reach=OUT_OF_REACH,
        files=downloadable(settings().instance, view.release) if view.is_there else [],
    )  # fmt: skip


def _consent() -> Consent:
    form = request.form
    return Consent(
        account().name,
        form.get("note", "")[:LONGEST_NOTE],
        form.get("confirmed") == "yes",
        form.get("typed", "").strip(),
    )


@panel.post("/releases/<release_id>/activate")
def activate_release(release_id: str) -> ResponseReturnValue:
    try:
        done = activate(releases(), release_id, _consent())
    except NeedsConfirmation as error:
        flash(str(error))
        return redirect(url_for("operator.release_page", release_id=release_id), 303)
    flash(f"{release_id} now serves all searchers." if done else _waits(release_id))
    return redirect(url_for("operator.release_page" if not done else "operator.activations", release_id=release_id))


def _waits(release_id: str) -> str:
    return f"{release_id} waits until another operator confirms it."


@panel.post("/releases/<release_id>/withdraw")
def withdraw_release(release_id: str) -> ResponseReturnValue:
    withdraw(releases(), release_id, account().name, request.form.get("note", "")[:LONGEST_NOTE])
    flash(f"{release_id} is withdrawn: nobody gets it any more. {OUT_OF_REACH}")
    return redirect(url_for("operator.release_page", release_id=release_id))


@panel.post("/releases/<release_id>/delete")
def remove_release(release_id: str) -> ResponseReturnValue:
    if request.form.get("typed", "").strip() != release_id:
        raise InputError(f"to delete {release_id}, type its id: go back and try again")
    delete_release(releases(), release_id, account().name, request.form.get("note", "")[:LONGEST_NOTE])
    flash(f"{release_id} and its files are deleted. {OUT_OF_REACH}")
    return redirect(url_for("operator.release_page", release_id=release_id))


@panel.post("/releases/<release_id>/check")
def check_files(release_id: str) -> ResponseReturnValue:
    """Whether the files of a release are again, or still, those that were made."""
    wrong = check_seal(database(), settings().instance, get_release(database(), release_id))
    flash(f"{release_id} is not what was made: {wrong}." if wrong else f"All public files of {release_id} are as made.")
    return redirect(url_for("operator.release_page", release_id=release_id))


def downloadable(instance: Path, release: Release) -> list[str]:
    """The public files of a release that is still there."""
    if release.state in (WITHDRAWN, DELETED):
        return []
    return [name for name in (*PUBLIC, *ABOUT) if _path(instance, release.id, name).is_file()]


def public_file(instance: Path, release_id: str, name: str) -> Path:
    """The path of a public file, or an error that lists those that there are."""
    known = get_release(database(), release_id)
    if known.state in (WITHDRAWN, DELETED):
        raise Gone(f"{release_id} was {known.state}: its files are not given out any more")
    there = downloadable(instance, known)
    if name not in there:
        raise NotFound(f"no such file to download: there are {', '.join(there)}")
    if wrong := check_seal(database(), instance, known):
        raise Damaged(f"{release_id} is not what was made ({wrong}): restore its files, or make it again")
    return _path(instance, known.id, name)


def _path(instance: Path, release_id: str, name: str) -> Path:
    folder = release_folder(instance, release_id)
    return folder / name if name in PUBLIC else folder.parent / name


@panel.get("/releases/<release_id>/files/<name>")
def download(release_id: str, name: str) -> ResponseReturnValue:
    path = public_file(settings().instance, release_id, name)
    return send_file(path.resolve(), as_attachment=True, download_name=f"{release_id}-{name}")


@panel.get("/history")
def activations() -> str:
    switches = history(database(), releases().log_digest)
    return render_template("operator/history.html", switches=switches, back=previous(switches), leaves=left_behind())


def left_behind() -> str:
    """The active release, if going back from it withdraws it."""
    active = active_id()
    risky = active is not None and findings_of(releases(), get_release(database(), active)).is_risky
    return active if active is not None and risky else ""


@panel.post("/rollback")
def rollback() -> ResponseReturnValue:
    try:
        reached = roll_back(releases(), _consent())
    except NeedsConfirmation as error:
        flash(str(error))
        target = previous(history(database(), releases().log_digest))
        assert target is not None, "what needs a confirmation is there"
        return redirect(url_for("operator.release_page", release_id=target.release_id, back="1"), 303)
    flash(f"Rolled back: {reached} serves all searchers again." if reached else "It waits until another confirms it.")
    return redirect(url_for("operator.activations"))
