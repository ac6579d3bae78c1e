"""The schema registry."""

from __future__ import annotations

from typing import Literal

from broker_core.listeners.http.models.basics import JsonValue, Request, Shape, Version
from broker_core.schemas.registry import SchemaVersion

Kind = Literal["JSON", "AVRO"]
Mode = Literal["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"]


class SchemaText(Request, frozen=True, kw_only=True):
    """A schema: JSON as it is, or as a string that holds it."""

    schema: JsonValue
    kind: Kind = "JSON"


class VersionAnswer(Shape, frozen=True, kw_only=True):
    """One version of a subject; the same schema has the same id everywhere."""

    subject: str
    version: int
    id: int
    kind: str
    schema: str

    @classmethod
    def of(cls, found: SchemaVersion) -> VersionAnswer:
        """As the registry says."""
        return cls(subject=found.subject, version=found.version, id=found.id, kind=str(found.kind), schema=found.text)


class SubjectAnswer(Shape, frozen=True, kw_only=True):
    """A subject, its mode, and the versions that it has."""

    subject: str
    compatibility: str
    versions: list[int]


class SubjectsAnswer(Shape, frozen=True, kw_only=True):
    """Those that the caller may read, and the mode of those that have none of their own."""

    compatibility: str
    subjects: list[SubjectAnswer]


class CheckAnswer(Shape, frozen=True, kw_only=True):
    """Whether the schema could be registered, and what speaks against it."""

    compatible: bool
    problems: list[str]


class SetCompatibility(Request, frozen=True, kw_only=True):
    """Which versions must be able to read which; null is the registry's own mode."""

    mode: Mode | None


class SetDefaultCompatibility(Request, frozen=True, kw_only=True):
    """The mode of subjects that have none of their own."""

    mode: Mode


class DiffQuery(Request, frozen=True, kw_only=True):
    """Two versions; without `after`, the latest."""

    before: Version
    after: Version | None = None


class DiffChange(Shape, frozen=True, kw_only=True):
    """`what` is added, removed or changed, at a JSON pointer; before and after are JSON texts."""

    what: str
    pointer: str
    before: str | None
    after: str | None


class DiffAnswer(Shape, frozen=True, kw_only=True):
    """What differs, in the order of the newer text."""

    changes: list[DiffChange]


class Versions(Shape, frozen=True, kw_only=True):
    """The versions that were deleted."""

    versions: list[int]
