"""What do options mean that commands share? Which log, knowledge, instance and database."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import Rejected, load_log, log_format
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog, counted
from shoal.corpus.store.folders import read_secret
from shoal.webapp.core.settings import DATABASE, Settings, default_instance

_REASONS = 3  # why rows were rejected, the most frequent ones


def instance_settings(options: argparse.Namespace, **more: Any) -> Settings:
    return Settings(
        instance=options.instance or default_instance(), database_url=database_address(options.database), **more
    )


def database_address(given: str) -> str:
    """Where the database is. A password on the command line would stand in the list of all processes."""
    if not given:
        return os.environ.get(DATABASE, "")
    if given.startswith("@"):
        return read_secret(Path(given[1:]), "--database @FILE with the address in it")
    if urlsplit(given).password is not None:
        raise InputError(
            f"--database holds a password, which everybody on this machine could see: write the address into a file of "
            f"your own and give --database @FILE, or set {DATABASE}"
        )
    return given


def choose_cluster(options: argparse.Namespace) -> None:
    """The address of OpenSearch, for this process and those that it starts. A bad one is refused before any work."""
    from shoal.search.engines import opensearch  # loads what searches, which most commands do without

    if options.url and options.engine != opensearch.NAME:
        raise InputError(f"--url is where OpenSearch is: give --engine {opensearch.NAME} with it")
    if options.url:
        os.environ[opensearch.URL] = options.url
    if options.engine == opensearch.NAME:
        opensearch.Address.of_environment()


def choose_engine(options: argparse.Namespace) -> None:
    """The same with the engine, for a server and its jobs."""
    from shoal.search.index import ENGINE

    choose_cluster(options)
    if options.engine != "auto":
        os.environ[ENGINE] = options.engine


def knowledge_of(options: argparse.Namespace) -> Knowledge:
    known = Knowledge(
        options.taxonomy,
        dictionary_name=options.dictionary,
        directory_file=options.directory,
        sensitive_file=options.sensitive,
    )
    known.refuse_bad_files()
    return known


def need_place(options: argparse.Namespace, place: Path | str) -> None:
    """A release at an address is one of a cluster, and only it has secrets elsewhere."""
    if isinstance(place, str) and options.cluster is None:
        raise InputError(f"{place} is at a storage of a cluster: name that by --cluster, or give a folder")
    if isinstance(place, Path) and options.secrets is not None:
        raise InputError(
            f"--secrets {options.secrets}: a folder holds its own secrets; it is for a release at an address"
        )


def secrets_of(options: argparse.Namespace, place: str) -> Path:
    from shoal.anonymizer.cluster.storage import secrets_beside

    given: Path | None = options.secrets
    return secrets_beside(place) if given is None else given


def log_of(options: argparse.Namespace, progress: Progress) -> tuple[QueryLog, Rejected]:
    if "://" in options.log:
        raise InputError(f"{options.log} is an address, which only a cluster reads: give --cluster with it, or a file")
    format = log_format(options.columns or "", options.encoding or "")
    return load_log(options.log, format=format, strict=options.strict, progress=progress)


def tell_read(rejected: Rejected, path: Path) -> None:
    """Say how the log was understood, and write the rows that could not be read into a file."""
    print(f"log: {rejected.understood}", file=sys.stderr)
    if rejected.damaged:
        print(
            f"{rejected.damaged:,} bytes are not UTF-8; if it is {rejected.encoding}, as it looks, "
            f"give --encoding {rejected.encoding}",
            file=sys.stderr,
        )
    if len(rejected):
        rejected.write(path)
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in list(rejected.reasons().items())[:_REASONS])
        print(f"{counted(len(rejected), 'row')} could not be read, see {path} ({reasons})", file=sys.stderr)
