"""What becomes of each person's words? Profiles before and after a method, as a picture (SVG) in the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from shoal.manual.example import PEOPLE, Example

_WIDTH = 640
_LEFT, _RIGHT = 222, 296  # where the column of people ends, and that of what is published begins
_BEND = (_LEFT + _RIGHT) / 2
_LINE = 26  # from chip to chip, downwards
_ROW = 52  # of a person: the name and the words below it
_PAD = 12
_LETTER = 7.3  # of a chip's text, on average
_LONGEST = 18  # letters of a label that are shown
FISH = "M2 12c4-7 14-9 21-1l6-5c-1 4-1 8 0 12l-6-5c-7 8-17 6-21-1z"


@dataclass(frozen=True)
class Box:
    """What is published under one pseudonym: a frame with its heading, its chips, and where it lies."""

    heading: str
    users: int
    lines: tuple[tuple[tuple[str, str], ...], ...]  # of (class, text)
    top: float

    @property
    def height(self) -> float:
        return 34 + _LINE * len(self.lines) + _PAD / 2

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


def picture(example: Example) -> str:
    """Left what five people typed, right what is published, between them who is behind it (secret)."""
    boxes = _boxes(example)
    height = max(40 + _ROW * len(PEOPLE), boxes[-1].top + boxes[-1].height + _PAD if boxes else 0)
    parts = [_headings(), *_links(example, boxes), *_people(example), *(_drawn(box) for box in boxes)]
    if not boxes:
        parts.append(svg_text(_RIGHT + 12, height / 2, "nothing is published of anybody", "mn-quiet"))
    return svg_frame(height, describe(example), parts)


def describe(example: Example) -> str:
    """What the picture shows, in words."""
    if example.made is None:
        return f"Of so few people it makes no release: {example.refused}."
    release, fates = example.made.release, example.fates()
    published = f"{len(release)} published profile{'' if len(release) == 1 else 's'}"
    if not len(release):
        published = "No profile of anybody" if release.catalogue is None else "A catalogue of words, and no profile"
    words = (
        f"{fates['typed']} as {'it was' if fates['typed'] == 1 else 'they were'} typed, {fates['generalized']} more "
        f"generally, {fates['gone']} {'unreadable' if example.method.info.family == 'hash' else 'not at all'}"
    )
    few = " Five people are too few for it." if len(release) and not release.weights.nnz else ""
    return f"{published}. Of the {sum(fates.values())} words of five people, published are {words}.{few}"


def svg_frame(height: float, label: str, parts: Iterable[str]) -> str:
    """A picture in the page; on narrow screens it scrolls rather than shrinks."""
    inner = "\n".join(parts)
    return (
        f'<div class="mn-scroll"><svg class="mn-picture" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(label)}" font-family="sans-serif" font-size="13">\n{inner}\n</svg></div>\n'
    )


def _headings() -> str:
    return svg_text(0, 16, "what each person typed (secret)", "mn-head") + svg_text(
        _RIGHT, 16, "what is published", "mn-head"
    )


def _people(example: Example) -> Iterable[str]:
    for place, (person, words) in enumerate(PEOPLE.items()):
        top = 34 + _ROW * place
        yield _fish(0, top - 2, "mn-fish") + svg_text(26, top + 10, person, "mn-name")
        x = 0.0
        for word in words:
            yield _chip(x, top + 18, word, f"mn-{example.fate(person, word)}")
            x += _wide(word) + 6


def _boxes(example: Example) -> list[Box]:
    if example.made is None:
        return []
    release, boxes, top = example.made.release, [], 28.0
    for row in range(len(release)):
        chips = [(_kind(example, label), _weighed(label, weight)) for label, weight in release.profile(row).items()]
        box = Box(release.pseudonyms[row], int(release.users[row]), tuple(_lines(chips)), top)
        boxes.append(box)
        top += box.height + 10
    if not boxes and release.catalogue is not None:
        held = zip(release.catalogue.terms, release.catalogue.mean.tolist(), strict=True)
        chips = [("mn-typed", _weighed(term, mean)) for term, mean in held]
        boxes.append(Box("the catalogue, nobody's", 0, tuple(_lines(chips)), top))
    return boxes


def _kind(example: Example, label: str) -> str:
    return "mn-generalized" if example.is_general(label) else "mn-typed"


def _weighed(label: str, weight: float) -> str:
    short = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
    return short if weight == 1 else f"{short} {weight:.2g}"


def _lines(chips: Sequence[tuple[str, str]]) -> Iterable[tuple[tuple[str, str], ...]]:
    """The chips in lines that fit into a box."""
    line: list[tuple[str, str]] = []
    for chip in chips:
        if line and sum(_wide(text) + 6 for _, text in [*line, chip]) > _WIDTH - _RIGHT - 2 * _PAD:
            yield tuple(line)
            line = []
        line.append(chip)
    if line:
        yield tuple(line)


def _drawn(box: Box) -> str:
    parts = [f'<rect class="mn-box" x="{_RIGHT}" y="{box.top}" width="{_WIDTH - _RIGHT - 1}" height="{box.height}"/>']
    parts.append(svg_text(_RIGHT + _PAD, box.top + 20, box.heading, "mn-name"))
    for place in range(min(box.users, 8)):
        parts.append(_fish(_WIDTH - _PAD - 26 - 24 * place, box.top + 8, "mn-fish"))
    for row, line in enumerate(box.lines):
        x = _RIGHT + _PAD + 0.0
        for kind, text in line:
            parts.append(_chip(x, box.top + 32 + _LINE * row, text, kind))
            x += _wide(text) + 6
    return "".join(parts)


def _links(example: Example, boxes: Sequence[Box]) -> Iterable[str]:
    """Who is behind what: dashed, since nobody but the owner of the release knows it."""
    if example.made is None or not len(example.made.release):
        return
    for place, (person, words) in enumerate(PEOPLE.items()):
        y = 34 + _ROW * place + 28
        begin = sum(_wide(word) + 6 for word in words)
        for row in example.pseudonyms_of(person):
            to = boxes[row].middle
            yield f'<path class="mn-link" d="M{begin:.1f} {y}H{_LEFT}C{_BEND} {y} {_BEND} {to} {_RIGHT} {to}"/>'


def _wide(text: str) -> float:
    return round(len(text) * _LETTER + 14, 1)


def _chip(x: float, y: float, text: str, kind: str) -> str:
    box = f'<rect x="{x:.1f}" y="{y}" width="{_wide(text)}" height="21" rx="10"/>'
    return f'<g class="mn-chip {kind}">{box}{svg_text(x + _wide(text) / 2, y + 15, text, "mn-word")}</g>'


def svg_text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y}">{escape(text)}</text>'


def _fish(x: float, y: float, kind: str) -> str:
    return f'<path class="{kind}" transform="translate({x} {y}) scale(0.65)" d="{FISH}"/>'
