"""Are the documents of a data set and of a user's file read right, and is a bad file refused by its line?"""

import contextlib
import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.documents import Document, Documents, load_documents
from shoal.corpus.documents.document import clean
from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.people.simulated.web_queries import load_web_queries
from shoal.corpus.store.datasets import CORPORA, DATA_SETS
from shoal.corpus.tokens import tokenize
from tests.examples import examples

GOOD = '{"id": "a", "title": "Wine", "text": "Red and white."}'


@pytest.fixture(scope="module")
def corpora() -> dict[str, Documents]:
    return {name: load_documents(name) for name in CORPORA}


def written(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "own.jsonl"
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    return path


@pytest.mark.parametrize("name", CORPORA)
def test_a_data_set_has_as_many_documents_as_the_registry_says(corpora: dict[str, Documents], name: str) -> None:
    documents = corpora[name]
    assert len(documents) == DATA_SETS[name].documents
    assert len(set(documents.ids)) == len(documents)


@pytest.mark.parametrize("name", CORPORA)
def test_every_document_has_a_title_and_no_control_characters(corpora: dict[str, Documents], name: str) -> None:
    documents = corpora[name]
    assert all(documents.titles)
    unwanted = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd]")
    assert not any(unwanted.search(text) for text in documents.titles + documents.texts)
    assert all(re.fullmatch(r"(\d{4}-\d\d-\d\d)?", date) for date in documents.dates)


def test_a_news_article_has_its_fields(corpora: dict[str, Documents]) -> None:
    article = corpora["news"][4]
    assert article.title == "At Least 4 Tornadoes Reported in Southeast Louisiana"
    assert (article.id, article.date) == ("5", "2017-02-07")
    assert article.url.startswith("http://abcnews.go.com/")
    assert article.text.startswith("At least four tornadoes touched down in Louisiana")


def test_a_reuters_story_has_paragraphs_and_no_sign_off(corpora: dict[str, Documents]) -> None:
    story = corpora["reuters"][0]
    assert (story.id, story.title, story.date) == ("1", "BAHIA COCOA REVIEW", "1987-02-26")
    assert story.text.startswith("Showers continued throughout the week in the Bahia cocoa zone, alleviating")
    assert "\nThe dry period means the temporao will be late this year.\n" in story.text
    signed = [text for text in corpora["reuters"].texts if tokenize(text[-12:])[-1:] == ["reuter"]]
    assert not signed


def test_a_film_has_its_overview(corpora: dict[str, Documents]) -> None:
    film = corpora["films"][0]
    assert (film.id, film.title, film.date) == ("862", "Toy Story", "1995-10-30")
    assert film.text.startswith("Led by Woody")
    assert not any(text.lower().startswith("no overview") for text in corpora["films"].texts)


def test_the_web_queries_are_all_there_and_readable() -> None:
    queries = load_web_queries()
    assert len(queries) == DATA_SETS["web-queries"].queries
    assert {"obama family tree", "miami white pages", "la niña"} <= set(queries)
    assert all(query and query.isprintable() for query in queries)


def test_the_digest_changes_with_any_content_but_not_with_the_name() -> None:
    one = Documents("x", ["1", "2"], ["a", "b"], ["t", "u"], ["", ""], ["", ""])
    assert one.digest() == Documents("y", *list(vars(one).values())[1:]).digest()
    moved = Documents("x", ["1", "2"], ["ab", ""], ["t", "u"], ["", ""], ["", ""])
    assert one.digest() != moved.digest()


def test_a_file_gives_its_documents_plain_and_compressed(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff" + GOOD, "", '{"id": 7, "title": "", "text": "x", "url": null, "date": "2020"}')
    documents = load_documents(path)
    assert documents.name == "own"
    assert list(documents) == [Document("a", "Wine", "Red and white."), Document("7", "", "x", "", "2020")]
    compressed = tmp_path / "own.jsonl.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_documents(str(compressed)) == documents


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not json", "not JSON"),
        ('["a", "list"]', "not an object"),
        ('{"id": "b", "text": "x"}', "'title' is missing"),
        ('{"id": "b", "title": "x"}', "'text' is missing"),
        ('{"title": "x", "text": "x"}', "'id' is None"),
        ('{"id": "b", "title": "x", "text": 5}', "'text' is a int"),
        ('{"id": "b", "title": "x", "text": "x", "url": []}', "'url' is a list"),
        ('{"id": "a", "title": "x", "text": "x"}', "was on line 1 already"),
        ('{"id": "b", "title": " ", "text": ""}', "both empty"),
        ('{"id": "b\\tc", "title": "x", "text": "x"}', "on one line"),
        ('{"id": true, "title": "x", "text": "x"}', "'id' is True"),
        (b'{"id": "b", "title": "\xff\xfe", "text": "x"}', "not UTF-8"),
        (b"\x00\x01\x02\x7fELF", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"id": ' + "9" * 5_000 + "}", "not JSON"),
    ],
)
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=r"own\.jsonl, line 2: ") as caught:
        load_documents(written(tmp_path, GOOD, line))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no documents"):
        load_documents(written(tmp_path, "", "  "))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load_documents(tmp_path)


def test_a_file_that_is_made_to_fill_a_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many lines that pack to next to nothing, and one without an end."""
    path = tmp_path / "own.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(f"{GOOD}\n".encode())
        file.writelines(b" " * 2**20 + b"\n" for _ in range(4))
    assert len(load_documents(str(path))) == 1  # small enough for any machine
    monkeypatch.setattr("shoal.corpus.logs.files.ALWAYS_UNPACKED", 1 << 20)
    with pytest.raises(InputError, match=r"own\.jsonl\.gz unpacks to more than 200 times its size"):
        load_documents(str(path))
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"id": "a", "text": "')
        file.write(b" " * 2**20)
    monkeypatch.setattr("shoal.corpus.documents.readers.LONGEST_LINE", 1 << 20)
    with pytest.raises(InputError, match="line 1: longer than 1 MB; split the document"):
        load_documents(str(path))


def test_a_truncated_or_false_gz_file_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress("\n".join(GOOD.replace('"a"', f'"{i}"') for i in range(2000)).encode())
    path = tmp_path / "own.jsonl.gz"
    for data in (whole[: len(whole) // 2], GOOD.encode(), whole[:40] + b"\x00" * 40 + whole[80:]):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"not a whole \.gz file"):
            load_documents(path)


@pytest.mark.parametrize("name", ["nonsense", "wordnet", "no/such/file.jsonl"])
def test_an_unknown_name_lists_the_valid_ones(name: str) -> None:
    with pytest.raises(InputError, match="news, reuters, films, or the path"):
        load_documents(name)


def test_loading_can_be_cancelled(tmp_path: Path) -> None:
    def cancel(done: int, total: int, stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        load_documents(written(tmp_path, GOOD), cancel)


@examples(200)
@given(st.text())
def test_clean_text_is_utf8_and_stays_as_it_is(text: str) -> None:
    once = clean(text)
    assert once.encode().decode() == once
    assert clean(once) == once


@examples(200)
@given(st.binary(max_size=200))
def test_any_bytes_are_documents_or_an_input_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "any.jsonl"
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        assert len(load_documents(path)) > 0


@examples(100)
@given(st.lists(st.tuples(st.text(), st.text(min_size=1)), min_size=1, max_size=5))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    rows = [{"id": str(i), "title": "t" + title, "text": text} for i, (title, text) in enumerate(pairs)]
    path = tmp_path_factory.mktemp("round") / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert load_documents(path).texts == [clean(text) for _, text in pairs]
