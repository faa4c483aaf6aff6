"""shoal setup: bring data, build taxonomy, vectors and index, and compile."""

import argparse
import shlex

from shoal.cli.options import choose_engine
from shoal.corpus.knowledge.wordnet import bring_wordnet
from shoal.corpus.logs import load_log
from shoal.corpus.progress import bar
from shoal.corpus.querylog import counted
from shoal.search.index import index_for
from shoal.webapp.core.settings import Settings


def run(options: argparse.Namespace) -> None:
    from shoal.compiling import compile_all  # with all that is measured, which `serve` starts without

    choose_engine(options)
    settings = Settings(data=options.data, corpus=options.corpus, log=options.log)
    set_up(settings)
    with bar() as progress:
        compile_all(progress)
    print(f"{settings.corpus_source} is ready. Now run: {serve_command(options)}")


def serve_command(options: argparse.Namespace) -> str:
    """What serves that which was set up: another corpus, log or engine would be set up anew."""
    given = {"--data": options.data, "--corpus": options.corpus, "--log": options.log}
    given |= {"--engine": "" if options.engine == "auto" else options.engine, "--url": options.url}
    return shlex.join(["shoal", "serve", *(part for name, value in given.items() if value for part in (name, value))])


def set_up(settings: Settings, *, instance: bool = False) -> None:
    """Everything that takes long and can be kept: data, index, vectors, log, and the first release of an instance."""
    with bar() as progress:
        bring_wordnet(progress)
        index = index_for(settings.corpus_source, progress)
        log, rejected = load_log(settings.log_source, progress=progress)
        if instance:
            from shoal.webapp.core.instance import open_database, open_releases
            from shoal.webapp.core.logs import served_log
            from shoal.webapp.core.served_data import as_served

            database = open_database(settings)
            served = served_log(database, settings.log_source, progress, log)
            open_releases(settings, database, served, index, progress)
            chosen = as_served(database, settings)
            database.close()
    users = counted(len(log.users), "simulated user" if log.people == "simulated" else "user")
    print(f"corpus: {index.name}, {counted(len(index), 'document')} ({index.meta['reason']})")
    print(f"log: {counted(len(log), 'query')} of {users}; {counted(len(rejected), 'row')} could not be read")
    index.close()
    if instance and chosen != settings:
        print(f"served, as was chosen in the panel: corpus {chosen.corpus_source}, log {chosen.log_source}")
