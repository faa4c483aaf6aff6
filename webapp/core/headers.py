"""What may a page do in a browser? Only what it brings itself: no foreign request, no inline code, no frame."""

import ipaddress
from collections.abc import Iterable
from functools import partial
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response, request
from werkzeug.exceptions import SecurityError

from shoal.webapp.core.settings import Network, Settings

_OTHER_NAME = "This server does not answer to that name. Its operator declares names by `shoal serve --hosts`.\n"
_POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "form-action 'self'", "manifest-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'",
    )
)  # fmt: skip

HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "browsing-topics=(), camera=(), geolocation=(), microphone=()",
    # An address holds a query: no request may carry the one before it, not even to ourselves.
    "Referrer-Policy": "no-referrer",
}


class TrustedProxies:
    """Who asks is who connects, but for declared proxies: they are believed when they say who connected to them.

    The header is read from its end. What stands before the first address that is no proxy anybody could have written.
    """

    def __init__(self, app: WSGIApplication, proxies: tuple[Network, ...]) -> None:
        self._app, self._proxies = app, proxies

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        passed = [part.strip() for part in environ.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
        while passed and self._is_proxy(environ.get("REMOTE_ADDR", "")):
            environ["REMOTE_ADDR"] = passed.pop()
        return self._app(environ, start_response)

    def _is_proxy(self, text: str) -> bool:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return False
        return any(address in network for network in self._proxies)


def register(app: Flask, settings: Settings) -> None:
    app.config.update(
        MAX_CONTENT_LENGTH=settings.max_upload,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.tls,
        # The token is what protects a form; a referrer to compare is never sent.
        WTF_CSRF_SSL_STRICT=False,
    )
    if settings.trusted:
        app.wsgi_app = TrustedProxies(app.wsgi_app, settings.trusted)  # type: ignore[method-assign]
    if settings.names is not None:
        app.before_request(partial(_refuse_other_names, settings.names))
    app.after_request(_add_headers)
    if settings.tls:
        app.after_request(_stay_on_tls)


def _refuse_other_names(names: frozenset[str]) -> Response | None:
    """Flask's TRUSTED_HOSTS knows no address of IPv6."""
    try:
        name = urlsplit(f"//{request.host}").hostname
    except (SecurityError, ValueError):
        name = None
    return None if name in names else Response(_OTHER_NAME, 400, content_type="text/plain")


def _add_headers(response: Response) -> Response:
    there = {name.lower() for name, _ in response.headers}
    for name, value in HEADERS.items():
        if name.lower() not in there:
            response.headers.add(name, value)
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "no-store")
    return response


def _stay_on_tls(response: Response) -> Response:
    response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    return response
