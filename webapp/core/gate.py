"""May a release be published? Who could be found, who is alone, whose words it shows; and who must say yes to it."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shoal.corpus.errors import Conflict, Gone, InputError, Refused
from shoal.webapp.core.audit import note
from shoal.webapp.database import Database, LogFile, Option, Proposal, Release
from shoal.webapp.database.models import ACTIVE, DELETED, MADE, RETIRED, WITHDRAWN

RISK = "linkage5"  # the share of people who are found by whoever knows five of their terms
MOST_COUNTED = 100  # words are counted by how many people hold them, up to so many
NO_PROMISE = "none"  # the claim of a release that promises nothing
LONGEST_NOTE = 300
_POLICY = "policy"


class NeedsConfirmation(Conflict):
    """A release that somebody must say yes to, knowing the numbers."""


@dataclass(frozen=True)
class Policy:
    """What is published without a question; set by the operator, for all releases."""

    ceiling: float = 0.10  # the share of people who may be found
    fewest: int = 5  # how many people must share each published term and query
    most_public: int = 2  # how many releases of one log may be public at once: together they tell more than each
    second: bool = False  # whether a second operator must confirm what is above this

    def check(self) -> None:
        if not 0 <= self.ceiling <= 1:
            raise InputError(f"a ceiling of {self.ceiling:g} is not allowed: give a share from 0 to 1")
        if not 1 <= self.fewest <= MOST_COUNTED:
            raise InputError(f"fewest={self.fewest} is not allowed: give a whole number from 1 to {MOST_COUNTED}")
        if not 1 <= self.most_public <= 1000:
            raise InputError(f"most_public={self.most_public} is not allowed: give a whole number from 1 to 1000")


def read_policy(database: Database) -> Policy:
    with database.reading() as session:
        return _policy(session)


def _policy(session: Session) -> Policy:
    found = session.get(Option, _POLICY)
    return Policy(**found.value) if found is not None else Policy()


def set_policy(database: Database, policy: Policy, account: str) -> None:
    policy.check()
    with database.writing() as session:
        before = _policy(session)
        session.merge(Option(name=_POLICY, value=asdict(policy)))
        note(session, "policy.change", account, "", {"before": asdict(before), "after": asdict(policy)})


@dataclass(frozen=True)
class Consent:
    """What somebody says who wants a release to serve everybody."""

    account: str = ""  # empty: the server by itself
    note: str = ""  # why
    confirmed: bool = False  # yes, by one click: enough where nobody is real
    typed: str = ""  # the id of the release, written out


@dataclass(frozen=True)
class Findings:
    """The numbers that the gate goes by, beside those that the operator allows."""

    real: bool
    promise: str  # empty: none
    publishes: bool  # anything of anybody
    risk: float | None
    alone: int | None  # people who are alone with a published profile; None: not counted
    terms: int  # published terms that fewer than policy.fewest people hold
    queries: int  # the same of published queries
    others: int  # other releases of the log that are public and publish something
    policy: Policy

    @property
    def is_risky(self) -> bool:
        """Whether more people than allowed could be found in it."""
        return self.publishes and (self.risk is None or self.risk > self.policy.ceiling or bool(self.alone))

    @property
    def reasons(self) -> list[str]:
        """Why somebody should think twice, with the numbers; empty if there is no reason."""
        if not self.publishes:
            return []
        told = (self._of_promise(), self._of_risk(), self._of_alone(), self._of_words(), self._of_others())
        return [text for text in told if text]

    @property
    def asks(self) -> bool:
        """Whether somebody must say yes: to anything of real people, and of others to what protects nobody at all."""
        return bool(self.reasons) and (self.real or not self.promise or bool(self.alone))

    def _of_promise(self) -> str:
        return "" if self.promise else "This release promises nothing."

    def _of_risk(self) -> str:
        if self.risk is None:
            return "How many people could be found in it was not measured."
        if self.risk <= self.policy.ceiling:
            return ""
        found, most = (f"{100 * share:.3g}" for share in (self.risk, self.policy.ceiling))
        return f"{found} in 100 people are found by whoever knows five of their terms; the ceiling is {most} in 100."

    def _of_alone(self) -> str:
        if self.alone is None:
            return "It is of an older version, which did not count whom it shows alone: run it again."
        if not self.alone:
            return ""
        are = "person is" if self.alone == 1 else "people are"
        return f"{self.alone:,} {are} alone with a published profile: who recognises it has found the person."

    def _of_words(self) -> str:
        found = [f"{n:,} {what}" for n, what in ((self.terms, "terms"), (self.queries, "queries")) if n]
        few = self.policy.fewest
        return f"It shows {' and '.join(found)} that fewer than {few} people typed." if found else ""

    def _of_others(self) -> str:
        if self.others < self.policy.most_public:
            return ""
        return (
            f"{self.others:,} other releases of this log are public, and with this one more than "
            f"{self.policy.most_public:,}: who compares them finds more people than in each. Withdraw some first."
        )


def examine(session: Session, release: Release, real: bool) -> Findings:
    """What the gate knows of a release. What it shows of whom was counted when it was made, beside the log."""
    policy, exposure = _policy(session), release.exposure
    return Findings(
        real=real,
        promise="" if release.claim["id"] == NO_PROMISE else release.certificate.get("sentence", release.claim["id"]),
        publishes=_publishes(exposure),
        risk=release.measured.get(RISK),
        alone=exposure.get("alone"),
        terms=_rare(exposure, "terms", policy.fewest),
        queries=_rare(exposure, "queries", policy.fewest),
        others=_others(session, release),
        policy=policy,
    )


def _rare(exposure: dict[str, Any], what: str, fewest: int) -> int:
    return sum(exposure.get(what, [])[: fewest - 1])


def _others(session: Session, release: Release) -> int:
    public = select(Release.exposure).where(
        Release.log_id == release.log_id, Release.id != release.id, Release.published_at.is_not(None),
        Release.state.in_((MADE, ACTIVE, RETIRED)),
    )  # fmt: skip
    return sum(map(_publishes, session.scalars(public)))


def _publishes(exposure: dict[str, Any]) -> bool:
    """Profiles, or a catalogue of terms. Of an older version it is not known, so it may."""
    return not exposure or bool(exposure["groups"] or exposure.get("catalogue"))


def pass_gate(session: Session, release: Release, consent: Consent, real: bool) -> bool:
    """The one way to the public, for whoever asks: True if the release may be published now.

    False: it waits for a second operator. Whatever else stands against it is an error that says what to do.
    """
    refuse_unfit(release)
    findings = examine(session, release, real)
    if not findings.asks:
        return True
    if not real:
        if not consent.confirmed:
            raise NeedsConfirmation(f"activating {release.id} needs a confirmation: {' '.join(findings.reasons)}")
        return True
    if consent.typed != release.id or not consent.note.strip():
        raise NeedsConfirmation(
            f"activating {release.id} needs a reason and its id typed out: {' '.join(findings.reasons)}"
        )
    return not findings.policy.second or _is_second(session, release, consent)


def refuse_unfit(release: Release) -> None:
    if release.state in (WITHDRAWN, DELETED):
        raise Gone(f"{release.id} was {release.state} and does not come again: run its method once more")
    if release.damaged:
        raise Refused(f"{release.id} is not what was made ({release.damaged}): restore its files, or make it again")
    if not release.holds:
        raise Refused(f"{release.id} does not keep its promise, so it cannot be activated: see its counterexample")


def _is_second(session: Session, release: Release, consent: Consent) -> bool:
    """Whether another operator asked for it before; if not, this one does now."""
    before = session.get(Proposal, release.id)
    if before is not None and consent.account and before.account != consent.account:
        session.delete(before)
        return True
    session.merge(Proposal(release_id=release.id, account=consent.account, note=consent.note))
    note(session, "release.propose", consent.account, release.id, {"note": consent.note})
    return False


def is_real(log: LogFile, served_as_real: bool = False) -> bool:
    """Whether the people of a log are real, if anything says so: its row, or the server that reads its heading."""
    return served_as_real or log.people == "real"
