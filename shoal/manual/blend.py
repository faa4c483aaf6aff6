"""How do profile, everyone and engine add up to a score? The blend's picture: five dishes for one person."""

import numpy as np

from shoal.corpus.searches import Blend
from shoal.manual.example import PEOPLE, Example
from shoal.manual.picture import svg_frame, svg_text
from shoal.search.rerank import best_first, blended, engine_order

DISHES = ("milk shake", "orange cake", "chicken soup", "cheese and butter", "beef with chicken")  # as the engine ranks
PARTS = ("profile", "everyone", "engine")
WEIGHTS = Blend(0.4, 0.2)
_LEFT, _WIDE, _ROW = 172, 400, 34


def blend_picture(example: Example, person: str = "Ann") -> str:
    """The parts of each dish's score beside each other, best first; the profile is the published one of a person."""
    assert example.made is not None
    row = example.made.release.profile(example.pseudonyms_of(person)[0])
    everyone = {word: 1.0 for words in PEOPLE.values() for word in words}
    order = engine_order(np.arange(len(DISHES)))
    profile, average = _cosines(row), _cosines({word: float(_holders(word)) for word in everyone})
    parts = [
        blended(np.zeros_like(order), profile, np.zeros_like(order), WEIGHTS),
        blended(np.zeros_like(order), np.zeros_like(order), average, WEIGHTS),
        blended(order, np.zeros_like(order), np.zeros_like(order), WEIGHTS),
    ]
    ranked = best_first(blended(order, profile, average, WEIGHTS))
    drawn = [_bars(place, int(dish), [part[dish] for part in parts]) for place, dish in enumerate(ranked.tolist())]
    label = f"Score of five dishes for {person}: " + ", ".join(DISHES[dish] for dish in ranked.tolist())
    return svg_frame(_ROW * len(DISHES) + 44, label, [_legend(), *drawn])


def _holders(word: str) -> int:
    return sum(word in words for words in PEOPLE.values())


def _cosines(profile: dict[str, float]) -> np.ndarray:
    """With each dish, a set of words."""
    size = np.sqrt(sum(weight**2 for weight in profile.values()))
    held = [[word for word in dish.split() if word in profile] for dish in DISHES]
    return np.array([sum(profile[word] for word in words) / (size * np.sqrt(len(words) or 1)) for words in held])


def _bars(place: int, dish: int, parts: list[float]) -> str:
    y, x = 40 + _ROW * place, float(_LEFT)
    drawn = [svg_text(0, y + 15, f"{place + 1}. {DISHES[dish]}", "mn-name")]
    for name, part in zip(PARTS, parts, strict=True):
        drawn.append(
            f'<rect class="mn-part mn-part-{name}" x="{x:.1f}" y="{y}" width="{part * _WIDE:.1f}" height="20"/>'
        )
        x += part * _WIDE
    return "".join([*drawn, svg_text(x + 8, y + 15, f"{sum(parts):.2f} (engine: {dish + 1})", "mn-quiet")])


def _legend() -> str:
    weights = (WEIGHTS.profile, WEIGHTS.everyone, WEIGHTS.engine)
    said = zip((_LEFT - 60, _LEFT + 105, _LEFT + 285), PARTS, weights, strict=True)
    return "".join(
        f'<rect class="mn-part mn-part-{name}" x="{x}" y="6" width="14" height="14"/>'
        + svg_text(x + 20, 18, f"{name}, weighs {weight:.1f}", "mn-quiet")
        for x, name, weight in said
    )
