"""Which column of a log holds what? Found by the names of its heading, or as --columns says; and the separator."""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal.corpus.errors import InputError
from shoal.corpus.querylog import PEOPLE, PeopleKind

AOL_COLUMNS = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
EXPECTED = " <TAB> ".join(AOL_COLUMNS)
# A heading of its own says who the users are. Other readers take it for a column that no row fills.
PEOPLE_HEADING = "people: "
NEEDED = ("user", "query")
# Names of headings without case, blanks and signs, the surest first.
_NAMES = {
    "user": "anonid user userid username uid clientid client visitorid visitor personid person memberid member "
    "accountid account customerid customer cookieid cookie deviceid device author",
    "query": "query querytext querystring querystr searchquery searchterm searchterms searchstring searchtext "
    "searchphrase keywords keyword phrase queries search q text",
    "time": "querytime timestamp datetime time querydate eventtime createdat when date moment ts epoch unixtime",
    "rank": "itemrank clickrank rank position clickposition",
    "click": "clickurl clickedurl url click clicked clickeddocument link docid documentid document doc itemid item",
}
ROLES = tuple(_NAMES)
KNOWN_NAMES = {role: tuple(names.split()) for role, names in _NAMES.items()}
_SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
_LOOKED_AT = 20  # lines, to find the separator of a file without a heading
_SIGNS = re.compile(r"[^a-z0-9]+")
_TIME_LIKE = re.compile(r"^\d{4}-\d\d-\d\d|^\d{9,19}(\.\d+)?$")


@dataclass(frozen=True)
class Columns:
    """Where each role stands among the names of a heading, and who the users are, as the heading says."""

    names: tuple[str, ...]
    place: Mapping[str, int]
    people: PeopleKind = "real"

    def __str__(self) -> str:
        return ", ".join(f"{role}={self.names[place]}" for role, place in self.place.items())


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are cut into values: by a separator, with quotes or without, or as JSON objects."""

    columns: Columns
    separator: str = "\t"  # nothing: a JSON object per line
    quoted: bool = False
    has_heading: bool = False

    def __str__(self) -> str:
        cut = _SEPARATORS.get(self.separator, "JSON lines")
        return f"{cut}{'' if self.has_heading or not self.separator else ', no heading'}; {self.columns}"


AOL = Layout(Columns(AOL_COLUMNS, {role: place for place, role in enumerate(ROLES)}))


def parse_columns(text: str) -> dict[str, str]:
    """What --columns says: ROLE=NAME pairs with commas between; a name may be a number from 1, or empty: none."""
    given = {}
    for pair in filter(None, (pair.strip() for pair in text.split(","))):
        role, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or role not in ROLES:
            raise InputError(
                f"--columns {pair}: expected ROLE=NAME with a role of {', '.join(ROLES)}, "
                "for example --columns user=AnonID,query=Query"
            )
        given[role] = name
    return given


def find_columns(names: Sequence[str], given: Mapping[str, str], where: str) -> Columns | None:
    """The columns by what is given and, for other roles, by their names; None if nothing tells user or query."""
    place = {role: _place(name, names, where) for role, name in given.items() if name}
    plain = [_SIGNS.sub("", name.lower()) for name in names]
    for role, known in KNOWN_NAMES.items():
        free = (plain.index(name) for name in known if name in plain and plain.index(name) not in place.values())
        if role not in given and (found := next(free, None)) is not None:
            place[role] = found
    if any(role not in place for role in NEEDED):
        return None
    if len(set(place.values())) < len(place):
        raise InputError(
            f"{where}: one column cannot be two things: {', '.join(f'{r}={names[place[r]]}' for r in place)}"
        )
    ordered = {role: place[role] for role in ROLES if role in place}
    return Columns(tuple(names), ordered, _people(names, where))


def _place(name: str, names: Sequence[str], where: str) -> int:
    """The position of a column by its name, exactly or without case, or by its number from 1."""
    lower = [known.lower() for known in names]
    if name in names:
        return names.index(name)
    if name.lower() in lower:
        return lower.index(name.lower())
    if name.isdecimal() and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise InputError(f"{where} has no column {name[:60]!r}: it has {', '.join(names)[:300]}")


def _people(names: Sequence[str], where: str) -> PeopleKind:
    said = next((name for name in names if name.startswith(PEOPLE_HEADING)), None)
    if said is None:
        return "real"
    for kind in PEOPLE:
        if said == PEOPLE_HEADING + kind:
            return kind
    choices = ", ".join(PEOPLE_HEADING + kind for kind in PEOPLE)
    raise InputError(f"{where}, line 1: {said[:40]!r} is unknown: write one of {choices}, or leave it out")


def need_columns(names: Sequence[str], given: Mapping[str, str], where: str) -> Columns:
    """The same for what surely has names: a frame, Parquet, JSON lines. Not to find user and query is an error."""
    found = find_columns(names, given, where)
    if found is None:
        raise InputError(_untold(names, where))
    return found


def _untold(names: Sequence[str], where: str) -> str:
    shown = ", ".join(names)[:200]
    return (
        f"{where} has the columns {shown}: which are user and query? Say it by --columns user=NAME,query=NAME "
        f"(and time=, rank=, click= where there are such)"
    )


def split_line(line: str, layout: Layout) -> list[str]:
    """The values of a line; a quote that does not end on it raises csv.Error."""
    if not layout.quoted:
        return line.split(layout.separator)
    return next(csv.reader([line], delimiter=layout.separator, strict=True), [])


def find_layout(lines: Sequence[str], given: Mapping[str, str], where: str) -> Layout:
    """How a file is to be read, by its first lines, none of which is blank."""
    if lines and lines[0].startswith("{"):
        return Layout(need_columns(_keys(lines), given, where), "", has_heading=False)
    if lines and lines[0].startswith("["):
        raise InputError(f"{where} is a JSON list: write one object per line, without brackets or commas between")
    headed = (_headed(line, _cut(separator), given, where) for line in lines[:1] for separator in _SEPARATORS)
    return next((layout for layout in headed if layout), None) or _without_heading(lines, given, where)


def _cut(separator: str) -> Layout:
    return Layout(AOL.columns, separator, quoted=separator != "\t")


def _headed(line: str, cut: Layout, given: Mapping[str, str], where: str) -> Layout | None:
    """The layout if the line is a heading that tells user and query when cut so."""
    quoted = cut.quoted or line.startswith('"')
    try:
        names = [name.strip() for name in split_line(line, Layout(cut.columns, cut.separator, quoted))]
    except csv.Error:
        return None
    if len(names) < 2 or any(name[:1].isdigit() for name in names):
        return None
    wanted = {name.lower() for name in given.values() if name and not name.isdecimal()}
    if not wanted <= {name.lower() for name in names} or (not wanted and find_columns(names, {}, where) is None):
        return None
    columns = find_columns(names, given, where)
    return None if columns is None else Layout(columns, cut.separator, quoted, True)


def _without_heading(lines: Sequence[str], given: Mapping[str, str], where: str) -> Layout:
    """Rows from the first line on: in the order of AOL, or as the numbers of --columns say."""
    some = lines[:_LOOKED_AT]
    separator = max(_SEPARATORS, key=lambda one: sum(one in line for line in some) * (2 if one == "\t" else 1))
    cut = _cut(separator)
    values = [_values(line, cut) for line in some]
    unknown_heading = _is_heading(values)
    if not given and unknown_heading:
        raise InputError(_untold(values[0], where))
    if not given:
        return cut
    if not all(name.isdecimal() or not name for name in given.values()):
        raise InputError(_no_heading(given, lines[0] if lines else "", where))
    names = [str(number) for number in range(1, max(map(len, values), default=0) + 1)]
    return Layout(need_columns(names, given, where), cut.separator, cut.quoted, unknown_heading)


def _values(line: str, cut: Layout) -> list[str]:
    try:
        return split_line(line, cut)
    except csv.Error:
        return []


def _no_heading(given: Mapping[str, str], line: str, where: str) -> str:
    wanted = ", ".join(name for name in given.values() if name)
    return (
        f"{where}, line 1 is no heading with {wanted}: it is {line[:100]!r}; without one, give numbers (user=1,query=2)"
    )


def _is_heading(values: Sequence[Sequence[str]]) -> bool:
    """Whether the first line holds names, though unknown ones: to guess their order would make users of queries."""
    first = list(values[0]) if values else []
    if len(first) < 2 or any(cell[:1].isdigit() for cell in first):
        return False
    plain = [_SIGNS.sub("", cell.lower()) for cell in first]
    named = [role for role, known in KNOWN_NAMES.items() if any(name in plain for name in known)]
    timed = [any(_TIME_LIKE.match(cell) for cell in row) for row in values[1:]]
    above_rows = bool(timed) and all(timed) and all(map(str.strip, first))
    return plain[0] == "anonid" or len(named) > 1 or above_rows


def _keys(lines: Iterable[str]) -> list[str]:
    """The names in the first objects of JSON lines, in the order in which they come."""
    names: dict[str, None] = {}
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        names.update(dict.fromkeys(row if isinstance(row, dict) else ()))
    return list(names)
