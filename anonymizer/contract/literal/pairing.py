"""Can all that is wanted be given, each from something else that fits? Kuhn's algorithm, one piece at a time."""

from collections.abc import Callable, Mapping


def can_pair(wanted: Mapping[str, int], given: Mapping[str, int], fits: Callable[[str, str], bool]) -> bool:
    """Whether each wanted piece gets a piece of its own that fits it."""
    wants = [(name, i) for name, copies in wanted.items() for i in range(copies)]
    gives = [(name, i) for name, copies in given.items() for i in range(copies)]
    if len(wants) > len(gives):
        return False
    ways = {want: [give for give in gives if fits(want[0], give[0])] for want in wants}
    taken: dict[tuple[str, int], tuple[str, int]] = {}

    def place(want: tuple[str, int], tried: set[tuple[str, int]]) -> bool:
        for give in ways[want]:
            if give not in tried:
                tried.add(give)
                if give not in taken or place(taken[give], tried):
                    taken[give] = want
                    return True
        return False

    return all(place(want, set()) for want in wants)
