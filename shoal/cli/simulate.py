"""shoal simulate: a log of simulated users, and the table of its calibration."""

import argparse

from shoal.cli.tables import print_json
from shoal.corpus.documents import load_documents
from shoal.corpus.errors import InputError
from shoal.corpus.logs.aol import read_log
from shoal.corpus.people.calibration import calibration, calibration_lines
from shoal.corpus.people.simulated import simulate_log, write_log
from shoal.corpus.people.simulated.web_queries import load_web_queries
from shoal.corpus.progress import bar
from shoal.corpus.querylog import counted


def run(options: argparse.Namespace) -> None:
    if not options.out.parent.is_dir():
        raise InputError(f"no folder {options.out.parent} to write {options.out.name} in: make it first")
    with bar() as progress:
        documents = load_documents(options.corpus, progress)
        web_queries = load_web_queries(progress) if options.web_queries else None
        log = simulate_log(documents, options.users, options.seed, progress, web_queries)
        write_log(log, options.out, progress)
        rows = calibration(read_log(options.out, progress=progress)[0])
    if options.json:
        print_json([{"statistic": r.statistic, "aol": r.aol, "ours": r.ours, "difference": r.difference} for r in rows])
        return
    users = counted(options.users, "simulated user")
    print(f"{counted(len(log), 'query')} of {users} over {documents.name}, in {options.out}")
    print("\n".join(calibration_lines(rows)))
