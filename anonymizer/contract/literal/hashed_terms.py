"""When are hashed terms those of their users? Each user's own bag, term by term, under the key."""

import hmac

from shoal.anonymizer.contract.literal import Bag, Case, Definition


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


OWN = {"hashed-terms": Definition(hashed_terms, lambda case: 0, own_hashes)}
