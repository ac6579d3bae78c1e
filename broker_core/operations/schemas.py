from __future__ import annotations

from typing import Annotated, Literal, Self

from broker_core.operations.entry import ADMIN, LISTED, READ, WRITE, Entry, Right, Visible, declaring
from broker_core.operations.fields import JsonValue, Subject, Version
from broker_core.operations.request import Input, Request, Result
from broker_core.operations.values import json_of
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.registry import References, SchemaMetadata, SchemaRegistry, SchemaVersion
from broker_core.settings import about

SchemaLanguage = Literal["JSON", "AVRO", "PROTOBUF"]
CompatibilityMode = Literal[
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"
]


class SchemaText(Input, frozen=True, kw_only=True):
    """A schema: a JSON value, or a string that holds one or is in Protobuf's language."""

    schema: JsonValue
    kind: Annotated[SchemaLanguage, about("the schema's language")] = "JSON"
    references: Annotated[References, about("the versions of other subjects that it names")] = ()
    metadata: Annotated[SchemaMetadata | None, about("kept with it; without, that of the latest version")] = None

    @classmethod
    def of(
        cls, text: str, kind: SchemaKind, references: References = (), metadata: SchemaMetadata | None = None
    ) -> Self:
        return cls(schema=text, kind=kind.value, references=references, metadata=metadata)

    @property
    def text(self) -> str:
        """The schema as text. Raises MALFORMED_REQUEST."""
        return self.schema if isinstance(self.schema, str) else json_of(self.schema, "schema").decode()


class SubjectAnswer(Result, frozen=True, kw_only=True):
    subject: str
    compatibility: str
    versions: list[int]

    @classmethod
    def of(cls, registry: SchemaRegistry, subject: str) -> SubjectAnswer:
        """Read from the registry. Raises UNKNOWN_SUBJECT."""
        mode = registry.compatibility_of(subject)
        return cls(subject=subject, compatibility=mode.value, versions=list(registry.versions(subject)))


class SubjectsAnswer(Result, frozen=True, kw_only=True):
    compatibility: str
    subjects: list[SubjectAnswer]


class CheckAnswer(Result, frozen=True, kw_only=True):
    compatible: bool
    problems: list[str]


ENTRIES: list[Entry] = []
_READ, _ADMIN = (Right(READ, "subject", "subject"),), (Right(ADMIN, "subject", "subject"),)
_TAG = "Schemas"
_read_operation = declaring(ENTRIES, tag=_TAG, rights=_READ)
_admin_operation = declaring(ENTRIES, tag=_TAG, rights=_ADMIN, mode="slow", saved="catalog")


@_read_operation("GET /v1/schemas", "List subjects", visible=Visible("subject", "subject", "subjects"), **LISTED)
class ListSubjects(Request[SubjectsAnswer], frozen=True, kw_only=True):
    """Subjects, without those that were deleted."""


@_admin_operation(
    "PUT /v1/schemas", "Set the default compatibility mode", rights=(Right(ADMIN, "broker"),), repeatable=True
)
class SetDefaultCompatibility(Request[None], frozen=True, kw_only=True):
    mode: CompatibilityMode


@_read_operation("GET /v1/schemas/{subject}", "Describe a subject: its versions and mode")
class DescribeSubject(Request[SubjectAnswer], frozen=True, kw_only=True):
    subject: Subject


@_admin_operation("DELETE /v1/schemas/{subject}", "Delete all versions of a subject")
class DeleteSubject(Request[list[int]], frozen=True, kw_only=True):
    """The result holds the versions that were deleted."""

    subject: Subject
    permanent: Annotated[bool, about("permanently delete what was already deleted (may be needed for old data)")] = (
        False
    )


@_admin_operation("PUT /v1/schemas/{subject}/compatibility", "Set the compatibility mode of a subject", repeatable=True)
class SetCompatibility(Request[None], frozen=True, kw_only=True):
    """The mode of a subject; null is the default mode."""

    subject: Subject
    mode: CompatibilityMode | None


@_admin_operation(
    "POST /v1/schemas/{subject}/versions",
    "Register a schema as a new version; a schema that is already registered keeps its version",
    rights=(Right(WRITE, "subject", "subject"),),
    repeatable=True,
    created=True,
    errors=(409,),
    body="text",
)
class RegisterSchema(Request[SchemaVersion], frozen=True, kw_only=True):
    subject: Subject
    text: SchemaText


@_read_operation("GET /v1/schemas/{subject}/versions/{version}", "Describe one version of a subject")
class DescribeVersion(Request[SchemaVersion], frozen=True, kw_only=True):
    subject: Subject
    version: Version


@_admin_operation(
    "DELETE /v1/schemas/{subject}/versions/{version}", "Delete one version of a subject; its number is not used again"
)
class DeleteVersion(Request[None], frozen=True, kw_only=True):
    subject: Subject
    version: Version
    permanent: Annotated[bool, about("permanently delete what was already deleted (may be needed for old data)")] = (
        False
    )


@_read_operation(
    "POST /v1/schemas/{subject}/check",
    "Check whether a schema could be registered; nothing is changed",
    mode="slow",
    repeatable=True,
    body="text",
)
class CheckSchema(Request[CheckAnswer], frozen=True, kw_only=True):
    subject: Subject
    text: SchemaText


@_read_operation("GET /v1/schemas/{subject}/diff", "Compare two versions of a subject", mode="slow")
class DiffSchemas(Request[list[SchemaChange]], frozen=True, kw_only=True):
    """Two versions; without `after`, the latest."""

    subject: Subject
    before: Version
    after: Version | None = None
