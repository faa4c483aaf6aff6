"""Do two servers take turns, so that what else the machine does falls on both?"""

from dataclasses import dataclass, field

import pytest

from shoal.evaluation.bench import pages
from shoal.evaluation.bench.pages import Load


@dataclass
class Counted:
    """A server that takes so many milliseconds for each page."""

    milliseconds: float
    asked: list[str]
    processor_seconds: float = 0
    paths: list[str] = field(default_factory=list)

    def read(self, path: str) -> tuple[str, str]:
        self.processor_seconds += self.milliseconds / 1000
        self.asked.append(f"{self.milliseconds:g}")
        return "", ""


def test_servers_are_asked_in_slices_and_the_first_searches_do_not_count() -> None:
    asked: list[str] = []
    servers, paths = [Counted(4, asked), Counted(9, asked)], ["/search"] * 100
    measured = pages.processor_milliseconds(servers, [paths, paths], lambda *_: None)  # type: ignore[arg-type]
    assert measured == pytest.approx([4, 9])
    turns = [server for server, before in zip(asked, ["", *asked], strict=False) if server != before]
    assert turns == ["4", "9"] * 2
    assert "; the other 2.25 times as much (9.0 ms a page)" in pages._processor_row("one column", measured).reached


def test_a_load_tells_how_many_times_the_pages_of_the_other() -> None:
    loads = [Load([10.0] * 100, 0, [100, 101], seconds, seconds) for seconds in (1.0, 2.5)]
    row = pages._load_row(loads)
    assert "2.50 times the pages of the other (40 pages a second" in row.reached
    assert row.holds
    assert not pages._load_row([Load([10.0], 1, [100, 101], 1, 1)]).holds
