"""The value to the right of an operator: a number, perhaps with a unit, a session time, or a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Measure = Literal["", "duration", "size", "time"]
Number = int | float

_S = 10**9
_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": _S, "min": 60 * _S, "h": 3_600 * _S, "d": 86_400 * _S}
_BYTES = {"B": 1, "kB": 10**3, "KB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20, "GB": 10**9, "GiB": 2**30}
_NUMBER = re.compile(r"([+-]?)([0-9][0-9,_]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?(\D*)", re.ASCII)
_CLOCK = re.compile(r"(?:([0-9]{1,6}):)?([0-9]{1,6}):([0-5][0-9])(?:\.([0-9]{1,9}))?", re.ASCII)
_EXACT_BELOW = 10**27  # what the usual precision of Decimal holds


@dataclass(frozen=True, slots=True)
class Value:
    """`text` as it was written. `number` is in the base unit of `measure`, None for a text; `until` ends the moment
    that a session time stands for: "00:31" is the whole second. What was `quoted` is a text, "none" included."""

    text: str
    number: Number | None = None
    measure: Measure = ""
    until: int = 0
    quoted: bool = False

    @property
    def is_none(self) -> bool:
        """Whether the value stands for a missing one: none, null or n/a, unquoted."""
        return not self.quoted and self.number is None and self.text.casefold() in {"none", "null", "n/a"}


class AtLeast(int):
    """A number of which only this much is known: it may be greater, and so it is equal to none and below none."""


def is_unit(word: str) -> bool:
    """True for a word that is a unit by itself, as in `5 s`."""
    return word in _NS or word in _BYTES


def value_of(word: str, unit: str = "") -> Value:
    text = f"{word} {unit}" if unit else word
    clock = _CLOCK.fullmatch(word)
    if clock and not unit:
        return _moment(word, *clock.groups())
    found = _NUMBER.fullmatch(word)
    if found is None:
        return Value(text)
    sign, digits, fraction, exponent, own_unit = found.groups()
    unit = unit or own_unit
    digits = digits.replace(",", "").replace("_", "")
    exact = Decimal(f"{sign}{digits}{fraction or ''}{exponent or ''}") * (_NS.get(unit) or _BYTES.get(unit, 1))
    is_whole = abs(exact) < _EXACT_BELOW and exact == exact.to_integral_value()
    number: Number = int(exact) if is_whole else float(exact)
    if unit in _NS:
        return Value(text, number, "duration")
    if unit in _BYTES:
        return Value(text, number, "size")
    return Value(text) if unit else Value(text, number)


def starts_with_number(word: str) -> bool:
    found = _NUMBER.fullmatch(word)
    return found is not None and not found.group(5)


def _moment(text: str, hours: str | None, minutes: str, seconds: str, fraction: str | None) -> Value:
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    start = whole * _S + int((fraction or "").ljust(9, "0"))
    return Value(text, start, "time", start + 10 ** (9 - len(fraction or "")))
