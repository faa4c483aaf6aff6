"""Is the set-up of a server done in a process of its own, and is nothing started before the server forks?"""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import jinja2
import pytest

from shoal.cli import make_parser
from shoal.cli.serve import Beside
from shoal.cli.setup import serve_command
from shoal.corpus.errors import Conflict
from shoal.webapp.core.server import KeptTemplates


@pytest.mark.parametrize(
    "given",
    [
        ["--data", "films"],
        ["--corpus", "my docs.jsonl", "--log", "log.tsv"],
        ["--corpus", "docs.jsonl", "--engine", "opensearch", "--url", "https://one:9200,https://two:9200"],
    ],
)
def test_setup_ends_with_the_command_that_serves_what_was_set_up(given: list[str]) -> None:
    parse = make_parser().parse_args
    shoal, *command = shlex.split(serve_command(parse(["setup", *given])))
    assert shoal == "shoal"
    assert parse(command) == parse(["serve", *given])


def test_what_is_done_beside_is_done_when_it_was_waited_for(tmp_path: Path) -> None:
    with Beside(lambda: (tmp_path / "by").write_text(str(os.getpid())) and None) as beside:
        beside.wait()
    assert int((tmp_path / "by").read_text()) != os.getpid()


def test_its_error_is_raised_by_whoever_waits() -> None:
    def refuse() -> None:
        raise Conflict("the database does not know r1")

    with pytest.raises(Conflict, match="does not know r1"), Beside(refuse) as beside:
        beside.wait()


def test_it_ends_with_the_block_that_it_is_beside_of(tmp_path: Path) -> None:
    def stay() -> None:
        time.sleep(2)
        (tmp_path / "late").touch()

    began = time.monotonic()
    with pytest.raises(SystemExit), Beside(stay):
        raise SystemExit(143)  # as SIGTERM does
    assert time.monotonic() - began < 2
    assert not (tmp_path / "late").exists()


_LOOK = """
import os, sys
from pathlib import Path
from shoal.webapp.core.server import Server
from shoal.webapp.core.settings import Settings
Server(Settings(instance=Path(sys.argv[1])), 1, 1)
print(*(Path(f"/proc/self/task/{thread}/comm").read_text().strip() for thread in os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux names threads there")
def test_what_the_processes_of_a_server_are_forked_from_has_opened_nothing_and_works_with_no_threads(
    tmp_path: Path,
) -> None:
    instance = tmp_path / "instance"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", _LOOK, str(instance)], capture_output=True, text=True, check=True
    )
    assert not [name for name in ended.stdout.split() if name.startswith("polars-") and name[7:].isdigit()]
    assert [path.name for path in instance.iterdir()] == ["templates"]


def page(folder: Path, source: str) -> jinja2.Template:
    pages = jinja2.Environment(loader=jinja2.DictLoader({"page": source}), bytecode_cache=KeptTemplates(folder))
    return pages.get_template("page")


def test_a_template_is_compiled_once_and_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compiling = jinja2.Environment._compile
    monkeypatch.setattr(
        jinja2.Environment, "_compile", lambda self, text, name: compiled.append(name) or compiling(self, text, name)
    )
    made = [page(tmp_path / "templates", source).render(of="1") for source in ("{{ of }}", "{{ of }}", "{{ of }}2")]
    assert (made, len(compiled)) == (["1", "1", "12"], 2)


def test_what_is_around_templates_is_a_reason_to_compile_them_again(tmp_path: Path) -> None:
    one, other = KeptTemplates(tmp_path), KeptTemplates(tmp_path)
    assert one.get_source_checksum("{{ of }}") == other.get_source_checksum("{{ of }}")
    other._around = "other filters"
    assert one.get_source_checksum("{{ of }}") != other.get_source_checksum("{{ of }}")


@pytest.mark.parametrize("kept", ["nowhere/templates", "broken"])
def test_templates_that_cannot_be_kept_or_read_again_are_compiled(tmp_path: Path, kept: str) -> None:
    if kept == "broken":
        page(tmp_path / kept, "{{ of }}")
        for path in (tmp_path / kept).iterdir():
            path.write_bytes(path.read_bytes()[:-5])
    assert page(tmp_path / kept, "{{ of }}").render(of="1") == "1"
