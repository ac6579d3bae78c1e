from __future__ import annotations


def varint(value: int) -> bytes:
    """A number that is not negative, seven bits in a byte, the lowest first."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
