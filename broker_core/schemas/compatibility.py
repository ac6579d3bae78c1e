"""Compatibility modes, as in Confluent's schema registry."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import msgspec

from broker_core.limits import MAX_CHECK_STEPS
from broker_core.schemas.languages import cannot_read

if TYPE_CHECKING:
    from broker_core.schemas.languages import AnySchema


class Compatibility(enum.StrEnum):
    """Backward: the new schema reads data of the old one; forward: the old one reads data of the new one; full: both.

    Transitive: compared with all versions, otherwise with the last.
    """

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"


class SchemaProblem(msgspec.Struct, frozen=True):
    """A reason why a schema cannot become a new version.

    `version` is the incompatible version, None if the text itself is invalid. `direction` is "backward" (the new schema
    is the reader), "forward" (`version` is the reader) or "". `pointer` is a JSON pointer into the reader's text.
    """

    pointer: str
    message: str
    version: int | None = None
    direction: str = ""

    def __str__(self) -> str:
        where = f"{self.pointer}: {self.message}" if self.pointer else self.message
        if self.direction == "backward":
            return f"it cannot read everything that version {self.version} wrote: {where}"
        if self.direction == "forward":
            return f"version {self.version} cannot read everything that it writes: {where}"
        return where


def incompatibilities(mode: Compatibility, new: AnySchema, versions: dict[int, AnySchema]) -> list[SchemaProblem]:
    """The problems of `new` as the next version after `versions` (in order) under `mode`."""
    against = list(versions.items()) if mode.endswith("TRANSITIVE") else list(versions.items())[-1:]
    found: list[SchemaProblem] = []
    left = MAX_CHECK_STEPS
    for number, old in against:
        for direction, wanted, reader, writer in (
            ("backward", mode.startswith(("BACKWARD", "FULL")), new, old),
            ("forward", mode.startswith(("FORWARD", "FULL")), old, new),
        ):
            if wanted and left > 0:
                problems, steps = cannot_read(reader, writer, left)
                left -= steps
                found += [SchemaProblem(problem.pointer, problem.message, number, direction) for problem in problems]
        if left <= 0 and not found:
            found.append(SchemaProblem("", "its versions are too many or too complex to be compared with all of them"))
    return found
