"""The schema registry: subjects with versions, and global schema ids."""

from __future__ import annotations

from typing import Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_SCHEMAS
from broker_core.names import check_name
from broker_core.schemas.compatibility import (
    AnySchema,
    Compatibility,
    SchemaKind,
    SchemaProblem,
    incompatibilities,
    read_schema,
)
from broker_core.schemas.diff import SchemaChange, changes
from broker_core.schemas.framing import HEAD_BYTES, framed_id
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.json_schema_text import InvalidSchemaError, read_schema_text
from broker_core.schemas.json_text import write_json
from broker_core.schemas.problem import Problem, summary
from broker_core.settings import checked_class


class SchemaVersion(msgspec.Struct, frozen=True):
    """A version of a subject. Versions count from 1. Equal schemas have the same `id` in all subjects."""

    subject: str
    version: int
    id: int
    kind: SchemaKind
    text: str


class SubjectState(msgspec.Struct, frozen=True):
    """The state of a subject: its mode, None for the registry's, and (schema id, deleted) of each version in order."""

    compatibility: Compatibility | None
    versions: tuple[tuple[int, bool], ...]


class RegistryState(msgspec.Struct, frozen=True):
    """The state to save. `schemas` are (kind, text) in the order of their ids, from 1."""

    compatibility: Compatibility = Compatibility.BACKWARD
    schemas: tuple[tuple[SchemaKind, str], ...] = ()
    subjects: dict[str, SubjectState] = {}


class _Subject:
    def __init__(self) -> None:
        self.compatibility: Compatibility | None = None
        self.ids: list[int] = []  # of version 1, 2, ...
        self.deleted: set[int] = set()  # versions

    def live(self) -> dict[int, int]:
        """Schema ids by version, without deleted versions."""
        return {version: found for version, found in enumerate(self.ids, 1) if version not in self.deleted}


@checked_class(fast=("schema", "problems_of"))
class SchemaRegistry:
    """The schema registry. Reading is thread-safe; one thread at a time may make changes."""

    def __init__(self, compatibility: Compatibility = Compatibility.BACKWARD) -> None:
        """`compatibility` is the mode of subjects without one of their own."""
        self.compatibility = compatibility
        self.revision = 0  # number of changes
        self._schemas: list[AnySchema] = []
        self._kinds: list[SchemaKind] = []
        self._ids: dict[tuple[SchemaKind, str], int] = {}
        self._subjects: dict[str, _Subject] = {}

    # -- changes

    def register(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> SchemaVersion:
        """Register `text` as a new version. Returns the existing live version where it has the same schema.

        Raises INVALID_SCHEMA, INCOMPATIBLE_SCHEMA (both with the first problem), INVALID_TOPIC for the subject's name.
        """
        check_name(subject, "subject")
        schema, form = self._read(text, kind)
        found = self._subjects.get(subject) or _Subject()
        schema_id = self._ids.get((kind, form))
        for version, known in found.live().items():
            if known == schema_id:
                return self._version(subject, version, known)
        problems = self._incompatibilities(subject, schema)
        if problems:
            raise BrokerError(ErrorCode.INCOMPATIBLE_SCHEMA, f"{subject}: {summary(problems)}")
        if schema_id is None:
            schema_id = self._add(schema, kind, form)
        found.ids.append(schema_id)
        self._subjects[subject] = found
        self.revision += 1
        return self._version(subject, len(found.ids), schema_id)

    def check(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> list[SchemaProblem]:
        """The problems that `text` has as the next version of `subject`; [] where it can be registered."""
        try:
            schema = read_schema(kind, text)
        except InvalidSchemaError as error:
            return [SchemaProblem(problem.pointer, problem.message) for problem in error.problems]
        return self._incompatibilities(subject, schema)

    def set_compatibility(self, mode: Compatibility | None, subject: str = "") -> None:
        """Set the mode of `subject` (it need not exist; None is the registry's mode), or with "" of the registry."""
        if subject:
            check_name(subject, "subject")
            self._subjects.setdefault(subject, _Subject()).compatibility = mode
        else:
            self.compatibility = mode or Compatibility.BACKWARD
        self.revision += 1

    def delete_version(self, subject: str, version: int) -> None:
        """Soft-delete a version: it is not listed, compared or used for publishing. Its id still reads old data.

        Raises UNKNOWN_SUBJECT, UNKNOWN_SCHEMA_VERSION.
        """
        self.version(subject, version)
        self._subjects[subject].deleted.add(version)
        self.revision += 1

    def delete_subject(self, subject: str) -> tuple[int, ...]:
        """Soft-delete all versions. Returns their numbers, which are not used again. Raises UNKNOWN_SUBJECT."""
        versions = self.versions(subject)
        self._subjects[subject].deleted.update(versions)
        self.revision += 1
        return versions

    # -- queries

    def subjects(self) -> tuple[str, ...]:
        """The names of subjects with live versions, sorted."""
        return tuple(sorted(name for name, subject in self._subjects.items() if subject.live()))

    def compatibility_of(self, subject: str) -> Compatibility:
        """The effective mode of `subject`."""
        found = self._subjects.get(subject)
        return self.compatibility if found is None or found.compatibility is None else found.compatibility

    def versions(self, subject: str) -> tuple[int, ...]:
        """The live versions in order. Raises UNKNOWN_SUBJECT where there are none."""
        found = self._subjects.get(subject)
        live = tuple(found.live()) if found is not None else ()
        if not live:
            raise BrokerError(ErrorCode.UNKNOWN_SUBJECT, subject)
        return live

    def version(self, subject: str, version: int | Literal["latest"] = "latest") -> SchemaVersion:
        """A live version. Raises UNKNOWN_SUBJECT, UNKNOWN_SCHEMA_VERSION."""
        live = self.versions(subject)
        number = live[-1] if version == "latest" else version
        if number not in live:
            raise BrokerError(ErrorCode.UNKNOWN_SCHEMA_VERSION, f"{subject} {number}")
        return self._version(subject, number, self._subjects[subject].ids[number - 1])

    def find(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> SchemaVersion:
        """The live version with this schema. Raises INVALID_SCHEMA, UNKNOWN_SUBJECT, UNKNOWN_SCHEMA."""
        schema_id = self._ids.get((kind, self._read(text, kind)[1]))
        for version in self.versions(subject):
            if self._subjects[subject].ids[version - 1] == schema_id:
                return self.version(subject, version)
        raise BrokerError(ErrorCode.UNKNOWN_SCHEMA, f"{subject} has no version with this text")

    def schema(self, schema_id: int) -> AnySchema:
        """The schema with this id, also of a deleted version. Raises UNKNOWN_SCHEMA."""
        if not 1 <= schema_id <= len(self._schemas):
            raise BrokerError(ErrorCode.UNKNOWN_SCHEMA, f"id {schema_id}")
        return self._schemas[schema_id - 1]

    def text(self, schema_id: int) -> tuple[SchemaKind, str]:
        """(kind, text) of the schema with this id. Raises UNKNOWN_SCHEMA."""
        text = self.schema(schema_id).text
        return self._kinds[schema_id - 1], text

    def usages(self, schema_id: int) -> tuple[SchemaVersion, ...]:
        """The live versions with this schema. Raises UNKNOWN_SCHEMA."""
        self.schema(schema_id)
        return tuple(
            self._version(name, version, known)
            for name, subject in sorted(self._subjects.items())
            for version, known in subject.live().items()
            if known == schema_id
        )

    def diff(self, subject: str, before: int, after: int | Literal["latest"] = "latest") -> list[SchemaChange]:
        """The differences between two versions. Raises as `version` does."""
        texts = [self.version(subject, version).text for version in (before, after)]
        return changes(*(read_schema_text(text) for text in texts))

    def problems_of(self, subject: str, data: bytes) -> list[Problem]:
        """The problems of a message's value under `subject`; [] where it is valid.

        A value in Confluent's wire format names its schema, which must be a live version of the subject; Avro values
        must be in that format. Plain JSON is validated with the latest version.
        """
        live = self._subjects[subject].live() if subject in self._subjects else {}
        if not live:
            return [Problem("", f"the subject {subject} has no schema")]
        schema_id = framed_id(data)
        if schema_id is None:
            latest = self.schema(list(live.values())[-1])
            if isinstance(latest, JsonSchema):
                return latest.problems_of_text(data)
            return [Problem("", "an Avro value begins with a zero byte and the id of its schema")]
        if schema_id not in live.values():
            return [Problem("", f"schema id {schema_id} is not a version of {subject}")]
        schema = self.schema(schema_id)
        if isinstance(schema, JsonSchema):
            return schema.problems_of_text(data[HEAD_BYTES:])
        return schema.problems_of_binary(data, HEAD_BYTES)

    # -- restart

    def state(self) -> RegistryState:
        """The state to save, for `restore`."""
        return RegistryState(
            self.compatibility,
            tuple((kind, schema.text) for kind, schema in zip(self._kinds, self._schemas, strict=True)),
            {
                name: SubjectState(
                    subject.compatibility,
                    tuple((known, version in subject.deleted) for version, known in enumerate(subject.ids, 1)),
                )
                for name, subject in self._subjects.items()
            },
        )

    @classmethod
    def restore(cls, state: RegistryState) -> SchemaRegistry:
        """A registry from a saved state. Raises DAMAGED for an inconsistent state."""
        registry = cls(state.compatibility)
        try:
            for kind, text in state.schemas:
                schema, form = registry._read(text, kind)
                registry._add(schema, kind, form)
        except BrokerError as error:
            raise BrokerError(ErrorCode.DAMAGED, f"a stored schema cannot be read ({error.about})") from error
        for name, kept in state.subjects.items():
            subject = registry._subjects[name] = _Subject()
            subject.compatibility = kept.compatibility
            for version, (known, deleted) in enumerate(kept.versions, 1):
                if not 1 <= known <= len(registry._schemas):
                    raise BrokerError(ErrorCode.DAMAGED, f"version {version} of {name} has the unknown schema {known}")
                subject.ids.append(known)
                if deleted:
                    subject.deleted.add(version)
        return registry

    # -- inside

    def _read(self, text: str, kind: SchemaKind) -> tuple[AnySchema, str]:
        """(schema, canonical JSON text by which equal schemas are recognized)."""
        try:
            return read_schema(kind, text), write_json(read_schema_text(text))
        except InvalidSchemaError as error:
            raise BrokerError(ErrorCode.INVALID_SCHEMA, summary(error.problems)) from None

    def _add(self, schema: AnySchema, kind: SchemaKind, form: str) -> int:
        if len(self._schemas) >= MAX_SCHEMAS:
            raise BrokerError(ErrorCode.INVALID_SCHEMA, f"a registry holds at most {MAX_SCHEMAS:,}")
        self._schemas.append(schema)
        self._kinds.append(kind)
        self._ids[kind, form] = len(self._schemas)
        return len(self._schemas)

    def _incompatibilities(self, subject: str, schema: AnySchema) -> list[SchemaProblem]:
        found = self._subjects.get(subject)
        live = {} if found is None else {version: self.schema(known) for version, known in found.live().items()}
        return incompatibilities(self.compatibility_of(subject), schema, live)

    def _version(self, subject: str, version: int, schema_id: int) -> SchemaVersion:
        kind, schema = self._kinds[schema_id - 1], self._schemas[schema_id - 1]
        return SchemaVersion(subject, version, schema_id, kind, schema.text)
