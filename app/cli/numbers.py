from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def seconds(text: str) -> float:
    found = _number(text)
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more")
    return found


def above_zero(text: str) -> float:
    found = _number(text)
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return found


def between(
    kind: type[int] | type[float], least: float | None = None, most: float | None = None
) -> Callable[[str], Any]:
    """For argparse: a number of `kind` in a range; None is no bound."""
    what = "a whole number" if kind is int else "a number"
    reach = (
        ""
        if least is None
        else f" from {_plain(least)} on"
        if most is None
        else f" from {_plain(least)} to {_plain(most)}"
    )

    def parse(text: str) -> float:
        found = _number(text, kind)
        if math.isnan(found):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        if (least is not None and found < least) or (most is not None and found > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}{reach}")
        return found

    return parse


integer = between(int)


def whole(least: int) -> Callable[[str], int]:
    return between(int, least)


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


def _number(text: str, kind: type[int] | type[float] = float) -> float:
    """NaN, which is in no range, if it is none."""
    try:
        return kind(text)
    except ValueError:
        return math.nan
