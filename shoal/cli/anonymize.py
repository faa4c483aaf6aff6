"""shoal anonymize: make a release of a log."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.anonymizer.base import Method
from shoal.anonymizer.blocks import need_blocks, shown_by_blocks
from shoal.anonymizer.claims import sentence
from shoal.anonymizer.manifest import Manifest
from shoal.anonymizer.registry import find_method, make_method
from shoal.anonymizer.release_files import write_release
from shoal.cli.arguments import BLOCK
from shoal.cli.options import knowledge_of, log_of, need_place, secrets_of, tell_read
from shoal.cli.tables import print_json
from shoal.corpora import open_corpus
from shoal.corpus.errors import InputError
from shoal.corpus.logs import log_format
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, bar
from shoal.corpus.querylog import counted
from shoal.notebook import anonymize, load, refuse_existing

if TYPE_CHECKING:
    from shoal.anonymizer.cluster.run import ClusterRelease


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE pairs as a table."""
    table = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise InputError(f"--set {pair}: expected NAME=VALUE, for example --set k=5")
        table[name.strip()] = value.strip()
    return table


def run_on_cluster(options: argparse.Namespace, method: Method) -> None:
    """The same by a cluster: the log never is on this machine, its release is."""
    if options.corpus is not None:
        raise InputError("--corpus learns on the whole log, which is on the cluster: leave it or --cluster away")
    with bar() as progress:
        done, manifest = (_stored if isinstance(options.out, str) else _written)(options, method, progress)
    print(f"log: {done.understood}", file=sys.stderr)
    for reason, count in done.rejected.items():
        print(f"{counted(count, 'row')} could not be read: {reason}", file=sys.stderr)
    tell(options, manifest)


def _written(options: argparse.Namespace, method: Method, progress: Progress) -> tuple["ClusterRelease", Manifest]:
    """Into a folder of this machine."""
    seed = method.seed_for(options.seed)
    done = _made(options, method, seed, progress)
    return done, write_release(options.out, done.made, method, None, seed)


def _stored(options: argparse.Namespace, method: Method, progress: Progress) -> tuple["ClusterRelease", Manifest]:
    """To a storage of the cluster; what is secret stays here."""
    from shoal.anonymizer.cluster.storage import opened_storage

    seed = method.seed_for(options.seed)
    secrets = secrets_of(options, options.out)
    with opened_storage(options.cluster, options.out, progress) as storage:
        storage.need_free(secrets, options.force)
        done = _made(options, method, seed, progress)
        manifest = storage.write(done.made, method, seed, secrets)
    print(f"who has which profile stands in {secrets}, for its owner alone", file=sys.stderr)
    return done, manifest


def _made(options: argparse.Namespace, method: Method, seed: int, progress: Progress) -> "ClusterRelease":
    from shoal.anonymizer.cluster.run import anonymize_on_cluster

    format, size = log_format(options.columns or "", options.encoding or ""), options.block or BLOCK
    return anonymize_on_cluster(options.cluster, options.log, method, size, seed, format, options.strict, progress)


def run(options: argparse.Namespace) -> None:
    need_place(options, options.out)
    if isinstance(options.out, Path):
        refuse_existing(options.out, options.force)  # before any work is done
    method = make_method(options.method, parse_settings(options.set), knowledge_of(options))
    if options.sensitive and not method.info.sensitive:
        raise InputError(f"{method.info.id} knows no sensitive terms and treats all alike: leave --sensitive away")
    if options.block is not None or options.cluster is not None:
        need_blocks(method.info)
        if options.previous is not None:
            raise InputError("--previous keeps groups that blocks would tear apart: leave it or the blocks away")
    if options.cluster is not None:
        return run_on_cluster(options, method)
    if options.previous is not None:
        method = method.after(load(options.previous).assignment)
    with bar() as progress:
        log, rejected = log_of(options, progress)
        made = anonymize(log, method, seed=options.seed, progress=progress, users_per_block=options.block)
        if options.corpus is not None:
            made = made.blended(open_corpus(options.corpus, progress=progress).index, progress)
    manifest = made.save(options.out, force=options.force)
    tell_read(rejected, options.out.with_name(f"{options.out.name}-rejected.tsv"))
    more = []
    if method.info.sensitive:
        more.append(method.knowledge.sensitive.told(build_profiles(log, method.knowledge.words)))
    if made.blend is not None:
        weights = f"a profile weighs {made.blend.profile:g} and everyone's average {made.blend.everyone:g}"
        more.append(f"where it ranks, {weights}")
    tell(options, manifest, more)


def tell(options: argparse.Namespace, manifest: Manifest, more: Sequence[str] = ()) -> None:
    """What was published, and how that is checked."""
    if options.json:
        print_json(manifest.as_json())
        return
    profiles = counted(manifest.groups, "published profile")
    print(f"{counted(manifest.users, 'user')}, {profiles} in {options.out}")
    hidden = counted(manifest.suppressed.occurrences, "occurrence")
    print(f"suppressed: {hidden}, {counted(manifest.suppressed.users, 'user')} left with nothing")
    for line in more:
        print(line)
    print(f"to be checked by `{_check(options, manifest)}`: {sentence(manifest.claim)}")


def _check(options: argparse.Namespace, manifest: Manifest) -> str:
    """The command that verifies the release: by the cluster, where each block shows that the promise is kept."""
    by_cluster = options.cluster is not None and shown_by_blocks(find_method(manifest.method).info)
    # What no block shows is verified on one machine, in a copy of the release with its secrets.
    place = "FOLDER" if isinstance(options.out, str) and not by_cluster else options.out
    given = {"--log": options.log, "--sensitive": options.sensitive, "--cluster": options.cluster if by_cluster else ""}
    given["--secrets"] = options.secrets if by_cluster else None
    return " ".join(["shoal", "verify", str(place), *(f"{name} {value}" for name, value in given.items() if value)])
