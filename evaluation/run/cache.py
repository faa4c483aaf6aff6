"""How is what took long kept for the next run? Arrays in files that are whole or not there, named by their inputs."""

import ast
import hashlib
import io
import os
import sys
import zipfile
from collections.abc import Iterable
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).parents[2]
# What no cell depends on.
_APART = tuple(_ROOT / "evaluation" / name for name in ("bench", "report", "figures", "films"))
_LITERAL = "literal.py"  # a slow reference, for tests
_CODE = (".py", *EXTENSION_SUFFIXES)


def code_digest(*layers: str) -> str:
    """A digest of the program's text: what other code made is made again."""
    files = [path for layer in layers for path in sorted((_ROOT / layer).rglob("*.py"))]
    return _digest(path for path in files if path.name != _LITERAL and not set(path.parents).intersection(_APART))


@lru_cache(maxsize=64)
def plugin_digest(module: str) -> str:
    """A digest of all code that a module of another package may run: its package, and what that imports.

    Followed are imports of everything that is of the same distribution or of none, such as a helper beside a plug-in.
    Of other distributions the version counts; the standard library and this program do not (see `code_digest`).
    """
    distributions = packages_distributions()
    found: dict[str, list[Path]] = {}
    versions: set[str] = set()
    waiting = [module.partition(".")[0]]
    of_plugin = set(distributions.get(waiting[0], []))
    while waiting:
        name = waiting.pop()
        if name in found or name == "shoal" or name in sys.stdlib_module_names:
            continue
        if others := set(distributions.get(name, [])) - of_plugin:
            versions |= {f"{other} {version(other)}" for other in others}
            continue
        found[name] = _files(name)
        waiting += sorted({imported for path in found[name] if path.suffix == ".py" for imported in _imports(path)})
    return _digest((path for name in sorted(found) for path in found[name]), *sorted(versions))


def _files(name: str) -> list[Path]:
    """The code of a top-level module, or of all of a package."""
    spec = find_spec(name) if name != "__main__" else None
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        folders = [Path(folder) for folder in spec.submodule_search_locations]
        return [path for folder in folders for path in sorted(folder.rglob("*")) if path.name.endswith(_CODE)]
    return [Path(spec.origin)] if spec.origin and Path(spec.origin).is_file() else []


def _imports(path: Path) -> set[str]:
    """The top-level modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.partition(".")[0])
    return names


def _digest(files: Iterable[Path], *more: str) -> str:
    sha = hashlib.sha256("|".join(more).encode())
    for path in files:
        sha.update(path.read_bytes())
    return sha.hexdigest()


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    """A file of arrays, there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content.getvalue())
    os.replace(temporary, path)


def read_arrays(path: Path) -> dict[str, np.ndarray] | None:
    """The arrays of a file; None where there is none, or where it is damaged."""
    try:
        with np.load(path) as file:
            return dict(file)
    except (OSError, ValueError, zipfile.BadZipFile, KeyError, EOFError):
        return None
