"""Is the index in a cluster whole, the same as elsewhere, and never half of one?"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shoal.cli import main
from shoal.corpus.documents import Documents
from shoal.corpus.errors import InputError
from shoal.corpus.logs import load_log
from shoal.search.engines import opensearch
from shoal.search.index import Index, build_index, index_for, open_in_cluster, open_index
from tests.cluster.opensearch.conftest import indexed
from tests.search.conftest import make_documents

KILLED = """
import os, sys
from shoal.search.engines import opensearch
from shoal.corpus.documents import Document
def killed(done, total, stage):
    if stage == "indexing with OpenSearch": os._exit(9)
read = lambda: (Document(f"n{i}", "Newer", "another harbour") for i in range(600))
cluster = opensearch.connect(opensearch.Address.of_environment())
opensearch.build(cluster, sys.argv[1], read, {"name": "newer", "source": ""}, killed)
"""


def names(cluster: opensearch.Cluster, alias: str) -> set[str]:
    return set(cluster.client.indices.get(index=f"{alias}-*"))


def test_documents_vectors_and_words_are_those_of_a_local_index(
    news: Index, articles: Documents, tmp_path: Path
) -> None:
    build_index(articles, tmp_path / "index", "tantivy")
    local = open_index(tmp_path / "index")
    assert [news.documents[i] for i in (0, 599)] == [articles[0], articles[599]]
    assert list(news.documents) == list(articles)
    every = np.arange(len(articles))
    assert np.abs((news.vectors.rows(every) - local.vectors.rows(every)).data).max(initial=0) < 1e-6
    assert dict(news.vectors.held()) == dict(local.vectors.held())
    some = np.arange(0, news.vectors.width, 7)
    assert news.vectors.names(some) == local.vectors.names(some)
    assert sorted(news.vectors.spellings(some)) == sorted(local.vectors.spellings(some))
    np.testing.assert_array_equal(news.vectors.holding(some), local.vectors.holding(some))
    topics = zip(news.engine.lexicon.commonest(60), local.engine.lexicon.commonest(60), strict=True)
    assert all(one == other for one, other in topics)
    for word in ("presidnet", "goverment", "amercia", "elction", "trumpp", "zzzzqq", "londn"):
        assert news.engine.suggest(word) == local.engine.suggest(word), word
    with pytest.raises(IndexError):
        news.documents[600]


def test_two_parts_rank_reuters_as_exact_bm25_does(cluster: opensearch.Cluster) -> None:
    """Against Whoosh, which tests/search holds against the formula: by lengths in a byte, 97 % would be the same."""
    remote, local = index_for("reuters", engine=opensearch.NAME), index_for("reuters", engine="whoosh")
    alias = cluster.client.indices.get_alias(name="shoal-reuters-*")
    ((_, described),) = cluster.client.indices.get(index=next(iter(alias))).items()
    assert described["settings"]["index"]["number_of_shards"] == "2"
    queries = load_log("reuters")[0].queries.unique().sort().sample(150, seed=1).to_list()
    for limit in (10, 100):  # what is seen, and what is ranked anew
        shared = [_overlap(remote, local, query, limit) for query in queries]
        assert len([one for one in shared if one is not None]) > 100
        assert np.mean([one for one in shared if one is not None]) >= 0.999


def _overlap(remote: Index, local: Index, query: str, limit: int) -> float | None:
    exact, found = (index.engine.candidates(query, limit) for index in (local, remote))
    np.testing.assert_allclose(found.scores, exact.scores, rtol=1e-4)
    shared = set(exact.documents.tolist()) & set(found.documents.tolist())
    return len(shared) / len(exact) if len(exact) else None


def test_more_candidates_than_one_page_of_opensearch_are_all_given(cluster: opensearch.Cluster) -> None:
    index = index_for("reuters", engine=opensearch.NAME)
    found = index.engine.candidates("the company said", len(index))
    assert len(found) > opensearch.LARGEST_PAGE
    assert len(set(found.documents.tolist())) == len(found)
    np.testing.assert_array_equal(np.lexsort((found.documents, -found.scores)), np.arange(len(found)))


def test_a_new_index_replaces_the_old_one_for_who_opens_it_then(cluster: opensearch.Cluster) -> None:
    alias = "shoal-replaced-test"
    versions = [make_documents([(f"Version {i}", "a lighthouse")] * (i + 1), f"version {i}") for i in range(3)]
    old, new, newest = (indexed(cluster, documents, alias) for documents in versions)
    assert [len(new.engine.candidates("lighthouse")), len(newest.engine.candidates("lighthouse"))] == [2, 3]
    with pytest.raises(InputError, match="not in the search cluster any more"):
        old.engine.candidates("lighthouse")
    assert len(names(cluster, alias)) == 4  # two of each, those of the newest and of the one before it


def test_a_killed_build_leaves_the_old_index_and_the_next_one_clears_up(cluster: opensearch.Cluster) -> None:
    alias = "shoal-killed-test"
    documents = make_documents([("Old", "a lighthouse")])
    indexed(cluster, documents, alias)
    ran = subprocess.run([sys.executable, "-c", KILLED, alias], capture_output=True, text=True)
    assert ran.returncode == 9, ran.stderr
    assert len(names(cluster, alias)) == 4
    index = open_in_cluster(cluster, alias)
    assert index is not None
    assert index.engine.candidates("lighthouse").documents.tolist() == [0]
    indexed(cluster, documents, alias)
    assert len(names(cluster, alias)) == 4


def test_a_build_that_is_cancelled_leaves_nothing(cluster: opensearch.Cluster) -> None:
    def cancel(done: int, total: int, stage: str) -> None:
        if stage == "indexing with OpenSearch":
            raise KeyboardInterrupt

    documents = make_documents([("Old", "a lighthouse")])
    with pytest.raises(KeyboardInterrupt):
        opensearch.build(cluster, "shoal-cancelled-test", lambda: iter(documents), {"name": "", "source": ""}, cancel)
    assert names(cluster, "shoal-cancelled-test") == set()


def test_a_file_is_found_again_by_its_content(cluster: opensearch.Cluster, tmp_path: Path) -> None:
    for copy in ("here.jsonl", "there.jsonl"):
        (tmp_path / copy).write_text('{"id": 1, "title": "Harbour", "text": "boats"}\n')
    first, second = (index_for(tmp_path / copy, engine=opensearch.NAME) for copy in ("here.jsonl", "there.jsonl"))
    assert (first.name, second.name) == ("here", "here")


def test_the_command_line_searches_and_explains(cluster: opensearch.Cluster, capsys: pytest.CaptureFixture) -> None:
    query = ["search", "oil price", "--corpus", "reuters", "--explain", "--limit", "3"]
    said = []
    for engine in ("whoosh", opensearch.NAME):
        main([*query, "--engine", engine])
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "oil" in said[0]
