"""Which options has each command? Apart from what the commands do, whose libraries take a second to load."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.corpus.errors import InputError
from shoal.corpus.store.datasets import CORPORA
from shoal.webapp.core.roles import MAY, OPERATOR, ROLES
from shoal.webapp.core.settings import DATABASE, Settings

# What other modules say with all that they load; tests/cli/test_startup.py holds them together.
COLUMNS = ("user", "query", "time", "rank", "click")
ENGINES, CLUSTER = ("whoosh", "tantivy", "opensearch"), "SHOAL_OPENSEARCH_URL"
DICTIONARIES = ("wordnet", "taxonomy", "any")
WEIGHT, CANDIDATES = 0.85, 100
LARGEST = 2**53  # the first seed that JSON cannot hold
BLOCK = 10_000  # users, where a cluster is asked and nobody says how many
SHOWN = 10  # results of a query; of topics all candidates are written
CORPUS = "a data set's name, a JSON-lines file or ir_datasets:ID"
LOG = (
    "a data set's name, ir_datasets:ID, or files, a folder or a pattern: as AOL's, CSV, Parquet, JSON lines, .gz, .zst"
)


def add_log_options(parser: argparse.ArgumentParser, *, required: bool = True, help: str = "") -> None:
    parser.add_argument("--log", required=required, help=help or LOG)
    parser.add_argument("--strict", action="store_true", help="stop at the first row that cannot be read")
    parser.add_argument(
        "--columns", metavar="ROLE=NAME,...", help="names of the log's columns where its heading does not tell them: "
        f"{', '.join(COLUMNS)}; or their numbers"
    )  # fmt: skip
    parser.add_argument("--encoding", help="of a log that is not in UTF-8, for example cp1252")


def add_knowledge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--taxonomy", type=Path, help="a file of child<TAB>parent lines instead of WordNet")
    parser.add_argument(
        "--directory", type=Path, help="a topic directory: DMOZ content.rdf or path<TAB>title<TAB>description lines"
    )
    parser.add_argument(
        "--sensitive", type=Path, help="a file of terms that are private: a term or a label of the taxonomy per line"
    )
    parser.add_argument("--dictionary", choices=DICTIONARIES, default="", help="which tokens count as terms")


def add_engine_options(parser: argparse.ArgumentParser, default: str | None = "auto") -> None:
    parser.add_argument("--engine", default=default, help=f"auto, {', '.join(ENGINES[:-1])} or {ENGINES[-1]} (auto)")
    parser.add_argument(
        "--url", default="", metavar="URL,...",
        help=f"where OpenSearch is, https://host:9200; or in the environment as {CLUSTER}",
    )  # fmt: skip


def add_instance_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", type=Path, help="the folder of accounts, runs and releases")
    parser.add_argument(
        "--database", default="", metavar="URL|@FILE",
        help="a database other than SQLite in that folder; one with a password in a file that you alone can read, or "
        f"in the environment as {DATABASE}",
    )  # fmt: skip


def whole_number(option: str, least: int) -> Callable[[str], int]:
    """What reads an option that is a whole number; another is refused by the option's name, on one line."""

    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise InputError(f"{option} {text}: expected a whole number from {least} on")
        return int(text)

    return read


def release_place(text: str) -> Path | str:
    """The folder of a release, or its address at a storage, in which a path would not keep both slashes."""
    return text if "://" in text else Path(text)


def _seed(text: str) -> int:
    """A seed of random numbers, or an error that argparse shows."""
    if not text.isdecimal() or len(text) > len(str(LARGEST)) or int(text) >= LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def setup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", choices=CORPORA, default="news", help="a data set that gives corpus and log (news)")
    parser.add_argument("--corpus", default="", help="documents from elsewhere: a JSON-lines file")
    parser.add_argument("--log", default="", help="users from elsewhere: a file in the AOL format (.gz too)")
    add_engine_options(parser)


def serve(parser: argparse.ArgumentParser) -> None:
    setup(parser)
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


def methods(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="tell of this method only")
    parser.add_argument("--markdown", action="store_true", help="as the page docs/methods.md")
    parser.add_argument("--json", action="store_true")


def measures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="tell of this measure only (its name, or a column of results.csv)")
    parser.add_argument("--markdown", action="store_true", help="as the page docs/measures.md")
    parser.add_argument("--json", action="store_true")


def add_secrets_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--secrets", type=Path, metavar="DIR",
        help="where the release is at an address: the folder of this machine for who has which profile (NAME-secret)",
    )  # fmt: skip


def simulate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--users", type=whole_number("--users", 1), required=True, help="how many simulated users")
    parser.add_argument("--out", type=Path, required=True, help="the log file to write, in the AOL format")
    parser.add_argument("--corpus", "--data", default="news", help=f"{CORPUS} (news)")
    parser.add_argument("--web-queries", action="store_true", help="let them sound like 110,000 real web queries")
    parser.add_argument("--seed", type=whole_number("--seed", 0), default=0)
    parser.add_argument("--json", action="store_true")


def anonymize(parser: argparse.ArgumentParser) -> None:
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--method", required=True)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    parser.add_argument("--seed", type=_seed, help="a whole number from 0 on (0); none where it must stay secret")
    parser.add_argument("--previous", type=Path, metavar="DIR", help="an earlier release, whose groups stay")
    parser.add_argument(
        "--block", type=whole_number("--block", 1), metavar="N",
        help="anonymize N users at a time, in blocks that no group crosses, as a cluster does",
    )  # fmt: skip
    parser.add_argument(
        "--cluster", metavar="ADDRESS",
        help="let Spark do it: local[2], spark://host:7077 or sc://host:15002; the log may then be at any of its "
        f"storages, and a block has {BLOCK:,} users unless --block says otherwise",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=release_place, required=True,
        help="the folder of the release; with --cluster also an address of one of its storages (hdfs://host/release)",
    )  # fmt: skip
    add_secrets_option(parser)
    parser.add_argument(
        "--corpus",
        help=f"{CORPUS}: learn what a profile weighs in its rankings, too",
    )
    parser.add_argument("--force", action="store_true", help="replace a release that is there already")
    parser.add_argument("--json", action="store_true")


def verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", type=release_place, help="its folder; with --cluster also the address of a storage")
    add_secrets_option(parser)
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument("--reproduce", action="store_true", help="run the method again and compare byte by byte")
    parser.add_argument("--previous", type=Path, metavar="DIR", help="the release that it was made after")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="let Spark verify a release in blocks, each by the worker that has it"
    )
    parser.add_argument("--json", action="store_true")


def measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", type=Path, help="the folder of a release")
    add_log_options(parser)
    add_knowledge_options(parser)
    parser.add_argument(
        "--victims", type=whole_number("--victims", 1), default=1000, help="users that are attacked, at most (1000)"
    )
    parser.add_argument("--seed", type=whole_number("--seed", 0), default=0)
    parser.add_argument(
        "--measures",
        help="only these columns, with commas between; `thorough` are those that run the method again (all)",
    )
    parser.add_argument(
        "--worst",
        type=whole_number("--worst", 0),
        default=0,
        metavar="N",
        help="name the N users who are found most surely, and say why",
    )
    parser.add_argument("--json", action="store_true")


def search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="?", help='words, "a phrase", title:word, -word for without')
    parser.add_argument("--corpus", default="news", help=f"{CORPUS} (news)")
    add_log_options(parser, required=False, help=f"{LOG}: the user's own profile")
    parser.add_argument("--user", help="whose profile orders the results")
    parser.add_argument("--release", type=Path, help="a release: the published profile instead of the user's own")
    parser.add_argument(
        "--weight",
        type=float,
        help=f"0: the engine alone, 1: the profile alone (what the release says, or {WEIGHT})",
    )
    parser.add_argument(
        "--limit", type=int, help=f"how many results ({SHOWN}; of topics {CANDIDATES}, all that a profile reorders)"
    )
    parser.add_argument("--explain", action="store_true", help="why each result stands where it does")
    add_engine_options(parser)
    add_knowledge_options(parser)
    parser.add_argument(
        "--topics", type=Path, metavar="FILE", help="instead of a query: TREC title topics, or topic<TAB>query lines"
    )
    parser.add_argument(
        "--people", type=Path, metavar="FILE", help="whose profile orders each topic: topic<TAB>user lines"
    )
    parser.add_argument(
        "--trec", type=Path, metavar="RUN", help="also write the results as a TREC run (of a query as topic 1)"
    )
    parser.add_argument(
        "--qrels", type=Path, metavar="FILE", help="score the run by ir_measures, as results.csv is scored"
    )
    parser.add_argument("--json", action="store_true")


def evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", help=f"{CORPUS} (reuters)")
    add_log_options(parser, required=False, help=f"{LOG} (that of the corpus)")
    parser.add_argument("--methods", help='settings, for example "random:k=3;linkability:p=0.4,0.2" (all methods)')
    parser.add_argument("--config", type=Path, metavar="E.toml", help="a file that declares the experiment")
    parser.add_argument("--seed", dest="seeds", metavar="N[,N...]", help="several: the results are their means (0)")
    parser.add_argument("--queries", type=whole_number("--queries", 1), help="test queries per user, at most (5)")
    parser.add_argument("--victims", type=whole_number("--victims", 1), help="users that are attacked, at most (1000)")
    parser.add_argument("--measures", help="only these columns, with commas between (all)")
    add_engine_options(parser, default=None)
    add_knowledge_options(parser)
    parser.add_argument("--risk", help='find the setting of each method that meets it, for example "linkage5<=0.05"')
    parser.add_argument(
        "--films", action="store_true", help="instead: does a profile help 943 real people find what they like later?"
    )
    parser.add_argument(
        "--figures",
        nargs="?",
        const="some",
        choices=("some", "full"),
        help="also draw the papers' own figures in their set-ups; full: in all their sizes (up to 53,058 users)",
    )
    parser.add_argument("--jobs", type=whole_number("--jobs", 0), default=0, help="processes (one per core)")
    parser.add_argument(
        "--trec", action="store_true", help="also write every ranking as a TREC run, with qrels and topics, into trec/"
    )
    parser.add_argument("--timings", action="store_true", help="seconds and peak_mb in results.csv too")
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder of the results (results)")
    parser.add_argument("--json", action="store_true")


def compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=Path, help="the folder of an evaluation")
    parser.add_argument("after", type=Path, help="the folder of another")
    parser.add_argument("--json", action="store_true")


def graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", type=Path, help="the folder of a release")
    parser.add_argument("--out", type=Path, required=True, metavar="F.graphml", help="the file to write (.gexf too)")
    parser.add_argument("--json", action="store_true")


def bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks (all)")
    parser.add_argument("--full", action="store_true", help="the sizes of the papers and of all of AOL")
    parser.add_argument(
        "--against",
        default="",
        metavar="PROGRAM",
        help="another installed shoal, which runs the same in turns: commands, pages, reading and search",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--markdown", action="store_true", help="as a table for a document, with date and machine")
    shown.add_argument("--json", action="store_true")


def admin(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = _add(actions, "create", "a new account")
    create.add_argument("--role", choices=ROLES, default=OPERATOR, help="; ".join(f"{r} {MAY[r]}" for r in ROLES))
    create.add_argument("--one-time", action="store_true", help="make a password that must be changed within a day")
    _add(actions, "reset", "a one-time password in place of one that was forgotten")
    _add(actions, "disable", "no more log-ins; those that last end at once")
    _add(actions, "enable", "log-ins again")
    _add(actions, "role", "another role").add_argument("role", choices=ROLES)
    _add(actions, "delete", "take the account away; its name stays in the history")
    _add(actions, "list", "all accounts", None).add_argument("--json", action="store_true")
    _add_token_options(actions)


def _add_token_options(actions: Any) -> None:
    issue = _add(actions, "issue-token", "a token, by which a person of a real log sees the own group", None)
    issue.add_argument("--log", type=int, default=0, metavar="NUMBER", help="of which log, where there are several")
    issue.add_argument("--days", type=int, help="how long it is good (90 if left out)")
    issue.add_argument("--note", default="", help="what to remember it by; not the person's name")
    tokens = _add(actions, "list-tokens", "all tokens: nobody's id, nobody's group", None)
    tokens.add_argument("--json", action="store_true")
    _add(actions, "revoke-token", "refuse a token from now on", None).add_argument("number", type=int)


def _add(actions: Any, name: str, help: str, given: str | None = "name") -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=help)
    if given:
        parser.add_argument(given)
    add_instance_options(parser)
    return parser


OPTIONS = {
    "setup": setup, "serve": serve, "methods": methods, "measures": measures, "simulate": simulate,
    "anonymize": anonymize, "verify": verify, "measure": measure, "search": search, "evaluate": evaluate,
    "compare": compare, "graph": graph, "bench": bench, "admin": admin,
}  # fmt: skip
