"""shoal simulate: a log of simulated users, and the table of its calibration."""

import argparse
from pathlib import Path

from shoal.cli.options import CORPUS, print_json, whole_number
from shoal.corpus.documents import load_documents
from shoal.corpus.errors import InputError
from shoal.corpus.logs.aol import read_log
from shoal.corpus.people.calibration import calibration, calibration_lines
from shoal.corpus.people.simulated import simulate_log, write_log
from shoal.corpus.people.simulated.web_queries import load_web_queries
from shoal.corpus.progress import bar
from shoal.corpus.querylog import counted


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--users", type=whole_number("--users", 1), required=True, help="how many simulated users")
    parser.add_argument("--out", type=Path, required=True, help="the log file to write, in the AOL format")
    parser.add_argument("--corpus", "--data", default="news", help=f"{CORPUS} (news)")
    parser.add_argument("--web-queries", action="store_true", help="let them sound like 110,000 real web queries")
    parser.add_argument("--seed", type=whole_number("--seed", 0), default=0)
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run_simulate)


def run_simulate(options: argparse.Namespace) -> None:
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
