"""Does every layer import only what it may? The table of the design, read from the imports themselves."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("corpus", "search", "anonymizer", "evaluation", "webapp")
NUMBERS = {"numpy", "scipy", "polars", "tqdm"}
MAY_IMPORT = {
    "corpus": NUMBERS | {"corpus", "nltk", "filelock", "platformdirs"},
    "search": NUMBERS | {"corpus", "search", "sklearn", "whoosh", "tantivy"},
    "anonymizer": NUMBERS | {"corpus", "anonymizer", "networkx", "numba"},
    "evaluation": NUMBERS
    | {"corpus", "search", "anonymizer", "evaluation", "sklearn", "networkx", "numba", "ir_measures", "pytrec_eval"}
    | {"altair", "vl_convert"},
}
ONE_FILE_ONLY = {
    "whoosh": "search/engines/whoosh.py",
    "tantivy": "search/engines/tantivy.py",
    "nltk": "corpus/knowledge/wordnet.py",
    "filelock": "corpus/store/locks.py",
    "platformdirs": "corpus/store/folders.py",
}


def imported_by(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(_layer(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(_layer(node.module))
    return names - set(sys.stdlib_module_names)


def _layer(module: str) -> str:
    """The layer of ours, or the library, that a module belongs to."""
    parts = module.split(".")
    return parts[1] if parts[0] == "shoal" and len(parts) > 1 else parts[0]


def files_of(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_a_layer_imports_only_what_the_design_allows(layer: str) -> None:
    wrong = {str(p.relative_to(ROOT)): imported_by(p) - MAY_IMPORT[layer] for p in files_of(layer)}
    assert {path: names for path, names in wrong.items() if names} == {}


def test_only_the_web_application_imports_flask() -> None:
    flask = {str(p.relative_to(ROOT)) for layer in MAY_IMPORT for p in files_of(layer) if "flask" in imported_by(p)}
    assert flask == set()


@pytest.mark.parametrize(("library", "file"), ONE_FILE_ONLY.items())
def test_a_library_behind_a_protocol_is_imported_by_one_file(library: str, file: str) -> None:
    importers = {str(p.relative_to(ROOT)) for layer in LAYERS for p in files_of(layer) if library in imported_by(p)}
    assert importers == {file}


@pytest.mark.parametrize("layer", LAYERS)
def test_the_first_line_of_every_file_says_which_question_it_answers(layer: str) -> None:
    silent = [str(p.relative_to(ROOT)) for p in files_of(layer) if not ast.get_docstring(ast.parse(p.read_text()))]
    assert silent == []


def test_no_file_has_two_jobs() -> None:
    files = [path for layer in LAYERS for path in files_of(layer)]
    long = {str(path.relative_to(ROOT)): n for path in files if (n := len(path.read_text().splitlines())) > 400}
    assert long == {}
