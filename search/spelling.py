"""Did the searcher mean another word? The nearest words of the corpus, the commoner the better."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from functools import cached_property

import numpy as np

from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.tokens import STOP_WORDS, TERM_PATTERN
from shoal.search.lexicon import Lexicon
from shoal.search.query import MAX_CHARACTERS, parse_query

SHORTEST, LONGEST = 3, 20
MOST_WORDS = 4
FAR_COMMONER = 50


class Spelling(ABC):
    """What may have been meant by a query. An engine says which word of the corpus is the nearest to another."""

    @abstractmethod
    def nearest(self, word: str) -> str | None:
        """The word at the smallest edit distance (1, or 2 for longer words); among equals the commonest.

        Documents have misspellings too: a word that they hold is exchanged only for one that is far commoner.
        """

    def suggest(self, query: str) -> str | None:
        words = dict.fromkeys(word for clause in parse_query(query) for word in clause.words)
        doubtful = [word for word in words if word not in STOP_WORDS and load_wordnet().lemma(word) is None]
        better = {word: near for word in doubtful[:MOST_WORDS] if (near := self.nearest(word))}
        return _replace(query[:MAX_CHARACTERS], better) if better else None


def can_be_corrected(word: str) -> bool:
    return SHORTEST <= len(word) <= LONGEST and not any(letter.isdigit() for letter in word)


def reach_of(word: str, known: int) -> int:
    """By how many edits a word may have become this one, which so many documents hold as it is."""
    return 1 if known or len(word) < 5 else 2


class Speller(Spelling):
    """Compares a word with the whole vocabulary at once; the tables are made at the first question."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Words worth suggesting: rows of character codes, lengths, letters used, document frequency."""
        lexicon = self._lexicon
        often = np.flatnonzero(lexicon.document_frequency >= min(2, lexicon.document_frequency.max(initial=0)))
        fits = [i for i in often.tolist() if SHORTEST <= len(lexicon.words[i]) <= LONGEST]
        words = np.array([lexicon.words[i] for i in fits], dtype=f"<U{LONGEST}")
        codes = words.view(np.uint32).reshape(len(words), LONGEST)
        return codes, np.char.str_len(words), _letters(codes), lexicon.document_frequency[fits]

    def nearest(self, word: str) -> str | None:
        if not can_be_corrected(word):
            return None
        codes, lengths, letters, frequency = self._tables
        known = self._frequency(word)
        reach = reach_of(word, known)
        # One edit adds or takes at most two letters from the set of letters used.
        differ = np.bitwise_count(letters ^ _letters(np.array([[ord(letter) for letter in word]]))[0])
        near = np.flatnonzero(
            (np.abs(lengths - len(word)) <= reach) & (differ <= 2 * reach) & (frequency > FAR_COMMONER * known)
        )
        distances = edit_distances(word, codes[near], lengths[near])
        if distances.min(initial=LONGEST) > reach:
            return None
        best = near[np.lexsort((-frequency[near], distances))[0]]
        return "".join(map(chr, codes[best, : lengths[best]].tolist()))

    def _frequency(self, word: str) -> int:
        """The number of documents that hold a word as it is spelled."""
        words = self._lexicon.words
        at = bisect_left(words, word)
        return int(self._lexicon.document_frequency[at]) if at < len(words) and words[at] == word else 0


def _letters(codes: np.ndarray) -> np.ndarray:
    """The set of letters of each row, as the bits of one number (letters 64 apart share a bit)."""
    bits = np.where(codes > 0, np.uint64(1) << (codes % 64).astype(np.uint64), np.uint64(0))
    return np.bitwise_or.reduce(bits, axis=1)


def edit_distances(word: str, codes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Optimal string alignment (insert, delete, replace, swap neighbours) of one word with many rows."""
    width = int(lengths.max(initial=0))
    rows, letters = codes[:, :width].T, [ord(letter) for letter in word]
    before = before_that = np.zeros((width + 1, len(codes)), dtype=np.int8)
    now = np.repeat(np.arange(width + 1, dtype=np.int8)[:, None], len(codes), axis=1)
    for i, letter in enumerate(letters, start=1):
        before_that, before, now = before, now, np.empty_like(now)
        now[0] = i
        for j in range(1, width + 1):
            replaced = before[j - 1] + (rows[j - 1] != letter)
            now[j] = np.minimum(np.minimum(before[j], now[j - 1]) + 1, replaced)
            if i > 1 and j > 1:
                swapped = (rows[j - 1] == letters[i - 2]) & (rows[j - 2] == letter)
                now[j] = np.where(swapped, np.minimum(now[j], before_that[j - 2] + 1), now[j])
    return now[lengths, np.arange(len(codes))]


def _replace(query: str, better: dict[str, str]) -> str:
    """The query as it was typed, with whole words exchanged."""
    return TERM_PATTERN.sub(lambda match: better.get(match[0].lower(), match[0]), query)
