"""Is a cluster asked only after it has proved who it is? A real node behind TLS, with an authority of the tests."""

import base64
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.corpus.errors import InputError, Unavailable
from shoal.search.engines import opensearch
from shoal.search.index import open_in_cluster
from tests.cluster.opensearch.conftest import SMALL
from tests.cluster.opensearch.nodes import Nodes
from tests.cluster.opensearch.terminator import Terminator, make_authority, make_certificate, terminator

SECRET = "reader:open-sesame"
HEADER = "Basic " + base64.b64encode(SECRET.encode()).decode()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def secured(nodes: Nodes, authority: Path) -> Iterator[Terminator]:
    with terminator(nodes.urls[0], make_certificate(authority.parent, authority, "localhost")) as server:
        yield server


@pytest.fixture(autouse=True)
def environment(secured: Terminator, authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(opensearch.URL, f"https://localhost:{secured.server_port}")
    monkeypatch.setenv(opensearch.AUTHORITY, str(authority))
    monkeypatch.setenv(opensearch.CREDENTIALS, SECRET)
    secured.credentials.clear()


def connected() -> opensearch.Cluster:
    return opensearch.connect(opensearch.Address.of_environment())


@pytest.mark.usefixtures("small")
def test_over_tls_an_index_is_asked_with_credentials_that_nothing_logs(
    secured: Terminator, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        index = open_in_cluster(connected(), SMALL)
        assert index is not None
        assert index.engine.candidates("lighthouse").documents.tolist() == [7, 8]
    assert set(secured.credentials) == {HEADER}
    said = caplog.text + "".join(capfd.readouterr())
    assert SMALL in said  # the library logs what it asks for
    assert not any(secret in said for secret in ("open-sesame", HEADER.split()[1]))


def test_an_authority_that_is_not_trusted_is_refused_before_anything_is_sent(
    secured: Terminator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(opensearch.AUTHORITY)
    with pytest.raises(Unavailable, match=rf"cannot prove who it is: look at {opensearch.AUTHORITY}"):
        connected()
    assert secured.credentials == []


def test_a_certificate_of_another_host_is_refused_before_anything_is_sent(
    secured: Terminator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(opensearch.URL, f"https://127.0.0.1:{secured.server_port}")
    with pytest.raises(Unavailable, match="cannot prove who it is"):
        connected()
    assert secured.credentials == []


def test_credentials_are_not_sent_in_the_clear(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(opensearch.URL, nodes.urls[0])
    with pytest.raises(InputError, match="would travel in the clear"):
        connected()
