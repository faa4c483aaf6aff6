"""What does a release look like as a graph? Published profiles with their terms and queries, for networkx, GraphML."""

import re
from pathlib import Path

import networkx as nx

from shoal.anonymizer.base import Release
from shoal.corpus.errors import InputError

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_WRITERS = {".graphml": nx.write_graphml, ".gexf": nx.write_gexf}


def release_graph(release: Release) -> nx.Graph:
    """A node per published profile, with how many users share it, and per term or query; an edge where it has one.

    Only what is public is in it. Nodes of different kinds have names of their own: profile p0001, term wine.
    """
    graph = nx.Graph()
    for row, (name, users) in enumerate(zip(release.pseudonyms, release.users.tolist(), strict=True)):
        graph.add_node(f"profile {name}", kind="profile", label=name, users=users)
        for term, weight in release.profile(row).items():
            _join(graph, f"profile {name}", "term", term, weight=weight)
    for i, label in enumerate(release.labels):
        if f"term {_text(label)}" in graph:
            graph.nodes[f"term {_text(label)}"]["generalized"] = bool(release.generalized[i])
    if release.queries is not None:
        said = release.queries
        rows = zip(said.pseudonym.tolist(), said.query, said.count.tolist(), said.degree.tolist(), strict=True)
        for place, query, count, degree in rows:
            _join(graph, f"profile {release.pseudonyms[place]}", "query", query, weight=float(count), degree=degree)
    return graph


def _join(graph: nx.Graph, profile: str, kind: str, label: str, **values: float) -> None:
    text = _text(label)
    graph.add_node(f"{kind} {text}", kind=kind, label=text)
    graph.add_edge(profile, f"{kind} {text}", **values)


def _text(label: str) -> str:
    return _NOT_IN_XML.sub("", label)


def write_graph(graph: nx.Graph, path: Path) -> None:
    """Write the graph as .graphml or .gexf, which most programs for graphs read."""
    if path.suffix.lower() not in _WRITERS:
        raise InputError(f"{path} ends in {path.suffix or 'nothing'}: a graph is written as {' or '.join(_WRITERS)}")
    _WRITERS[path.suffix.lower()](graph, path)
