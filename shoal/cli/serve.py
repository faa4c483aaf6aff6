"""shoal serve: set up if needed, then serve the pages."""

import argparse
import errno
import gc
import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from shoal.cli.options import choose_engine, instance_settings
from shoal.cli.setup import set_up
from shoal.corpus.errors import InputError
from shoal.webapp.core.settings import Settings, is_local


def run(options: argparse.Namespace) -> None:
    gc.disable()  # as little is garbage of what a start makes; the processes that answer look for it again
    choose_engine(options)
    refuse_taken_port(options.host, options.port)
    settings = settings_of(options)
    settings.check()
    warn_of_public_address(settings)
    os.umask(0o077)
    from shoal.webapp.core.instance import move_old_instance

    move_old_instance(settings.instance, print)
    with Beside(lambda: set_up(settings, instance=True)) as setting_up:
        from shoal.webapp.core.server import Server  # the rest of what is imported, meanwhile

        server = Server(settings, options.workers, options.threads)
        setting_up.wait()
    server.share()
    print(f"Serving on http://{settings.host}:{settings.port}/ (stop with Ctrl-C)", flush=True)
    server.run()


class Beside:
    """Work in a process of its own, which ends with the block: no thread that a library starts in it is left here.

    What is imported before is there in the processes of the server, too, which are forked from this one; and of the
    threads that polars and others start for their work none would live on in them.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        sys.stdout.flush()
        self._said, telling = os.pipe()
        self._process = os.fork()
        if not self._process:
            os.close(self._said)
            _tell_error(work, telling)
        os.close(telling)

    def __enter__(self) -> "Beside":
        self._before = signal.signal(signal.SIGTERM, _end)
        return self

    def wait(self) -> None:
        """Until it is done; its error is raised here."""
        with os.fdopen(self._said, "rb") as said:
            error = said.read()
        _, status = os.waitpid(self._process, 0)
        self._process = 0
        if error:
            raise pickle.loads(error)
        if status:
            raise SystemExit(f"shoal: the set-up was ended ({os.waitstatus_to_exitcode(status)})")

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
        if self._process:
            os.kill(self._process, signal.SIGTERM)
            os.waitpid(self._process, 0)


def _tell_error(work: Callable[[], None], telling: int) -> NoReturn:
    gc.freeze()
    gc.enable()  # a first set-up makes garbage, too
    code = 1
    try:
        work()
        code = 0
    except (InputError, OSError) as error:
        os.write(telling, pickle.dumps(error))
    except KeyboardInterrupt:
        code = 130  # the terminal told the process that waits, too
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _end(signal: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + signal)


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
