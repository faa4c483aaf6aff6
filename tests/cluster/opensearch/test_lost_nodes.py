"""What do people see when nodes are lost? The same answers while one has everything, and then what to do.

The nodes that all tests of OpenSearch share are killed here, so these tests come last.
"""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import expect

from shoal.corpus.documents import Documents
from shoal.corpus.errors import Unavailable
from shoal.search.engines import opensearch
from shoal.search.index import Index, index_for
from tests.cluster.opensearch.conftest import indexed
from tests.cluster.opensearch.nodes import Nodes
from tests.search.test_engines import QUERIES
from tests.webapp.browser import OpenPage, TakeScreenshot
from tests.webapp.databases import free_port
from tests.webapp.instances import wait_for_answer

SEARCHES = 240


@pytest.fixture(scope="module")
def server(nodes: Nodes, small_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server as people start it, whose documents lie in the cluster."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    command = [sys.executable, "-m", "shoal", "serve", "--engine", "opensearch", "--url", nodes.url, "--no-levels"]
    command += ["--log", str(small_log), "--instance", str(folder / "instance"), "--port", str(port), "--workers", "1"]
    said = folder / "said.txt"
    index_for("news", engine=opensearch.NAME)  # a server makes it, too, but is waited for no longer than others are
    with said.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            wait_for_answer(f"http://127.0.0.1:{port}/healthz", process, said)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def status_and_page(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_the_search_page_works_in_a_browser(server: str, open_page: OpenPage, take_screenshot: TakeScreenshot) -> None:
    with open_page(server) as page:
        page.goto("/search?q=climate+change")
        expect(page.locator(".column-plain .result")).to_have_count(10)
        expect(page.locator(".column-plain .result").first).to_contain_text("climate", ignore_case=True)
        take_screenshot(page, "opensearch-search")
        page.goto("/search?q=presidnet")
        expect(page.locator("body")).to_contain_text("president")


def test_while_a_node_is_lost_no_answer_is_wrong(
    nodes: Nodes, cluster: opensearch.Cluster, articles: Documents, server: str
) -> None:
    index = indexed(cluster, articles, "shoal-lost-test")
    nodes.wait_for("status", "green")  # every part has its copy
    right = {query: found(index, query) for query in QUERIES}
    killed_at = None
    with ThreadPoolExecutor(4) as pool:
        given = [pool.submit(timed, index, QUERIES[i % len(QUERIES)]) for i in range(SEARCHES)]
        given[SEARCHES // 4].result()
        nodes.kill(0)
        killed_at = time.monotonic()
        answers = [one.result() for one in given]
    assert all(answer == right[query] for query, answer, _ in answers if answer is not None)
    after = [answer for _, answer, ended in answers if ended > killed_at]
    assert len(after) > SEARCHES // 4
    assert sum(answer is not None for answer in after) > 0.9 * len(after)
    assert found(index, QUERIES[0]) == right[QUERIES[0]]
    assert status_and_page(f"{server}/search?q=climate+change")[0] == 200


def found(index: Index, query: str) -> tuple[list[int], list[float]]:
    candidates = index.engine.candidates(query)
    return candidates.documents.tolist(), candidates.scores.tolist()


def timed(index: Index, query: str) -> tuple[str, tuple[list[int], list[float]] | None, float]:
    """The answer, or None where the engine says that there is none now."""
    try:
        answer = found(index, query)
    except Unavailable:
        answer = None
    return query, answer, time.monotonic()


def test_without_nodes_a_search_says_so_and_other_pages_work(nodes: Nodes, server: str) -> None:
    for number in range(2):
        if nodes.processes[number].poll() is None:
            nodes.kill(number)
    status, page = status_and_page(f"{server}/search?q=climate+change")
    assert (status, opensearch.AWAY in page) == (503, True)
    status, answer = status_and_page(f"{server}/api/v1/search?q=climate+change")
    assert (status, opensearch.AWAY in answer) == (503, True)
    for address in ("/healthz", "/admin/login", "/attack", "/people", "/static/icon.svg"):
        assert status_and_page(f"{server}{address}")[0] == 200, address


def test_a_start_without_nodes_is_refused_in_one_line(nodes: Nodes) -> None:
    for number in range(2):
        if nodes.processes[number].poll() is None:
            nodes.kill(number)
    opensearch.connect.cache_clear()
    with pytest.raises(Unavailable, match=r"127.0.0.1:92\d\d, .*does not answer just now"):
        opensearch.connect(opensearch.Address.of_environment())
