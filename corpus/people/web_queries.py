"""What do people type into a web search engine? 110,000 real queries, without users."""

from pathlib import Path

from shoal.corpus.documents.document import clean
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.fetch import bring


def load_web_queries(progress: Progress = silent) -> list[str]:
    """The queries in the order of their files, repetitions kept."""
    paths = sorted(bring("web-queries", progress).glob("topics.*.txt"))
    return [query for path in paths for query in _queries(path)]


def _queries(path: Path) -> list[str]:
    """A line is `number:query`, or `number:priority:query` in the file of 2009."""
    lines = _decoded(path.read_bytes()).splitlines()
    numbered = (line.split(":", 2 if "20001" in path.name else 1) for line in lines)
    return [" ".join(clean(parts[-1]).split()) for parts in numbered]


def _decoded(data: bytes) -> str:
    """A few lines are Latin-1 in files that are otherwise UTF-8."""
    lines = data.split(b"\n")
    return "\n".join(_decoded_line(line) for line in lines)


def _decoded_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")
