"""Consumers of the mini broker: each reads one topic alone, and is known again after a restart.

Each is a group without members, of the same name, so that its lag is shown like any other group's. Its commits carry a
mark, by which a restart knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.clients.consumer import Consumer, ConsumerConfig
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.groups.offsets import OffsetAndMetadata
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.http.members import Polled
from broker_core.messages import StoredMessage

if TYPE_CHECKING:
    from broker_core.listeners.http.context import HttpCall

MARK = "http-consumer"
MANUAL_MARK = "http-consumer, commits by itself"


class Registered(Polled):
    """A registered consumer. Without `auto_commit` it commits by request, and rereads the rest after a restart."""

    def __init__(self, host: ServedHost, name: str, topic: str, auto_commit: bool) -> None:
        """Made under the host's lock. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        config = ConsumerConfig(auto_offset_reset="earliest", commit_on_revoke=False)
        core = Consumer(host.broker, host.loop, name, name, (), config)
        core.assign([(topic, number) for number in range(host.broker.logs.partition_count(topic))])
        super().__init__(host, core)
        self.name = name
        self.topic = topic
        self.auto_commit = auto_commit
        self._returned: dict[int, int] = {}

    async def consume(self, call: HttpCall, max_messages: int, timeout_ms: int) -> list[StoredMessage]:
        """The next messages. Raises UNKNOWN_TOPIC_OR_PARTITION, and NON_EMPTY_GROUP for a group with members."""
        self._host.call(self._add_partitions)
        found = await self.poll(call, max_messages, timeout_ms)
        for message in found:
            self._returned[message.partition] = message.offset + 1
        if self.auto_commit:
            self.commit()
        return found

    def _add_partitions(self, now_ns: int) -> None:
        core, broker = self.core, self._host.broker
        for number in range(broker.logs.partition_count(self.topic)):
            if (self.topic, number) not in core.positions:
                start = broker.offsets.starting(now_ns, self.name, self.name, self.topic, number, "earliest")
                core.positions[self.topic, number] = start

    def commit(self) -> None:
        """Commit everything that was returned. Raises NON_EMPTY_GROUP, OFFSET_OUT_OF_RANGE."""
        self.commit_offsets(self._returned)
        self._returned = {}

    def commit_offsets(self, offsets: dict[int, int]) -> None:
        """Commit these offsets. Raises as `commit`."""
        if offsets:
            mark = MARK if self.auto_commit else MANUAL_MARK
            commits = {(self.topic, number): OffsetAndMetadata(offset, mark) for number, offset in offsets.items()}
            self._host.call(
                lambda now_ns: self._host.broker.offsets.commit(now_ns, self.name, self.name, "", -1, commits)
            )

    @property
    def offsets(self) -> dict[int, int]:
        """The next offset of each partition."""
        return {number: offset for (_topic, number), offset in sorted(self.positions.items())}

    def begin(self) -> None:
        """Commit the start, by which it is known again after a restart."""
        self.commit_offsets(self.offsets)


class Consumers:
    """The registered consumers, by id."""

    def __init__(self, host: ServedHost, most: int) -> None:
        self._host = host
        self._most = most
        self._found: dict[str, Registered] = {}
        host.call(lambda _now: self._restore())

    def _restore(self) -> None:
        groups = self._host.broker.groups
        for name in groups.groups():
            marks = {
                topic: kept.metadata
                for (topic, _number), kept in groups.offsets.fetch_all(name).items()
                if kept.metadata in {MARK, MANUAL_MARK}
            }
            for topic, mark in marks.items():
                if topic in self._host.broker.topics:
                    self._found[name] = Registered(self._host, name, topic, mark == MARK)

    def find(self, name: str) -> Registered:
        """Raises UNKNOWN_CONSUMER."""
        return must(self._found.get(name), ErrorCode.UNKNOWN_CONSUMER, f"{name}; register it first")

    def all(self) -> list[Registered]:
        return list(self._found.values())

    def register(self, name: str, topic: str, *, reset: bool, auto_commit: bool) -> Registered:
        """A new consumer begins at the start; a known one keeps its place, but for `reset` or another topic.

        Raises NON_EMPTY_GROUP, UNKNOWN_TOPIC_OR_PARTITION, THROTTLED.
        """
        known = self._found.get(name)
        if known is not None and known.topic == topic and not reset:
            known.auto_commit = auto_commit
            return known
        if known is None and len(self._found) >= self._most:
            raise BrokerError(ErrorCode.THROTTLED, f"{self._most} consumers are registered, which is the most")
        groups = self._host.broker.groups
        if known is not None:
            self.forget(name)
        elif reset and name in self._host.call(lambda _now: groups.groups()):
            self._host.call(lambda now_ns: groups.delete(now_ns, name))
        made = self._host.call(lambda _now: Registered(self._host, name, topic, auto_commit))
        made.begin()
        self._found[name] = made
        return made

    def forget(self, name: str) -> None:
        """Remove a consumer and its offsets. Raises UNKNOWN_CONSUMER, NON_EMPTY_GROUP."""
        found = self.find(name)
        groups = self._host.broker.groups

        def delete(now_ns: int) -> None:
            if name in groups.groups():
                groups.delete(now_ns, name)

        self._host.call(delete)
        found.close()
        del self._found[name]

    def close(self) -> None:
        for each in self._found.values():
            each.close()
