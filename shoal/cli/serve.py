"""shoal serve: set up if needed, then serve the pages."""

import argparse
import errno
import os
import socket
import sys

from shoal.cli.options import choose_engine, instance_settings
from shoal.cli.setup import set_up
from shoal.corpus.errors import InputError
from shoal.webapp.core.settings import Settings, is_local


def run(options: argparse.Namespace) -> None:
    from shoal.webapp.core.instance import move_old_instance
    from shoal.webapp.core.server import serve

    choose_engine(options)
    refuse_taken_port(options.host, options.port)
    settings = settings_of(options)
    settings.check()
    warn_of_public_address(settings)
    os.umask(0o077)
    move_old_instance(settings.instance, print)
    set_up(settings, instance=True)
    print(f"Serving on http://{settings.host}:{settings.port}/ (stop with Ctrl-C)")
    serve(settings, options.workers, options.threads)


def refuse_taken_port(host: str, port: int) -> None:
    """Look at the port before anything else: making the first releases takes minutes."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} of {host} is taken, perhaps by another shoal: stop that, or choose another by "
                f"--port {port + 1} (make serve PORT={port + 1})"
            ) from error
        if error.errno == errno.EACCES:
            raise InputError(f"port {port} is not for you to open: choose one from 1024 on by --port") from error


def settings_of(options: argparse.Namespace) -> Settings:
    return instance_settings(
        options,
        data=options.data,
        corpus=options.corpus,
        log=options.log,
        host=options.host,
        port=options.port,
        hosts=_listed(options.hosts),
        proxies=_listed(options.proxies),
        tls=options.tls,
        slowest_upload=options.slowest_upload,
        levels=not options.no_levels,
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def warn_of_public_address(settings: Settings) -> None:
    """What a server that others can reach should not be without."""
    if settings.tls and not settings.proxies:
        print("shoal: all log-ins come from one address, that of the proxy: declare it by --proxies, so that nobody "
              "else's tries count as yours", file=sys.stderr)  # fmt: skip
    if is_local(settings.host):
        return
    if not settings.tls:
        print(f"shoal: {settings.host} can be reached by others, without TLS: put a proxy that speaks it before this "
              "server, and give --tls", file=sys.stderr)  # fmt: skip
    if not settings.hosts:
        print("shoal: any name is answered to: declare those of this server by --hosts", file=sys.stderr)
