"""Administration of a host's schemas, in the words of Confluent's registry."""

from __future__ import annotations

from typing import Literal

from broker_core.clients.host import Host
from broker_core.schemas.compatibility import Compatibility, SchemaKind, SchemaProblem
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.registry import SchemaRegistry, SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import checked_class


@checked_class()
class SchemaAdmin:
    """Every change is saved when its call returns. From any thread."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._broker = host.broker

    @property
    def registry(self) -> SchemaRegistry:
        """For serializers, and to look at; what is changed there directly is neither an event nor saved at once."""
        return self._broker.schemas

    def register(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> SchemaVersion:
        """See `SchemaRegistry.register`."""
        return self._host.admin(
            lambda now_ns: self._broker.register_schema(now_ns, subject, text, kind, client="admin")
        )

    def check(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> list[SchemaProblem]:
        """See `SchemaRegistry.check`."""
        return self._host.call(lambda _now: self.registry.check(subject, text, kind))

    def set_compatibility(self, mode: Compatibility | None, subject: str = "") -> None:
        """See `SchemaRegistry.set_compatibility`."""
        self._host.admin(lambda now_ns: self._broker.set_schema_compatibility(now_ns, mode, subject, client="admin"))

    def delete_version(self, subject: str, version: int) -> None:
        """See `SchemaRegistry.delete_version`."""
        self._host.admin(lambda now_ns: self._broker.delete_schema_version(now_ns, subject, version, client="admin"))

    def delete_subject(self, subject: str) -> tuple[int, ...]:
        """See `SchemaRegistry.delete_subject`."""
        return self._host.admin(lambda now_ns: self._broker.delete_schemas(now_ns, subject, client="admin"))

    def diff(self, subject: str, before: int, after: int | Literal["latest"] = "latest") -> list[SchemaChange]:
        """See `SchemaRegistry.diff`."""
        return self._host.call(lambda _now: self.registry.diff(subject, before, after))

    def rule(self, topic: str) -> SchemaRule | None:
        """What a topic or queue does with its values now. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._host.call(lambda _now: self._broker.schema_rule(topic))

    def set_rule(self, topic: str, rule: SchemaRule | None) -> None:
        """What a topic or queue does with its values. See `Broker.set_schema`."""
        self._host.admin(lambda now_ns: self._broker.set_schema(now_ns, topic, rule, client="admin"))
