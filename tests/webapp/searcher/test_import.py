"""Can a person do everything with their own data in the page: import, see, attack, export, delete? Nothing is sent."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.webapp.conftest import Server

ON_A_DESKTOP = pytest.mark.parametrize("page", ["desktop"], indirect=True)
CANARY = "zugzwang"
TAKEOUT = json.dumps([
    {"header": "Search", "title": f"Searched for {CANARY} chess", "titleUrl": "https://example.com/?q=x",
     "time": "2024-05-02T10:00:00Z", "products": ["Search"]},
    {"header": "Search", "title": "Visited a page", "time": "2024-05-03T10:00:00Z"},
    {"header": "Search", "title": "Searched for wind energy", "time": "2024-05-01T10:00:00.000Z"},
    {"header": "Search", "title": ["no", "text"]}, None, 7,
])  # fmt: skip
FILES = {
    "MyActivity.json": (TAKEOUT, ["wind energy", f"{CANARY} chess"]),
    "history.csv": (
        'time,query\n2024-01-02,"oil, gas ""and"" coal"\n2024-01-01,election\n',
        ["election", 'oil, gas "and" coal'],
    ),
    "queries.tsv": ("AnonID\tQuery\tQueryTime\n7\trefugee camp\t2006-03-01 10:00:00\n", ["refugee camp"]),
    "list.txt": ("wine harvest\r\n\r\n  violin   concert \n", ["wine harvest", "violin concert"]),
    "bookmarks.html": (
        '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="https://example.com" ADD_DATE="1700000000">Solar power</A>'
        "<DT><A HREF='javascript:alert(1)'><img src='/nowhere' onerror='alert(1)'>Climate <b>summit</b> "
        "&amp; &#x77;ater</A></DL>",
        ["Climate summit & water", "Solar power"],
    ),
    "own.json": ('{"entries": [{"query": "police", "opened": ["A title"], "time": 5}]}', ["police"]),
    "strings.json": (
        '["music", "<script>alert(1)</script>", "\\u0000school\\u202e"]',
        ["music", "<script>alert(1)</script>", "school"],
    ),
}  # fmt: skip
WRONG = {
    "broken.json": '{"entries": [',
    "empty.txt": "\n\n",
    "deep.json": '{"a": {"b": 3}}',
    "blank.html": "<html></html>",
}
READ = """async (files) => {
  const { readHistory } = await import("/static/import.js");
  return files.map(([name, text]) => {
    try { return readHistory(text, name).map((one) => one.query); } catch (error) { return error.message; }
  });
}"""


@ON_A_DESKTOP
def test_exports_lists_and_bookmarks_are_read_and_others_are_refused_in_words(page: Page) -> None:
    page.goto("/mine")
    read = page.evaluate(READ, [[name, text] for name, (text, _) in FILES.items()])
    assert dict(zip(FILES, read, strict=True)) == {name: queries for name, (_, queries) in FILES.items()}
    refused = page.evaluate(READ, list(WRONG.items()))
    assert refused[0] == "it begins like JSON, but cannot be read as JSON"
    assert all(isinstance(one, str) and "no searches were found" in one for one in refused[1:])
    many = "\n".join(f"query {i} " + "long " * 200 for i in range(6000))
    queries = page.evaluate(READ, [["list.txt", many]])[0]
    assert len(queries) == 5000
    assert queries[-1].startswith("query 5999")
    assert max(map(len, queries)) <= 300


@ON_A_DESKTOP
def test_a_history_is_imported_seen_attacked_exported_and_deleted_and_never_sent(
    page: Page, server: Server, tmp_path: Path
) -> None:
    sent: list[str] = []
    page.on("request", lambda one: sent.append(f"{one.url} {json.dumps(one.all_headers())} {one.post_data or ''}"))
    page.goto("/mine")
    for name in ("MyActivity.json", "bookmarks.html", "broken.json"):
        (tmp_path / name).write_text(FILES[name][0] if name in FILES else WRONG[name])
    page.locator("[data-part=import]").set_input_files(sorted(tmp_path.iterdir()))
    expect(page.locator("[data-part=imported]")).to_contain_text("MyActivity.json: 2 searches read.")
    expect(page.locator("[data-part=imported]")).to_contain_text("broken.json: it begins like JSON")
    expect(page.locator("[data-part=count]")).to_have_text("4 searches")
    expect(page.locator("[data-part=words] li").first).to_be_visible()
    page.locator("[data-part=attack]").click()
    expect(page.locator("[data-part=unique]")).to_contain_text("words of yours stand in one of them")
    with page.expect_download() as download:
        page.locator("[data-part=export]").click()
    exported = json.loads(Path(download.value.path()).read_text())
    assert f"{CANARY} chess" in [entry["query"] for entry in exported["entries"]]
    page.get_by_role("button", name="Forget everything").click()
    expect(page.locator("[data-part=empty]")).to_be_visible()
    assert page.evaluate("localStorage.getItem('shoal.mine.history')") is None
    assert not any(word in one for one in sent for word in (CANARY, "chess", "wind", "Climate", "nowhere"))


UNIQUE = """async ([counts, profiles]) => {
  const { uniqueness } = await import("/static/unique.js");
  return uniqueness(new Map(counts), profiles);
}"""


@ON_A_DESKTOP
def test_who_is_unique_is_counted_from_the_published_profiles(page: Page) -> None:
    """Three profiles: wine and oil; oil; oil and chess, of 5, 3 and 2 people."""
    profiles = {
        "labels": ["wine", "oil", "chess"], "leaves": [], "spans": {}, "ids": ["p1", "p2", "p3"], "users": [5, 3, 2],
        "starts": [0, 2, 3, 5], "terms": [0, 1, 1, 1, 2], "weights": [1, 1, 1, 1, 1], "release_id": "r1",
    }  # fmt: skip
    page.goto("/mine")
    found = page.evaluate(UNIQUE, [[["oil", 3], ["wine", 1], ["zugzwang", 1]], profiles])
    assert (found["published"], found["everyone"], found["found"], found["missed"]) == (3, 10, 2, 1)
    assert found["steps"] == [
        {"known": ["wine"], "profiles": 1, "people": 5},
        {"known": ["wine", "oil"], "profiles": 1, "people": 5},
    ]
    alone = page.evaluate(UNIQUE, [[["chess", 1], ["wine", 1]], profiles])
    assert alone["steps"][-1] == {"known": ["wine", "chess"], "profiles": 0, "people": 0}
