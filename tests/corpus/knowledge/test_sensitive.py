"""Which terms are sensitive, by our own list and by a file, and is a bad file refused?"""

from hashlib import sha256
from pathlib import Path

import pytest

from shoal.anonymizer.contract.sample_logs import log_of
from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.sensitive import OURS
from shoal.corpus.knowledge.taxonomy import wordnet_taxonomy
from shoal.corpus.profiles import build_profiles

FIELDS = ("illness", "sexuality", "religion", "politics", "crime", "drugs", "money trouble", "death")
LOG = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(
    f"{user}\t{query}\t2006-03-01 10:0{i}:00\t\t\n"
    for user in range(100, 112)
    for i, query in enumerate(("red wine", "dog food", "beer" if user == 100 else "piano"))
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.tsv"
    path.write_text("beer\tAlcohol\nwine\tAlcohol\nmilk\tDrinks\nAlcohol\tDrinks\n")
    return path


def listed(path: Path, text: str, taxonomy: Path | None = None, dictionary: str = "") -> Knowledge:
    path.write_text(text)
    return Knowledge(taxonomy, dictionary, sensitive_file=path)


def test_our_list_has_eight_fields_of_wordnet_nodes_and_a_reason_for_each() -> None:
    lines = OURS.read_text().splitlines()
    assert [line[2:] for line in lines if line.startswith("# ")][-len(FIELDS) :] == list(FIELDS)
    entries = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert all(label in wordnet_taxonomy().node and len(reason) > 10 for label, reason in entries)
    assert len({label for label, _ in entries}) == len(entries) > 50


@pytest.mark.parametrize("term", "cancer abortion muslim election prison heroin bankruptcy suicide aids sex".split())
def test_what_people_keep_to_themselves_is_sensitive(term: str) -> None:
    assert Knowledge().sensitive.among([term, "wine"]).tolist() == [True, False]


def test_a_label_means_every_leaf_below_it_and_a_term_itself(tree: Path, tmp_path: Path) -> None:
    assert listed(tmp_path / "f", "ALCOHOL\twhy\n# milk\n\n", tree).sensitive.terms == {"alcohol", "beer", "wine"}
    assert listed(tmp_path / "f", "wine\nzzyzxq\n", tree, "any").sensitive.terms == {"wine", "zzyzxq"}
    assert "wine" in listed(tmp_path / "f", "wines\n").sensitive.terms  # as WordNet's dictionary reads it


def test_our_list_is_that_of_wordnet_under_any_taxonomy(tree: Path) -> None:
    assert Knowledge(tree, "any").sensitive.terms >= {"cancer", "prison"}
    assert Knowledge(tree, "any").sensitive.digest == Knowledge().sensitive.digest


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no sensitive term"),
        ("# nothing\n", "names no sensitive term"),
        ("wine\ndiseas.n.01\n", "line 2: 'diseas.n.01' is no term"),
        ("heart attack\n", "line 1: 'heart attack' is no term"),
    ],
)
def test_a_list_that_would_protect_nothing_is_refused(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        _ = listed(tmp_path / "list.txt", text).sensitive


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("bytes", "nowhere"):
        with pytest.raises(InputError, match="no sensitive terms can be read"):
            _ = Knowledge(sensitive_file=tmp_path / name).sensitive


def test_people_are_told_how_many_terms_and_users_that_is() -> None:
    profiles = build_profiles(
        log_of([("a", "red wine cancer"), ("b", "wine"), ("c", "cancer prison")]), Knowledge().words
    )
    assert Knowledge().sensitive.told(profiles) == (
        "2 of the 4 terms of the log are sensitive, and 2 of its 3 users typed some"
    )


def test_a_release_rests_on_its_list_and_is_verified_with_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, private, other = tmp_path / "log.tsv", tmp_path / "private.txt", tmp_path / "other.txt"
    log.write_text(LOG)
    private.write_text("beer\n")
    other.write_text("piano\n")
    folder = str(tmp_path / "release")
    given = ["--log", str(log), "--sensitive", str(private)]
    assert main(["anonymize", *given, "--method", "cahd", "--out", folder]) == 0
    assert "1 of the 6 terms of the log are sensitive, and 1 of its 12 users typed some" in capsys.readouterr().out
    assert sha256(private.read_bytes()).hexdigest() in (tmp_path / "release" / "manifest.json").read_text()
    assert main(["verify", folder, *given, "--reproduce"]) == 0
    for wrong in (["--sensitive", str(other)], []):
        assert main(["verify", folder, "--log", str(log), *wrong]) == 2
        assert "other sensitive terms" in capsys.readouterr().err
    assert main(["measure", folder, "--log", str(log), "--measures", "linkage5"]) == 0  # which needs no list


def test_a_method_that_treats_all_terms_alike_takes_no_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.tsv").write_text(LOG)
    (tmp_path / "private.txt").write_text("beer\n")
    given = ["--log", str(tmp_path / "log.tsv"), "--sensitive", str(tmp_path / "private.txt")]
    assert main(["anonymize", *given, "--method", "random", "--out", str(tmp_path / "release")]) == 2
    assert "leave --sensitive away" in capsys.readouterr().err
