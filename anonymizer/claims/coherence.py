"""Is a release (h, k, p)-coherent? Every set of up to p published public terms is counted, and who shares a secret."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim, Release
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_nothing_generalized, verify_own_sets, verify_rows_of_one
from shoal.anonymizer.parameters import AT_LEAST_TWO, number, whole_number


def verify_coherence(claim: Claim, evidence: Evidence) -> Verdict:
    """Rows of one user's true terms, every sensitive one among them, and no mole."""
    private = evidence.knowledge.sensitive.among(evidence.profiles.terms)
    for verdict in (
        verify_rows_of_one(evidence.release),
        verify_nothing_generalized(evidence.release),
        verify_own_sets(evidence, private),
    ):
        if not verdict.holds:
            return verdict
    sensitive = evidence.knowledge.sensitive.among(evidence.release.labels)
    table = Table.of(evidence.release, sensitive)
    everybody = np.arange(len(evidence.release))
    moles = table.moles(everybody, (), int(claim.values["p"]), int(claim.values["k"]), claim.values["h"])
    return next(moles, HOLDS)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows x published public terms, and rows x published sensitive terms."""

    labels: list[str]
    public: csr_array
    sensitive: csr_array

    @classmethod
    def of(cls, release: Release, sensitive: np.ndarray) -> "Table":
        ones = np.ones(release.weights.nnz, dtype=np.int64)
        sets = csr_array((ones, release.weights.indices, release.weights.indptr), shape=release.weights.shape)
        labels = [label for label, secret in zip(release.labels, sensitive.tolist(), strict=True) if not secret]
        return cls(
            labels, csr_array(sets[:, np.flatnonzero(~sensitive)]), csr_array(sets[:, np.flatnonzero(sensitive)])
        )

    def moles(self, rows: np.ndarray, known: tuple[int, ...], p: int, k: int, h: object) -> Iterator[Verdict]:
        """The sets of `known` terms, which these rows hold, and one or more after them that give somebody away."""
        first = known[-1] + 1 if known else 0
        part = csr_array(self.public[rows][:, np.arange(first, self.public.shape[1])])
        support = np.bincount(part.indices, minlength=part.shape[1])
        shared = csr_array(part.T @ self.sensitive[rows])
        most = np.zeros(len(support), dtype=np.int64)
        np.maximum.at(most, np.repeat(np.arange(len(support)), np.diff(shared.indptr)), shared.data)
        share = Fraction(str(h))
        tells = (support > 0) & ((support < k) | (most * share.denominator > share.numerator * support))
        for term in np.flatnonzero(tells).tolist():
            yield self._told((*known, first + term), int(support[term]), int(most[term]), k, h)
        if len(known) + 1 < p:
            by_term = part.tocsc()
            for term in np.flatnonzero(support).tolist():
                holders = rows[by_term.indices[by_term.indptr[term] : by_term.indptr[term + 1]]]
                yield from self.moles(holders, (*known, first + term), p, k, h)

    def _told(self, terms: tuple[int, ...], support: int, most: int, k: int, h: object) -> Verdict:
        names = " and ".join(repr(self.labels[term]) for term in terms)
        if support < k:
            return broken(f"{names} are in {support} rows, fewer than k={k}")
        return broken(f"{most} of the {support} rows with {names} have a sensitive term in common, more than h={h}")


def _sentence(values: Values) -> str:
    h, k, p = values["h"], values["k"], values["p"]
    return (
        f"Any {p} or fewer public terms of a row are in at least {k} rows, of which a share of {h} at most has a "
        "sensitive term in common; each row holds a user's own terms once, and a public term stands in the rows of all "
        "who typed it or of nobody."
    )


VERIFIERS = (
    Verifier(
        "coherence",
        "user",
        verify_coherence,
        _sentence,
        {"h": number(0, 1), "k": AT_LEAST_TWO, "p": whole_number(1, 4)},
    ),
)
