"""Which passage of a document shows why it was found?"""

import re
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from shoal.search.lexicon import WordForms
from shoal.search.query import Clause

WIDTH = 220
# A text of megabytes is looked at up to here, so that a snippet never takes long.
LONGEST_TEXT = 100_000
MOST_HITS = 500
_JOINTS = "-'’"  # what makes one word of two
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


class _Hit(NamedTuple):
    begin: int
    end: int
    form: str


Spelled = tuple[tuple[str, str], ...]  # words of the corpus, each with its form


def spelled_words(clauses: tuple[Clause, ...], lexicon: WordForms) -> Spelled:
    """The words of a query in every spelling of their forms: what is looked for in each document that it finds."""
    forms = sorted({form for clause in clauses for form in clause.words})
    return tuple((word, form) for form in forms for word in lexicon.spellings(form))


def make_snippet(text: str, words: Spelled) -> Snippet:
    """The passage of about WIDTH characters that holds most different words of the query."""
    text = text[:LONGEST_TEXT]
    hits = _hits(text, words)
    begin, end = _passage(text, hits)
    pieces = [Piece("… ", False)] if begin else []
    here = begin
    for hit in (hit for hit in hits if begin <= hit.begin and hit.end <= end):
        pieces += [Piece(_one_line(text[here : hit.begin]), False), Piece(text[hit.begin : hit.end], True)]
        here = hit.end
    ending = _one_line(text[here:end])
    pieces.append(Piece(ending.rstrip() + " …" if end < len(text) else ending, False))
    return Snippet(tuple(piece for piece in pieces if piece.text))


def _hits(text: str, words: Spelled) -> list[_Hit]:
    """The words of the query where they stand in the text, in any spelling of their form."""
    lowered = _lowered(text)
    hits: list[_Hit] = []
    for word, form in words:
        begin, found, most = lowered.find(word), len(hits), len(hits) + MOST_HITS
        while begin >= 0 and found < most:
            end = begin + len(word)
            if not _is_part(lowered, begin, end):
                hits.append(_Hit(begin, end, form))
                found += 1
            begin = lowered.find(word, end)
    hits.sort(key=itemgetter(0))
    return hits[:MOST_HITS]


def _is_part(lowered: str, begin: int, end: int) -> bool:
    """Whether what stands beside a word makes it a part of a longer one, to the tokenizer ("wine" in "wine-red")."""
    before, after = lowered[begin - 1] if begin else " ", lowered[end : end + 1]
    if before.isalnum() or after.isalnum():
        return True
    if before in _JOINTS and begin > 1 and lowered[begin - 2].isalnum():
        return True
    return after != "" and after in _JOINTS and lowered[end + 1 : end + 2].isalnum()


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
        if last - i < best[0]:
            continue  # fewer words than are in the best one so far
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
    if text.isprintable() and "  " not in text:  # a blank is the only white space that can be printed
        return text
    return _SPACE.sub(" ", text)
