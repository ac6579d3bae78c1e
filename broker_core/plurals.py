from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 message", "2,000 messages"."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
