"""Types of arguments, for argparse: each parses a text, or raises `ArgumentTypeError` with what it should be."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from broker_core.errors import BrokerError
from broker_core.files import checked_root

T = TypeVar("T")
Types = Mapping[str, Callable[[str], Any]]


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
    """A number of `kind` in a range; None is no bound."""
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
        if isinstance(found, float) and math.isnan(found):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        if (least is not None and found < least) or (most is not None and found > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}{reach}")
        return found

    return parse


def or_word(word: str, parse: Callable[[str], T]) -> Callable[[str], T | None]:
    """What `parse` takes, or `word`, which is None."""

    def either(text: str) -> T | None:
        if text == word:
            return None
        try:
            return parse(text)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{error}, nor {word}") from error

    return either


def folder(text: str) -> Path:
    """A path that can be a folder's; '' is none."""
    try:
        return checked_root(text)
    except BrokerError as error:
        raise argparse.ArgumentTypeError(error.about) from error


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _number(text: str, kind: type[int] | type[float] = float) -> float:
    """NaN, which is in no range, if it is none."""
    try:
        return kind(text)
    except ValueError:
        return math.nan


#: The words of `resources/command_line.toml` for types that all commands know.
TYPES: Types = {
    "seconds": seconds,
    "above 0": above_zero,
    "speed": or_word("max", above_zero),
    "whole": between(int),
    "from -1": between(int, -1),
    "from 0": between(int, 0),
    "from 1": between(int, 1),
    "folder": folder,
    "path": Path,
}
