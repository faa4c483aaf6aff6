"""/mine: a profile that the server never sees. The page, and all public profiles as one download to compare with."""

import gzip
import json
from functools import lru_cache
from typing import Any

import numpy as np
from flask import Request, Response, render_template

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.tokens import STOP_WORDS
from shoal.webapp.core.context import releases
from shoal.webapp.core.releases import Published
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher import pages


def compact_profiles(published: Published, service: SearchService, request: Request) -> Response:
    """All public profiles in one answer."""
    return compressed_answer(_packed(published, service), request, published.loaded.release_id)


@lru_cache(maxsize=4)
def _packed(published: Published, service: SearchService) -> bytes:
    return compress(describe_profiles(published, service))


def compress(described: dict[str, Any]) -> bytes:
    body = json.dumps(described, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(body.encode(), compresslevel=6, mtime=0)


def compressed_answer(packed: bytes, request: Request, version: str = "") -> Response:
    """The answer, compressed where the browser can read it. What has a version is sent when it changed."""
    response = Response(mimetype="application/json")
    response.headers["Vary"] = "Accept-Encoding"
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response.headers["Content-Encoding"] = "gzip"
        response.set_data(packed)
    else:
        response.set_data(gzip.decompress(packed))
    if version:
        response.set_etag(version)
        response.headers["Cache-Control"] = "private, max-age=0, must-revalidate"
        response.make_conditional(request)
    return response


def describe_profiles(published: Published, service: SearchService) -> dict[str, Any]:
    release = published.release
    leaves, spans = _spans(list(release.nodes.values()), published.loaded.stored.knowledge, service)
    return {
        "release_id": published.loaded.release_id, "labels": release.labels, "leaves": leaves,
        "spans": {str(i): span for i, span in zip(release.nodes, spans, strict=True)}, "ids": release.pseudonyms,
        "users": release.users.tolist(), "starts": release.weights.indptr.tolist(),
        "terms": release.weights.indices.tolist(),
        "weights": [float(f"{weight:.4g}") for weight in release.weights.data.tolist()],
    }  # fmt: skip


def _spans(labels: list[str], knowledge: Knowledge, service: SearchService) -> tuple[list[str], list[tuple[int, int]]]:
    """The leaves that the corpus holds, in the order of the tree, and the stretch of them below each label."""
    if not labels:
        return [], []
    taxonomy, leaves = knowledge.taxonomy, np.flatnonzero(knowledge.taxonomy.is_leaf).tolist()
    held = service.index.vectors.columns(taxonomy.labels[v].lower() for v in leaves)
    nodes = [v for v in leaves if taxonomy.labels[v].lower() in held]
    places = [taxonomy.node[label.lower()] for label in labels]
    spans = [tuple(np.searchsorted(nodes, [v, taxonomy.end[v]]).tolist()) for v in places]
    return [taxonomy.labels[v].lower() for v in nodes], [(low, high) for low, high in spans]


@pages.get("/mine")
def mine() -> str:
    """The same for everybody: it takes nothing from the request."""
    return render_template("searcher/mine.html", release=releases().current(), stop_words=STOP_WORDS)
