"""How is what took long kept for the next run? Arrays in files that are whole or not there, named by their inputs."""

import hashlib
import io
import os
import zipfile
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).parents[2]
_APART = ("bench", "report", "figures", "films")  # folders whose code no result depends on
_SHOWING = ("literal", "report", "plot")  # files that no result depends on


def code_digest(*layers: str) -> str:
    """A digest of the program's text: what other code made is made again."""
    sha = hashlib.sha256()
    for layer in layers:
        for path in sorted((_ROOT / layer).rglob("*.py")):
            if path.parent.name not in _APART and not path.name.startswith(_SHOWING):
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
