"""How does another package bring a method, a verifier or a measure? As pip installs it: module, entry points."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.anonymizer.claims import verifiers
from shoal.anonymizer.registry import methods
from shoal.evaluation.measures.registry import columns, measures

ROOT = Path(__file__).parents[1]


def install(folder: Path, module: str, code: str, entry_points: str) -> None:
    """Put a package of one module into a folder, in the place of what it was."""
    information = folder / f"{module}-1.0.dist-info"
    information.mkdir(parents=True, exist_ok=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module.replace('_', '-')}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(entry_points)
    (folder / f"{module}.py").write_text(code)


@contextmanager
def found_in(folder: Path, *modules: str) -> Iterator[None]:
    """Meanwhile this process finds the packages of a folder; afterwards it has forgotten their modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        forget()
        yield
    forget()
    for module in modules:
        sys.modules.pop(module, None)


def forget() -> None:
    """What was registered is looked for again."""
    for table in (methods, verifiers, measures, columns):
        table.cache_clear()


def example(holding: str) -> str:
    """The example of CONTRIBUTING.md that holds some words."""
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    return next(text for text in examples if holding in text)
