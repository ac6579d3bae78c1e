"""How the window writes figures, said again: nothing here is the program's."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"


def moment(time_ns: int) -> str:
    """Session time: 01:23.456, with hours in front once there are any."""
    ms = time_ns // 1_000_000
    text = f"{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"
    hours = ms // 3_600_000
    return f"{hours}:{text}" if hours else text


def length(ns: int) -> str:
    """A length of time with its unit."""
    ns = max(0, ns)
    if ns == 0:
        return "0 ms"
    if ns < 1_000_000:
        return f"{ns / 1e6:.1f} ms"
    if ns < 1_000_000_000:
        return f"{ns // 1_000_000} ms"
    if ns < 60_000_000_000:
        return f"{ns / 1e9:.1f} s"
    seconds = ns // 1_000_000_000
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds // 60 % 60:02d} min"


def window_words(over: tuple[int, int]) -> str:
    """From when to when a rate is the mean."""
    return f"mean of the last {length(over[1] - over[0])}"


def number(count: int | None) -> str:
    """With a comma every three digits."""
    return "n/a" if count is None else format(count, ",")


def bounded(figure: str, at_most: bool) -> str:
    """A figure in which some messages that were removed may count."""
    return "≤ " * at_most + figure


def with_unknown(lag: int | None, partitions: int, at_most: bool = False) -> str:
    """A sum of lags, and of how many partitions it is not known."""
    if lag is None:
        return "n/a"
    unknown = f" + {partitions:,} partition{'s' * (partitions > 1)} not known" if partitions else ""
    return "at most " * at_most + messages(lag) + unknown


def per_second(rate: float) -> str:
    """A rate: one digit behind the point where that is less than ten, and not nothing."""
    return format(rate, ".1f") if 0.05 <= rate < 9.95 else format(rate, ",.0f")


def size(count: float) -> str:
    """Bytes in the binary unit that keeps the number short, with three digits."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while count >= 1023.5 and len(units) > 1:
        count /= 1024
        units.pop(0)
    if units[0] == "B":
        return f"{count:.0f} B"
    places = 2 if count < 9.995 else 1 if count < 99.95 else 0
    text = f"{count:,.{places}f}"
    whole = "." in text and abs(float(text.replace(",", "")) - count) < 1e-9 * count
    return f"{text.rstrip('0').rstrip('.') if whole else text} {units[0]}"


def messages(count: int) -> str:
    """So many of them."""
    return "1 message" if count == 1 else f"{count:,} messages"


@dataclass(frozen=True)
class Near:
    """A number that may differ by rounding alone."""

    value: float
    by: float = 1e-6

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and abs(other - self.value) <= self.by

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Numbers:
    """A sentence with exactly these numbers in it, in this order; its other words are free."""

    numbers: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and tuple(re.findall(_NUMBER, other)) == self.numbers

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Not:
    """Any word but these."""

    words: frozenset[str]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.lower() not in self.words

    __hash__ = None  # type: ignore[assignment]


def numbers(*found: Any) -> Numbers:
    """A sentence with these; integers are written with commas."""
    return Numbers(tuple(part for each in found for part in _parts(each)))


def _parts(each: Any) -> list[str]:
    return [format(each, ",")] if isinstance(each, int) else re.findall(_NUMBER, str(each))


@dataclass(frozen=True)
class Said:
    """Some words, or none."""

    anything: bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and bool(other) == self.anything

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Holding:
    """A sentence with all of these in it."""

    parts: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and all(part in other for part in self.parts)

    __hash__ = None  # type: ignore[assignment]


def holding(*parts: str) -> Holding:
    """A sentence with all of these in it."""
    return Holding(parts)


@dataclass(frozen=True)
class Alike:
    """A row of numbers that may differ by rounding alone; pairs and NaN are taken, too."""

    values: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(other) != len(self.values):
            return False
        return all(_alike(mine, theirs) for mine, theirs in zip(self.values, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


def _alike(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, tuple):
        return len(mine) == len(theirs) and all(map(_alike, mine, theirs))
    if math.isnan(mine) or math.isnan(theirs):
        return math.isnan(mine) and math.isnan(theirs)
    return abs(mine - theirs) <= 1e-6 * max(1.0, abs(mine))


@dataclass(frozen=True)
class Sentences:
    """As many sentences as there are here, in whatever order, each with the words and numbers of one of these."""

    told: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        said = sorted(tuple(_words(part)) for part in other.split(".  ") if part)
        return said == sorted(tuple(_words(part)) for part in self.told)

    __hash__ = None  # type: ignore[assignment]


def _words(sentence: str) -> list[str]:
    """Its first word and its numbers with their units."""
    return [sentence.split(maxsplit=1)[0], *re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?(?: (?:ms|s|min|h)\b)?", sentence)]


@dataclass(frozen=True)
class OneOf:
    """Any of these."""

    these: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        return any(one == other for one in self.these)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Anything:
    """What no event tells of this one object, though it does of others."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]
