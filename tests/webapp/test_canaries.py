"""Who sees what of real people? Every route as everybody, held against the tables of SECURITY.md, with every method.

A few hundred requests here; `SHOAL_CANARY_REQUESTS=10000` makes at least so many as visitors and with a token.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from shoal.anonymizer.registry import methods
from shoal.anonymizer.release_files import MANIFEST, PUBLIC
from shoal.webapp.core.seal import release_folder
from tests.webapp.canaries import Birdcage, Canary
from tests.webapp.instances import token_of

AT_LEAST = int(os.environ.get("SHOAL_CANARY_REQUESTS") or 0)
pytestmark = pytest.mark.timeout(300 + AT_LEAST // 5)
TEXT = (Path(__file__).parents[2] / "SECURITY.md").read_text()
STRANGERS = ("visitor", "token")
WHO = (*STRANGERS, "viewer", "operator", "administrator")
IDS, ADDRESSES = re.compile(r"canary-user-\d+"), re.compile(r"canary-address-\d+")
IN_SHORT = (
    "/search?q=climate&group={group}", "/api/v1/search?q=climate&group={group}", "/search?q=climate", "/",
    "/api/v1/releases/current/profiles", "/api/v1/releases", "/token", "/mine",
    "/api/v1/search?q={rare}&group={group}", "/api/v1/why?q=climate&document=1&column=anonymized&group={group}",
    "/api/v1/candidates?q={rare}", "/api/v1/words",
)  # fmt: skip


def table(heading: str) -> dict[str, dict[str, bool]]:
    """A table of SECURITY.md: what its first column says, and who may."""
    lines = TEXT[TEXT.index(f"| {heading} |") :].split("\n\n")[0].splitlines()
    assert tuple(cell.strip() for cell in lines[0].strip("|").split("|"))[1:] == WHO
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert all(cell in ("yes", "no") for row in rows for cell in row[1:])
    return {row[0]: {who: cell == "yes" for who, cell in zip(WHO, row[1:], strict=True)} for row in rows}


ROUTES = {
    pattern: may for cell, may in table("routes").items() for pattern in re.findall(r"`([A-Z]+ /[^`]*)`", cell)
}  # fmt: skip
DATA = table("data of people")


def may_ask(method: str, rule: str) -> dict[str, bool]:
    """What the most exact line of the table says of a route."""
    asked = f"{method} {rule}"
    fits = [one for one in ROUTES if asked == one or (one.endswith("*") and asked.startswith(one[:-1]))]
    assert fits, f"{asked} is in no line of the table of SECURITY.md"
    return ROUTES[max(fits, key=len)]


def routes(cage: Birdcage) -> Iterator[tuple[str, Rule]]:
    for rule in cage.app.url_map.iter_rules():
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield method, rule


def address(rule: Rule, cage: Birdcage, release: str) -> str:
    filled = {
        "number": release[1:], "log_id": "1", "release_id": release, "name": "profiles.jsonl", "id": "random",
        "method": "random", "ending": "json", "key": "0123456789abcdef", "document": "1", "filename": "base.css",
    }  # fmt: skip
    path = re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", lambda found: filled[found[1]], rule.rule)
    asks = "?q=climate"
    needed = {"/why": f"{asks}&document=1&column=anonymized", "/search": asks, "/candidates": asks}
    return path + next((text for end, text in needed.items() if path.endswith(end)), "")


@pytest.fixture(scope="module")
def everybody(birdcage: Birdcage) -> dict[str, tuple[FlaskClient, dict[str, str]]]:
    """A client for each column of the tables, and what it sends along."""
    birdcage.activate("random")
    bearer = {"Authorization": f"Bearer {birdcage.token_for(birdcage.birds[0], days=300)}"}
    strangers = {"visitor": (birdcage.app.test_client(), {}), "token": (birdcage.app.test_client(), bearer)}
    return strangers | {role: (birdcage.staff(role), {}) for role in WHO[2:]}


def test_every_route_answers_whom_the_table_says(
    birdcage: Birdcage, everybody: dict[str, tuple[FlaskClient, dict[str, str]]]
) -> None:
    """What somebody may change is not tried: it would change this server. What nobody may change is, with a token."""
    pages = {who: "/admin/login" if who in STRANGERS else "/admin/password" for who in WHO}
    tokens = {who: {"X-CSRFToken": token_of(client, pages[who])} for who, (client, _) in everybody.items()}
    wrong = []
    for (method, rule), (who, (client, headers)) in product(list(routes(birdcage)), everybody.items()):
        may = may_ask(method, rule.rule)[who]
        if may and method != "GET":
            continue
        answer = client.open(
            address(rule, birdcage, birdcage.active), method=method, headers=headers | tokens[who], buffered=True
        )
        to_login = answer.status_code == 302 and answer.location.startswith("/admin/login")
        refused = to_login or answer.status_code in ((401, 403) if may else (401, 403, 404))
        if refused == may or answer.status_code >= 500:
            wrong.append((who, method, rule.rule, answer.status_code))
    assert wrong == []


def words_of(birds: list[Canary]) -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(word for bird in birds for word in (bird.invented, bird.rare)) + r")\b")


def published(cage: Birdcage, release: str) -> str:
    """All public files of a release, as everybody can have them once it is active."""
    folder = release_folder(cage.settings.instance, release)
    paths = [folder / name for name in (MANIFEST, *PUBLIC)]
    return "\n".join(path.read_text() for path in paths if path.exists())


class Watch:
    """Counts what is asked, and keeps every answer that holds what the table does not allow."""

    def __init__(self, cage: Birdcage) -> None:
        self._cage, self._words = cage, words_of(cage.birds)
        self.asked, self.hits = Counter[str](), list[tuple[str, str, str, list[object]]]()

    def release(self, release: str) -> None:
        text = published(self._cage, release)
        assert not IDS.search(text)
        assert not ADDRESSES.search(text)
        self._public = set(self._words.findall(text))

    def ask(self, who: str, client: FlaskClient, headers: dict[str, str], path: str) -> None:
        answer = client.get(path, headers=headers, buffered=True)
        self.asked[who] += 1
        text = answer.text.lower()
        hidden = set(self._words.findall(text)) - self._public - set(self._words.findall(path))
        found = {
            "ids in the log": IDS.findall(text),
            "addresses that were clicked": ADDRESSES.findall(text),
            "words that the active release does not publish": sorted(hidden),
        }
        self.hits += [(who, path, what, some[:3]) for what, some in found.items() if some and not DATA[what][who]]
        if answer.status_code >= 500:
            self.hits.append((who, path, "an error of the server", [answer.status_code]))


@pytest.fixture
def watch(birdcage: Birdcage) -> Watch:
    return Watch(birdcage)


def test_the_canaries_would_be_seen(birdcage: Birdcage, watch: Watch) -> None:
    """The trap works: an operator who tries `original` unpublished finds words, and a counterexample names a person."""
    watch.release(birdcage.activate("clump"))
    assert DATA["ids in the log"] == dict.fromkeys(WHO, False) | {"operator": True, "administrator": True}
    operator = birdcage.staff("operator")
    run, upload, evaluation = (failed[1:] for failed in birdcage.failed)
    for path in (
        f"/admin/runs/{birdcage.broken[1:]}",
        f"/api/v1/admin/releases/{birdcage.releases['original']}/files/profiles.jsonl",
        f"/admin/runs/{run}/status",
        f"/api/v1/admin/uploads/{upload}",
        f"/admin/evaluations/{evaluation}",
    ):
        watch.ask("operator", operator, {}, path)
        watch.ask("visitor", operator, {}, path)  # as if a visitor had been answered so
        assert watch.hits[-1][1] == path
    assert {who for who, *_ in watch.hits} == {"visitor"}
    assert {what for _, _, what, _ in watch.hits} == {
        "ids in the log", "addresses that were clicked", "words that the active release does not publish"
    }  # fmt: skip


@pytest.mark.parametrize("method", list(methods()))
def test_nobody_is_shown_a_canary_while_a_method_is_active(
    birdcage: Birdcage, everybody: dict[str, tuple[FlaskClient, dict[str, str]]], watch: Watch, method: str
) -> None:
    watch.release(birdcage.activate(method))
    groups = birdcage.app.extensions["shoal.releases"].current().stored.release.pseudonyms or ["none"]
    filled = {"group": groups[0], "rare": birdcage.birds[1].rare}
    for path, who in product(IN_SHORT, STRANGERS):
        watch.ask(who, *everybody[who], path.format(**filled))
    if method in ("original", "clump") or AT_LEAST:
        _ask_everything(birdcage, everybody, watch)
    every_bird = cycle(product(birdcage.birds, IN_SHORT, STRANGERS))
    while sum(watch.asked[who] for who in STRANGERS) * len(methods()) < AT_LEAST:
        bird, path, who = next(every_bird)
        number = watch.asked.total()
        own = {"group": groups[number % len(groups)], "rare": (bird.rare, bird.invented)[number % 2]}
        watch.ask(who, *everybody[who], path.format(**own))
    print(f"{method}: {dict(watch.asked)} requests, {len(watch.hits)} hits")
    assert watch.hits == []


def _ask_everything(cage: Birdcage, everybody: dict[str, tuple[FlaskClient, dict[str, str]]], watch: Watch) -> None:
    """Every route that is read, as everybody, of the active release and one that was never active.

    Also of jobs that failed, as a viewer: who sees less is not let into the panel, and who sees more may see them.
    """
    for rule in (rule for method, rule in routes(cage) if method == "GET"):
        of_releases, of_jobs = (
            {address(rule, cage, one) for one in some} for some in ((cage.active, cage.broken), cage.failed)
        )
        for path, (who, (client, headers)) in product(sorted(of_releases), everybody.items()):
            watch.ask(who, client, headers, path)
        for path in sorted(of_jobs - of_releases):
            watch.ask("viewer", *everybody["viewer"], path)
