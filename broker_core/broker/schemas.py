"""The part of the broker that holds messages against the schemas of their topics."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from broker_core.broker.state import BrokerState, Topic, payload_bytes
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.events import EventKind
from broker_core.log.reserved_headers import reserved_headers
from broker_core.messages import Message, StoredMessage
from broker_core.queues.dead_letters import DeadLetters
from broker_core.schemas.compatibility import Compatibility, SchemaKind
from broker_core.schemas.problem import Problem, summary
from broker_core.schemas.registry import SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import AttemptView

NEVER_STORED = -1  # partition and offset of a dead letter that its schema kept out of the topic


class BrokerSchemas(BrokerState):
    """`schemas` is the registry; changes that are to be seen and kept go through here."""

    def register_schema(
        self, now_ns: int, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON, *, client: str = "user"
    ) -> SchemaVersion:
        """See `SchemaRegistry.register`; a new version is an event."""
        revision = self.schemas.revision
        found = self.schemas.register(subject, text, kind)
        if self.schemas.revision != revision:
            detail = {"subject": subject, "version": found.version, "id": found.id, "kind": kind.value, "text": text}
            cause = f"registered {subject} version {found.version}"
            self._events.emit(now_ns, EventKind.USER_ACTION, client=client, cause=cause, detail=detail)
        return found

    def set_schema_compatibility(
        self, now_ns: int, mode: Compatibility | None, subject: str = "", *, client: str = "user"
    ) -> None:
        """See `SchemaRegistry.set_compatibility`; it is an event."""
        self.schemas.set_compatibility(mode, subject)
        word = "the usual one" if mode is None else mode.value
        detail = {"subject": subject, "compatibility": None if mode is None else mode.name}
        cause = f"set the compatibility of {subject or 'the registry'} to {word}"
        self._events.emit(now_ns, EventKind.USER_ACTION, client=client, cause=cause, detail=detail)

    def delete_schema_version(self, now_ns: int, subject: str, version: int, *, client: str = "user") -> None:
        """See `SchemaRegistry.delete_version`; it is an event."""
        self.schemas.delete_version(subject, version)
        self._schemas_deleted(now_ns, subject, (version,), client)

    def delete_schemas(self, now_ns: int, subject: str, *, client: str = "user") -> tuple[int, ...]:
        """See `SchemaRegistry.delete_subject`; it is an event."""
        versions = self.schemas.delete_subject(subject)
        self._schemas_deleted(now_ns, subject, versions, client)
        return versions

    def _schemas_deleted(self, now_ns: int, subject: str, versions: tuple[int, ...], client: str) -> None:
        cause = f"deleted {subject} version {', '.join(map(str, versions))}"
        detail = {"subject": subject, "deleted": list(versions)}
        self._events.emit(now_ns, EventKind.USER_ACTION, client=client, cause=cause, detail=detail)

    def set_schema(self, now_ns: int, name: str, rule: SchemaRule | None, *, client: str = "user") -> None:
        """What `name`, a topic or a queue, does with its values from now on; None: it takes any.

        A topic's refused messages go to the bin `<name>.dlq`, which stays where the rule goes. Raises
        UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_SUBJECT, TOPIC_ALREADY_EXISTS for the bin, INVALID_CONFIG for a queue that
        is to dead-letter.
        """
        self._topic(name)
        self._check_subject(rule)
        self._set_rule(name, rule)
        detail = {"schema": None if rule is None else msgspec.to_builtins(rule)}
        self._events.emit(
            now_ns, EventKind.USER_ACTION, topic=name, client=client, cause=f"set the schema of {name}", detail=detail
        )

    def schema_rule(self, name: str) -> SchemaRule | None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._topic(name).schema

    def dead_letters(self, name: str) -> DeadLetters:
        """The bin of a queue, a subscription, or a topic whose schema dead-letters. Raises UNKNOWN_QUEUE."""
        found = self._bins.get(name)
        return self.queue(name).dead_letters if found is None else found

    def bins(self) -> dict[str, DeadLetters]:
        """The bins of topics, by topic; those of queues are the queues'."""
        return dict(self._bins)

    # -- inside

    def _check_subject(self, rule: SchemaRule | None) -> None:
        """Raises UNKNOWN_SUBJECT. A subject that is deleted later leaves its rules, and nothing fits them."""
        if rule is not None:
            self.schemas.versions(rule.subject)

    def _set_rule(self, name: str, rule: SchemaRule | None) -> None:
        topic = self._topic(name)
        buries = rule is not None and rule.mode == "dead_letter"
        if buries and name in self._queues:
            # Its bin tells of what it handed out, and its figures must add up.
            raise ConfigError(f"{name} is a queue, which can refuse what its schema refuses, but not dead-letter it")
        if buries:
            self._make_bin(name)
        topic.schema = rule
        self.revision += 1

    def _make_bin(self, name: str) -> None:
        """The topic has dead letters from now on, where it has none yet."""
        if name in self._bins:
            return
        bin_topic = self._add_bin(bin_of(name), self._topic(name).log.config)
        self._bins[name] = DeadLetters(bin_topic.log, self._events)

    def _schema_problems(self, topic: Topic, message: Message) -> list[Problem]:
        """A message without a value deletes its key, and has nothing to be checked."""
        if topic.schema is None or message.value is None:
            return []
        return self.schemas.problems_of(topic.schema.subject, message.value)

    def _must_fit(self, name: str, message: Message) -> None:
        """Raises INVALID_RECORD where the schema of `name` refuses the message."""
        problems = self._schema_problems(self._topic(name), message)
        if problems:
            raise BrokerError(ErrorCode.INVALID_RECORD, f"the schema of {name}, {summary(problems)}")

    def _turn_away(self, now_ns: int, name: str, topic: Topic, messages: Sequence[Message], client: str) -> int | None:
        """None where the schema accepts all of `messages`; else the offset in the bin of the one that it refuses.

        Raises INVALID_RECORD where refused messages get an error, and for a batch of several.
        """
        for place, message in enumerate(messages):
            problems = self._schema_problems(topic, message)
            if problems:
                assert topic.schema is not None
                cause = f"schema {topic.schema.subject} refused {problems[0].pointer or 'the value'}"
                if topic.schema.mode == "dead_letter" and len(messages) == 1:
                    return self._bury(now_ns, name, topic, message, f"{cause}: {problems[0].message}", cause, client)
                topic.refused += len(messages)
                self._events.emit(
                    now_ns,
                    EventKind.REJECTED,
                    topic=name,
                    client=client,
                    count=len(messages),
                    size_bytes=sum(map(payload_bytes, messages)),
                    cause=cause,
                )
                which = f"message {place + 1} of {len(messages)}, " if len(messages) > 1 else ""
                raise BrokerError(ErrorCode.INVALID_RECORD, f"the schema of {name}, {which}{summary(problems)}")
        return None

    def _bury(
        self, now_ns: int, name: str, topic: Topic, message: Message, outcome: str, cause: str, client: str
    ) -> int:
        topic.buried += 1
        stored = StoredMessage(
            name,
            NEVER_STORED,
            NEVER_STORED,
            self._epoch_ms + now_ns // NS_PER_MS,
            now_ns,
            message.key,
            message.value,
            (*message.headers, *reserved_headers(message)),
        )
        attempt = AttemptView(client, now_ns, now_ns, outcome)
        return self.dead_letters(name).add(now_ns, stored, name, cause, (attempt,), attempt=0)


def bin_of(topic: str) -> str:
    """The name of the bin for messages that a topic's schema refused."""
    return f"{topic}.dlq"
