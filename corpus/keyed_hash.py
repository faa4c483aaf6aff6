"""Hashed words: HMAC-SHA-256 under a key that the searching server holds, and readers of a release do not."""

import hmac
import re
from dataclasses import dataclass

from shoal.corpus.errors import InputError

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
