"""Is the graph of a release what is public of it, and can networkx read it again?"""

import json
from pathlib import Path

import networkx as nx
import pytest

from shoal.cli import main


@pytest.mark.parametrize(("method", "settings"), [("random", ["k=6"]), ("equality", ["k=2"])])
def test_a_graph_holds_profiles_with_their_terms_and_queries_and_no_user(
    method: str, settings: list[str], log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release, out = tmp_path / "release", tmp_path / "groups.graphml"
    given = [word for setting in settings for word in ("--set", setting)]
    assert main(["anonymize", "--log", str(log_file), "--method", method, *given, "--out", str(release)]) == 0
    capsys.readouterr()
    assert main(["graph", str(release), "--out", str(out), "--json"]) == 0
    told, graph = json.loads(capsys.readouterr().out), nx.read_graphml(out)
    profiles = [json.loads(line) for line in (release / "profiles.jsonl").read_text().splitlines()]
    assert told["profiles"] == len(profiles)
    assert told["edges"] == graph.number_of_edges()
    for profile in profiles:
        node = f"profile {profile['id']}"
        terms = {graph.nodes[n]["label"]: graph.edges[node, n]["weight"] for n in graph[node] if n.startswith("term ")}
        assert terms == pytest.approx(profile["terms"])
    assert "user-" not in out.read_text()
    if method == "equality":
        rows = (release / "queries.tsv").read_text().splitlines()[1:]
        assert sum(one.startswith("query ") for edge in graph.edges for one in edge) == len(rows)


def test_a_graph_of_another_ending_or_without_a_release_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["graph", str(tmp_path), "--out", str(tmp_path / "g.graphml")]) == 2
    assert "no release at" in capsys.readouterr().err
