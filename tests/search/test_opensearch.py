"""What of OpenSearch holds without a cluster? Safe addresses, vectors made block by block, a bounded memory."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from shoal.cli import main
from shoal.corpus.documents import Documents
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.progress import silent
from shoal.search import streaming
from shoal.search.analysis import analyse
from shoal.search.cluster import Recent, pack, unpack
from shoal.search.engines import opensearch
from shoal.search.impacts import impacts, scale_for
from shoal.search.index import build_index
from shoal.search.query import ALL, TEXT, TITLE
from shoal.search.vectors import make_vectors
from tests.search.conftest import make_documents

REFUSED = {
    "http://search.example.org:9200": "in the clear",
    "https://me:secret@search.example.org": "holds a password",
    "https://good.example.org,ftp://bad.example.org": "expected an address such as",
    "": "no search cluster: give its address",
}


@pytest.mark.parametrize(("url", "why"), REFUSED.items())
def test_an_unsafe_address_is_refused(url: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(opensearch.URL, url)
    with pytest.raises(InputError, match=why) as refused:
        opensearch.Address.of_environment()
    assert "secret" not in str(refused.value)


def test_credentials_come_from_a_file_that_its_owner_alone_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret"
    path.write_text("me:pass:word\n")
    path.chmod(0o644)
    monkeypatch.setenv(opensearch.URL, "https://one.example.org:9200, https://two.example.org:9200/")
    monkeypatch.setenv(opensearch.CREDENTIALS, f"@{path}")
    with pytest.raises(InputError, match="can be read by others"):
        opensearch.Address.of_environment()
    path.chmod(0o600)
    address = opensearch.Address.of_environment()
    assert address.urls == ("https://one.example.org:9200", "https://two.example.org:9200")
    assert address.credentials == "me:pass:word"
    assert "pass" not in repr(address)


def test_without_its_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opensearchpy", None)
    opensearch._library.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'shoal-search\[opensearch\]'"):
        opensearch.Cluster(opensearch.Address(("https://search.example.org:9200",)))


def test_an_address_without_its_engine_and_an_index_in_a_folder_are_refused(
    capsys: pytest.CaptureFixture, sentences: Documents, tmp_path: Path
) -> None:
    assert main(["search", "wine", "--url", "https://search.example.org"]) == 2
    assert "give --engine opensearch with it" in capsys.readouterr().err
    with pytest.raises(InputError, match="in a cluster, not in a folder"):
        build_index(sentences, tmp_path / "index", opensearch.NAME)


def test_vectors_made_block_by_block_are_those_made_at_once(
    sentences: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "BLOCK", 2)
    analysis = analyse(sentences.titles, sentences.texts, load_wordnet().lemmas)
    counted = streaming.count_words(lambda: iter(sentences), silent)
    blocks = list(streaming.weighed_blocks(lambda: iter(sentences), counted))
    made, at_once = sp.vstack([block.vectors for block in blocks]).tocsr(), make_vectors(analysis)
    assert [block.begin for block in blocks] == [0, 2, 4, 6, 8]
    assert counted.lexicon.words == analysis.lexicon.words
    assert counted.lexicon.document_frequency.tolist() == analysis.lexicon.document_frequency.tolist()
    np.testing.assert_array_equal(made.toarray(), at_once.toarray())
    assert counted.digest == sentences.digest()


def test_impacts_give_bm25_by_the_exact_length_and_leave_the_reading_order(sentences: Documents) -> None:
    counted = streaming.count_words(lambda: iter(sentences), silent)
    analysis = analyse(sentences.titles, sentences.texts, load_wordnet().lemmas)
    forms = np.array(analysis.lexicon.forms, dtype=object)
    before = [(analysis.title.words(forms, i).split(), analysis.text.words(forms, i).split()) for i in range(9)]
    scale = scale_for(counted.mean_lengths[ALL])
    written = {field: list(texts) for field, texts in impacts(analysis, counted.mean_lengths, scale).items()}
    for i, (title, text) in enumerate(before):
        for field, words in ((ALL, title + text), (TITLE, title), (TEXT, text)):
            norm = 1.2 * (0.25 + 0.75 * len(words) / counted.mean_lengths[field])
            pairs = [pair.split("|") for pair in written[field][i].split()]
            by_impact = {form: int(impact) / (int(impact) + scale) for form, impact in pairs}
            exact = {form: words.count(form) / (words.count(form) + norm) for form in words}
            assert by_impact == pytest.approx(exact, rel=1e-6)
    after = [(analysis.title.words(forms, i).split(), analysis.text.words(forms, i).split()) for i in range(9)]
    assert after == before


def test_the_impacts_of_a_long_document_are_what_lucene_can_add_up() -> None:
    for mean in (0, 1, 130, 10_000, 1_000_000):
        length = 1_000 * mean  # all of one word, or each once, which is rounded up at most by a half
        assert scale_for(mean) * length / (1.2 * (0.25 + 0.75 * 1_000)) + length / 2 < 2**31
    assert (scale_for(130), scale_for(10_000)) == (2**20, 2**16)


def test_a_document_without_a_title_counts_among_those_that_could_have_one() -> None:
    documents = make_documents([("", "harbour"), ("Harbour", "")])
    counted = streaming.count_words(lambda: iter(documents), silent)
    analysis = analyse(documents.titles, documents.texts, load_wordnet().lemmas)
    titles = list(impacts(analysis, counted.mean_lengths, 16)[TITLE])
    assert titles == ["#|1", "harbour|8"]  # 16 / (1.2 (0.25 + 0.75 * 1 / 0.5))


def test_what_is_kept_is_bounded_and_the_rest_is_asked_for_again() -> None:
    asked: list[str] = []

    def look_up(words: list[str]) -> dict[str, str]:
        asked.extend(words)
        return {word: word.upper() for word in words if word != "none"}

    recent: Recent[str, str] = Recent(6, len)
    assert recent.get(["aaa", "bbb", "aaa", "none"], look_up) == {"aaa": "AAA", "bbb": "BBB"}
    recent.get(["aaa"], look_up)
    recent.get(["ccc"], look_up)  # bbb has not been asked for as long as aaa has
    recent.get(["aaa", "bbb"], look_up)
    assert asked == ["aaa", "bbb", "none", "ccc", "bbb"]


def test_a_vector_is_what_it_was_after_it_was_text() -> None:
    found = unpack(pack(np.array([3, 70_000]), np.array([0.6, 0.8], dtype=np.float32)))
    assert found["column"].tolist() == [3, 70_000]
    assert found["value"].tolist() == np.array([0.6, 0.8], dtype=np.float32).tolist()
