"""How does OpenSearch find candidates? The engine for a corpus that no one machine holds, or that several serve.

An index is built under a name of its own; an alias, switched at the end, names the one to read. A build that is killed
leaves the alias as it was. Candidates bring their documents and vectors with them (search/cluster.py).
"""

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from shoal.corpus.errors import InputError, Unavailable
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.folders import read_secret
from shoal.search.cluster import ClusterDocuments, ClusterVectors, ClusterWords, document_of, form_id, pack, unpack
from shoal.search.engines.base import K1, Candidates, Engine
from shoal.search.impacts import impacts, scale_for
from shoal.search.query import ALL, FIELDS, TEXT, TITLE, Clause
from shoal.search.streaming import Block, Counted, Read, count_words, weighed_blocks

NAME = "opensearch"
FORMAT = 3  # raised whenever an older index in a cluster could not be read any more, or would be read as something else
URL, CREDENTIALS, AUTHORITY = "SHOAL_OPENSEARCH_URL", "SHOAL_OPENSEARCH_CREDENTIALS", "SHOAL_OPENSEARCH_CA"
WAIT, TRIES = 10, 2  # seconds for one answer, and how often it is asked for again
WAIT_FOR_WRITES = 120
BRINGS = 100  # up to so many candidates bring their documents and vectors with them
LARGEST_PAGE = 10_000  # of hits, by OpenSearch's own limit
OLDEST = (2, 10)  # takes the frequency of a word as it is told
BATCH = 500  # records in one bulk request
GONE = "the index is not in the search cluster any more: restart the server, or run `shoal setup`"
AWAY = "the search cluster does not answer just now: wait a moment and try again"


@dataclass(frozen=True)
class Address:
    """Where a cluster is, and as whom it is asked."""

    urls: tuple[str, ...]
    credentials: str = field(default="", repr=False)  # user:password
    authority: str = ""  # a file of certificates; empty: those of the system

    @classmethod
    def of_environment(cls) -> "Address":
        urls = tuple(url.strip().rstrip("/") for url in os.environ.get(URL, "").split(",") if url.strip())
        if not urls:
            raise InputError(f"no search cluster: give its address by --url https://host:9200, or as {URL}")
        for url in urls:
            _refuse_unsafe(url)
        credentials = os.environ.get(CREDENTIALS, "")
        if credentials.startswith("@"):
            credentials = read_secret(Path(credentials[1:]), f"{CREDENTIALS}=@FILE with user:password in it")
        if credentials and ":" not in credentials:
            raise InputError(f"{CREDENTIALS} is not user:password: give that, or @FILE with it in a file of your own")
        if credentials and any(urlsplit(url).scheme == "http" for url in urls):
            raise InputError(f"{CREDENTIALS} would travel in the clear: give an address that begins with https://")
        return cls(urls, credentials, os.environ.get(AUTHORITY, ""))


def _refuse_unsafe(url: str) -> None:
    """Queries and passwords travel to the cluster: never in the clear, and never on a command line."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"--url {url}: expected an address such as https://host:9200")
    if parts.password is not None:
        raise InputError(f"--url holds a password, which everybody on this machine could see: set {CREDENTIALS}")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise InputError(f"--url {url}: queries would travel in the clear; give an address that begins with https://")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Cluster:
    """A client that is bounded in time, and whose failures are one error."""

    def __init__(self, address: Address, wait: int = WAIT) -> None:
        self._address, self._wait = address, wait
        _library()
        self._client, self._process = self._connect(), os.getpid()

    def _connect(self) -> Any:
        address = self._address
        if address.authority and not Path(address.authority).is_file():
            raise InputError(f"{AUTHORITY}={address.authority}: there is no such file of certificates")
        return _library().OpenSearch(
            list(address.urls), timeout=self._wait, max_retries=TRIES, retry_on_timeout=True, pool_maxsize=16,
            http_auth=tuple(address.credentials.split(":", 1)) if address.credentials else None,
            verify_certs=True, ca_certs=address.authority or None,
        )  # fmt: skip

    @property
    def client(self) -> Any:
        """Connections are never shared with the process that this one was forked from."""
        if self._process != os.getpid():
            self._client, self._process = self._connect(), os.getpid()
        return self._client

    def patient(self) -> "Cluster":
        """The same for who builds: what was asked for twice because it took long would be refused."""
        return Cluster(self._address, WAIT_FOR_WRITES)

    @contextmanager
    def asked(self) -> Iterator[Any]:
        """The client, whose errors say what to do. They say nothing of what was asked."""
        errors = _library().exceptions
        try:
            yield self.client
        except (errors.AuthenticationException, errors.AuthorizationException) as error:
            raise Unavailable(f"the search cluster refuses its credentials: look at {CREDENTIALS}") from error
        except errors.NotFoundError as error:
            raise Unavailable(GONE) from error
        except errors.SSLError as error:
            raise Unavailable(f"the search cluster cannot prove who it is: look at {AUTHORITY}") from error
        except errors.OpenSearchException as error:
            raise Unavailable(AWAY) from error

    def get(self, index: str, ids: Sequence[str], fields: Sequence[str]) -> list[dict[str, Any] | None]:
        with self.asked() as client:
            answer = client.mget(body={"ids": list(ids)}, index=index, params={"_source_includes": ",".join(fields)})
        failed = {record["error"]["type"] for record in answer["docs"] if "error" in record}
        if failed:  # a part that no node holds just now, or all of it
            raise Unavailable(GONE if "index_not_found_exception" in failed else AWAY)
        return [record["_source"] if record["found"] else None for record in answer["docs"]]

    def search(self, index: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """All of the answer or none of it: parts that did not answer would change the ranking unseen."""
        given = {"search_type": "dfs_query_then_fetch", "allow_partial_search_results": "false"}
        given["cancel_after_time_interval"] = f"{WAIT}s"
        with self.asked() as client:
            answer = client.search(body={"track_total_hits": False, **body}, index=index, params=given)
        if answer["timed_out"] or answer["_shards"]["failed"]:
            raise Unavailable(AWAY)
        return answer["hits"]["hits"]

    def pages(
        self, index: str, query: dict[str, Any], order: list[Any], fields: Sequence[str], size: int
    ) -> Iterator[list[dict[str, Any]]]:
        body: dict[str, Any] = {"query": query, "sort": order, "_source": list(fields), "size": size}
        while page := self.search(index, body):
            yield page
            if len(page) < size:
                return
            body["search_after"] = page[-1]["sort"]


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        import opensearchpy
    except ImportError as error:
        raise InputError("OpenSearch needs a library: run `pip install 'shoal-search[opensearch]'`") from error
    return opensearchpy


@lru_cache(maxsize=4)
def connect(address: Address) -> Cluster:
    """A cluster that has answered once. Whoever starts a program may know where it was looked for."""
    cluster = Cluster(address)
    try:
        with cluster.asked() as client:
            client.info()
    except Unavailable as error:
        raise Unavailable(f"{', '.join(address.urls)}: {error}") from error
    return cluster


@dataclass(frozen=True, eq=False)
class Opened:
    """The index that an alias names, as it was when it was opened."""

    engine: "OpenSearchEngine"
    vectors: ClusterVectors
    documents: ClusterDocuments
    meta: dict[str, Any]


def open_alias(cluster: Cluster, alias: str) -> Opened | None:
    """Readers keep to the index that the alias names now; the one before it stays until the next build."""
    with cluster.asked() as client:
        if not client.indices.exists_alias(name=alias):
            return None
        ((index, described),) = client.indices.get(index=alias).items()
    meta = described["mappings"]["_meta"]
    words = ClusterWords(cluster, _words_index(index), meta["least"])
    documents = ClusterDocuments(cluster, index, meta["documents"])
    vectors = ClusterVectors(cluster, index, meta["documents"], words, meta["width"])
    engine = OpenSearchEngine(cluster, index, words, documents, vectors, meta["scale"])
    return Opened(engine, vectors, documents, meta)


def build(cluster: Cluster, alias: str, read: Read, about: dict[str, Any], progress: Progress = silent) -> None:
    """Read the documents twice and put an index of them in the place of the one that the alias names, if any."""
    cluster, counted = cluster.patient(), count_words(read, progress)
    if not counted.documents:
        raise InputError(f"{about['name']} holds no documents; an index needs at least one")
    index = f"{alias}-{secrets.token_hex(8)}"
    try:
        _fill(cluster, index, read, counted, about, progress)
        _switch(cluster, alias, index)
    except BaseException:
        with suppress(Unavailable):  # what is left there goes with the next build
            _delete(cluster, [index, _words_index(index)])
        raise


def _fill(
    cluster: Cluster, index: str, read: Read, counted: Counted, about: dict[str, Any], progress: Progress
) -> None:
    frequency = counted.lexicon.document_frequency
    meta = {**about, "documents": counted.documents, "digest": counted.digest, "width": len(counted.lexicon.forms)}
    meta["least"], meta["scale"] = int(min(2, frequency.max(initial=0))), scale_for(counted.mean_lengths[ALL])
    words, records = _words_index(index), len(counted.lexicon.ids) + meta["width"]
    _create(cluster, index, {"_meta": meta, **_documents_mapping()}, meta["scale"])
    _create(cluster, words, _words_mapping())
    _send(cluster, words, _word_records(counted), records, "indexing words in OpenSearch", progress)
    blocks = weighed_blocks(read, counted)
    documents = chain.from_iterable(_document_records(block, counted, meta["scale"]) for block in blocks)
    _send(cluster, index, documents, counted.documents, "indexing with OpenSearch", progress)
    _finish(cluster, index, counted.documents)
    _finish(cluster, words, records)


def _words_index(index: str) -> str:
    return f"{index}-words"


def _create(cluster: Cluster, index: str, mapping: dict[str, Any], scale: int = 1) -> None:
    """One part for each node; copies are made when all is there."""
    with cluster.asked() as client:
        nodes = client.cluster.health()["number_of_data_nodes"]
        version = tuple(int(part) for part in client.info()["version"]["number"].split(".")[:2])
        if version < OLDEST:
            raise InputError(f"the search cluster is OpenSearch {version[0]}.{version[1]}: 2.10 or later is needed")
        # Since version 3, "BM25" leaves out a factor that is the same for all documents, k1 + 1.
        similarity = {"type": "BM25" if version < (3, 0) else "LegacyBM25", "k1": scale, "b": 0}
        analyzer = {"type": "custom", "tokenizer": "whitespace", "filter": ["delimited_term_freq"]}
        settings = {
            "number_of_shards": nodes, "number_of_replicas": 0, "refresh_interval": "-1",
            "similarity": {"default": similarity}, "analysis": {"analyzer": {"impacts": analyzer}},
        }  # fmt: skip
        client.indices.create(index=index, body={"settings": {"index": settings}, "mappings": mapping})


def _documents_mapping() -> dict[str, Any]:
    # The forms are joined by spaces: our tokenizer has done the work. Places find phrases, and impacts score.
    words = {"type": "text", "analyzer": "whitespace", "position_increment_gap": 100, "norms": False}
    scored = {"type": "text", "analyzer": "impacts", "index_options": "freqs", "norms": False}
    properties = dict.fromkeys(FIELDS, words) | {_scored(field): scored for field in FIELDS}
    properties |= {"position": {"type": "integer"}, "kept": _KEPT}
    return {"dynamic": False, "_source": {"includes": ["kept"]}, "properties": properties}


def _scored(field: str) -> str:
    """The field that scores what is found in a field."""
    return f"{field}_impacts"


def _words_mapping() -> dict[str, Any]:
    kinds = {"word": "keyword", "df": "integer", "letters": "integer", "noun": "boolean"}
    properties = {name: {"type": kind} for name, kind in kinds.items()} | {"kept": _KEPT}
    return {"dynamic": False, "properties": properties}


_KEPT = {"type": "object", "enabled": False}  # stored, and not looked into


def _document_records(block: Block, counted: Counted, scale: int) -> Iterator[dict[str, Any]]:
    forms = np.array(block.analysis.lexicon.forms, dtype=object)
    scored = impacts(block.analysis, counted.mean_lengths, scale)
    for i, document in enumerate(block.documents):
        title, text = block.analysis.title.words(forms, i), block.analysis.text.words(forms, i)
        row = slice(block.vectors.indptr[i], block.vectors.indptr[i + 1])
        vector = pack(block.vectors.indices[row], block.vectors.data[row])
        # Two values of one field: there is a gap between them that no phrase crosses.
        yield {
            "_id": str(block.begin + i), "position": block.begin + i, ALL: [title, text], TITLE: title, TEXT: text,
            **{_scored(field): next(scored[field]) for field in FIELDS},
            "kept": {**vars(document), "vector": vector},
        }  # fmt: skip


def _word_records(counted: Counted) -> Iterator[dict[str, Any]]:
    lexicon = counted.lexicon
    frequency = dict(zip(lexicon.words, lexicon.document_frequency.tolist(), strict=True))
    for word, number in lexicon.ids.items():
        form = lexicon.forms[number]
        yield {
            "_id": word, "word": word, "df": frequency.get(word, 0), "letters": len(word),
            "noun": load_wordnet().lemma(word) is not None,
            "kept": {"number": number, "form": form, "spellings": lexicon.spellings(form)},
        }  # fmt: skip
    for number, form in enumerate(lexicon.forms):
        kept = {"form": form, "spellings": lexicon.spellings(form), "holding": int(counted.holding[number])}
        yield {"_id": form_id(number), "kept": kept}


def _send(
    cluster: Cluster, index: str, records: Iterable[dict[str, Any]], total: int, stage: str, progress: Progress
) -> None:
    """Each record once: what is sent again because an answer was lost is there already, and that is well."""
    actions = ({"_op_type": "create", **record} for record in records)
    with cluster.asked() as client:
        sent = _library().helpers.streaming_bulk(
            client, actions, index=index, chunk_size=BATCH, max_retries=TRIES, raise_on_error=False
        )
        for done, (well, answer) in enumerate(sent):
            if not well and answer["create"]["status"] != 409:
                raise Unavailable(f"the search cluster takes no documents (status {answer['create']['status']})")
            if done % BATCH == 0:
                progress(done, total, stage)
    progress(total, total, stage)


def _finish(cluster: Cluster, index: str, records: int) -> None:
    """Visible, whole, and with a copy on another node where there is one."""
    with cluster.asked() as client:
        settings = {"index": {"refresh_interval": None, "auto_expand_replicas": "0-1"}}
        client.indices.put_settings(index=index, body=settings)
        client.indices.refresh(index=index)
        there = client.count(index=index)["count"]
    if there != records:
        raise Unavailable(f"the search cluster holds {there:,} of {records:,} records: build the index again")


def _switch(cluster: Cluster, alias: str, index: str) -> None:
    """One step, so that every reader sees the old index or the new one; then what is older than both goes."""
    with cluster.asked() as client:
        before = list(client.indices.get_alias(name=alias)) if client.indices.exists_alias(name=alias) else []
        removed = [{"remove": {"index": name, "alias": alias}} for name in before]
        client.indices.update_aliases(body={"actions": [*removed, {"add": {"index": index, "alias": alias}}]})
        kept = {name for one in (index, *before) for name in (one, _words_index(one))}
        _delete(cluster, [name for name in client.indices.get(index=f"{alias}-*") if name not in kept])


def _delete(cluster: Cluster, indexes: list[str]) -> None:
    if indexes:
        with cluster.asked() as client:
            client.indices.delete(index=",".join(indexes), ignore_unavailable=True)


class OpenSearchEngine(Engine):
    """BM25 by OpenSearch over all its parts, as if they were one. Threads may share it."""

    def __init__(
        self, cluster: Cluster, index: str, words: ClusterWords, documents: ClusterDocuments, vectors: ClusterVectors,
        scale: int,
    ) -> None:  # fmt: skip
        super().__init__(words, documents, words)
        self._cluster, self._index, self._documents, self._vectors = cluster, index, documents, vectors
        self._boost = (K1 + 1) / (scale + 1)  # OpenSearch's own factor is that of its k1, which is the scale

    def _best(self, wanted: tuple[Clause, ...], excluded: tuple[Clause, ...], limit: int) -> Candidates:
        query = {"bool": {"should": [self._query(clause) for clause in wanted], "minimum_should_match": 1}}
        query["bool"]["must_not"] = [self._query(clause) for clause in excluded]
        fields, size = ["kept"] if limit <= BRINGS else [], min(limit, LARGEST_PAGE)
        positions, scores = [], []
        for page in self._cluster.pages(self._index, query, ["_score", {"position": "asc"}], fields, size):
            self._keep(page if fields else [])
            positions += [int(hit["_id"]) for hit in page]
            scores += [hit["_score"] for hit in page]
            if len(positions) >= limit:
                break
        return Candidates(np.array(positions[:limit], dtype=np.int64), np.array(scores[:limit], dtype=np.float64))

    def _keep(self, hits: list[dict[str, Any]]) -> None:
        kept = {int(hit["_id"]): hit["_source"]["kept"] for hit in hits}
        self._documents.keep({i: document_of(source) for i, source in kept.items()})
        self._vectors.keep({i: unpack(source["vector"]) for i, source in kept.items()})

    def _part(self, clause: Clause, document: int) -> float:
        """A clause's own score: the clause and that one document, which adds nothing."""
        query = {"bool": {"must": [self._query(clause)], "filter": [{"ids": {"values": [str(document)]}}]}}
        hits = self._cluster.search(self._index, {"query": query, "size": 1, "_source": False})
        return float(hits[0]["_score"]) if hits else 0.0

    def _query(self, clause: Clause) -> dict[str, Any]:
        field, forms = _scored(clause.field), dict.fromkeys(clause.words)
        terms = [{"term": {field: {"value": form, "boost": self._boost}}} for form in forms]
        if len(clause.words) == 1:
            return terms[0]
        # A phrase is scored by the words that make it up, as in the other engines.
        phrase = {"match_phrase": {clause.field: " ".join(clause.words)}}
        return {"bool": {"filter": [phrase], "must": terms}}

    def close(self) -> None:
        """Connections are the cluster's, which others may use."""
