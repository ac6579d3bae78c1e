"""The schema registry, in the words of Confluent's."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from broker_core.operations.entry import Entry
from broker_core.operations.fields import JsonValue, Name, Version, about
from broker_core.operations.request import Input, Request, Result
from broker_core.operations.rights import ADMIN, READ, WRITE, Right, Visible
from broker_core.operations.values import json_of
from broker_core.schemas.compatibility import SchemaKind
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.registry import SchemaRegistry, SchemaVersion

Kind = Literal["JSON", "AVRO"]
Mode = Literal["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"]


class SchemaText(Input, frozen=True, kw_only=True):
    """A schema: JSON as it is, or as a string that holds it."""

    schema: JsonValue
    kind: Annotated[Kind, about("the schema's language")] = "JSON"

    @classmethod
    def of(cls, text: str, kind: SchemaKind) -> Self:
        """The schema `text` in the language `kind`."""
        return cls(schema=text, kind=kind.value)

    @property
    def text(self) -> str:
        """The schema as a text. Raises MALFORMED_REQUEST."""
        return self.schema if isinstance(self.schema, str) else json_of(self.schema, "schema").decode()


class VersionAnswer(Result, frozen=True, kw_only=True):
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

    def found(self) -> SchemaVersion:
        """As the registry has it."""
        return SchemaVersion(self.subject, self.version, self.id, SchemaKind(self.kind), self.schema)


class SubjectAnswer(Result, frozen=True, kw_only=True):
    """A subject, its mode, and the versions that it has."""

    subject: str
    compatibility: str
    versions: list[int]

    @classmethod
    def of(cls, registry: SchemaRegistry, subject: str) -> SubjectAnswer:
        """As the registry says. Raises UNKNOWN_SUBJECT."""
        mode = registry.compatibility_of(subject)
        return cls(subject=subject, compatibility=mode.value, versions=list(registry.versions(subject)))


class SubjectsAnswer(Result, frozen=True, kw_only=True):
    """Those that the caller may read, and the mode of those that have none of their own."""

    compatibility: str
    subjects: list[SubjectAnswer]


class CheckAnswer(Result, frozen=True, kw_only=True):
    """Whether the schema could be registered, and what speaks against it."""

    compatible: bool
    problems: list[str]


class DiffChange(Result, frozen=True, kw_only=True):
    """`what` is added, removed or changed, at a JSON pointer; before and after are JSON texts."""

    what: str
    pointer: str
    before: str | None
    after: str | None

    @classmethod
    def of(cls, change: SchemaChange) -> DiffChange:
        """As the registry says."""
        return cls(what=change.what, pointer=change.pointer, before=change.before, after=change.after)


class DiffAnswer(Result, frozen=True, kw_only=True):
    """What differs, in the order of the newer text."""

    changes: list[DiffChange]


class Versions(Result, frozen=True, kw_only=True):
    """The versions that were deleted."""

    versions: list[int]


class ListSubjects(Request[SubjectsAnswer], frozen=True, kw_only=True):
    """Subjects, without those that were deleted."""


class SetDefaultCompatibility(Request[None], frozen=True, kw_only=True):
    """The mode of subjects that have none of their own."""

    mode: Mode


class DescribeSubject(Request[SubjectAnswer], frozen=True, kw_only=True):
    """A subject as it is now."""

    subject: Name


class DeleteSubject(Request[Versions], frozen=True, kw_only=True):
    """A subject with all its versions."""

    subject: Name


class SetCompatibility(Request[None], frozen=True, kw_only=True):
    """Which versions must be able to read which; null is the registry's own mode."""

    subject: Name
    mode: Mode | None


class RegisterSchema(Request[VersionAnswer], frozen=True, kw_only=True):
    """A new version of a subject."""

    subject: Name
    text: SchemaText


class DescribeVersion(Request[VersionAnswer], frozen=True, kw_only=True):
    """One version of a subject."""

    subject: Name
    version: Version


class DeleteVersion(Request[None], frozen=True, kw_only=True):
    """One version of a subject."""

    subject: Name
    version: Version


class CheckSchema(Request[CheckAnswer], frozen=True, kw_only=True):
    """A schema that may become a version of the subject."""

    subject: Name
    text: SchemaText


class DiffSchemas(Request[DiffAnswer], frozen=True, kw_only=True):
    """Two versions; without `after`, the latest."""

    subject: Name
    before: Version
    after: Version | None = None


_READ, _ADMIN = (Right(READ, "subject", "subject"),), (Right(ADMIN, "subject", "subject"),)
_TAG = "Schemas"

ENTRIES = (
    Entry(
        ListSubjects,
        "GET /v1/schemas",
        _TAG,
        "All subjects that the caller may read",
        (),
        visible=Visible("subjects", "subject", "subject"),
    ),
    Entry(
        SetDefaultCompatibility,
        "PUT /v1/schemas",
        _TAG,
        "Choose the mode of subjects that have none of their own",
        (Right(ADMIN, "broker"),),
        mode="slow",
        saved="catalog",
        repeatable=True,
        status=204,
    ),
    Entry(DescribeSubject, "GET /v1/schemas/{subject}", _TAG, "A subject's versions and mode", _READ),
    Entry(
        DeleteSubject,
        "DELETE /v1/schemas/{subject}",
        _TAG,
        "Delete all versions of a subject",
        _ADMIN,
        mode="slow",
        saved="catalog",
    ),
    Entry(
        SetCompatibility,
        "PUT /v1/schemas/{subject}/compatibility",
        _TAG,
        "Choose which versions of a subject must be able to read which",
        _ADMIN,
        mode="slow",
        saved="catalog",
        repeatable=True,
        status=204,
    ),
    Entry(
        RegisterSchema,
        "POST /v1/schemas/{subject}/versions",
        _TAG,
        "Register a new version; the same schema again is the version that there is",
        (Right(WRITE, "subject", "subject"),),
        mode="slow",
        saved="catalog",
        repeatable=True,
        status=201,
        errors=(409,),
        body="text",
    ),
    Entry(DescribeVersion, "GET /v1/schemas/{subject}/versions/{version}", _TAG, "One version of a subject", _READ),
    Entry(
        DeleteVersion,
        "DELETE /v1/schemas/{subject}/versions/{version}",
        _TAG,
        "Delete one version of a subject; its number is not given again",
        _ADMIN,
        mode="slow",
        saved="catalog",
        status=204,
    ),
    Entry(
        CheckSchema,
        "POST /v1/schemas/{subject}/check",
        _TAG,
        "Say whether a schema could be registered, and what speaks against it; nothing is changed",
        _READ,
        mode="slow",
        repeatable=True,
        body="text",
    ),
    Entry(
        DiffSchemas,
        "GET /v1/schemas/{subject}/diff",
        _TAG,
        "What differs between two versions of a subject",
        _READ,
        mode="slow",
    ),
)
