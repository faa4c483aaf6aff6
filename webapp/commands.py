"""How is the server started from the command line? shoal setup and shoal serve."""

import argparse
import os
from pathlib import Path

from corpus.commands import Commands, bar
from corpus.datasets import CORPORA
from corpus.logs import load_log
from corpus.wordnet import load_wordnet
from search.index import index_for
from webapp.admin_commands import add_admin_commands
from webapp.settings import Settings


def add_commands(commands: Commands) -> None:
    parser = commands.add_parser("setup", help="bring data, build taxonomy, vectors and index")
    _add_data_options(parser)
    parser.set_defaults(run=run_setup)

    parser = commands.add_parser("serve", help="set up if needed, then serve the pages")
    _add_data_options(parser)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--instance", type=Path, help="the folder of accounts, runs and releases")
    parser.add_argument("--database", default="", metavar="URL", help="a database other than SQLite in that folder")
    parser.add_argument("--tls", action="store_true", help="behind a proxy that speaks TLS: cookies are marked Secure")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--threads", type=int, default=8, help="threads in each process")
    parser.set_defaults(run=run_serve)

    add_admin_commands(commands)


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", choices=CORPORA, default="news", help="a data set that gives corpus and log (news)")
    parser.add_argument("--corpus", default="", help="documents from elsewhere: a JSON-lines file")
    parser.add_argument("--log", default="", help="users from elsewhere: a file in the AOL format (.gz too)")


def run_setup(options: argparse.Namespace) -> None:
    settings = Settings(data=options.data, corpus=options.corpus, log=options.log)
    set_up(settings)
    print(f"{settings.corpus_source} is ready. Now run: shoal serve --data {options.data}")


def set_up(settings: Settings, *, instance: bool = False) -> None:
    """Everything that takes long and can be kept: data, index, vectors, log, and the first release of an instance."""
    with bar() as progress:
        load_wordnet()
        index = index_for(settings.corpus_source, progress)
        log, rejected = load_log(settings.log_source, progress=progress)
        if instance:
            from webapp.first_start import open_instance

            open_instance(settings, log, index, progress)
    users = "simulated users" if settings.simulated else "users"
    print(f"corpus: {index.name}, {len(index):,} documents ({index.meta['reason']})")
    print(f"log: {len(log):,} queries of {len(log.users):,} {users}; {len(rejected):,} rows could not be read")
    index.close()


def run_serve(options: argparse.Namespace) -> None:
    settings = settings_of(options)
    settings.check()
    set_up(settings, instance=True)
    from webapp.serving import serve

    print(f"Serving on http://{settings.host}:{settings.port}/ (stop with Ctrl-C)")
    serve(settings, options.workers, options.threads)


def settings_of(options: argparse.Namespace) -> Settings:
    chosen = Settings(
        data=options.data, corpus=options.corpus, log=options.log, database_url=options.database, host=options.host,
        port=options.port, tls=options.tls,
    )  # fmt: skip
    return chosen if options.instance is None else Settings(**{**vars(chosen), "instance": options.instance})
