"""Is a release rho-uncertain? Every rule from few published items to a sensitive term is counted from the rows."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_nothing_generalized, verify_own_items, verify_rows_of_one
from shoal.anonymizer.parameters import number, one_of, whole_number
from shoal.corpus.errors import InputError

MOST_COMMON_PARTS = 100_000  # of rows, beyond which rules of any size are too many to look at


def verify_uncertainty(claim: Claim, evidence: Evidence) -> Verdict:
    """Rows of one user's true items, and no rule that is too sure."""
    release, published = evidence.release, claim.values["published"]
    for verdict in (
        verify_rows_of_one(release),
        verify_nothing_generalized(release) if published == "terms" else _are_nodes(evidence),
    ):
        if not verdict.holds:
            return verdict
    items = _items_of_terms(evidence)
    true = items if isinstance(items, Verdict) else verify_own_items(evidence, items, release.labels)
    if not true.holds:
        return true
    rho, antecedent = Fraction(str(claim.values["rho"])), claim.values["antecedent"]
    rules = _any_rules(rho, evidence) if isinstance(antecedent, str) else _small_rules(rho, int(antecedent), evidence)
    return next(rules, HOLDS)


def _are_nodes(evidence: Evidence) -> Verdict:
    taxonomy = evidence.knowledge.taxonomy
    for label in evidence.release.nodes.values():
        v = taxonomy.node.get(label.lower())
        if v is None or taxonomy.is_leaf[v] or taxonomy.labels[v] != label:
            return broken(f"{label!r} is published as generalized, but no node above others is called so")
    if evidence.release.bags:
        return broken(f"{next(iter(evidence.release.bags.values()))} is published as a bag, but no bags should be")
    return HOLDS


def _items_of_terms(evidence: Evidence) -> np.ndarray | Verdict:
    """The published label that stands for each term of the log, -1 for none; two are too many."""
    release, taxonomy, terms = evidence.release, evidence.knowledge.taxonomy, evidence.profiles.terms
    private = evidence.knowledge.sensitive.among(terms)
    plain = {label: i for i, label in enumerate(release.labels) if not release.generalized[i]}
    node = {taxonomy.node[label.lower()]: i for i, label in release.nodes.items()} if release.nodes else {}
    items = np.full(len(terms), -1)
    for t, term in enumerate(terms):
        leaf = taxonomy.leaf(term) if node and not private[t] else None
        found = [plain[term]] if term in plain else []
        found += [node[v] for v in (taxonomy.path(leaf) if leaf is not None else ()) if v in node]
        if len(found) > 1:
            names = " and ".join(repr(release.labels[i]) for i in found)
            return broken(f"{names} are published, which both stand for {term!r}")
        items[t] = found[0] if found else -1
    return items


def _small_rules(rho: Fraction, most: int, evidence: Evidence) -> Iterator[Verdict]:
    """The rules of up to `most` known items that are too sure: one item at a time, with all that its holders have."""
    release = evidence.release
    private = np.flatnonzero(evidence.knowledge.sensitive.among(release.labels) & ~release.generalized)
    ones = np.ones(release.weights.nnz, dtype=np.int64)
    sets = csr_array((ones, release.weights.indices, release.weights.indptr), shape=release.weights.shape)
    secret = csr_array(sets[:, private])

    def among(rows: np.ndarray, known: tuple[int, ...]) -> Iterator[Verdict]:
        part = csr_array(sets[rows])
        support = np.bincount(part.indices, minlength=part.shape[1])
        tells = csr_array(part.T @ secret[rows]).tocoo()
        sure = tells.data * rho.denominator > rho.numerator * support[tells.row]
        for item, e in zip(tells.row[sure].tolist(), private[tells.col[sure]].tolist(), strict=True):
            if e != item and e not in known and item not in known:
                yield _told(evidence, (*known, item), e, rho)
        if len(known) + 1 < most:
            by_item = part.tocsc()
            for item in range(known[-1] + 1 if known else 0, part.shape[1]):
                holders = rows[by_item.indices[by_item.indptr[item] : by_item.indptr[item + 1]]]
                if secret[holders].nnz:
                    yield from among(holders, (*known, item))

    yield from among(np.arange(len(release)), ())


def _any_rules(rho: Fraction, evidence: Evidence) -> Iterator[Verdict]:
    """The rules of any size that are too sure.

    The surest rule to e among those that hold in the same rows knows all that these rows have in common but e. So it is
    enough to look at what any rows have in common.
    """
    release = evidence.release
    private = set(np.flatnonzero(evidence.knowledge.sensitive.among(release.labels) & ~release.generalized).tolist())
    parts = np.split(release.weights.indices, release.weights.indptr[1:-1])
    rows = [sum(1 << item for item in part.tolist()) for part in parts]
    common: set[int] = set()
    for row in set(rows):
        common.update([row & other for other in common], [row])
        if len(common) > MOST_COMMON_PARTS:
            raise InputError(
                f"rows have more than {MOST_COMMON_PARTS:,} different parts in common, too many to check rules of any "
                "size: this is no release that shoal makes"
            )
    for part in common:
        for e in (e for e in private if part >> e & 1 and part != 1 << e):
            known = part & ~(1 << e)
            holders = [row for row in rows if row & known == known]
            if sum(row >> e & 1 for row in holders) > rho * len(holders):
                yield _told(evidence, tuple(i for i in range(known.bit_length()) if known >> i & 1), e, rho)


def _told(evidence: Evidence, known: tuple[int, ...], e: int, rho: Fraction) -> Verdict:
    labels = evidence.release.labels
    names = " and ".join(repr(labels[item]) for item in known)
    return broken(f"more than {float(rho):g} of the rows with {names} have the sensitive term {labels[e]!r}")


def _sentence(values: Values) -> str:
    known = values["antecedent"]
    many = (
        "No set of terms of a row, however many," if isinstance(known, str) else f"No {known} or fewer terms of a row"
    )
    what = "its user's own terms" if values["published"] == "terms" else "its user's terms, public ones generalized"
    bound = "" if isinstance(known, str) else f"; what more than {known} terms tell was not looked at"
    tells = "tells" if isinstance(known, str) else "tell"
    return (
        f"{many} {tells} another, sensitive one with a confidence above {values['rho']}; each row holds {what}, each "
        f"once, and what is suppressed is suppressed of everybody{bound}."
    )


VERIFIERS = (
    Verifier(
        "uncertainty",
        "user",
        verify_uncertainty,
        _sentence,
        {
            "rho": number(0, 1),
            "antecedent": whole_number(1, 3) | one_of("any"),
            "published": one_of("terms", "cut"),
        },
    ),
)
