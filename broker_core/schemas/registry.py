from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_SCHEMAS
from broker_core.names import check_subject
from broker_core.schemas.compatibility import Compatibility, SchemaProblem, incompatibilities
from broker_core.schemas.diff import SchemaChange, changes
from broker_core.schemas.json_text import InvalidJsonError, read_json, write_json
from broker_core.schemas.languages import SchemaKind, document_of, form_of, read_schema
from broker_core.schemas.problem import InvalidDataError, InvalidSchemaError, Problem, summary
from broker_core.settings import checked_class

if TYPE_CHECKING:
    from broker_core.schemas.languages import AnySchema

# Confluent's wire format: a zero byte, the schema's id in four bytes (big-endian), the data.
_HEAD = struct.Struct(">BI")
HEAD_BYTES = _HEAD.size


def frame(schema_id: int, data: bytes) -> bytes:
    return _HEAD.pack(0, schema_id) + data


def framed_id(data: bytes) -> int | None:
    """The id of the schema, or None if `data` has no such prefix. The payload begins at HEAD_BYTES."""
    if len(data) < HEAD_BYTES or data[0] != 0:
        return None
    schema_id: int = _HEAD.unpack_from(data)[1]
    return schema_id


class SchemaReference(msgspec.Struct, frozen=True):
    """A schema calls a version of another subject by this name: an Avro type, or what stands in a `$ref`."""

    name: str
    subject: str
    version: int


References = tuple[SchemaReference, ...]


class SchemaMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """Metadata that Confluent's clients store with a schema. Only `properties` are used here, for look-ups."""

    tags: dict[str, list[str]] = {}
    properties: dict[str, str] = {}
    sensitive: list[str] = []


class SchemaVersion(msgspec.Struct, frozen=True):
    """A version of a subject. Versions count from 1. Equal schemas have the same `id` in all subjects."""

    subject: str
    version: int
    id: int
    kind: SchemaKind
    text: str
    references: References = ()
    metadata: SchemaMetadata | None = None


class SubjectState(msgspec.Struct, frozen=True):
    """A subject: its mode, None for the registry's, and (schema id, deleted) of each version; id 0 is gone for good."""

    compatibility: Compatibility | None
    versions: tuple[tuple[int, bool], ...]


class RegistryState(msgspec.Struct, frozen=True):
    """The state to save. `schemas` are (kind, text) in the order of their ids, from 1; the others are by id."""

    compatibility: Compatibility = Compatibility.BACKWARD
    schemas: tuple[tuple[SchemaKind, str], ...] = ()
    subjects: dict[str, SubjectState] = {}
    references: dict[int, References] = {}
    metadata: dict[int, SchemaMetadata] = {}


_GONE = 0
_MOST_READABLE_BYTES = 65_536


class _Subject:
    def __init__(self) -> None:
        self.compatibility: Compatibility | None = None
        self.ids: list[int] = []  # of version 1, 2, ...; _GONE for one that was deleted for good
        self.deleted: set[int] = set()  # versions

    def live(self, *, deleted: bool = False) -> dict[int, int]:
        """Schema ids by version, without deleted versions, or with them."""
        return {
            version: found
            for version, found in enumerate(self.ids, 1)
            if found != _GONE and (deleted or version not in self.deleted)
        }

    def remove(self, version: int) -> None:
        """Delete a version for good. The numbers behind the last one that is left are used again, as in Confluent's."""
        self.ids[version - 1] = _GONE
        self.deleted.discard(version)
        while self.ids and self.ids[-1] == _GONE:
            self.ids.pop()


@checked_class(fast=("schema", "problems_of"))
class SchemaRegistry:
    """The schema registry. Reading is thread-safe; one thread at a time may make changes."""

    def __init__(self, compatibility: Compatibility = Compatibility.BACKWARD) -> None:
        """`compatibility` is the mode of subjects without one of their own."""
        self.compatibility = compatibility
        self.revision = 0  # number of changes
        self._schemas: list[AnySchema] = []
        self._kinds: list[SchemaKind] = []
        self._references: dict[int, References] = {}  # of those that have any, by id
        self._metadata: dict[int, SchemaMetadata] = {}  # of those that have any, by id
        self._ids: dict[tuple[SchemaKind, str, References, bytes], int] = {}
        self._subjects: dict[str, _Subject] = {}
        self._unused: set[int] = set()  # ids of which every version was deleted for good

    # -- changes

    def register(
        self,
        subject: str,
        text: str,
        kind: SchemaKind = SchemaKind.JSON,
        references: References = (),
        metadata: SchemaMetadata | None = None,
    ) -> SchemaVersion:
        """Register `text` as a new version. Returns the existing live version if it has the same schema.

        Without `metadata` it has that of the latest version.

        Raises INVALID_SCHEMA, INCOMPATIBLE_SCHEMA (both with the first problem), INVALID_TOPIC for the subject's name.
        """
        check_subject(subject)
        schema, form = self._read(text, kind, references)
        found = self._subjects.get(subject) or _Subject()
        metadata = metadata or self._latest_metadata(subject)
        schema_id = self._ids.get((kind, form, references, _form(metadata)))
        for version, known in found.live().items():
            if known == schema_id:
                return self._version(subject, version, known)
        problems = self._incompatibilities(subject, schema)
        if problems:
            raise BrokerError(ErrorCode.INCOMPATIBLE_SCHEMA, f"{subject}: {summary(problems)}")
        if schema_id is None:
            schema_id = self._add(schema, kind, form, references, metadata)
        found.ids.append(schema_id)
        self._unused.discard(schema_id)
        self._subjects[subject] = found
        self.revision += 1
        return self._version(subject, len(found.ids), schema_id)

    def check(
        self,
        subject: str,
        text: str,
        kind: SchemaKind = SchemaKind.JSON,
        references: References = (),
        version: int | None = None,
    ) -> list[SchemaProblem]:
        """The problems that `text` has as the next version of `subject`, or only behind `version`."""
        try:
            schema = read_schema(kind, text, self._referenced(references))
        except InvalidSchemaError as error:
            return [SchemaProblem(problem.pointer, problem.message) for problem in error.problems]
        return self._incompatibilities(subject, schema, version)

    def set_compatibility(self, mode: Compatibility | None, subject: str = "") -> None:
        """Set the mode of `subject` (it need not exist; None is the registry's mode), or with "" of the registry."""
        if subject:
            check_subject(subject)
            self._subjects.setdefault(subject, _Subject()).compatibility = mode
        else:
            self.compatibility = mode or Compatibility.BACKWARD
        self.revision += 1

    def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> None:
        """Soft-delete a version: it is not listed, compared or used for publishing. Its id still reads old data.

        With `permanent` one that is soft-deleted goes for good, and its id with the last version that has it. Raises
        UNKNOWN_SUBJECT, UNKNOWN_SCHEMA_VERSION, REFERENCE_EXISTS, and INVALID_REQUEST for a live version that is to go
        for good.
        """
        self.version(subject, version, deleted=permanent)
        self._must_be_unreferenced(subject, (version,))
        if permanent:
            self._remove(subject, (version,))
        else:
            self._subjects[subject].deleted.add(version)
        self.revision += 1

    def delete_subject(self, subject: str, *, permanent: bool = False) -> tuple[int, ...]:
        """As `delete_version`, for all versions; with `permanent` the mode goes, too. Returns their numbers."""
        versions = self.versions(subject, deleted=permanent)
        self._must_be_unreferenced(subject, versions)
        if permanent:
            self._remove(subject, versions)
            del self._subjects[subject]
        else:
            self._subjects[subject].deleted.update(versions)
        self.revision += 1
        return versions

    def _remove(self, subject: str, versions: tuple[int, ...]) -> None:
        found = self._subjects[subject]
        for version in versions:
            if version not in found.deleted:
                raise BrokerError(
                    ErrorCode.INVALID_REQUEST,
                    f"version {version} of {subject} is to be deleted permanently, but was not deleted before",
                )
        for version in versions:
            found.remove(version)
        self._unused = self._without_version()

    def _without_version(self) -> set[int]:
        used = {known for subject in self._subjects.values() for known in subject.ids}
        return set(range(1, len(self._schemas) + 1)) - used

    # -- queries

    def subjects(self, *, deleted: bool = False) -> tuple[str, ...]:
        """The names of subjects with live versions, or with `deleted` ones, too, sorted."""
        return tuple(sorted(name for name, subject in self._subjects.items() if subject.live(deleted=deleted)))

    def has_own_compatibility(self, subject: str) -> bool:
        """Whether `subject` has a mode of its own."""
        return subject in self._subjects and self._subjects[subject].compatibility is not None

    def compatibility_of(self, subject: str) -> Compatibility:
        """The effective mode of `subject`."""
        found = self._subjects.get(subject)
        return self.compatibility if found is None or found.compatibility is None else found.compatibility

    def versions(self, subject: str, *, deleted: bool = False) -> tuple[int, ...]:
        """The live versions in order, or with `deleted` ones, too. Raises UNKNOWN_SUBJECT if there are none."""
        found = self._subjects.get(subject)
        live = tuple(found.live(deleted=deleted)) if found is not None else ()
        if not live:
            raise BrokerError(ErrorCode.UNKNOWN_SUBJECT, subject)
        return live

    def version(
        self, subject: str, version: int | Literal["latest"] = "latest", *, deleted: bool = False
    ) -> SchemaVersion:
        """A live version, or with `deleted` a deleted one, too. Raises UNKNOWN_SUBJECT, UNKNOWN_SCHEMA_VERSION."""
        live = self.versions(subject, deleted=deleted)
        number = live[-1] if version == "latest" else version
        if number not in live:
            raise BrokerError(ErrorCode.UNKNOWN_SCHEMA_VERSION, f"{subject} {number}")
        return self._version(subject, number, self._subjects[subject].ids[number - 1])

    def find(
        self,
        subject: str,
        text: str,
        kind: SchemaKind = SchemaKind.JSON,
        references: References = (),
        metadata: SchemaMetadata | None = None,
    ) -> SchemaVersion:
        """The live version with this schema. Raises INVALID_SCHEMA, UNKNOWN_SUBJECT, UNKNOWN_SCHEMA."""
        form = _form(metadata or self._latest_metadata(subject))
        schema_id = self._ids.get((kind, self._read(text, kind, references)[1], references, form))
        for version in self.versions(subject):
            if self._subjects[subject].ids[version - 1] == schema_id:
                return self.version(subject, version)
        raise BrokerError(ErrorCode.UNKNOWN_SCHEMA, f"{subject} has no version with this text")

    def schema(self, schema_id: int) -> AnySchema:
        """The schema with this id, also of a soft-deleted version. Raises UNKNOWN_SCHEMA."""
        if not 1 <= schema_id <= len(self._schemas) or schema_id in self._unused:
            raise BrokerError(ErrorCode.UNKNOWN_SCHEMA, f"id {schema_id}")
        return self._schemas[schema_id - 1]

    def text(self, schema_id: int) -> tuple[SchemaKind, str]:
        """(kind, text) of the schema with this id. Raises UNKNOWN_SCHEMA."""
        text = self.schema(schema_id).text
        return self._kinds[schema_id - 1], text

    def usages(self, schema_id: int, *, deleted: bool = False) -> tuple[SchemaVersion, ...]:
        """The live versions with this schema, or with `deleted` ones, too. Raises UNKNOWN_SCHEMA."""
        self.schema(schema_id)
        return tuple(
            self._version(name, version, known)
            for name, subject in sorted(self._subjects.items())
            for version, known in subject.live(deleted=deleted).items()
            if known == schema_id
        )

    def referenced_by(self, subject: str, version: int) -> tuple[int, ...]:
        """The ids of the schemas of live versions that refer to this one."""
        ids = [
            schema_id
            for schema_id, references in self._references.items()
            if any((each.subject, each.version) == (subject, version) for each in references)
        ]
        used = {known for each in self._subjects.values() for known in each.live().values()} if ids else set()
        return tuple(schema_id for schema_id in ids if schema_id in used)

    def _must_be_unreferenced(self, subject: str, versions: Iterable[int]) -> None:
        for version in versions:
            if ids := self.referenced_by(subject, version):
                raise BrokerError(
                    ErrorCode.REFERENCE_EXISTS, f"version {version} of {subject}, by the schema with id {ids[0]}"
                )

    def diff(self, subject: str, before: int, after: int | Literal["latest"] = "latest") -> list[SchemaChange]:
        """The differences between two versions. Raises as `version` does."""
        versions = [self.version(subject, version) for version in (before, after)]
        return changes(*(document_of(self.schema(each.id)) for each in versions))

    def problems_of(self, subject: str, data: bytes) -> list[Problem]:
        """The problems of a message's value under `subject`; [] if it is valid.

        A value in Confluent's wire format names its schema, which must be a live version of the subject; Avro and
        Protobuf values must be in that format. Plain JSON is validated with the latest version.
        """
        live = self._subjects[subject].live() if subject in self._subjects else {}
        if not live:
            return [Problem("", f"the subject {subject} has no schema")]
        from broker_core.schemas.json_schema import JsonSchema

        schema_id = framed_id(data)
        if schema_id is None:
            latest = self.schema(list(live.values())[-1])
            if isinstance(latest, JsonSchema):
                return latest.problems_of_binary(data)
            return [Problem("", "an Avro or Protobuf value begins with a zero byte and the id of its schema")]
        if schema_id not in live.values():
            return [Problem("", f"schema id {schema_id} is not a version of {subject}")]
        return self.schema(schema_id).problems_of_binary(data, HEAD_BYTES)

    def readable(self, data: bytes) -> tuple[int, SchemaKind, bytes] | None:
        """(schema id, language, JSON text) of a value that names its schema; None if it does not match, or is large."""
        schema_id = framed_id(data) if len(data) <= _MOST_READABLE_BYTES else None
        if schema_id is None:
            return None
        from broker_core.schemas.json_schema import JsonSchema

        try:
            schema = self.schema(schema_id)
            if isinstance(schema, JsonSchema):
                text = write_json(read_json(data[HEAD_BYTES:])).encode()
            else:
                text = msgspec.json.encode(schema.decode(data, HEAD_BYTES), enc_hook=str)
        except (BrokerError, InvalidDataError, InvalidJsonError):
            return None
        return schema_id, self._kinds[schema_id - 1], text

    # -- restart

    def state(self) -> RegistryState:
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
            dict(self._references),
            dict(self._metadata),
        )

    @classmethod
    def restore(cls, state: RegistryState) -> SchemaRegistry:
        """A registry from a saved state. Raises DAMAGED for an inconsistent state."""
        registry = cls(state.compatibility)
        for name, kept in state.subjects.items():
            subject = registry._subjects[name] = _Subject()
            subject.compatibility = kept.compatibility
            for version, (known, deleted) in enumerate(kept.versions, 1):
                if not _GONE <= known <= len(state.schemas):
                    raise BrokerError(ErrorCode.DAMAGED, f"version {version} of {name} has the unknown schema {known}")
                subject.ids.append(known)
                if deleted:
                    subject.deleted.add(version)
        try:
            for schema_id, (kind, text) in enumerate(state.schemas, 1):
                references = state.references.get(schema_id, ())
                schema, form = registry._read(text, kind, references)
                registry._add(schema, kind, form, references, state.metadata.get(schema_id))
        except BrokerError as error:
            raise BrokerError(ErrorCode.DAMAGED, f"a stored schema cannot be read ({error.about})") from error
        registry._unused = registry._without_version()
        return registry

    # -- inside

    def _read(self, text: str, kind: SchemaKind, references: References) -> tuple[AnySchema, str]:
        """(schema, the form by which equal schemas are recognized)."""
        try:
            schema = read_schema(kind, text, self._referenced(references))
            return schema, form_of(schema)
        except InvalidSchemaError as error:
            raise BrokerError(ErrorCode.INVALID_SCHEMA, summary(error.problems)) from None

    def _referenced(self, references: References) -> dict[str, str]:
        """The texts of `references` and of what these refer to, which comes first. Raises INVALID_SCHEMA."""
        found: dict[str, str] = {}
        for each in references:
            try:
                version = self.version(each.subject, each.version, deleted=True)
            except BrokerError as error:
                raise BrokerError(ErrorCode.INVALID_SCHEMA, f"the reference {each.name}: {error}") from None
            for name, text in (*self._referenced(version.references).items(), (each.name, version.text)):
                if found.setdefault(name, text) != text:
                    raise BrokerError(ErrorCode.INVALID_SCHEMA, f"two schemas are referred to as {name}")
        return found

    def _latest_metadata(self, subject: str) -> SchemaMetadata | None:
        live = self._subjects[subject].live() if subject in self._subjects else {}
        return self._metadata.get(list(live.values())[-1]) if live else None

    def _add(
        self, schema: AnySchema, kind: SchemaKind, form: str, references: References, metadata: SchemaMetadata | None
    ) -> int:
        if len(self._schemas) >= MAX_SCHEMAS:
            raise BrokerError(ErrorCode.INVALID_SCHEMA, f"a registry holds at most {MAX_SCHEMAS:,}")
        self._schemas.append(schema)
        self._kinds.append(kind)
        schema_id = self._ids[kind, form, references, _form(metadata)] = len(self._schemas)
        if references:
            self._references[schema_id] = references
        if metadata is not None:
            self._metadata[schema_id] = metadata
        return schema_id

    def _incompatibilities(self, subject: str, schema: AnySchema, only: int | None = None) -> list[SchemaProblem]:
        found = self._subjects.get(subject)
        there = [] if found is None else list(found.live().items())
        live = {version: self.schema(known) for version, known in there if only in (None, version)}
        return incompatibilities(self.compatibility_of(subject), schema, live)

    def _version(self, subject: str, version: int, schema_id: int) -> SchemaVersion:
        kind, schema = self._kinds[schema_id - 1], self._schemas[schema_id - 1]
        references, metadata = self._references.get(schema_id, ()), self._metadata.get(schema_id)
        return SchemaVersion(subject, version, schema_id, kind, schema.text, references, metadata)


def _form(metadata: SchemaMetadata | None) -> bytes:
    return msgspec.json.encode(metadata, order="sorted")
