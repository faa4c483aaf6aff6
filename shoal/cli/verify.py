"""shoal verify: is the promise of a release kept on what was published?"""

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from shoal.anonymizer.claims import Verdict
from shoal.anonymizer.verify_stored import reproduce
from shoal.cli.options import knowledge_of, log_of, need_place, secrets_of
from shoal.cli.tables import print_json
from shoal.corpus.errors import InputError
from shoal.corpus.logs import log_format
from shoal.corpus.progress import Progress, bar
from shoal.notebook import Made, load


def run(options: argparse.Namespace) -> int:
    need_place(options, options.release)
    if isinstance(options.release, str):
        return _verify_stored(options)
    made = load(options.release, knowledge=knowledge_of(options))
    if options.cluster is not None:
        with bar() as progress:
            verdict = _by_cluster(options, made, progress)
        return _tell(options, made, verdict)
    with bar() as progress:
        log, _ = log_of(options, progress)
        verdict = made.verify(log)
        if options.reproduce and verdict.holds and made.stored is not None:
            previous = load(options.previous).assignment if options.previous is not None else None
            other = reproduce(options.release, made.stored, log, progress, previous=previous)
            verdict = replace(verdict, holds=not other, counterexample=_other(other))
    return _tell(options, made, verdict)


def _verify_stored(options: argparse.Namespace) -> int:
    """Of a release at a storage: its files are brought here, for as long as it takes."""
    from shoal.anonymizer.cluster.storage import opened_storage

    with TemporaryDirectory(prefix="shoal-") as folder, bar() as progress:
        with opened_storage(options.cluster, options.release, progress) as storage:
            storage.fetch(Path(folder), secrets_of(options, options.release))
            made = load(folder, knowledge=knowledge_of(options))
            verdict = _by_cluster(options, made, progress)
        return _tell(options, made, verdict)


def _by_cluster(options: argparse.Namespace, made: Made, progress: Progress) -> Verdict:
    """The verdict of a cluster, on which the log lies; nothing is made again there."""
    from shoal.anonymizer.cluster.verify import verify_on_cluster

    if options.reproduce:
        raise InputError("--reproduce compares every file: make the release again by `shoal anonymize --cluster`")
    assert made.stored is not None  # it was just loaded
    format = log_format(options.columns or "", options.encoding or "")
    return verify_on_cluster(options.cluster, options.log, made.stored, format, progress)


def _tell(options: argparse.Namespace, made: Made, verdict: Verdict) -> int:
    if options.json:
        again = {"reproduced": verdict.holds} if options.reproduce else {}
        print_json({"claim": made.claim.id, **asdict(verdict), **again})
    else:
        _print(verdict, options.reproduce)
    return 0 if verdict.holds else 1


def _other(file: str) -> str:
    return f"{file} is another when the method runs again with the seed of the manifest" if file else ""


def _print(verdict: Verdict, reproduced: bool) -> None:
    print(f"{'holds' if verdict.holds else 'BROKEN'}: {verdict.sentence}")
    if not verdict.holds:
        print(f"counterexample: {verdict.counterexample}")
    elif reproduced:
        print("reproduced: the method makes every file again, byte by byte")
