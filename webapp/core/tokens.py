"""How is a real person told the own group? By a token that an operator issues: signed, revocable, and with an end.

The database keeps a hash of the token, a keyed hash of the person, and which pseudonyms the person has in a release.
The id of a person is nowhere but in the log and in the assignments, and neither is read by the processes that serve:
whoever issues a token, and whoever finds the groups anew after an activation, is a process of its own (`jobs.tokens`).
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from flask import current_app, g, request, session
from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import Session

from shoal.corpus.errors import InputError, NotFound
from shoal.webapp.core.audit import note
from shoal.webapp.core.context import database, service
from shoal.webapp.core.releases import NOTHING, Published
from shoal.webapp.database import Database
from shoal.webapp.database.models import Token, TokenGroup, now

LONGEST_NOTE = 200
DAYS = 90
MOST_DAYS = 366
_SESSION = "token"
_BEARER = "Bearer "


class BadToken(InputError):
    """A token that is none, is over, or was taken back."""


def new_token(
    opened: Session, key: bytes, log_digest: str, user: str, *, days: int = DAYS, about: str = "", by: str = ""
) -> tuple[int, str]:
    """A token for a person of a log: its number, and the text that only its holder gets."""
    if not 0 < days <= MOST_DAYS:
        raise InputError(f"days={days} is not allowed: a token lasts from 1 to {MOST_DAYS} days")
    random = secrets.token_urlsafe(24)
    made = Token(
        digest=_digest(random), person=person_of(key, log_digest, user), log=log_digest, account=by,
        note=about[:LONGEST_NOTE], expires_at=now() + timedelta(days=days),
    )  # fmt: skip
    opened.add(made)
    opened.flush()
    note(opened, "token.issue", by, str(made.id), {"days": days})
    return made.id, _signed(key, random)


def person_of(key: bytes, log_digest: str, user: str) -> str:
    """What tells whether a token is a person's, to who knows the id of the person and the key of the instance."""
    return hmac.new(key, f"token\0{log_digest}\0{user}".encode(), hashlib.sha256).hexdigest()


def _signed(key: bytes, random: str) -> str:
    signature = hmac.digest(key, f"signature\0{random}".encode(), hashlib.sha256)
    return f"{random}.{signature.hex()}"


def _digest(random: str) -> str:
    return hashlib.sha256(random.encode()).hexdigest()


def is_live() -> ColumnElement[bool]:
    return Token.revoked_at.is_(None) & (Token.expires_at > now())


def without_group(opened: Session, log_digest: str, release_id: str) -> list[Token]:
    """Tokens that are good, and whose group in a release has not been looked up."""
    known = exists().where(TokenGroup.token_id == Token.id, TokenGroup.release_id == release_id)
    return list(opened.scalars(select(Token).where(is_live(), Token.log == log_digest, ~known)))


def state_of(token: Token) -> str:
    return "revoked" if token.revoked_at else "over" if token.expires_at <= now() else "good"


def list_tokens(database: Database) -> list[Token]:
    with database.reading() as opened:
        return list(opened.scalars(select(Token).order_by(Token.id.desc()).limit(1000)))


def revoke_token(database: Database, number: int, by: str = "") -> None:
    """From the next request on the token is refused; its groups are forgotten."""
    with database.writing() as opened:
        found = opened.get(Token, number) if 0 < number < 2**31 else None
        if found is None:
            raise NotFound("no such token: choose one from the list of tokens")
        found.revoked_at = found.revoked_at or now()
        for group in opened.scalars(select(TokenGroup).where(TokenGroup.token_id == number)):
            opened.delete(group)
        note(opened, "token.revoke", by, str(number))


def check_token(database: Database, key: bytes, text: str) -> Token:
    """The token with this text, or why it is refused. One with a wrong signature is not even looked up."""
    random, found = text.partition(".")[0], None
    if hmac.compare_digest(_signed(key, random).encode(), text.encode()):
        with database.reading() as opened:
            found = opened.scalar(select(Token).where(Token.digest == _digest(random)))
    if found is None:
        raise BadToken("this is no token of this server: copy all of it, or search without one")
    if found.revoked_at is not None:
        raise BadToken("this token was taken back: ask who gave it to you for another, or search without one")
    if found.expires_at <= now():
        raise BadToken("this token is over: ask who gave it to you for another, or search without one")
    return found


def holder() -> Token | None:
    """The token of who asks: in the header Authorization, or what this browser was given at /token."""
    if "holder" not in g:
        g.holder = _holder()
    found: Token | None = g.holder
    return found


def _holder() -> Token | None:
    header = request.headers.get("Authorization", "")
    text = header.removeprefix(_BEARER).strip() if header.startswith(_BEARER) else session.get(_SESSION)
    if not isinstance(text, str):
        return None
    try:
        return check_token(database(), _key(), text)
    except BadToken:
        if not header.startswith(_BEARER):
            session.pop(_SESSION, None)  # said once; the browser goes on without
        raise


def _key() -> bytes:
    key = current_app.secret_key
    assert isinstance(key, bytes)
    return key


def refuse_bad_token() -> None:
    """Before every request: a token that is not good is refused wherever it is shown."""
    if request.endpoint not in ("static", "health.healthz", "health.metrics", "searcher.give_token"):
        holder()


def keep_in_browser(text: str) -> None:
    check_token(database(), _key(), text.strip())
    session[_SESSION] = text.strip()


def forget_in_browser() -> None:
    session.pop(_SESSION, None)


@dataclass(frozen=True, eq=False)
class OwnGroup:
    """What a token shows: the published profiles that its person is behind, in one release."""

    is_known: bool  # False: the release is new, and the group is being looked up
    profiles: np.ndarray  # rows of the release
    until: datetime


def own_group(published: Published) -> OwnGroup | None:
    """The group of who asks in this release; None without a token for the people that are served."""
    token = holder()
    if token is None or token.log != service().digest:
        return None
    with database().reading() as opened:
        found = opened.get(TokenGroup, (token.id, published.loaded.release_id))
    names = found.pseudonyms["ids"] if found is not None else []
    rows = [published.find_group(name) for name in names]
    is_known = found is not None or published.loaded.release_id == NOTHING  # in no release there is nothing to look up
    return OwnGroup(is_known, np.concatenate([np.zeros(0, dtype=np.int64), *rows]), token.expires_at)
