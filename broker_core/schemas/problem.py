from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import msgspec

from broker_core.limits import MAX_PROBLEMS

_LONGEST = 300


class Problem(msgspec.Struct, frozen=True, order=True):
    """`message` is a sentence without a full stop; `pointer` is a JSON pointer (RFC 6901), "" for the whole."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


class _InvalidError(ValueError):
    """`problems` is never empty."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


class InvalidSchemaError(_InvalidError):
    """The text is not a valid schema."""


class InvalidDataError(_InvalidError):
    """The value or the bytes do not match the schema."""


class TooComplexError(Exception):
    """The limit of steps was exceeded."""


class Steps(msgspec.Struct):
    """The number of remaining steps."""

    left: int

    def take(self) -> None:
        """Use one step. Raises TooComplexError if none is left."""
        self.left -= 1
        if self.left < 0:
            raise TooComplexError


def pointer_to(*path: object) -> str:
    """The JSON pointer of `path`, a sequence of names and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}..."'
    if isinstance(value, dict | list):
        return "the object" if isinstance(value, dict) else "the list"
    return json.dumps(value) if value is None or isinstance(value, bool | int | float) else str(value)


def shortened(message: str) -> str:
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST - 3]}..."


def summary(problems: Sequence[object]) -> str:
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


def distinct(problems: Iterable[Problem]) -> list[Problem]:
    """Distinct problems in the order of their pointers, at most MAX_PROBLEMS."""
    return sorted(set(problems))[:MAX_PROBLEMS]
