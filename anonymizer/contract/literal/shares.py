"""When do shares of queries hold? k of them read a query by the textbook's interpolation, and fewer read none.

When are hashed terms those of their users? Each user's own bag, term by term, under the key.
"""

import hmac
import re
from collections import Counter

from shoal.anonymizer.contract.literal import Bag, Case, Definition
from shoal.anonymizer.methods.secret_sharing.literal import PRIME, blocks_of, text_of, value_at

_NUMBER = re.compile("0|[1-9][0-9]*")
Row = tuple[str, int, dict[str, object]]


class NoShare(ValueError):
    """A published row is no share."""


def share_of(text: str) -> tuple[int, int, list[int]]:
    """Query, point and values of a row."""
    parts = text.split("/")
    if len(parts) != 3 or not all(_NUMBER.fullmatch(number) for number in [*parts[:2], *parts[2].split(".")]):
        raise NoShare(text)
    query, point, values = int(parts[0]), int(parts[1]), [int(value) for value in parts[2].split(".")]
    if query >= 10**18 or not 0 < point < min(10**18, PRIME) or max(values) >= PRIME:
        raise NoShare(text)
    return query, point, values


def _tables(case: Case) -> dict[int, dict[str, tuple[int, list[int], int, int]]]:
    """Of each query, the point, the values, the count and the degree of each pseudonym."""
    tables: dict[int, dict[str, tuple[int, list[int], int, int]]] = {}
    for name, text, count, degree in case.queries:
        query, point, values = share_of(text)
        table = tables.setdefault(query, {})
        if name in table:
            raise NoShare("twice")
        table[name] = (point, values, count, degree)
    return tables


def _decoded(rows: list[tuple[int, list[int]]]) -> str | None:
    return text_of([value_at(0, {x: values[i] for x, values in rows}) for i in range(len(rows[0][1]))])


def threshold_shares(case: Case) -> bool:
    try:
        tables = _tables(case)
    except NoShare:
        return False
    single = all(len(users) == 1 for users in case.members.values())
    if not single or {name for table in tables.values() for name in table} != set(case.members):
        return False
    points = {(name, row[0]) for table in tables.values() for name, row in table.items()}
    if len({name for name, _ in points}) < len(points) or len({point for _, point in points}) < len(points):
        return False
    if any(row[3] != len(table) or row[2] < 1 for table in tables.values() for row in table.values()):
        return False
    if any(len({len(row[1]) for row in table.values()}) > 1 for table in tables.values()):
        return False
    return _read_as_typed(case, tables) and _profiles_fit(case)


def _read_as_typed(case: Case, tables: dict[int, dict[str, tuple[int, list[int], int, int]]]) -> bool:
    k = int(case.values["k"])
    users = Counter(query for queries in case.typed.values() for query in queries if query)
    read: dict[str, dict[str, int]] = {}
    unread: Counter[tuple[frozenset[tuple[str, int]], int]] = Counter()
    for table in tables.values():
        rows = sorted((row[0], row[1]) for row in table.values())
        asked = {case.members[name][0]: row[2] for name, row in table.items()}
        if _decoded(rows[: k - 1]) in {*users, ""}:
            return False
        if len(rows) < k:
            unread[frozenset(asked.items()), len(rows[0][1])] += 1
            continue
        text = _decoded(rows[:k])
        if text is None or text in read or not _on_one_polynomial(rows, k):
            return False
        read[text] = asked
    wanted = {q: {u: typed[q] for u, typed in case.typed.items() if q in typed} for q in users if users[q] >= k}
    rare = Counter(
        (frozenset((u, typed[q]) for u, typed in case.typed.items() if q in typed), len(blocks_of(q)))
        for q in users
        if users[q] < k
    )
    return read == wanted and unread == rare


def _on_one_polynomial(rows: list[tuple[int, list[int]]], k: int) -> bool:
    blocks = range(len(rows[0][1]))
    return all(value_at(x, {a: b[i] for a, b in rows[:k]}) == values[i] for x, values in rows[k:] for i in blocks)


def _readable(case: Case, name: str) -> Bag:
    """The queries of a pseudonym that can be read, and how often they were asked."""
    found = Bag()
    for table in _tables(case).values():
        if name in table and len(table) >= int(case.values["k"]):
            text = _decoded(sorted((row[0], row[1]) for row in table.values())[: int(case.values["k"])])
            found[text or ""] += table[name][2]
    return found


def terms_of_shares(case: Case, name: str) -> dict[str, int]:
    return dict(case.terms_of(_readable(case, name)))


def _profiles_fit(case: Case) -> bool:
    return not case.generalized and all(case.terms[name] == terms_of_shares(case, name) for name in case.terms)


def unread(case: Case) -> int:
    """Every event that cannot be read."""
    try:
        tables = _tables(case).values()
    except NoShare:
        return len(case.log)
    readable = [table for table in tables if len(table) >= int(case.values["k"])]
    return len(case.log) - sum(row[2] for table in readable for row in table.values())


def own_hashes(case: Case, name: str) -> dict[str, int]:
    """The profile of the one user of a pseudonym, hashed."""
    (user,) = case.members[name]
    bits, secret = case.key.split(" ")
    found = Bag()
    for term, times in case.bags[user].items():
        digits = f"{int(hmac.new(bytes.fromhex(secret), term.encode(), 'sha256').hexdigest(), 16):0256b}"[: int(bits)]
        found[f"{int(digits, 2):0{-(-int(bits) // 4)}x}"] += times
    return dict(found)


def hashed_terms(case: Case) -> bool:
    """Each user with a term has a pseudonym of their own, and nobody else has one."""
    if case.key.split(" ")[:1] != [str(case.values["bits"])] or any(len(one) != 1 for one in case.members.values()):
        return False
    if {users[0] for users in case.members.values()} != {user for user, bag in case.bags.items() if bag}:
        return False
    return not case.generalized and all(case.terms[name] == own_hashes(case, name) for name in case.terms)


OWN = {
    "threshold-shares": Definition(threshold_shares, unread, terms_of_shares),
    "hashed-terms": Definition(hashed_terms, lambda case: 0, own_hashes),
}
