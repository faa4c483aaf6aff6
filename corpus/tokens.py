"""What is a term? The one tokenizer: lower-cased runs of letters and digits, with inner hyphens and apostrophes.

Hashed words: HMAC-SHA-256 under a key that the searching server holds, and readers of a release do not.
"""

import hmac
import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError

# Python's [^\W_] and Rust's [\p{L}\p{N}] are the same characters: what str.isalnum() accepts.
TERM_PATTERN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_POLARS_PATTERN = r"[\p{L}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*"

# Lucene's English stop words, which Zhu & Xiong use (section 4), and the few that queries add.
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
    "they this to was will with from i me my we you your he she his her its our us am been do does did has "
    "have had how what when where who which why can could should would so than too very www http https com".split()
)


def tokenize(text: str) -> list[str]:
    """The terms of one string, in order, repetitions kept."""
    return TERM_PATTERN.findall(text.lower())


@dataclass(frozen=True)
class Tokens:
    """The terms of many strings as columns: string i holds ids[start[i]:start[i + 1]] of the vocabulary."""

    vocabulary: list[str]
    start: np.ndarray  # int64
    ids: np.ndarray  # int32

    def __len__(self) -> int:
        return len(self.start) - 1

    def of(self, i: int) -> list[str]:
        return [self.vocabulary[t] for t in self.ids[self.start[i] : self.start[i + 1]]]


def tokenize_column(texts: pl.Series) -> Tokens:
    """The same terms as `tokenize`, for a whole column at once. The vocabulary is sorted."""
    return number_strings(texts.cast(pl.String).str.to_lowercase().str.extract_all(_POLARS_PATTERN))


def number_strings(lists: pl.Series) -> Tokens:
    """Lists of strings as columns of numbers."""
    counts = lists.list.len().to_numpy()
    start = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    flat = lists.explode(empty_as_null=False, keep_nulls=False).cast(pl.String)
    vocabulary = flat.unique().sort()
    codes = flat.replace_strict(vocabulary, np.arange(len(vocabulary), dtype=np.int32), return_dtype=pl.Int32)
    return Tokens(vocabulary.to_list(), start, codes.to_numpy().astype(np.int32))


SECRET_BYTES = 32
_WRITTEN = re.compile(r"([1-9][0-9]{0,2}) ([0-9a-f]{64})\n")


@dataclass(frozen=True)
class HashKey:
    """A key, and how many bits of a hash are published."""

    secret: bytes
    bits: int

    def hashed(self, word: str) -> str:
        """The first bits of the word's hash, as hexadecimal digits."""
        full = int.from_bytes(hmac.digest(self.secret, word.encode(), "sha256"))
        return f"{full >> (256 - self.bits):0{-(-self.bits // 4)}x}"

    def text(self) -> str:
        """As it stands in its file."""
        return f"{self.bits} {self.secret.hex()}\n"


def read_key(text: str) -> HashKey:
    found = _WRITTEN.fullmatch(text)
    if found is None or int(found[1]) > 256:
        raise InputError("the key of a release is no number of bits and 64 hexadecimal digits: make the release again")
    return HashKey(bytes.fromhex(found[2]), int(found[1]))
