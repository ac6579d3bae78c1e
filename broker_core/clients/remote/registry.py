"""The registry of schemas from afar: a copy to look at and to serialize with, whose changes are made at the broker."""

from __future__ import annotations

from broker_core.clients.remote.link import Link
from broker_core.errors import BrokerError, ErrorCode
from broker_core.schemas.compatibility import AnySchema, Compatibility, SchemaKind
from broker_core.schemas.registry import SchemaRegistry, SchemaVersion
from broker_core.wire import schemas as api
from broker_core.wire.body import Done


class RemoteRegistry(SchemaRegistry):
    """As it was when it was asked for. A schema that came later is asked for by its id when one reads with it."""

    _link: Link

    @classmethod
    def of(cls, link: Link) -> RemoteRegistry:
        """The broker's registry, now."""
        reply = link.ask(api.Schemas(), api.SchemasReply, repeat=True)
        assert reply.state is not None
        registry = cls.restore(reply.state)
        assert isinstance(registry, RemoteRegistry)
        registry._link = link
        registry.revision = reply.revision
        return registry

    def renewed(self) -> RemoteRegistry:
        """This one, where nothing has changed at the broker; else a new one."""
        reply = self._link.ask(api.Schemas(self.revision), api.SchemasReply, repeat=True)
        return self if reply.state is None else RemoteRegistry.of(self._link)

    def schema(self, schema_id: int) -> AnySchema:
        """The schema with this id. Raises UNKNOWN_SCHEMA."""
        try:
            return super().schema(schema_id)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_SCHEMA:
                raise
            newer = self.renewed()
            if newer is self:
                raise
            self.__dict__.update(newer.__dict__)
            return super().schema(schema_id)

    def register(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> SchemaVersion:
        """See `SchemaRegistry.register`."""
        return self._link.ask(api.RegisterSchema(subject, text, kind), api.SchemaRegistered, repeat=True).version

    def set_compatibility(self, mode: Compatibility | None, subject: str = "") -> None:
        """See `SchemaRegistry.set_compatibility`."""
        self._link.ask(api.SetCompatibility(mode, subject), Done, repeat=True)

    def delete_version(self, subject: str, version: int) -> None:
        """See `SchemaRegistry.delete_version`."""
        self._link.ask(api.DeleteSchemaVersion(subject, version), Done, repeat=False)

    def delete_subject(self, subject: str) -> tuple[int, ...]:
        """See `SchemaRegistry.delete_subject`."""
        return self._link.ask(api.DeleteSubject(subject), api.Versions, repeat=False).versions
