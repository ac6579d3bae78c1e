"""Time as the core sees it: whole nanoseconds since the session began, handed in by the caller."""

from __future__ import annotations

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def ns_from_s(seconds: float) -> int:
    """Nanoseconds nearest to `seconds`."""
    return round(seconds * NS_PER_S)


def s_from_ns(time_ns: int) -> float:
    """Seconds as a float, for people and plots."""
    return time_ns / NS_PER_S


def ns_from_ms(milliseconds: float) -> int:
    """Nanoseconds nearest to `milliseconds`."""
    return round(milliseconds * NS_PER_MS)
