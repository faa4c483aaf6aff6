"""Is a stored release what it says? Its claim, its parameters and its log."""

from shoal.anonymizer.claims import Evidence, Verdict, broken, verify
from shoal.anonymizer.release_files import StoredRelease
from shoal.corpus.querylog import QueryLog


def verify_stored(stored: StoredRelease, log: QueryLog) -> Verdict:
    """The verdict on a stored release: its claim first, then whether this is the log it was made from."""
    manifest = stored.manifest
    for name, value in manifest.claim.values.items():
        made_with = manifest.parameters.get(name)  # a word such as auto leaves the choice to the method
        if isinstance(made_with, int | float) and made_with != value:
            return broken(f"the claim says {name}={value}, but the release was made with {name}={made_with}")
    evidence = Evidence(stored.release, stored.assignment, manifest.suppressed, log, stored.knowledge)
    verdict = verify(manifest.claim, evidence)
    if verdict.holds and log.digest() != manifest.input:
        return broken("the log is not the one that was anonymized: its sha-256 differs from the manifest's")
    return verdict
