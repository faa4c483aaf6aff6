"""Can an attacker find me? The page that plays an attack on what is published."""

from flask import Blueprint, request

from shoal.webapp.attacking import ORIGINAL, Target, draw_terms, original_target, play, target_of
from shoal.webapp.context import Asked, read_asked, service
from shoal.webapp.pages.search import render
from shoal.webapp.question import read_number

pages = Blueprint("attack", __name__)

_OFFERED = 60
_MOST = 20


@pages.get("/attack")
def attack() -> str:
    on_original = request.args.get("release") == ORIGINAL
    asked = read_asked({**request.args, "release": "" if on_original else request.args.get("release", "")})
    person = asked.asker.person
    if person is None:
        return render("attack.html", asked, attack=None)
    own = sorted(service().profiles.of(person.row).items(), key=lambda item: (-item[1], item[0]))
    m, seed = int(read_number(request.args, "m", 5, 1, _MOST)), int(read_number(request.args, "seed", 1, 0, 10**6))
    chosen = [term for term in request.args.getlist("term") if term in dict(own)][:_MOST]
    known = chosen or draw_terms(person, service().profiles, m, seed)
    offered = [term for term, _ in own[:_OFFERED]]
    offered += [term for term in known if term not in offered]
    target = choose_target(asked, on_original)
    return render(
        "attack.html", asked, attack=play(target, person, known, service()), target=target, offered=offered, m=m,
        seed=seed, drawn=not chosen, original=ORIGINAL,
    )  # fmt: skip


def choose_target(asked: Asked, on_original: bool) -> Target:
    return original_target(service().profiles, service().knowledge) if on_original else target_of(asked.published)
