"""Which tokens are terms? Dictionaries: WordNet's nouns, the leaves of a taxonomy file, or any token."""

from functools import lru_cache
from typing import Protocol

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.tokens import STOP_WORDS

DICTIONARIES = ("wordnet", "taxonomy", "any")


class Dictionary(Protocol):
    """Which term a token is, or None where it is none."""

    def __call__(self, token: str) -> str | None: ...


@lru_cache(maxsize=8)  # one object for one dictionary, by which profiles are kept
def dictionary(name: str, taxonomy: Taxonomy | None = None) -> Dictionary:
    """WordNet's nouns, the leaves of a taxonomy file, or any token that is no stop word."""
    if name == "wordnet":
        wordnet = load_wordnet()
        return lambda token: None if token in STOP_WORDS else wordnet.lemma(token)
    if name == "taxonomy":
        if taxonomy is None:
            raise InputError("the dictionary 'taxonomy' needs a taxonomy file: give one by --taxonomy")
        leaves = taxonomy
        return lambda token: token if leaves.leaf(token) is not None else None
    if name == "any":
        return lambda token: None if token in STOP_WORDS else token
    raise InputError(f"unknown dictionary {name!r}: choose one of {', '.join(DICTIONARIES)}")
