from __future__ import annotations

from typing import Literal, cast

from broker_core.engine.host_loop import Host
from broker_core.operations.schemas import (
    CompatibilityMode,
    DeleteSubject,
    DeleteVersion,
    RegisterSchema,
    SchemaText,
    SetCompatibility,
)
from broker_core.operations.topics import RemoveSchemaRule, SetSchemaRule
from broker_core.schemas.compatibility import Compatibility, SchemaKind, SchemaProblem
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.registry import SchemaRegistry, SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import checked_class


@checked_class()
class SchemaAdmin:
    """Each change is saved when its call returns. From any thread."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._broker = host.broker

    @property
    def registry(self) -> SchemaRegistry:
        """The registry, for serializers and to read; a change made here directly is no event and not saved at once."""
        return self._broker.schemas.registry

    def register(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> SchemaVersion:
        return self._host.ask(RegisterSchema(subject=subject, text=SchemaText.of(text, kind)))

    def check(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> list[SchemaProblem]:
        return self._host.call(lambda _now: self.registry.check(subject, text, kind))

    def set_compatibility(self, mode: Compatibility | None, subject: str = "") -> None:
        name = None if mode is None else cast(CompatibilityMode, mode.name)
        self._host.ask(SetCompatibility(subject=subject, mode=name))

    def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> None:
        self._host.ask(DeleteVersion(subject=subject, version=version, permanent=permanent))

    def delete_subject(self, subject: str, *, permanent: bool = False) -> tuple[int, ...]:
        versions = self._host.ask(DeleteSubject(subject=subject, permanent=permanent))
        return tuple(versions)

    def diff(self, subject: str, before: int, after: int | Literal["latest"] = "latest") -> list[SchemaChange]:
        return self._host.call(lambda _now: self.registry.diff(subject, before, after))

    def rule(self, topic: str) -> SchemaRule | None:
        """The schema rule of a topic or queue, None for none. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._host.call(lambda _now: self._broker.schemas.rule(topic))

    def set_rule(self, topic: str, rule: SchemaRule | None) -> None:
        """Set the schema rule of a topic or queue, or remove it.

        Raises UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_SUBJECT, and INVALID_CONFIG for a queue that would dead-letter.
        """
        if rule is None:
            self._host.ask(RemoveSchemaRule(topic=topic))
        else:
            self._host.ask(SetSchemaRule(topic=topic, rule=rule))
