"""Does every layer import only what it may? The table of the design, read from the imports themselves."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("corpus", "search", "anonymizer", "evaluation", "webapp", "shoal")
NUMBERS = {"numpy", "scipy", "polars", "tqdm"}
SCORES = {"ir_measures", "networkx", "numba", "pytrec_eval", "sklearn"}
PLOTS = {"altair", "vl_convert"}
PAGES = {"apiflask", "flask", "flask_wtf", "gunicorn", "jinja2", "markupsafe", "werkzeug", "wtforms"}
SPARK = {"py4j", "pyarrow", "pyspark"}
DATABASE = {"alembic", "sqlalchemy"}
BELOW = {"corpus", "search", "anonymizer", "evaluation", "webapp"}
MAY_IMPORT = {
    "corpus": NUMBERS | {"corpus", "nltk", "filelock", "ir_datasets", "platformdirs", "zstandard"},
    "search": NUMBERS | {"corpus", "search", "sklearn", "whoosh", "tantivy", "opensearchpy"},
    "anonymizer": NUMBERS | SPARK | {"corpus", "anonymizer", "networkx", "numba", "opendp"},
    "evaluation": NUMBERS | PLOTS | SCORES | {"corpus", "search", "anonymizer", "evaluation", "bm25s"},
    "webapp": NUMBERS | PLOTS | PAGES | DATABASE | BELOW,
    "shoal": NUMBERS
    | BELOW
    | {
        "cli",
        "compiling",
        "corpora",
        "experiments",
        "manual",
        "nbclient",
        "nbformat",
        "notebook",
        "pandas",
        "pyterrier",
        "shtab",
    },
}
ONE_FILE_ONLY = {
    "whoosh": "search/engines/whoosh.py",
    "tantivy": "search/engines/tantivy.py",
    "opensearchpy": "search/engines/opensearch.py",
    "bm25s": "evaluation/bench/search.py",
    "nltk": "corpus/knowledge/wordnet.py",
    "filelock": "corpus/store/folders.py",
    "platformdirs": "corpus/store/folders.py",
    "ir_datasets": "corpus/store/ir_datasets.py",
    "pyterrier": "shoal/pyterrier.py",
    "zstandard": "corpus/logs/files.py",
}
LONGEST = 400  # lines: above that, a file has two jobs


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_by(path: Path) -> frozenset[str]:
    """The layers of ours, and the libraries, that a file imports anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names.update(_layer(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module is not None
            names.update(_layer(f"{node.module}.{alias.name}") for alias in node.names)
    return frozenset(names - set(sys.stdlib_module_names))


def _layer(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "shoal" and len(parts) > 1 else parts[0]


def files_of(layer: str) -> list[Path]:
    """The files of a layer. rglob follows no links, so those of `shoal` are without the layers that it links to."""
    return sorted((ROOT / layer).rglob("*.py"))


def all_files() -> list[Path]:
    return [path for layer in LAYERS for path in files_of(layer)]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_what_the_design_allows(layer: str) -> None:
    assert files_of(layer)
    wrong = {name_of(path): imported_by(path) - MAY_IMPORT[layer] for path in files_of(layer)}
    assert {path: names for path, names in wrong.items() if names} == {}


def test_only_people_import_the_command_line() -> None:
    assert {name_of(path) for path in all_files() if "cli" in imported_by(path)} <= {
        name_of(path) for path in files_of("shoal")
    }


def test_only_the_web_application_imports_flask() -> None:
    flask = {name_of(path) for path in all_files() if PAGES & imported_by(path) and path not in files_of("webapp")}
    assert flask == set()


@pytest.mark.parametrize(("library", "file"), ONE_FILE_ONLY.items())
def test_a_library_behind_a_protocol_is_imported_by_one_file(library: str, file: str) -> None:
    assert {name_of(path) for path in all_files() if library in imported_by(path)} == {file}


def test_only_what_runs_on_a_cluster_imports_spark() -> None:
    cluster = ROOT / "anonymizer" / "cluster"
    assert {name_of(path) for path in all_files() if SPARK & imported_by(path) and cluster not in path.parents} == set()


def test_an_import_that_the_design_forbids_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("from shoal import cli\n\n\ndef late():\n    import flask.json\n    from shoal.webapp import x\n")
    assert imported_by(path) == {"cli", "flask", "webapp"}


def test_the_first_line_of_every_file_says_what_it_is() -> None:
    silent = [name_of(path) for path in all_files() if len(first_line(path).split()) < 3]
    assert silent == []


def first_line(path: Path) -> str:
    """The sentence that a file begins with; empty where its first line is something else."""
    line = path.read_text(encoding="utf-8").partition("\n")[0]
    return line.strip('"') if line.startswith('"""') else ""


def test_no_file_has_two_jobs() -> None:
    long = {name_of(path): n for path in all_files() if (n := len(path.read_text().splitlines())) > LONGEST}
    assert long == {}


def test_no_package_holds_a_name_that_one_of_its_modules_would_overwrite() -> None:
    """Importing `a.b` sets the name b in the package a, whatever its __init__ had put there."""
    clashes = {}
    for init in (path for layer in LAYERS for path in files_of(layer) if path.name == "__init__.py"):
        below = {p.stem for p in init.parent.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()}
        if found := _names_of(init) & below:
            clashes[str(init.relative_to(ROOT))] = found
    assert clashes == {}


def _names_of(path: Path) -> set[str]:
    """What a package defines or imports at its top; what comes from the module of that name is bound after it."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            package = ".".join(["shoal", *path.relative_to(ROOT).parent.parts])
            bound = {alias.asname or alias.name for alias in node.names if node.module != package}
            names |= bound - {node.module.removeprefix(f"{package}.")}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return names
