"""Session time: whole nanoseconds since the session began, passed by the caller."""

from __future__ import annotations

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def ns_from_s(seconds: float) -> int:
    return round(seconds * NS_PER_S)


def s_from_ns(time_ns: int) -> float:
    return time_ns / NS_PER_S


def ns_from_ms(milliseconds: float) -> int:
    return round(milliseconds * NS_PER_MS)
