"""Does k-theta-affinity hold on what was released? Concepts, cosines and protectors counted anew, from the log."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import QUERIES, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.queries import asked_rows, released_rows, verify_profiles, verify_typed
from shoal.anonymizer.parameters import AT_LEAST_TWO, number, one_of, whole_number
from shoal.corpus.tokens import STOP_WORDS, Tokens, tokenize_column

_ROWS_AT_ONCE = 256
_ROUNDING = 1e-9
_GRAM = ["a", "b", "c"]


@dataclass(frozen=True, eq=False)
class Released:
    """The distinct released queries: users who release each, its degree, and its vector of length 1 (or none)."""

    texts: list[str]
    degree: np.ndarray
    users: csr_array  # queries x pseudonyms
    vectors: csr_array  # queries x concepts


def verify_affinity(claim: Claim, evidence: Evidence) -> Verdict:
    """Every query of degree d >= k is released, or has affine ones released with degree >= d, by d distinct users."""
    typed = verify_typed(evidence)
    if not typed.holds:
        return typed
    rows = released_rows(evidence)
    degrees = _verify_degrees(int(claim.values["k"]), rows)
    if not degrees.holds:
        return degrees
    counts = _Counts(asked_rows(evidence))
    released = _released(rows, counts.vectors(_support(claim, counts)), counts, len(evidence.release))
    for verdict in (
        _verify_no_private_word(released, counts),
        _verify_protected(released, float(claim.values["theta"])),
    ):
        if not verdict.holds:
            return verdict
    return verify_profiles(evidence, rows)


def _support(claim: Claim, counts: "_Counts") -> int:
    """The fewest users of a concept: as the claim says, or (auto) one ten-thousandth of the users (section 3.1)."""
    support = claim.values["support"]
    return max(2, counts.users // 10_000) if support == "auto" else int(support)


def _verify_degrees(k: int, rows: pl.DataFrame) -> Verdict:
    low = rows.filter(pl.col("degree") < k)
    if len(low):
        return broken(f"{low['query'][0]!r} is released with degree {low['degree'][0]}, fewer than k={k}")
    varied = rows.group_by("query", maintain_order=True).agg(pl.col("degree").unique()).filter(
        pl.col("degree").list.len() > 1
    )  # fmt: skip
    if len(varied):
        return broken(f"{varied['query'][0]!r} is released with different degrees")
    return HOLDS


class _Counts:
    """What the log says of words and n-grams; queries are rows of `texts`, words are numbers of a vocabulary."""

    def __init__(self, asked: pl.DataFrame) -> None:
        self.texts = asked["query"].unique().sort()
        self.users = asked["user"].n_unique()
        number = pl.DataFrame({"query": self.texts, "number": np.arange(len(self.texts))})
        self._asked = asked.join(number, on="query").select("number", "user", "times")
        self._times = self._asked.group_by("number").agg(pl.col("times").sum())
        self.tokens: Tokens = tokenize_column(self.texts)
        self._stop = [word in STOP_WORDS for word in self.tokens.vocabulary]

    def occurrences(self, length: int) -> pl.DataFrame:
        """Each n-gram of this length where it stands in a query: number, a, b, c (-1 beyond its length)."""
        ids = self.tokens.ids.astype(np.int64)
        query = np.repeat(np.arange(len(self.texts)), np.diff(self.tokens.start))
        first = np.arange(max(0, len(ids) - length + 1))
        first = first[query[first] == query[first + length - 1]]
        columns = {name: ids[first + i] if i < length else np.full(len(first), -1) for i, name in enumerate(_GRAM)}
        return pl.DataFrame({"number": query[first], **columns})

    def grams(self, length: int) -> pl.DataFrame:
        """Distinct users, occurrences, queries that hold it and relative frequency of each n-gram of this length."""
        places = self.occurrences(length)
        users = places.unique().join(self._asked, on="number").group_by(_GRAM).agg(pl.col("user").n_unique())
        held = places.unique().join(self._times, on="number").group_by(_GRAM).agg(pl.col("times").sum().alias("N"))
        often = places.join(self._times, on="number").group_by(_GRAM).agg(pl.col("times").sum())
        share = (pl.col("times") / pl.col("times").sum()).alias("p")
        return users.join(held, on=_GRAM).join(often, on=_GRAM).with_columns(share)

    def private_words(self) -> set[str]:
        alone = self.grams(1).filter(pl.col("user") == 1)
        return {self.tokens.vocabulary[word] for word in alone["a"].to_list()}

    def weighted(self, support: int) -> pl.DataFrame:
        """Equations 1 to 3 for the n-grams of enough users that are not function words only: a, b, c, weight."""
        one, two, three = (self.grams(length) for length in (1, 2, 3))
        p1 = dict(zip(one["a"].to_list(), one["p"].to_list(), strict=True))
        p2 = {(a, b): p for a, b, p in two.select("a", "b", "p").iter_rows()}
        weights = []
        for level in (one, two, three):
            for a, b, c, holding, p in level.filter(pl.col("user") >= support).select(*_GRAM, "N", "p").iter_rows():
                if all(self._stop[word] for word in (a, b, c) if word >= 0):
                    continue
                if b < 0:
                    weights.append((a, b, c, np.log2(holding + 1)))
                    continue
                apart = p1[a] * p1[b]
                if c >= 0:
                    apart = apart * p1[c] + p1[a] * p2[b, c] + p2[a, b] * p1[c]
                weights.append((a, b, c, np.log2(p / apart + 1)))
        kinds = {**dict.fromkeys(_GRAM, pl.Int64), "weight": pl.Float64}
        return pl.DataFrame(weights, schema=kinds, orient="row").sort(_GRAM)

    def vectors(self, support: int) -> csr_array:
        """The concept vector of each query, of length 1."""
        concepts = self.weighted(support).with_row_index("concept")
        held = pl.concat([self.occurrences(length) for length in (1, 2, 3)]).unique().join(concepts, on=_GRAM)
        shape = (len(self.texts), len(concepts))
        matrix = csr_array(
            (held["weight"].to_numpy(), (held["number"].to_numpy(), held["concept"].to_numpy())), shape=shape
        )
        norm = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        matrix.data /= np.repeat(norm, np.diff(matrix.indptr))
        return matrix


def _released(rows: pl.DataFrame, vectors: csr_array, counts: _Counts, pseudonyms: int) -> Released:
    distinct = rows.group_by("query").agg(pl.col("degree").first()).sort("query")
    number = pl.DataFrame({"query": distinct["query"], "number": np.arange(len(distinct))})
    place = rows.join(number, on="query", how="left", maintain_order="left")["number"].to_numpy()
    ones = np.ones(len(rows))
    users = csr_array((ones, (place, rows["pseudonym"].to_numpy())), shape=(len(distinct), pseudonyms))
    texts = pl.DataFrame({"query": counts.texts, "row": np.arange(len(counts.texts))})
    where = distinct.join(texts, on="query", how="left", maintain_order="left")["row"].to_numpy()
    return Released(distinct["query"].to_list(), distinct["degree"].to_numpy(), users, csr_array(vectors[where]))


def _verify_no_private_word(released: Released, counts: _Counts) -> Verdict:
    """A released query with a concept holds no word that one user only typed."""
    private = counts.private_words()
    tokens = tokenize_column(pl.Series(released.texts, dtype=pl.String))
    for i in np.flatnonzero(np.diff(released.vectors.indptr)).tolist():
        alone = next((word for word in tokens.of(i) if word in private), None)
        if alone is not None:
            return broken(f"{released.texts[i]!r} is released, but only one user typed the word {alone!r}")
    return HOLDS


def _verify_protected(released: Released, theta: float) -> Verdict:
    """Count the users who release an affine query of at least the same degree."""
    plain = np.diff(released.users.indptr)
    doubtful = np.flatnonzero(plain < released.degree)
    for begin in range(0, len(doubtful), _ROWS_AT_ONCE):
        block = doubtful[begin : begin + _ROWS_AT_ONCE]
        near = (released.vectors[block] @ released.vectors.T).tocoo()
        kept = (near.data >= theta - _ROUNDING) & (released.degree[near.col] >= released.degree[block[near.row]])
        shape = (len(block), len(released.texts))
        protectors = csr_array((np.ones(int(kept.sum())), (near.row[kept], near.col[kept])), shape=shape)
        users = np.maximum(np.diff(csr_array(protectors @ released.users).indptr), plain[block])
        short = np.flatnonzero(users < released.degree[block])
        if len(short):
            query = int(block[short[0]])
            return broken(
                f"{released.texts[query]!r} has degree {released.degree[query]}, but only {users[short[0]]} users "
                "release it or an affine query of that degree"
            )
    return HOLDS


VERIFIERS = (
    Verifier(
        "affinity-k-anonymity",
        "query",
        verify_affinity,
        lambda values: (
            f"For every released query, {values['k']} users in all typed it or a released one with "
            f"cosine {values['theta']:g} to it or more."
        ),
        {"k": AT_LEAST_TWO, "theta": number(0.1, 1), "support": whole_number(2) | one_of("auto")},
        files=(QUERIES,),
    ),
)
