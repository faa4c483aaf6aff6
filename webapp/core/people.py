"""Who can be picked? The users of the log under names that do not tell who they are, with their interests."""

import hashlib
import hmac
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array

from shoal.corpus.errors import NotFound
from shoal.corpus.profiles import Profiles
from shoal.corpus.tokens import tokenize

_SHOWN_TERMS = 4
_ENOUGH_TERMS = 20
_FEATURED = 12
# What nobody would want to be called by: other interests come first.
_UNKIND = frozenset(
    "sex porn pornography pornographic nudity nude rape incest prostitute prostitution suicide drug murder".split()
)


@dataclass(frozen=True)
class Person:
    """A user as pages show one: the key stands in addresses, the name on the page. Neither is the log's id."""

    row: int
    key: str
    name: str  # of interests; no two people have the same
    interests: tuple[str, ...]
    terms: int


class People:
    """All users of the log. Keys are keyed hashes, so that who knows an id of the log cannot look it up here."""

    def __init__(self, profiles: Profiles, secret: bytes) -> None:
        self._profiles = profiles
        self._secret = secret

    def __len__(self) -> int:
        return len(self._profiles)

    @cached_property
    def _keys(self) -> list[str]:
        hashes = (
            hmac.digest(self._secret, b"person:" + name.encode(), hashlib.sha256) for name in self._profiles.users
        )
        return [digest[:8].hex() for digest in hashes]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self._keys)}

    @cached_property
    def _by_term(self) -> csc_array:
        return csc_array(self._profiles.counts)

    @cached_property
    def _rarity(self) -> np.ndarray:
        """ln(users / users of the term): what everybody types tells little of anyone."""
        return np.log(max(len(self), 1) / np.maximum(np.diff(self._by_term.indptr), 1))

    def get(self, key: str) -> Person:
        if key not in self._rows:
            raise NotFound("no such user: pick one from the list at /people")
        return self.at(self._rows[key])

    def at(self, row: int) -> Person:
        return Person(row, self._keys[row], self._names[row], self._interests(row), int(self._profiles.size[row]))

    def _interests(self, row: int) -> tuple[str, ...]:
        return tuple(self._profiles.terms[t] for t in self._heaviest[row].tolist() if t >= 0)

    @cached_property
    def _heaviest(self) -> np.ndarray:
        """Users x shown terms: those used most, what few use before what everybody does; -1 where there are fewer."""
        counts = self._profiles.counts
        user = np.repeat(np.arange(len(self)), np.diff(counts.indptr))
        kind = np.array([term not in _UNKIND for term in self._profiles.terms], dtype=np.float64)
        weight = counts.data * np.sqrt(self._rarity[counts.indices]) * kind[counts.indices]
        order = np.lexsort((counts.indices, -weight, user))
        place = np.arange(len(order)) - counts.indptr[user]
        found = np.full((len(self), _SHOWN_TERMS), -1, dtype=np.int64)
        first = place < _SHOWN_TERMS
        found[user[first], place[first]] = counts.indices[order[first]]
        return found

    @cached_property
    def _names(self) -> list[str]:
        interests = [self._interests(row) for row in range(len(self))]
        names = [" ".join(some[:2]) for some in interests]
        for longer in ([" ".join(some[::3]) for some in interests], [" ".join(some) for some in interests]):
            names = _told_apart(names, longer)
        with_key = [f"{name} {key[:4]}".strip() for name, key in zip(names, self._keys, strict=True)]
        return [name[:1].upper() + name[1:] for name in _told_apart(names, with_key)]

    @cached_property
    def featured(self) -> tuple[Person, ...]:
        """Some people to begin with; the same on every page."""
        return tuple(self.find(limit=_FEATURED))

    def find(self, text: str = "", limit: int = 24) -> list[Person]:
        """Users whose interests or name the text fits; those with most of it first."""
        return [self.at(int(row)) for row in self.matching(text)[:limit]]

    def matching(self, text: str = "") -> np.ndarray:
        """The same as rows of the profiles; without a text everybody."""
        wanted = tokenize(text)
        return self._matching(wanted) if wanted else self._in_hash_order

    @cached_property
    def _in_hash_order(self) -> np.ndarray:
        """All users in an order that says nothing, but those with enough of a profile to look at first."""
        order = self._sorted_keys[1]
        enough = min(_ENOUGH_TERMS, int(np.median(self._profiles.size))) if len(self) else 0
        few = self._profiles.size[order] < max(enough, 1)
        return np.concatenate([order[~few], order[few]])

    def _matching(self, wanted: list[str]) -> np.ndarray:
        score = np.zeros(len(self))
        for word in wanted:
            score += self._use_of(word)
        rows = np.flatnonzero(score)
        return rows[np.lexsort((rows, -score[rows]))]

    def _use_of(self, word: str) -> np.ndarray:
        """How much each user has of the terms that begin with a word, or of a name that does."""
        terms = self._profiles.terms
        low, high = np.searchsorted(self._sorted_terms, [word, word + "\U0010ffff"])
        use = np.zeros(len(self))
        for term in range(int(low), min(int(high), int(low) + 50)):
            part = slice(self._by_term.indptr[term], self._by_term.indptr[term + 1])
            exact = 3.0 if terms[term] == word else 1.0
            use[self._by_term.indices[part]] += exact * self._by_term.data[part]
        if len(word) >= 3:
            low, high = np.searchsorted(self._sorted_keys[0], [word, word + "\U0010ffff"])
            use[self._sorted_keys[1][low:high]] += 100
        return use

    @cached_property
    def _sorted_keys(self) -> tuple[np.ndarray, np.ndarray]:
        keys = np.array(self._keys, dtype=object)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    @cached_property
    def _sorted_terms(self) -> np.ndarray:
        return np.array(self._profiles.terms, dtype=object)


def _told_apart(names: list[str], longer: list[str]) -> list[str]:
    """The names, longer where two people have the same, or none."""
    taken = Counter(names)
    return [more if taken[name] > 1 or not name else name for name, more in zip(names, longer, strict=True)]
