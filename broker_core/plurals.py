from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 message", "2,000 messages"."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def ordinal(number: int) -> str:
    """ "1st", "22nd", "13th"."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
