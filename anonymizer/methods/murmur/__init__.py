"""Murmur: at a search the person's device says at most one word from a short menu, and nothing is published of anybody.

A method of this program (docs/murmur.md). Release: the terms of at least k users and everyone's mean of them. Server:
a menu made of the candidates. Device: the menu's best word for the person, or another by chance, or none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Catalogue, Claim, MethodInfo, ProfileMethod, Release, Suppressed
from shoal.anonymizer.blocks import CountedMethod, counts_of, total_of, totals
from shoal.anonymizer.methods.murmur.answer import answer
from shoal.anonymizer.methods.murmur.menu import Columns, Menu, columns_of, heard, make_menu
from shoal.anonymizer.parameters import AT_LEAST_TWO, Parameter, number, one_of, whole_number
from shoal.anonymizer.publish import catalogue_of, publish
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Device, Search


@dataclass(frozen=True, eq=False)
class _Kept:
    """The columns of the catalogue of one release among the word forms of one index."""

    release: Release
    space: object
    columns: Columns


class Murmur(ProfileMethod, CountedMethod):
    """Guarantee: nothing is published of a person; every term of the catalogue is of at least k users.

    With epsilon, whatever the query, the menu and two profiles are, an answer has at most e^epsilon times the
    probability under one profile that it has under the other, and s linked answers at most e^(s epsilon) times; also
    against a server that crafts menus. It stops there: without epsilon a crafted menu extracts a word per search.
    """

    info = MethodInfo(
        id="murmur",
        title="One word at a search, from a menu",
        paper="Shoal (2026), docs/murmur.md: a method of this program, not of a paper",
        unit="user",
        family="device",
        protects=(
            "The profile, which never leaves the device: the server hears at most one word a search, and with epsilon "
            "it cannot be sure of that."
        ),
        does_not_protect=(
            "Searches that can be linked: who knows the whole profile and links five searches finds many people, with "
            "epsilon fewer; the queries alone give away about as much. That searches cannot be linked is assumed."
        ),
        cluster="counts",
    )
    menu = Parameter(20, whole_number(1, 1000), "how many words the server offers at a search", "lower")
    epsilon = Parameter(
        "none",
        number(0.5, 8) | one_of("none"),
        "how much more likely the best word is said than another, as a logarithm (none: it is always said)",
        "lower",
    )
    k = Parameter(20, AT_LEAST_TWO, "the fewest users who hold a term of the catalogue", "higher")
    words = Parameter(3, whole_number(1, 1000), "how many different words are ever said under one pseudonym", "lower")

    def __init__(self, knowledge: Knowledge | None = None, **settings: object) -> None:
        super().__init__(knowledge, **settings)
        self._kept: _Kept | None = None

    def claim(self) -> Claim:
        return Claim("catalogue-of-terms", {"k": self.k})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        users = int(np.count_nonzero(profiles.size))
        self.need_users(users, self.k)
        progress(0, len(profiles), "counting holders")
        return self._published(profiles, catalogue_of(profiles, self.k))

    def fewest(self) -> Mapping[str, int]:
        return {"holders": self.k}

    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        profiles = build_profiles(log, self.knowledge.words)
        every = catalogue_of(profiles, 1)
        users = int(np.count_nonzero(profiles.size))
        typed = dict(zip(profiles.terms, profiles.counts.sum(axis=0).tolist(), strict=True))
        return totals(users=users, holders=dict(zip(every.terms, every.users.tolist(), strict=True)), typed=typed)

    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        self.need_users(users := total_of(totals, "users"), self.k)
        holders, typed = counts_of(totals, "holders"), counts_of(totals, "typed")
        mean = np.array([typed[term] for term in holders], dtype=np.int64) / users
        catalogue = Catalogue(list(holders), np.array(list(holders.values()), dtype=np.int64), mean)
        return self._published(build_profiles(log, self.knowledge.words), catalogue)

    def _published(self, profiles: Profiles, catalogue: Catalogue) -> Anonymized:
        """A catalogue, and nothing of anybody."""
        typed = dict(zip(profiles.terms, profiles.counts.sum(axis=0).tolist(), strict=True))
        left_out = int(sum(typed.values()) - sum(typed.get(term, 0) for term in catalogue.terms))
        nobody, suppressed = np.empty(0, dtype=np.int32), Suppressed(left_out, len(profiles))
        nothing = publish(
            profiles.users, (nobody, nobody), csr_array((0, 0), dtype=float), [], self.claim(), suppressed
        )
        return replace(nothing, release=replace(nothing.release, catalogue=catalogue))

    def choose(self, search: Search, device: Device, release: Release) -> csr_array:
        """What ranks by the word that the device says; empty where it says none."""
        return heard(search, self.said(self.offered(search, release), search.query, device))

    def offered(self, search: Search, release: Release) -> Menu:
        """The server's part: it knows the query, its candidates and what is published."""
        kept = self._kept
        if kept is None or kept.release is not release or kept.space is not search.space:
            assert release.catalogue is not None
            column = search.space.columns(release.catalogue.terms)
            kept = self._kept = _Kept(release, search.space, columns_of(release.catalogue, column))
        return make_menu(search.candidates, kept.columns, self.menu)

    def said(self, menu: Menu, query: str, device: Device) -> str:
        """The device's part: it knows the profile, what it said before, and the menu."""
        epsilon = None if isinstance(self.epsilon, str) else self.epsilon
        return answer(menu, query, device, epsilon, self.words)
