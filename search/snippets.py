"""Which passage of a document shows why it was found?"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from shoal.search.lexicon import Lexicon
from shoal.search.query import Clause

WIDTH = 220
# A text of megabytes is looked at up to here, so that a snippet never takes long.
LONGEST_TEXT = 100_000
MOST_HITS = 500
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Piece:
    """A stretch of plain text, marked or not. Never markup: whoever shows it escapes it."""

    text: str
    highlighted: bool


@dataclass(frozen=True)
class Snippet:
    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True)
class _Hit:
    begin: int
    end: int
    form: str


def make_snippet(text: str, clauses: tuple[Clause, ...], lexicon: Lexicon) -> Snippet:
    """The passage of about WIDTH characters that holds most different words of the query."""
    text = text[:LONGEST_TEXT]
    hits = _hits(text, clauses, lexicon)
    begin, end = _passage(text, hits)
    pieces = [Piece("… ", False)] if begin else []
    here = begin
    for hit in (hit for hit in hits if begin <= hit.begin and hit.end <= end):
        pieces += [Piece(_one_line(text[here : hit.begin]), False), Piece(text[hit.begin : hit.end], True)]
        here = hit.end
    ending = _one_line(text[here:end])
    pieces.append(Piece(ending.rstrip() + " …" if end < len(text) else ending, False))
    return Snippet(tuple(piece for piece in pieces if piece.text))


def _hits(text: str, clauses: tuple[Clause, ...], lexicon: Lexicon) -> list[_Hit]:
    """The words of the query where they stand in the text, in any spelling of their form."""
    lowered = _lowered(text)
    forms = sorted({form for clause in clauses for form in clause.words})
    spelled = [(word, form) for form in forms for word in lexicon.spellings(form)]
    hits = [hit for word, form in spelled for hit in islice(_finds(lowered, word, form), MOST_HITS)]
    return sorted(hits, key=lambda hit: hit.begin)[:MOST_HITS]


def _finds(lowered: str, word: str, form: str) -> Iterator[_Hit]:
    begin = lowered.find(word)
    while begin >= 0:
        end = begin + len(word)
        # The tokenizer decides whether this is a word or a part of one ("wine" in "wine-red").
        if (begin == 0 or not _joins(lowered[max(0, begin - 2) : begin][::-1])) and not _joins(lowered[end : end + 2]):
            yield _Hit(begin, end, form)
        begin = lowered.find(word, end)


def _joins(beside: str) -> bool:
    """Whether the two characters beside a word, the nearer first, make it a part of a longer one."""
    return bool(beside) and (beside[0].isalnum() or (beside[0] in "-'’" and beside[1:].isalnum()))


def _lowered(text: str) -> str:
    """Lower case, character by character, so that places in it are places in the text."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _passage(text: str, hits: list[_Hit]) -> tuple[int, int]:
    """Slide a window over the hits; the first with most different words, then most hits, wins."""
    best, best_begin, last = (0, 0), 0, 0
    for i, hit in enumerate(hits):
        last = max(last, i)
        while last < len(hits) and hits[last].end <= hit.begin + WIDTH:
            last += 1
        value = (len({h.form for h in hits[i:last]}), last - i)
        if value > best:
            best, best_begin = value, hit.begin
    begin = _word_begin(text, max(0, best_begin - WIDTH // 4)) if best_begin > WIDTH // 4 else 0
    end = begin + WIDTH + WIDTH // 4
    return begin, len(text) if end >= len(text) else _word_begin(text, end)


def _word_begin(text: str, near: int) -> int:
    """The first place after `near`, within a long word's reach, where a new word begins."""
    space = _SPACE.search(text, near, near + 40)
    return space.end() if space else near


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text)
