"""The schema registry, in the words of Confluent's."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal, Self

from broker_core.operations.entry import Entry
from broker_core.operations.fields import JsonValue, Name, Version, about
from broker_core.operations.request import Input, Request, Result
from broker_core.operations.rights import ADMIN, READ, WRITE, Right, Visible
from broker_core.operations.values import json_of
from broker_core.schemas.compatibility import SchemaKind
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.registry import SchemaRegistry, SchemaVersion

SchemaLanguage = Literal["JSON", "AVRO"]
CompatibilityMode = Literal[
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"
]


class SchemaText(Input, frozen=True, kw_only=True):
    """A schema: JSON as it is, or as a string that holds it."""

    schema: JsonValue
    kind: Annotated[SchemaLanguage, about("the schema's language")] = "JSON"

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

    mode: CompatibilityMode


class DescribeSubject(Request[SubjectAnswer], frozen=True, kw_only=True):
    """A subject as it is now."""

    subject: Name


class DeleteSubject(Request[Versions], frozen=True, kw_only=True):
    """A subject with all its versions."""

    subject: Name


class SetCompatibility(Request[None], frozen=True, kw_only=True):
    """Which versions must be able to read which; null is the registry's own mode."""

    subject: Name
    mode: CompatibilityMode | None


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
_look = partial(Entry, tag=_TAG, rights=_READ)
_change = partial(Entry, tag=_TAG, rights=_ADMIN, mode="slow", saved="catalog")

ENTRIES = (
    _look(
        ListSubjects,
        "GET /v1/schemas",
        "All subjects that the caller may read",
        rights=(),
        visible=Visible("subjects", "subject", "subject"),
    ),
    _change(
        SetDefaultCompatibility,
        "PUT /v1/schemas",
        "Choose the mode of subjects that have none of their own",
        rights=(Right(ADMIN, "broker"),),
        repeatable=True,
    ),
    _look(DescribeSubject, "GET /v1/schemas/{subject}", "A subject's versions and mode"),
    _change(DeleteSubject, "DELETE /v1/schemas/{subject}", "Delete all versions of a subject"),
    _change(
        SetCompatibility,
        "PUT /v1/schemas/{subject}/compatibility",
        "Choose which versions of a subject must be able to read which",
        repeatable=True,
    ),
    _change(
        RegisterSchema,
        "POST /v1/schemas/{subject}/versions",
        "Register a new version; the same schema again is the version that there is",
        rights=(Right(WRITE, "subject", "subject"),),
        repeatable=True,
        created=True,
        errors=(409,),
        body="text",
    ),
    _look(DescribeVersion, "GET /v1/schemas/{subject}/versions/{version}", "One version of a subject"),
    _change(
        DeleteVersion,
        "DELETE /v1/schemas/{subject}/versions/{version}",
        "Delete one version of a subject; its number is not given again",
    ),
    _look(
        CheckSchema,
        "POST /v1/schemas/{subject}/check",
        "Say whether a schema could be registered, and what speaks against it; nothing is changed",
        mode="slow",
        repeatable=True,
        body="text",
    ),
    _look(DiffSchemas, "GET /v1/schemas/{subject}/diff", "What differs between two versions of a subject", mode="slow"),
)
