"""Which form does the index give to a word, and which words does the corpus hold?"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.tokens import STOP_WORDS
from shoal.search.query import Clause

Lemmas = Callable[[list[str]], list[str | None]]


class WordForms(ABC):
    """What an engine knows of words: the form of each, how a form is spelled, which are common."""

    @abstractmethod
    def known(self, words: Iterable[str]) -> dict[str, str]:
        """The form of each of these words or forms that the corpus holds."""

    @abstractmethod
    def spellings(self, form: str) -> list[str]:
        """The words of the corpus that have this form."""

    @abstractmethod
    def commonest(self, most: int) -> Iterator[str]:
        """The words that no more than `most` documents hold, the commonest first."""

    def resolve(self, clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
        """The clauses in index forms, without those that no document can match."""
        form = self._forms(dict.fromkeys(word for clause in clauses for word in clause.words))
        held = [clause for clause in clauses if all(word in form for word in clause.words)]
        return tuple(
            dict.fromkeys(replace(clause, words=tuple(form[word] for word in clause.words)) for clause in held)
        )

    def _forms(self, words: Iterable[str]) -> dict[str, str]:
        """The form of each word; of a plural that no document spells out, that of its lemma, which some may hold."""
        form = self.known(words)
        lemmas = {word: lemma for word in words if word not in form and (lemma := load_wordnet().lemma(word))}
        if lemmas:
            held = self.known(lemmas.values())
            form |= {word: held[lemma] for word, lemma in lemmas.items() if lemma in held}
        return form


@dataclass(frozen=True)
class Lexicon(WordForms):
    """Every word of the corpus, sorted, and its form: the noun lemma if WordNet knows one, else the word."""

    words: list[str]
    forms: list[str]
    form_of: np.ndarray  # int32, words -> forms
    document_frequency: np.ndarray  # int32, per word

    @cached_property
    def ids(self) -> dict[str, int]:
        """Form id of every word and of every form (profiles hold forms that no document spells that way)."""
        ids = dict(zip(self.words, self.form_of.tolist(), strict=True))
        ids.update({form: i for i, form in enumerate(self.forms)})
        return ids

    def known(self, words: Iterable[str]) -> dict[str, str]:
        return {word: self.forms[found] for word in words if (found := self.ids.get(word)) is not None}

    def commonest(self, most: int) -> Iterator[str]:
        held = self.document_frequency
        fit = np.flatnonzero((held <= most) & (held > 0))
        return (self.words[i] for i in fit[np.lexsort((fit, -held[fit]))].tolist())

    @cached_property
    def _by_form(self) -> tuple[np.ndarray, np.ndarray]:
        """Words in the order of their forms, and where each form's begin."""
        return np.argsort(self.form_of, kind="stable"), np.searchsorted(
            np.sort(self.form_of), np.arange(len(self.forms) + 1)
        )

    def spellings(self, form: str) -> list[str]:
        order, start = self._by_form
        number = self.ids[form]
        return [self.words[i] for i in order[start[number] : start[number + 1]]]

    def save(self, folder: Path) -> None:
        (folder / "words.txt").write_text("\n".join(self.words), encoding="utf-8")
        (folder / "forms.txt").write_text("\n".join(self.forms), encoding="utf-8")
        np.save(folder / "form_of.npy", self.form_of)
        np.save(folder / "document_frequency.npy", self.document_frequency)


def load_lexicon(folder: Path) -> Lexicon:
    return Lexicon(
        _lines(folder / "words.txt"),
        _lines(folder / "forms.txt"),
        np.load(folder / "form_of.npy"),
        np.load(folder / "document_frequency.npy"),
    )


def make_lexicon(words: list[str], document_frequency: np.ndarray, lemmas: Lemmas) -> Lexicon:
    """Give each of the (sorted) words its form. A stop word is its own form, and no other word's."""
    pairs = zip(words, lemmas(words), strict=True)
    of = [lemma if lemma and not {word, lemma} & STOP_WORDS else word for word, lemma in pairs]
    forms = sorted(set(of))
    number = {form: i for i, form in enumerate(forms)}
    form_of = np.fromiter((number[form] for form in of), dtype=np.int32, count=len(of))
    return Lexicon(words, forms, form_of, document_frequency)


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return text.split("\n") if text else []
