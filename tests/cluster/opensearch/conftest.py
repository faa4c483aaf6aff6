"""Two nodes of OpenSearch for all tests of it, and the corpora of the search tests in them."""

from collections.abc import Iterator

import pytest

from shoal.corpus.documents import Documents
from shoal.search.engines import opensearch
from shoal.search.index import Index, open_in_cluster
from tests.cluster.opensearch.nodes import Nodes, NoNodes
from tests.search.conftest import articles, sentences  # noqa: F401
from tests.webapp.browser import browser, open_page, take_screenshot  # noqa: F401
from tests.webapp.instances import small_log  # noqa: F401

SMALL = "shoal-small-test"


@pytest.fixture(scope="session")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    try:
        started = Nodes(tmp_path_factory.mktemp("nodes"))
    except NoNodes as error:
        pytest.skip(f"OpenSearch cannot be had here: {error}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(opensearch.URL, started.url)
        try:
            yield started
        finally:
            started.stop()


@pytest.fixture(scope="session")
def cluster(nodes: Nodes) -> opensearch.Cluster:
    return opensearch.connect(opensearch.Address.of_environment())


@pytest.fixture(scope="session")
def engine_name() -> str:
    return opensearch.NAME


def indexed(cluster: opensearch.Cluster, documents: Documents, alias: str) -> Index:
    about = {"name": documents.name, "source": alias, "engine": opensearch.NAME, "reason": "for a test"}
    opensearch.build(cluster, alias, lambda: iter(documents), about)
    index = open_in_cluster(cluster, alias)
    assert index is not None
    return index


@pytest.fixture(scope="session")
def small(cluster: opensearch.Cluster, sentences: Documents) -> Index:  # noqa: F811
    return indexed(cluster, sentences, SMALL)


@pytest.fixture(scope="session")
def news(cluster: opensearch.Cluster, articles: Documents) -> Index:  # noqa: F811
    return indexed(cluster, articles, "shoal-news-test")
