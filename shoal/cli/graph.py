"""How is a release seen as a graph? shoal graph: its public profiles, terms and queries as GraphML or GEXF."""

import argparse

from shoal.anonymizer.release_files import read_release
from shoal.anonymizer.release_graph import release_graph, write_graph
from shoal.cli.tables import print_json
from shoal.corpus.querylog import counted


def run(options: argparse.Namespace) -> None:
    graph = release_graph(read_release(options.release, secret=False).release)  # who is behind it stays unread
    write_graph(graph, options.out)
    profiles = sum(kind == "profile" for _, kind in graph.nodes(data="kind"))
    told = {"profiles": profiles, "others": len(graph) - profiles, "edges": graph.number_of_edges()}
    if options.json:
        print_json(told)
    else:
        others = counted(told["others"], "term or query node")
        print(f"{counted(profiles, 'profile')}, {others} and {counted(told['edges'], 'edge')} in {options.out}")
