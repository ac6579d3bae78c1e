"""Schemas: the registry as a whole for who reads, changes one by one."""

from __future__ import annotations

from broker_core.schemas.compatibility import Compatibility, SchemaKind
from broker_core.schemas.registry import RegistryState, SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.wire.body import Body, Int32, Name, Signed64


class Schemas(Body, frozen=True):
    """The registry, where it is not the one of `known_revision`."""

    known_revision: Signed64 = -1


class SchemasReply(Body, frozen=True):
    """`state` is None where nothing has changed since."""

    revision: int
    state: RegistryState | None


class RegisterSchema(Body, frozen=True):
    """See `SchemaRegistry.register`."""

    subject: Name
    text: str
    kind: SchemaKind = SchemaKind.JSON


class SchemaRegistered(Body, frozen=True):
    """The version that it is."""

    version: SchemaVersion


class SetCompatibility(Body, frozen=True):
    """See `SchemaRegistry.set_compatibility`."""

    mode: Compatibility | None
    subject: Name = ""


class DeleteSchemaVersion(Body, frozen=True):
    """See `SchemaRegistry.delete_version`."""

    subject: Name
    version: Int32


class DeleteSubject(Body, frozen=True):
    """See `SchemaRegistry.delete_subject`."""

    subject: Name


class Versions(Body, frozen=True):
    """Those that were deleted."""

    versions: tuple[int, ...]


class SetSchemaRule(Body, frozen=True):
    """What a topic or queue does with its values from now on."""

    topic: Name
    rule: SchemaRule | None
