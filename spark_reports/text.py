from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from resources.units import byte_size, three_digits

NOT_THERE = "n/a"
NBSP = "\u00a0"  # a number and its unit stay on one line
_ISOLATE, _POP = "\u2068", "\u2069"
_FOR_BROWSERS = {ord(NBSP): " ", ord(_ISOLATE): None, ord(_POP): None}
_NANOSECONDS = {"s": 1e9, "ms": 1e6, "ns": 1}


def bare(words: str) -> str:
    """Without no-break spaces and marks of direction: for other programs."""
    return words.translate(_FOR_BROWSERS)


def count(value: float | None) -> str:
    """12207 as 12,207; n/a for None."""
    return NOT_THERE if value is None else f"{value:,.0f}"


def plural(value: int, one: str, many: str | None = None) -> str:
    """1 message, 2 messages."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def rate(value: float | None) -> str:
    """Something per second with three significant digits."""
    if value is None:
        return NOT_THERE
    if value >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def per_second(value: float | None) -> str:
    """A rate with its unit: 25.6/s, n/a for None."""
    return NOT_THERE if value is None else f"{rate(value)}/s"


def size_per_second(value: float | None) -> str:
    """Bytes per second: 1.86 KiB/s, n/a for None."""
    return NOT_THERE if value is None else f"{size(value)}/s"


def size(value: float | None) -> str:
    """Bytes with their binary unit, as the window has them."""
    return NOT_THERE if value is None else byte_size(value).replace(" ", NBSP)


def duration(value_ns: float | None) -> str:
    """Nanoseconds with the unit that fits, three significant digits: 0 s, 850 µs, 14.8 ms, 3.2 s, 2 min 05 s."""
    if value_ns is None:
        return NOT_THERE
    if value_ns == 0:
        return f"0{NBSP}s"
    for unit, limit in (("ns", 1e3), ("µs", 1e6), ("ms", 1e9)):
        if value_ns < limit * 0.9995:
            return f"{three_digits(value_ns / limit * 1e3)}{NBSP}{unit}"
    seconds = value_ns / 1e9
    if seconds < 99.95:
        return f"{three_digits(seconds)}{NBSP}s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NBSP}h{NBSP}{minutes:02d}{NBSP}min" if hours else f"{minutes}{NBSP}min{NBSP}{seconds:02d}{NBSP}s"


def clock(value_ns: float | None, digits: int = 1) -> str:
    """Session time as the workbench shows it, with `digits` behind the second: 00:42.5, or 1:02:03.4."""
    if value_ns is None:
        return NOT_THERE
    seconds, rest = divmod(round(value_ns * 10.0 ** (digits - 9)), 10**digits)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    last = f"{seconds:02d}.{rest:0{digits}d}" if digits else f"{seconds:02d}"
    return f"{hours}:{minutes:02d}:{last}" if hours else f"{minutes:02d}:{last}"


def share(value: float | None) -> str:
    """A fraction in percent: 42 %, 1.6 %, below 0.1 %."""
    if value is None:
        return NOT_THERE
    percent = value * 100
    if 0 < percent < 0.1:
        return f"below 0.1{NBSP}%"
    if percent < 9.95 and percent != round(percent):
        return f"{percent:.1f}{NBSP}%"
    return f"{percent:.0f}{NBSP}%" if percent < 99.5 or percent == 100 else f"{percent:.1f}{NBSP}%"


def listed(names: Sequence[str], limit: int = 3) -> str:
    """a, b and c; what is beyond the limit is counted."""
    shown = list(names[:limit])
    if len(names) > limit:
        shown.append(f"{len(names) - limit} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def isolated(name: str) -> str:
    """A name isolated, so that right-to-left text does not reorder the text beside it."""
    rightwards = any(unicodedata.bidirectional(character) in {"R", "AL", "AN"} for character in name)
    return f"{_ISOLATE}{visible(name).translate(_OWN_MARKS)}{_POP}" if rightwards else visible(name)


def visible(words: str) -> str:
    """Marks that turn the direction of text become ‹U+202E›, except those of `isolated`."""
    return words.translate(_MARKS)


def _shown(*marks: int) -> dict[int, str]:
    return {mark: f"‹U+{mark:04X}›" for mark in marks}


_MARKS = _shown(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2066, 0x2067)
_OWN_MARKS = _shown(ord(_ISOLATE), ord(_POP))


def place(topic: str, partition: int) -> str:
    return f"{isolated(topic)}/{partition}"


def measured(value: float | None, unit: str) -> str:
    """A value with its unit: bytes, s, ms, ns, count, or something per second."""
    if value is None:
        return NOT_THERE
    if unit in _NANOSECONDS:
        return duration(value * _NANOSECONDS[unit])
    return size(value) if unit == "bytes" else count(value) if unit == "count" else rate(value)


def label(name: str) -> str:
    """A figure's name in words: Processor time for process_cpu."""
    return _LABELS.get(name) or name.replace("_", " ").capitalize()


_LABELS = {
    "wall": "Time on the clock",
    "process_cpu": "Processor time",
    "process_cpu_an_event": "CPU time per event",
    "session_seconds_a_second": "Session seconds per second",
    "engine": "Engine's time",
}
FILTERS: dict[str, Callable[..., str]] = {
    each.__name__: each
    for each in (label, measured, place, count, per_second, rate, size_per_second, size, duration, clock, share)
}
