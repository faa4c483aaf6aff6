"""Does a topic directory give the right categories, whichever file it comes from, and refuse bad ones?"""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.directory import K1, B, bm25, classification_matrices, read_directory, term_categories
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import make_log

RDF = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
  <Topic r:id="Top/Sports/Soccer"><catid>1</catid><link r:resource="http://a.example/"/></Topic>
  <ExternalPage about="http://a.example/">
    <d:Title>Barcelona FC &amp; friends</d:Title>
    <d:Description>The club of Barcelona and its players.</d:Description>
    <topic>Top/Sports/Soccer/UEFA/Spain/Clubs/Barcelona</topic>
  </ExternalPage>
  <ExternalPage about="http://b.example/">
    <d:Title>Hotels</d:Title>
    <d:Description>Places to stay in Barcelona, and many other things that a traveller may want to know.</d:Description>
    <topic>Top/Regional/Europe/Spain</topic>
  </ExternalPage>
</RDF>
"""
BARCELONA = ("Sports", "Soccer", "UEFA", "Spain", "Clubs", "Barcelona")


def any_word(token: str) -> str | None:
    return token


def written(folder: Path, text: str | bytes, name: str = "directory") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_the_senses_of_a_wordnet_noun_are_its_categories_with_their_path_from_the_top() -> None:
    directory = Knowledge().directory
    first = directory.categories("dog")[0]
    assert first[:3] == ("physical_entity.n.01", "object.n.01", "whole.n.02")
    assert first[-1] == "dog.n.01"
    assert len(directory.categories("dog")) == 7
    assert directory.categories("qwzx") == []


def test_a_taxonomy_file_is_a_directory_too(tmp_path: Path) -> None:
    tree = written(tmp_path, "Apple\tFruit\nFruit\tFood\nBeef\tFood\n")
    assert Knowledge(tree).directory.categories("apple") == [("Fruit", "Apple")]


@pytest.mark.parametrize("packed", [False, True])
def test_a_content_rdf_dump_gives_the_categories_of_figure_1_best_first(tmp_path: Path, packed: bool) -> None:
    path = written(tmp_path, gzip.compress(RDF.encode()) if packed else RDF, "content.rdf.u8")
    directory = read_directory(path, any_word)
    assert directory.categories("barcelona") == [BARCELONA, ("Regional", "Europe", "Spain")]
    assert directory.categories("hotels") == [("Regional", "Europe", "Spain")]
    assert directory.categories("madrid") == []


def test_more_matching_entries_put_a_category_first(tmp_path: Path) -> None:
    lines = ["a/one\tcat\tcat", *["b/two\tcat\tother words here"] * 5, "c\tdog\tdog"]
    directory = read_directory(written(tmp_path, "\n".join(lines)), any_word)
    assert directory.categories("cat") == [("b", "two"), ("a", "one")]


def test_directory_texts_are_read_by_the_dictionary_as_queries_are(tmp_path: Path) -> None:
    path = written(tmp_path, "path\ttitle\tdescription\nTop/Animals\tDogs\tall about dogs\n")
    assert Knowledge(None, "wordnet", directory_file=path).directory.categories("dog") == [("Animals",)]


def test_bm25_is_its_formula() -> None:
    scores = bm25(csr_array(np.array([[2, 1, 0], [0, 1, 0], [0, 0, 1]]))).toarray()
    idf = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    mean = 5 / 3
    assert scores[0, 0] == pytest.approx(idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / mean)))
    assert scores[1, 0] == 0


def test_a_level_cuts_the_paths_and_counts_a_category_once_per_term() -> None:
    first, *_, fifth = term_categories(["dog", "qwzx"], Knowledge().directory, levels=5, categories=5)
    assert first.names == [("physical_entity.n.01",)]
    assert first.of_terms.toarray().tolist() == [[1], [0]]
    assert [path[-1] for path in fifth.names] == ["organism.n.01", "meat.n.01"]


def test_classification_matrices_count_the_terms_of_each_user_by_category() -> None:
    log = make_log(pl.Series(["a", "a", "b"]), pl.Series(["dog dog", "cat", "idea"]))
    levels = classification_matrices(build_profiles(log, Knowledge().words), Knowledge().directory, 2, 1)
    assert [sorted(level.sum(axis=1).tolist()) for level in levels] == [[1, 3], [1, 3]]
    assert levels[0].toarray().max() == 3


def test_xml_that_declares_entities_is_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><RDF>&b;</RDF>'
    with pytest.raises(InputError, match="document type declaration"):
        read_directory(written(tmp_path, bomb), any_word)


def test_control_characters_and_broken_bytes_in_a_dump_are_passed_over(tmp_path: Path) -> None:
    dirty = RDF.encode().replace(b"Hotels", b"Hot\x03els \xff")
    directory = read_directory(written(tmp_path, dirty), any_word)
    assert directory.categories("hotels") == [("Regional", "Europe", "Spain")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no entry"),
        (b"Sports\tonly a title\n", "line 1: expected path<TAB>title<TAB>description"),
        (b"Sports\tx\ty\n\tno path\tz\n", "line 2"),
        (b"\x00\xff\xfe\x01", "no text in UTF-8"),
        (RDF[:700].encode(), "no whole content.rdf"),
        (b"\x1f\x8b\x00broken", "cannot be read"),
        (b"<html><p>no closing", "no whole content.rdf"),
    ],
)
def test_a_file_that_is_no_directory_is_refused_on_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        read_directory(written(tmp_path, content), any_word)
    assert "\n" not in str(error.value)


def test_a_missing_directory_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        read_directory(tmp_path / "nowhere", any_word)


def test_looking_up_topics_can_be_cancelled() -> None:
    def stop(done: int, total: int, stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        term_categories(["dog"], Knowledge().directory, 5, 5, stop)
