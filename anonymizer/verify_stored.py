"""Is a stored release what it says? Its log, its files, its counts and its claim; and does its method make it again?"""

import tempfile
from dataclasses import replace
from pathlib import Path

from shoal.anonymizer.base import CATALOGUE, Assignment, Method
from shoal.anonymizer.blocks import anonymize_in_blocks, cut, described, ordered
from shoal.anonymizer.claims import Evidence, Verdict, broken, find_verifier, sentence, verify
from shoal.anonymizer.claims.catalogue import verify_means, verify_terms
from shoal.anonymizer.manifest import MANIFEST, Manifest, check_sensitive
from shoal.anonymizer.publish import FEWEST_USERS, with_average
from shoal.anonymizer.registry import find_method
from shoal.anonymizer.release_files import StoredRelease, write_release
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Blend


def verify_stored(stored: StoredRelease, log: QueryLog) -> Verdict:
    """The verdict on a stored release. That it is of another log is no verdict but bad input."""
    manifest = stored.manifest
    if _digest(log, manifest.block) != manifest.digests["log"]:
        raise InputError("this is another log than the one that was anonymized: give that one by --log")
    log = log if manifest.block is None else ordered(log)
    check_sensitive(manifest, stored.knowledge)
    if find_verifier(manifest.claim.id).by_topic:
        _need_directory(stored)
    if fault := _miscounted(stored, log):
        return replace(broken(fault), sentence=sentence(manifest.claim))
    evidence = Evidence(stored.release, stored.assignment, manifest.suppressed, log, stored.knowledge)
    verdict = verify(manifest.claim, evidence)
    if verdict.holds and manifest.blend is not None and CATALOGUE not in find_verifier(manifest.claim.id).files:
        average = verify_average(evidence)
        return verdict if average.holds else replace(average, sentence=verdict.sentence)
    return verdict


def _digest(log: QueryLog, block: int | None) -> str:
    return log.digest() if block is None else described(cut(log, block), block).digest


def _need_directory(stored: StoredRelease) -> None:
    if "directory" in stored.manifest.digests and stored.knowledge.directory_file is None:
        raise InputError("the release was made with a topic directory: give it by --directory")


def verify_average(evidence: Evidence) -> Verdict:
    """Whether the average that ranks beside the profiles is that of the log, over terms of at least 20 users."""
    average = evidence.release.catalogue
    assert average is not None  # else it could not be read
    terms = verify_terms(FEWEST_USERS, average, evidence)
    return verify_means(average, evidence) if terms.holds else terms


def _miscounted(stored: StoredRelease, log: QueryLog) -> str:
    manifest = stored.manifest
    if altered := stored.altered():
        return f"{altered} is not the file that was published: its sha-256 differs from the manifest's"
    if manifest.users != len(log.users):
        return f"the manifest counts {manifest.users} users, but the log has {len(log.users)}"
    if manifest.groups != len(stored.release):
        return f"the manifest counts {manifest.groups} groups, but {len(stored.release)} profiles are published"
    return ""


def reproduce(
    folder: Path,
    stored: StoredRelease,
    log: QueryLog,
    progress: Progress = silent,
    method: type[Method] | None = None,
    previous: Assignment | None = None,
) -> str:
    """Run the method again with its seed: a file that is another then, byte by byte, or nothing if none is."""
    manifest = stored.manifest
    if manifest.seed is None:
        raise InputError(f"the randomness of {manifest.method} stays secret, so that nobody can run it again")
    _need_directory(stored)
    again = (method or find_method(manifest.method))(stored.knowledge, **manifest.parameters)
    again = again if previous is None else again.after(previous)
    if manifest.block is None:
        made = again.run(log, seed=manifest.seed, progress=progress)
    else:
        made = anonymize_in_blocks(again, log, manifest.block, seed=manifest.seed, progress=progress)
    if manifest.blend is not None:  # the weights are learned on documents, which are not there
        made = with_average(made, build_profiles(log, stored.knowledge.words), Blend(**manifest.blend))
    with tempfile.TemporaryDirectory() as beside:
        place = Path(beside) / "release"
        new = write_release(place, made, again, log, manifest.seed)
        (place / MANIFEST).write_text(_as_of(manifest, new).text())
        names = sorted({path.name for some in (folder, place) for path in some.iterdir()})
        return next((name for name in names if _differs(folder / name, place / name)), "")


def _as_of(old: Manifest, new: Manifest) -> Manifest:
    """A manifest as the version that made the old one would have written it: files are compared, not programs."""
    return replace(new, version=old.version, digests={**new.digests, "code": old.digests["code"]})


def _differs(one: Path, other: Path) -> bool:
    return not one.exists() or not other.exists() or one.read_bytes() != other.read_bytes()
