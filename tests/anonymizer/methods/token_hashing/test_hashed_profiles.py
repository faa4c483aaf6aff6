"""Are terms hashed under a secret key, is the search that of the own profile, and does another log read some hashes?"""

import hmac
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.claims.hashed_terms import hashed
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import log_of, sample_log
from shoal.anonymizer.methods.original import Original
from shoal.anonymizer.methods.token_hashing import TokenHashing
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import HashKey, read_key
from shoal.evaluation.attacks.inversion import invert, read_by
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.search.vectors import DocumentVectors, profile_space

KNOWLEDGE = Knowledge(dictionary_name="any")
LOG = log_of([("ann", "red wine"), ("ann", "wine"), ("bob", "red car"), ("eve", "+++")])


def verdict(made: Anonymized, log: QueryLog = LOG) -> Verdict:
    evidence = Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE)
    found = verify(made.claim, evidence)
    assert found.holds == is_true(made.claim, evidence)
    return found


@pytest.mark.parametrize("bits", [16, 62, 64, 256])
def test_a_profile_is_the_own_one_under_the_hmac_of_the_key(bits: int) -> None:
    made = TokenHashing(KNOWLEDGE, bits=bits).run(LOG, seed=1)
    key = made.assignment.key
    assert key is not None
    for term in ("wine", "酒"):
        full = hmac.new(key.secret, term.encode(), "sha256").hexdigest()
        assert int(key.hashed(term), 16) == int(full, 16) >> (256 - bits)
        assert key.hashed(term) == hashed(key.secret, term, bits)
    own = {key.hashed(term): times for term, times in {"red": 1, "wine": 2}.items()}
    assert own in [made.release.profile(row) for row in range(len(made.release))]
    assert made.suppressed.users == 1
    assert verdict(made).holds


def test_broken_hashes_are_refused() -> None:
    made = TokenHashing(KNOWLEDGE).run(LOG, seed=1)
    key = made.assignment.key
    assert key is not None
    labels = ["wine", *made.release.labels[1:]]
    other = HashKey(bytes(32), 64)
    for change, said in (
        ({"release": replace(made.release, labels=labels)}, "nobody used it"),
        ({"release": replace(made.release, weights=csr_array(2 * made.release.weights))}, "its user's terms"),
        ({"assignment": replace(made.assignment, key=other)}, "nobody used it"),
        ({"assignment": replace(made.assignment, key=replace(key, bits=60))}, "no key of so many bits"),
    ):
        assert said in verdict(replace(made, **change)).counterexample
    assert "no key" in verify(
        made.claim, Evidence(made.release, replace(made.assignment, key=None), made.suppressed, LOG, KNOWLEDGE)
    ).counterexample  # fmt: skip


def test_the_key_lies_in_a_secret_file_beside_the_assignment(tmp_path: Path) -> None:
    method, folder = TokenHashing(KNOWLEDGE), tmp_path / "release"
    write_release(folder, method.run(LOG, seed=1), method, LOG, 1)
    assert stat.S_IMODE((folder / "key.txt").stat().st_mode) == 0o600
    stored = read_release(folder)
    assert verify_stored(stored, LOG).holds
    assert stored.assignment.key is not None
    assert read_release(folder, secret=False).assignment.key is None
    public = b"".join(path.read_bytes() for path in folder.iterdir() if path.name not in ("key.txt", "assignment.tsv"))
    assert stored.assignment.key.secret.hex().encode() not in public
    (folder / "key.txt").write_text("64 abc\n")
    with pytest.raises(InputError, match="the key of a release is no number of bits"):
        read_release(folder)
    (folder / "key.txt").unlink()
    with pytest.raises(InputError, match=r"key\.txt is missing"):
        read_release(folder)
    assert read_key(stored.assignment.key.text()) == stored.assignment.key


def test_a_server_with_the_key_ranks_as_by_the_own_profile() -> None:
    words = ["car", "red", "tree", "wine"]
    vectors = DocumentVectors(csr_matrix((0, 4)), {word: column for column, word in enumerate(words)}, words)
    rows = []
    for made in (TokenHashing(KNOWLEDGE).run(LOG, seed=1), Original(KNOWLEDGE).run(LOG)):
        release, key = made.release, made.assignment.key
        space = profile_space(release.labels, release.generalized, vectors, KNOWLEDGE, key)
        rows.append(sorted((release.weights @ space).toarray().tolist()))
    assert rows[0] == rows[1] == [[0, 1, 0, 2], [1, 1, 0, 0]]


def people(users: int, seed: int) -> Profiles:
    """Users of three interests, of which one is commoner than the next, with words that are rarer and rarer."""
    rng = np.random.default_rng(seed)
    share = 0.5 ** (np.arange(12) / 2)
    rows = np.zeros((users, 36), dtype=np.int64)
    for user in range(users):
        interest = (0, 0, 0, 1, 1, 2)[user % 6]
        rows[user, 12 * interest : 12 * interest + 12] = rng.poisson(4 * share)
        rows[user] += rng.poisson(0.1 * np.tile(share, 3))
    terms = [f"w{i:02d}" for i in range(36)]
    return Profiles(pl.Series([f"user{u}" for u in range(users)]), terms, csr_array(rows))


def test_an_attacker_with_a_log_of_other_people_reads_hashes() -> None:
    weights, reference = people(900, seed=1), people(900, seed=2)
    made = TokenHashing(KNOWLEDGE).anonymize(weights, seed=3)
    key = made.assignment.key
    assert key is not None
    right = {key.hashed(term): term for term in weights.terms}
    words = invert(made.release, reference)
    share = np.mean([right[made.release.labels[label]] == word for label, word in words.items()])
    assert len(words) == 36
    assert share > 0.6
    assert read_by(made.release, {0: "wine"}).labels[0] == "wine"


def test_linkage_is_measured_after_the_attack_and_utility_as_the_server_reads() -> None:
    log = sample_log(80)
    hashed_, plain = TokenHashing().run(log, seed=1), Original().run(log)
    wanted = ["linkage5", "inverted", "inverted_occurrences", "ncp", "suppressed", "ggd"]
    found = [
        measure_release(MeasuredRelease(made.release, made.assignment, log, Knowledge(), claim=made.claim), wanted)
        for made in (hashed_, plain)
    ]
    assert found[0]["ncp"] == found[1]["ncp"]
    assert 0 <= found[0]["inverted"] <= 1
    assert "inverted" not in found[1]
    assert found[0]["linkage5"] < found[1]["linkage5"]
