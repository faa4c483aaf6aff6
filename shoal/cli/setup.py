"""shoal setup: bring data, build taxonomy, vectors and index, and compile."""

import argparse

from shoal.anonymizer import compile_method
from shoal.anonymizer.registry import methods
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.logs import load_log
from shoal.corpus.progress import bar
from shoal.corpus.querylog import counted
from shoal.corpus.store.datasets import CORPORA
from shoal.search.index import index_for
from shoal.webapp.core.settings import Settings


def add_options(parser: argparse.ArgumentParser) -> None:
    add_data_options(parser)
    parser.set_defaults(run=run_setup)


def add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", choices=CORPORA, default="news", help="a data set that gives corpus and log (news)")
    parser.add_argument("--corpus", default="", help="documents from elsewhere: a JSON-lines file")
    parser.add_argument("--log", default="", help="users from elsewhere: a file in the AOL format (.gz too)")


def run_setup(options: argparse.Namespace) -> None:
    settings = Settings(data=options.data, corpus=options.corpus, log=options.log)
    set_up(settings)
    with bar() as progress:
        for done, id in enumerate(methods()):
            progress(done, len(methods()), "compiling")
            compile_method(id)
    print(f"{settings.corpus_source} is ready. Now run: shoal serve --data {options.data}")


def set_up(settings: Settings, *, instance: bool = False) -> None:
    """Everything that takes long and can be kept: data, index, vectors, log, and the first release of an instance."""
    with bar() as progress:
        load_wordnet()
        index = index_for(settings.corpus_source, progress)
        log, rejected = load_log(settings.log_source, progress=progress)
        if instance:
            from shoal.webapp.core.instance import open_database, open_releases
            from shoal.webapp.core.logs import served_log
            from shoal.webapp.core.serving import as_served

            database = open_database(settings)
            open_releases(settings, database, served_log(database, settings.log_source, progress), index, progress)
            chosen = as_served(database, settings)
            database.close()
    users = counted(len(log.users), "simulated user" if log.people == "simulated" else "user")
    print(f"corpus: {index.name}, {counted(len(index), 'document')} ({index.meta['reason']})")
    print(f"log: {counted(len(log), 'query')} of {users}; {counted(len(rejected), 'row')} could not be read")
    index.close()
    if instance and chosen != settings:
        print(f"served, as was chosen in the panel: corpus {chosen.corpus_source}, log {chosen.log_source}")
