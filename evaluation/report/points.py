"""Where does each setting stand between precision and risk? Curves, controls, and the front that nobody beats."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.evaluation.measures.precision import OUTSIDE
from shoal.evaluation.run.outcomes import CONTROLS
from shoal.evaluation.run.results import Row, by_method

Measured = Mapping[str, Any]


@dataclass(frozen=True)
class Curve:
    """The settings of a method that differ in one parameter, in the order in which they were measured."""

    name: str
    method: str
    rows: tuple[Row, ...]


def name_of(row: Measured) -> str:
    return f"{row['method']} {row['params']}".strip()


def is_control(row: Measured) -> bool:
    return row["method"] in CONTROLS


def having(rows: Iterable[Row], *columns: str) -> list[Row]:
    return [row for row in rows if all(isinstance(row.get(column), int | float) for column in columns)]


def in_order(rows: Sequence[Row], risk: str = "linkage5") -> list[Row]:
    """The settings of each method together, the least risky first, whenever they were measured."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    return sorted(rows, key=lambda row: (methods.index(row["method"]), row.get(risk, 0.0)))


def parameters(row: Measured) -> dict[str, str]:
    """The parameters in `params`: "k=5 r=10" as a table."""
    pairs = (piece.partition("=") for piece in row["params"].split())
    return {name: value for name, _, value in pairs}


def curves_of(rows: Iterable[Row]) -> list[Curve]:
    """A method's settings as curves over the first parameter that varies; other parameters tell curves apart."""
    curves: list[Curve] = []
    for method, same in by_method(rows).items():
        varied = swept(same)
        apart: dict[str, list[Row]] = {}
        for row in same:
            rest = [f"{name}={value}" for name, value in parameters(row).items() if name != varied]
            many = len({r["params"] for r in same}) > 1 and varied
            apart.setdefault(" ".join([method, *(rest if many else [])]), []).append(row)
        curves += [Curve(name, method, tuple(part)) for name, part in apart.items()]
    return curves


def swept(rows: Sequence[Measured]) -> str:
    """The first parameter with several values; empty if there is none."""
    given = [parameters(row) for row in rows]
    names = dict.fromkeys(name for values in given for name in values)
    return next((name for name in names if len({values.get(name) for values in given}) > 1), "")


def front(rows: Sequence[Row], precision: str, risk: str, tolerance: float = 0.0) -> list[Row]:
    """The settings for which no other has as much precision at less risk, or more at the same; least risk first.

    Risks that differ by less than the tolerance are the same. What ranks on the own device is no
    server's setting, and hashes promise nothing.
    """
    of_servers = [row for row in having(rows, precision, risk) if row["method"] not in OUTSIDE]
    there = sorted(of_servers, key=lambda row: (row[risk], -row[precision], name_of(row)))
    best: list[Row] = []
    for row in there:
        same = [other[precision] for other in there if other[risk] <= row[risk] + tolerance]
        if row[precision] >= max(same) and (not best or row[precision] > best[-1][precision]):
            best.append(row)
    return best


def best_at(rows: Sequence[Row], precision: str, risk: str, bound: float) -> Row | None:
    """The setting of most precision among those at or below a risk."""
    met = [row for row in having(rows, precision, risk) if row[risk] <= bound]
    return max(met, key=lambda row: row[precision], default=None)
