"""Does every code block of the documents run? Python and `shoal` in this process, beside a log."""

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shoal.cli import main, make_parser
from tests.evaluation.conftest import cache_of_tests, corpus_file, log_file  # noqa: F401

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>.+?) -->\n)?^```(?P<language>.*?)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)
READ_ONLY = {"text", "nginx", "ini"}  # nothing of ours runs these


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    why_not: str  # empty: it is run

    @property
    def commands(self) -> list[list[str]]:
        """The lines of a shell block as words, without what comes after a #."""
        return [words for line in self.code.splitlines() if (words := shlex.split(line, comments=True))]


def blocks_of(text: str) -> Iterator[Block]:
    for found in BLOCK.finditer(text):
        if not found["language"].startswith("{"):  # a directive of the site
            yield Block(found["language"], found["code"], found["why"] or "")


@pytest.fixture(scope="module", autouse=True)
def cache_of_this_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with cache_of_tests(tmp_path_factory):
        yield


@pytest.fixture
def desk(corpus_file: Path, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    """A folder as a reader has it: log.tsv and docs.jsonl."""
    (tmp_path / "log.tsv").write_bytes(log_file.read_bytes())
    (tmp_path / "docs.jsonl").write_bytes(corpus_file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(block: Block) -> None:
    if block.language == "python":
        exec(compile(block.code, "a block", "exec"), {"__name__": "example"})
    elif block.language == "toml":
        tomllib.loads(block.code)
    else:
        assert block.language == "sh", f"say what this is, by ```sh or another of {READ_ONLY}: {block.code[:60]}"
        for line in block.code.splitlines():
            run_line(line)


def run_line(line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "shoal":
        alone = ["--jobs", "1"] if words[1] == "evaluate" else []  # not by processes, which take seconds to begin
        assert main([*words[1:], *alone]) == 0, line
    else:
        assert words[0] == "printf", f"not run by a test: mark the block of {line}"
        subprocess.run(["bash", "-c", line], check=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_code_block_runs(page: Path, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks_of(page.read_text()):
        if not block.why_not and block.language not in READ_ONLY:
            run(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_not_run_is_at_least_a_command_that_there_is(page: Path) -> None:
    for block in blocks_of(page.read_text()):
        for words in block.commands if block.why_not and block.language == "sh" else []:
            if words[0] == "shoal":
                assert make_parser().parse_args(words[1:]).command == words[1]


def test_a_block_that_fails_or_says_nothing_of_itself_is_seen(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = "```sh\nshoal verify nowhere --log log.tsv\n```\n", "```\nshoal methods\n```\n", "```sh\nrm log.tsv\n```\n"
    for text in broken:
        with pytest.raises(AssertionError):
            run(next(blocks_of(text)))
    marked = next(blocks_of("<!-- not run: takes a day -->\n```sh\nshoal bench\n```\n"))
    assert marked.why_not == "takes a day"
