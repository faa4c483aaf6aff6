"""Which terms are sensitive, private? Illness, sexuality, religion and so on from WordNet, or those of a file."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Dictionary, Taxonomy
from shoal.corpus.tokens import tokenize

if TYPE_CHECKING:
    from shoal.corpus.profiles import Profiles

OURS = Path(__file__).with_name("sensitive.tsv")
_LONGEST = 10_000_000  # characters
_EXPECTED = "a text file with a term or a label of the taxonomy per line"


@dataclass(frozen=True, eq=False)
class SensitiveTerms:
    """The terms that nobody may be connected with. All others are public: an attacker may know them of a person."""

    terms: frozenset[str]
    digest: str  # sha-256 of the file that lists them

    def among(self, terms: Sequence[str]) -> np.ndarray:
        """Of each of these terms, whether it is sensitive."""
        return np.fromiter((term in self.terms for term in terms), dtype=bool, count=len(terms))

    def told(self, profiles: "Profiles") -> str:
        """How many terms of a log these are, in words that people are told."""
        private = self.among(profiles.terms)
        holder = np.repeat(np.arange(len(profiles)), profiles.size)[private[profiles.counts.indices]]
        of = f"{private.sum():,} of the {len(private):,} terms of the log are sensitive"
        return f"{of}, and {len(np.unique(holder)):,} of its {len(profiles):,} users typed some"


def read_sensitive(path: Path, taxonomy: Taxonomy, words: Dictionary) -> SensitiveTerms:
    """The terms in a file: a term, or a label for every leaf below it, per line; what follows a tab is a remark.

    Labels are told apart without case. Empty lines and those that begin with # say nothing.
    """
    text = _text_of(path)
    found: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.partition("\t")[0].strip().lower()
        if entry and not entry.startswith("#"):
            found |= _meant_by(entry, f"{path.name}, line {number}", taxonomy, words)
    if not found:
        raise InputError(f"{path.name} names no sensitive term: give {_EXPECTED}")
    return SensitiveTerms(frozenset(found), hashlib.sha256(text.encode()).hexdigest())


def _text_of(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read(_LONGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"no sensitive terms can be read at {path}: give {_EXPECTED}") from error
    if len(text) > _LONGEST:
        raise InputError(f"{path.name} is longer than {_LONGEST:,} characters: give {_EXPECTED}")
    return text


def _meant_by(entry: str, where: str, taxonomy: Taxonomy, words: Dictionary) -> set[str]:
    below = set(taxonomy.leaves_below(entry)) if entry in taxonomy.node else set()
    tokens = tokenize(entry)
    if tokens == [entry]:  # a word, in whichever form people type it
        return below | {entry, words(entry) or entry}
    if not below:
        raise InputError(f"{where}: {entry[:60]!r} is no term (one word) and no label of the taxonomy: mend that line")
    return below
