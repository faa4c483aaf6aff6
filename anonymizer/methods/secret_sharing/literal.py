"""Shamir's secret sharing as the textbook has it, with whole numbers of any size: the reference of tests."""

from collections.abc import Mapping, Sequence

PRIME = 2**61 - 1
BLOCK = 7


def blocks_of(text: str) -> list[int]:
    """A text as numbers of 7 bytes each, the lowest byte first, with an end of one bit and zeros."""
    content = text.encode() + b"\x80"
    content += bytes(-len(content) % BLOCK)
    return [int.from_bytes(content[i : i + BLOCK], "little") for i in range(0, len(content), BLOCK)]


def text_of(blocks: Sequence[int]) -> str | None:
    """The text of such numbers, or none where they are those of no text."""
    if not blocks or any(block >= 256**BLOCK for block in blocks):
        return None
    content = b"".join(block.to_bytes(BLOCK, "little") for block in blocks)
    text, end, rest = content.rpartition(b"\x80")
    if not end or any(rest) or len(rest) >= BLOCK:
        return None
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def share(secret: int, coefficients: Sequence[int], point: int) -> int:
    """The value at a point of the polynomial that has the secret at 0; the highest power's coefficient comes first."""
    powers = [*coefficients, secret]
    return sum(c * point**power for power, c in enumerate(reversed(powers))) % PRIME


def value_at(place: int, shares: Mapping[int, int]) -> int:
    """Lagrange: the value at a place of the polynomial of least degree through the shares."""
    total = 0
    for x, y in shares.items():
        above = below = 1
        for other in shares:
            if other != x:
                above = above * (place - other) % PRIME
                below = below * (x - other) % PRIME
        total += y * above * pow(below, -1, PRIME)
    return total % PRIME
