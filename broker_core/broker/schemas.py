from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from broker_core.broker.logs import Logs, Topic
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.log.reserved_headers import reserved_headers
from broker_core.messages import Message, StoredMessage
from broker_core.queues.dead_letters import DeadLetters
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.problem import Problem, summary
from broker_core.schemas.registry import References, RegistryState, SchemaMetadata, SchemaRegistry, SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import AttemptView

NEVER_STORED = -1  # partition and offset of a dead letter that its schema kept out of the topic


def dead_letter_queue_of(topic: str) -> str:
    return f"{topic}.dlq"


class Schemas:
    """`registry` is for reading; its changes are made here, and are events."""

    def __init__(self, logs: Logs, events: EventStream) -> None:
        self.registry = SchemaRegistry()
        self._logs = logs
        self._events = events

    def restore(self, state: RegistryState) -> None:
        self.registry = SchemaRegistry.restore(state)

    # -- the registry

    def register(
        self,
        now_ns: int,
        subject: str,
        text: str,
        kind: SchemaKind = SchemaKind.JSON,
        references: References = (),
        metadata: SchemaMetadata | None = None,
        *,
        client: str = "user",
    ) -> SchemaVersion:
        revision = self.registry.revision
        found = self.registry.register(subject, text, kind, references, metadata)
        if self.registry.revision != revision:
            detail = {"subject": subject, "version": found.version, "id": found.id, "kind": kind.value}
            detail["text"] = found.text
            for name, more in (("references", references), ("metadata", metadata)):
                if more:
                    detail[name] = msgspec.to_builtins(more)
            cause = f"registered {subject} version {found.version}"
            self._events.emit_action(now_ns, client=client, cause=cause, detail=detail)
        return found

    def set_compatibility(
        self, now_ns: int, mode: Compatibility | None, subject: str = "", *, client: str = "user"
    ) -> None:
        self.registry.set_compatibility(mode, subject)
        word = "the usual one" if mode is None else mode.value
        detail = {"subject": subject, "compatibility": None if mode is None else mode.name}
        cause = f"set the compatibility of {subject or 'the registry'} to {word}"
        self._events.emit_action(now_ns, client=client, cause=cause, detail=detail)

    def delete_version(
        self, now_ns: int, subject: str, version: int, *, permanent: bool = False, client: str = "user"
    ) -> None:
        self.registry.delete_version(subject, version, permanent=permanent)
        self._deleted(now_ns, subject, (version,), permanent, client)

    def delete_subject(
        self, now_ns: int, subject: str, *, permanent: bool = False, client: str = "user"
    ) -> tuple[int, ...]:
        versions = self.registry.delete_subject(subject, permanent=permanent)
        self._deleted(now_ns, subject, versions, permanent, client)
        return versions

    def _deleted(self, now_ns: int, subject: str, versions: tuple[int, ...], permanent: bool, client: str) -> None:
        cause = f"deleted {subject} version {', '.join(map(str, versions))}{' for good' if permanent else ''}"
        detail: dict[str, Any] = {"subject": subject, "deleted": list(versions)}
        if permanent:
            detail["permanent"] = True
        self._events.emit_action(now_ns, client=client, cause=cause, detail=detail)

    # -- rules of topics

    def rule(self, name: str) -> SchemaRule | None:
        """The rule of a topic or queue. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._logs.topic(name).schema

    def set_rule(self, now_ns: int, name: str, rule: SchemaRule | None, *, client: str = "user") -> None:
        """Set the rule of a topic or queue; None accepts any value.

        Refused messages of a topic that dead-letters go to `<name>.dlq`, which outlives the rule. Raises
        UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_SUBJECT, TOPIC_ALREADY_EXISTS for the dead-letter queue, INVALID_CONFIG for
        a queue that is to dead-letter.
        """
        topic = self._logs.topic(name)
        self.check_subject(rule)
        self.apply(topic, rule)
        detail = {"schema": None if rule is None else msgspec.to_builtins(rule)}
        self._events.emit_action(now_ns, topic=name, client=client, cause=f"set the schema of {name}", detail=detail)

    def check_subject(self, rule: SchemaRule | None) -> None:
        """Raises UNKNOWN_SUBJECT. When a subject is deleted later, its rules stay and refuse everything."""
        if rule is not None:
            self.registry.versions(rule.subject)

    def apply(self, topic: Topic, rule: SchemaRule | None) -> None:
        """`set_rule` without an event, and whether or not the subject exists."""
        dead_letters = rule is not None and rule.mode == "dead_letter"
        if dead_letters and topic.queue is not None:
            # Its counts of dead letters are counts of deliveries.
            raise ConfigError(f"{topic.name} is a queue, which can refuse invalid values but not dead-letter them")
        if dead_letters:
            self.add_dead_letter_queue(topic)
        topic.schema = rule
        self._logs.revision += 1

    def add_dead_letter_queue(self, topic: Topic) -> None:
        if topic.dead_letters is None:
            log = self._logs.add_dead_letter_queue(dead_letter_queue_of(topic.name), topic.name, topic.log.config)
            topic.dead_letters = DeadLetters(log, self._events)

    # -- messages

    def check(self, topic: Topic, message: Message) -> None:
        """Raises INVALID_RECORD if the topic's schema refuses the message."""
        problems = self._problems(topic, message)
        if problems:
            raise BrokerError(ErrorCode.INVALID_RECORD, f"the schema of {topic.name}, {summary(problems)}")

    def judge(self, now_ns: int, topic: Topic, messages: Sequence[Message], client: str) -> int | None:
        """None if the schema accepts all `messages`; else the offset of the dead letter.

        Raises INVALID_RECORD if the rule refuses with an error, and for a batch of several.
        """
        for place, message in enumerate(messages):
            problems = self._problems(topic, message)
            if problems:
                assert topic.schema is not None
                cause = f"schema {topic.schema.subject} refused {problems[0].pointer or 'the value'}"
                if topic.schema.mode == "dead_letter" and len(messages) == 1:
                    return self._dead_letter(now_ns, topic, message, f"{cause}: {problems[0].message}", cause, client)
                topic.refused += len(messages)
                self._events.emit(
                    now_ns,
                    EventKind.REJECTED,
                    topic=topic.name,
                    client=client,
                    count=len(messages),
                    size_bytes=sum(message.size_bytes for message in messages),
                    cause=cause,
                )
                which = f"message {place + 1} of {len(messages)}, " if len(messages) > 1 else ""
                raise BrokerError(ErrorCode.INVALID_RECORD, f"the schema of {topic.name}, {which}{summary(problems)}")
        return None

    def _problems(self, topic: Topic, message: Message) -> list[Problem]:
        if topic.schema is None or message.value is None:
            return []
        return self.registry.problems_of(topic.schema.subject, message.value)

    def _dead_letter(self, now_ns: int, topic: Topic, message: Message, outcome: str, cause: str, client: str) -> int:
        assert topic.dead_letters is not None
        topic.dead_lettered += 1
        stored = StoredMessage(
            topic.name,
            NEVER_STORED,
            NEVER_STORED,
            self._logs.epoch_ms + now_ns // NS_PER_MS,
            now_ns,
            message.key,
            message.value,
            (*message.headers, *reserved_headers(message)),
        )
        attempt = AttemptView(client, now_ns, now_ns, outcome)
        return topic.dead_letters.add(now_ns, stored, topic.name, cause, (attempt,), attempt=0)
