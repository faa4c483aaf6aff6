"""Do this program's own methods keep here what is claimed for them? Against the best paper's at equal risk.

Where a paper's method was measured on both sides of a risk but not at it, the line between its two settings counts, as
if some people had the one and others the other: the safer one alone would flatter whoever lies just below the riskier.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from shoal.anonymizer.registry import methods
from shoal.evaluation.measures.precision import OUTSIDE
from shoal.evaluation.report.blocks import listed, percent
from shoal.evaluation.report.points import having, is_control, name_of, parameters
from shoal.evaluation.run.results import Row

_RISK = "linkage5"
_OURS = "Shoal"  # how the reference of a method of this program begins
_NO_NOISE = "none"  # murmur's epsilon where nothing is promised of a single answer


@dataclass(frozen=True)
class _Claim:
    """What docs/common.md and docs/murmur.md say, of real people's searches as they are served."""

    of: str
    times: float  # what the best paper's method keeps at equal risk


@dataclass(frozen=True)
class _Best:
    """What a paper's method keeps at a risk, and by which of its settings."""

    kept: float
    by: str


_CLAIMS = {
    "common": _Claim("`common`", 1.5),
    "murmur": _Claim("`murmur` without epsilon", 2),
    "murmur epsilon": _Claim("`murmur` with epsilon", 1.5),
}


def against_papers(rows: Sequence[Row], kept: str, people: int) -> str:
    """A sentence for each claim: where it holds and where it does not, by the column of what is kept."""
    there = [row for row in having(rows, kept, _RISK) if not is_control(row) and row["method"] in methods()]
    papers = [row for row in there if not _ours(row) and row["method"] not in OUTSIDE]  # which promises nothing
    told = [_told(claim, own, papers, kept, people) for key, claim in _CLAIMS.items() if (own := _under(key, there))]
    return " ".join(told) if papers else ""


def _ours(row: Row) -> bool:
    return methods()[row["method"]].info.paper.startswith(_OURS)


def _under(key: str, rows: Sequence[Row]) -> list[Row]:
    """The settings that a claim is about."""
    return [row for row in rows if _ours(row) and row["method"] == key.split()[0] and _noisy(row) == ("epsilon" in key)]


def _noisy(row: Row) -> bool:
    return parameters(row).get("epsilon", _NO_NOISE) != _NO_NOISE


def _told(claim: _Claim, own: Sequence[Row], papers: Sequence[Row], kept: str, people: int) -> str:
    against = [(row, _best(papers, row[_RISK] + 1 / max(people, 1), kept)) for row in own]
    holds = [row for row, best in against if row[kept] >= claim.times * (best.kept if best else 0) and row[kept] > 0]
    fails = [(row, best) for row, best in against if row not in holds]
    said = f"{claim.of} is said to keep at least {claim.times:g} times what the best paper's method does at equal risk:"
    reached = listed([f"`{name_of(row)}`{_times(row[kept], best)}" for row, best in against if row in holds])
    if not fails:
        return f"{said} so it is here, with {reached}."
    found = listed([_instead(row, best, kept) for row, best in fails])
    rest = f"; it holds with {reached}" if holds else ""
    return f"{said} **here that does not hold** in {len(fails)} of {len(own)} settings: {found}{rest}."


def _times(value: float, best: _Best | None) -> str:
    """How many times what a paper's method keeps; of nothing there is no multiple."""
    return f" ({value / best.kept:.1f} times)" if best and best.kept > 0 else ""


def _best(papers: Sequence[Row], risk: float, kept: str) -> _Best | None:
    safer = [_Best(row[kept], f"`{name_of(row)}`") for row in papers if row[_RISK] <= risk]
    between = [_between(*pair, risk, kept) for pair in _neighbours(papers) if pair[0][_RISK] <= risk < pair[1][_RISK]]
    return max([*safer, *between], key=lambda best: best.kept, default=None)


def _neighbours(papers: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Settings of one method, one the next by risk after the other."""
    ordered = sorted(papers, key=lambda row: (row["method"], row[_RISK]))
    return [(one, other) for one, other in pairwise(ordered) if one["method"] == other["method"]]


def _between(safer: Row, riskier: Row, risk: float, kept: str) -> _Best:
    share = (risk - safer[_RISK]) / (riskier[_RISK] - safer[_RISK])
    value = safer[kept] + share * (riskier[kept] - safer[kept])
    return _Best(value, f"between `{name_of(safer)}` and `{name_of(riskier)}`")


def _instead(row: Row, best: _Best | None, kept: str) -> str:
    has = f"`{name_of(row)}` keeps {row[kept]:.2f} with {percent(row[_RISK])} found"
    return f"{has} ({best.by}: {best.kept:.2f})" if best else has
