"""Does background knowledge know which words fit it, and tell whether it is the same as that of a release?"""

import gzip
from pathlib import Path

import pytest

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import read_taxonomy

TREE = "Apple\tFruit\nBeef\tMeat\nFruit\tFood\nMeat\tFood\n"
TOPICS = "Top/Animals/Dogs\tdog\tdogs and zzyzx\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.tsv"
    path.write_text(TREE)
    return path


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.tsv"
    path.write_text(TOPICS)
    return path


def test_the_dictionary_is_what_fits_the_files_unless_one_is_named(tree: Path, topics: Path) -> None:
    assert Knowledge().dictionary == "wordnet"
    assert Knowledge(tree).dictionary == "taxonomy"
    assert Knowledge(directory_file=topics).dictionary == "any"
    assert Knowledge(tree, directory_file=topics).dictionary == "any"
    assert Knowledge(dictionary_name="wordnet", directory_file=topics).dictionary == "wordnet"


def test_with_a_directory_a_word_that_wordnet_does_not_know_is_a_term(topics: Path) -> None:
    known = Knowledge(directory_file=topics)
    assert known.words("zzyzx") == "zzyzx"
    assert known.directory.categories("zzyzx") == [("Animals", "Dogs")]


def test_only_what_is_used_has_a_digest(tree: Path, topics: Path) -> None:
    assert set(Knowledge().digests) == {"taxonomy", "dictionary", "wordnet"}
    assert set(Knowledge(tree).digests) == {"taxonomy", "dictionary"}
    assert set(Knowledge(tree, "wordnet").digests) == {"taxonomy", "dictionary", "wordnet"}
    assert set(Knowledge(tree, directory_file=topics).digests) == {"taxonomy", "dictionary", "directory"}


def test_the_same_content_has_the_same_digests_wherever_it_lies(tree: Path, topics: Path, tmp_path: Path) -> None:
    packed, written = tmp_path / "topics.gz", tmp_path / "written.tsv"
    packed.write_bytes(gzip.compress(TOPICS.encode()))
    written.write_text("".join(f"{line}\n" for line in read_taxonomy(tree).lines()))
    first, second = Knowledge(tree, directory_file=topics), Knowledge(written, directory_file=packed)
    assert first.digests == second.digests
    assert Knowledge().digests == Knowledge().digests


def test_another_content_under_the_same_name_has_other_digests(tree: Path, topics: Path) -> None:
    before = Knowledge(tree, "taxonomy", directory_file=topics).digests
    tree.write_text(TREE.replace("Beef", "Lamb"))
    topics.write_text(TOPICS.replace("Dogs", "Cats"))
    after = Knowledge(tree, "taxonomy", directory_file=topics).digests
    assert all(before[part] != after[part] for part in ("taxonomy", "dictionary", "directory"))


def test_the_three_dictionaries_have_three_digests(tree: Path) -> None:
    names = ("wordnet", "taxonomy", "any")
    assert len({Knowledge(tree, name).digests["dictionary"] for name in names}) == 3


def test_the_digest_of_a_directory_that_is_not_there_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        _ = Knowledge(directory_file=tmp_path / "nowhere").digests
