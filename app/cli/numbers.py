from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def integer(text: str) -> int:
    number = _integer(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return number


def whole(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = _integer(text)
        if number is None or number < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return number

    return parse


def number(text: str) -> float:
    found = _number(text)
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return found


def seconds(text: str) -> float:
    found = _number(text)
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 on")
    return found


def above_zero(text: str) -> float:
    found = _number(text)
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return found


def between(kind: type[int] | type[float], least: float | None, most: float | None) -> Callable[[str], Any]:
    """For argparse: a number of `kind` in a range; None is no bound."""
    what = "a whole number" if kind is int else "a number"
    reach = (
        ""
        if least is None
        else f" from {_plain(least)} on"
        if most is None
        else f" from {_plain(least)} to {_plain(most)}"
    )

    def parse(text: str) -> int | float:
        found = _integer(text) if kind is int else _number(text)
        if found is None or math.isnan(found):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        if (least is not None and found < least) or (most is not None and found > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}{reach}")
        return found

    return parse


def or_word(word: str, parse: Callable[[str], T]) -> Callable[[str], T | None]:
    """For argparse: what `parse` takes, or `word`, which is None."""

    def either(text: str) -> T | None:
        if text == word:
            return None
        try:
            return parse(text)
        except argparse.ArgumentTypeError as error:
            told, _, range_ = str(error).rpartition(" is not ")
            raise argparse.ArgumentTypeError(f"{told} is neither {range_} nor {word}") from error

    return either


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _number(text: str) -> float:
    """NaN, which is in no range, if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
