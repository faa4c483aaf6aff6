"""shoal serve: set up if needed, then serve the pages."""

import argparse
import errno
import os
import socket
import sys

from shoal.cli.options import add_instance_options, instance_settings
from shoal.cli.setup import add_data_options, set_up
from shoal.corpus.errors import InputError
from shoal.webapp.core.settings import Settings, is_local


def add_options(parser: argparse.ArgumentParser) -> None:
    add_data_options(parser)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    add_instance_options(parser)
    parser.add_argument("--hosts", default="", metavar="NAME,...", help="the names by which browsers may reach it")
    parser.add_argument(
        "--proxies", default="", metavar="ADDRESS,...",
        help="addresses or networks of proxies before the server, which tell who asks (X-Forwarded-For)",
    )  # fmt: skip
    parser.add_argument("--tls", action="store_true", help="behind a proxy that speaks TLS: cookies are marked Secure")
    parser.add_argument(
        "--slowest-upload", type=int, default=Settings.slowest_upload, metavar="BYTES",
        help="bytes a second that an upload must bring, or it is ended with 408; 0 for any (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--threads", type=int, default=8, help="threads in each process")
    parser.add_argument(
        "--no-levels", action="store_true", help="make one release only, not one of every method at three levels"
    )
    parser.set_defaults(run=run_serve)


def run_serve(options: argparse.Namespace) -> None:
    from shoal.webapp.core.instance import move_old_instance
    from shoal.webapp.core.server import serve

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
