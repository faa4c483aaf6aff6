"""What does a browser need to rank by itself? The candidates of a query with their vectors, and the words of these.

Both depend on the query and the documents alone, on nobody's profile. The texts of all candidates come along: whoever
asked for those that a profile puts first would tell the profile.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from flask import Request, Response
from scipy.sparse import csr_array

from shoal.anonymizer.methods.murmur import Murmur
from shoal.search.personal import PLAIN, search
from shoal.webapp.core.releases import Published
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher.mine import compress, compressed_answer
from shoal.webapp.searcher.search import with_document

_FINEST = 12  # parts of the smallest weight of a document, to find how often each of its words stands in it
_EXACT = 0.01


@dataclass(frozen=True, eq=False)
class HeldWords:
    """The word forms that a profile can hold, words of the dictionary, as far as the documents hold them."""

    column: np.ndarray  # of the vectors, ascending
    place: np.ndarray  # of each column of the vectors among these, or -1
    rarity: np.ndarray  # the inverse document frequency of each form, as the vectors were made with it
    packed: bytes
    version: str


@lru_cache(maxsize=2)
def held_words(service: SearchService) -> HeldWords:
    vectors = service.index.vectors
    known = {column for word, column in vectors.held(nouns=True) if service.knowledge.words(word) is not None}
    column = np.array(sorted(known), dtype=np.int64)
    place = np.full(vectors.width, -1)
    place[column] = np.arange(len(column))
    holding, forms = vectors.holding(column), vectors.names(column)
    spelled = ((word, int(place[at])) for word, at in vectors.spellings(column))
    described = {
        "forms": " ".join(forms), "documents": len(vectors), "holding": holding.tolist(),
        "spellings": {word: at for word, at in spelled if forms[at] != word},
    }  # fmt: skip
    version = hashlib.sha256(compress(described)).hexdigest()[:16]
    rarity = np.log((1 + len(vectors)) / (1 + holding)) + 1
    return HeldWords(column, place, rarity, compress({"version": version, **described}), version)


def words_answer(service: SearchService, request: Request) -> Response:
    """The same for everybody until other documents are served; a browser keeps it under its version."""
    words = held_words(service)
    response = compressed_answer(words.packed, request)
    if request.args.get("version") == words.version:
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


def candidates_answer(query: str, published: Published, service: SearchService, request: Request) -> Response:
    found = describe_candidates(query, service)
    return compressed_answer(compress({**found, "menu": describe_menu(query, found, published, service)}), request)


def describe_menu(
    query: str, found: dict[str, Any], published: Published, service: SearchService
) -> dict[str, Any] | None:
    """The words that may be said at this search, and the page of each, where the release is of `murmur`."""
    method = published.method
    if not isinstance(method, Murmur):
        return None
    documents = np.array([one["document"] for one in found["results"]], dtype=np.int64)
    menu = method.offered(service.index.vectors.search(query, documents), published.release)
    return {
        "release_id": published.loaded.release_id, "words": menu.words, "pages": menu.pages.tolist(),
        "epsilon": None if isinstance(method.epsilon, str) else method.epsilon, "most": method.words,
    }  # fmt: skip


def describe_candidates(query: str, service: SearchService) -> dict[str, Any]:
    """The candidates in the engine's order: what is shown of them, what that order gives, and their vectors."""
    found = search(service.index, query)
    ranking, words = found.rankings[PLAIN], held_words(service)
    shown = (with_document(result, service) for result in found.results([PLAIN], slice(None))[PLAIN])
    results = [
        {"document": one.document, "title": one.title, "source": one.source, "date": one.date,
         "snippet": [[piece.text, int(piece.highlighted)] for piece in one.snippet.pieces]}
        for one in shown
    ]  # fmt: skip
    vectors = pack_vectors(csr_array(service.index.vectors.rows(ranking.documents)), words)
    return {"query": query, "words": words.version, "results": results, "engine": _short(ranking.engine), **vectors}


def pack_vectors(vectors: csr_array, words: HeldWords) -> dict[str, list[Any]]:
    """The vectors word by word, as small numbers that compress well: a weight is times * rarity * unit.

    Word i of `forms` (gaps between places among the held words) is held by the next `holders[i]` of `places` (gaps
    between candidates), so many `times` each; a document's `unit` is what one occurrence of a word of rarity 1 weighs.
    """
    by_word = csr_array(vectors).tocsc()
    by_word.sort_indices()
    held = np.flatnonzero((np.diff(by_word.indptr) > 0) & (words.place >= 0))
    part = by_word[:, held]
    place, holders = words.place[held], np.diff(part.indptr)
    once = part.data / np.repeat(words.rarity[place], holders)
    unit = _units(once, part.indices, vectors.shape[0])
    return {
        "unit": _short(unit), "forms": np.diff(place, prepend=0).tolist(), "holders": holders.tolist(),
        "places": _gaps(part.indices, part.indptr[:-1]),
        "times": np.rint(once / unit[part.indices]).astype(int).tolist(),
    }  # fmt: skip


def _units(once: np.ndarray, document: np.ndarray, documents: int) -> np.ndarray:
    """The weight of one occurrence in each document: its smallest, or a part of it where no word stands there once."""
    least = np.full(documents, np.inf)
    np.minimum.at(least, document, once)
    least[np.isinf(least)] = 1.0
    unit = least.copy()
    for parts in range(2, _FINEST + 1):
        times = once / unit[document]
        odd = np.unique(document[np.abs(times - np.rint(times)) > _EXACT])
        if not len(odd):
            break
        unit[odd] = least[odd] / parts
    return unit


def _gaps(values: np.ndarray, begins: np.ndarray) -> list[int]:
    """Differences between neighbours; where a new word begins, the value itself."""
    gaps = np.diff(values, prepend=0)
    gaps[begins] = values[begins]
    return gaps.tolist()


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.8g}") for value in values.tolist()]
