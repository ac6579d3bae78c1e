"""Members of groups that poll by HTTP, and consumers of the mini broker: the listener keeps a consumer for each."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from broker_core.broker.group_offsets import Committer
from broker_core.clients.consumer import Consumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.listeners.awaiting import ServedHost
from broker_core.messages import OffsetAndMetadata, StoredMessage, TopicPartition
from broker_core.operations.groups import DeleteGroup
from broker_core.replies import Reply

#: The result of a reply, by a deadline in seconds, if its client is still there: `HttpCall.wait`.
Wait = Callable[[Reply[list[StoredMessage]], None, float], Awaitable[list[StoredMessage]]]


class Polled:
    """A polled consumer. Messages that a disconnected request did not take are kept for the next one."""

    def __init__(self, host: ServedHost, core: Consumer) -> None:
        self._host = host
        self.core = core
        self.busy = asyncio.Lock()
        self._buffer: deque[StoredMessage] = deque()
        self._polling: Reply[list[StoredMessage]] | None = None

    async def poll(self, wait: Wait, max_messages: int, timeout_ms: int) -> list[StoredMessage]:
        """At most `max_messages`; [] if none in `timeout_ms`. One request at a time. Raises as `Consumer.poll`."""
        async with self.busy:
            if not self._buffer:
                if self._polling is None:
                    self._polling = self._host.start(self.core.poll(timeout_ms, max_messages, hand_out=False))
                polling = self._polling
                try:
                    # A fetch that ends with the deadline needs a moment to settle its reply.
                    found = await wait(polling, None, timeout_ms / 1_000 + 0.02)
                except TimeoutError:
                    return []  # it still joins its group, or an earlier poll goes on: the next request polls again
                finally:
                    if polling.done:
                        self._polling = None
                self._buffer.extend(found)
            taken = [self._buffer.popleft() for _ in range(min(max_messages, len(self._buffer)))]
            return self._host.call(lambda _now: self.core.hand(taken))

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Read on from `offset`. Raises INVALID_REQUEST for a partition that it does not own."""

        def seek(_now: int) -> None:
            self.core.seek(topic, partition, offset)
            if self._polling is not None and self._polling.done and self._polling.error is None:  # nobody has taken it
                fetched = self._polling.result()
                fetched[:] = (each for each in fetched if (each.topic, each.partition) != (topic, partition))

        self._host.call(seek)
        self._buffer = deque(each for each in self._buffer if (each.topic, each.partition) != (topic, partition))

    @property
    def positions(self) -> dict[TopicPartition, int]:
        found = dict(self.core.positions)
        for message in reversed(self._buffer):
            place = (message.topic, message.partition)
            if place in found:
                found[place] = message.offset
        return found

    def close(self, cause: str = "") -> None:
        if not self._host.closing:
            self._host.call(lambda _now: self.core.close(cause, tell=False))


class GroupMember(Polled):
    """One member. After `expires_s` without a request it leaves its group."""

    def __init__(self, host: ServedHost, name: str, core: Consumer, expires_s: float) -> None:
        super().__init__(host, core)
        self.name = name
        self.expires_s = expires_s
        self._requests = 0
        self._heard_s = time.monotonic()

    @property
    def expired(self) -> bool:
        return self._requests == 0 and time.monotonic() - self._heard_s > self.expires_s

    async def poll(self, wait: Wait, max_messages: int, timeout_ms: int) -> list[StoredMessage]:
        self._requests += 1
        try:
            return await super().poll(wait, max_messages, timeout_ms)
        finally:
            self._requests -= 1
            self._heard_s = time.monotonic()

    def commit(self, offsets: dict[TopicPartition, int] | None) -> None:
        """Commit `offsets`, or everything that was returned. Raises as `Consumer.commit_offsets`."""
        self._heard_s = time.monotonic()
        core = self.core
        self._host.call(lambda _now: core.commit_handed() if offsets is None else core.commit_offsets(offsets))

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self._heard_s = time.monotonic()
        super().seek(topic, partition, offset)


class Members:
    """All members, by the name that each was given, which cannot be guessed."""

    def __init__(self, host: ServedHost, most: int) -> None:
        self._host = host
        self._most = most
        self._found: dict[tuple[str, str], GroupMember] = {}

    def join(
        self,
        group: str,
        topics: Sequence[str],
        prefix: str,
        config: ConsumerConfig,
        client: str,
        expires_s: float,
        allowed: Callable[[str], bool],
    ) -> GroupMember:
        """A new member; it takes part from its first poll on. Raises THROTTLED.

        With a `prefix` it reads all topics that begin so and that `allowed(name)` is true for. A regular expression is
        not taken from outside: one can be made that never comes to an end.
        """
        if len(self._found) >= self._most:
            raise BrokerError(ErrorCode.THROTTLED, f"{self._most} members poll over HTTP, which is the maximum")
        host = self._host
        core = host.call(lambda _now: Consumer(host.broker, host.loop, client, group, topics, config))
        if prefix:
            host.call(lambda _now: core.subscribe(pattern=f"{re.escape(prefix)}.*", allowed=allowed))
        member = GroupMember(host, secrets.token_hex(16), core, expires_s)
        self._found[group, member.name] = member
        return member

    def find(self, group: str, name: str) -> GroupMember:
        """Raises UNKNOWN_MEMBER_ID."""
        about = f"{name[:60]} in {group}; join first"
        return must(self._found.get((group, name)), ErrorCode.UNKNOWN_MEMBER_ID, about)

    def leave(self, group: str, name: str) -> None:
        """Raises UNKNOWN_MEMBER_ID."""
        self.find(group, name).close()
        del self._found[group, name]

    def expire(self) -> None:
        for (group, name), member in list(self._found.items()):
            if member.expired:
                member.close(f"{member.core.client_id} did not send anything for {member.expires_s:g} s")
                del self._found[group, name]

    def close(self) -> None:
        for member in self._found.values():
            member.close("the listener was closed")
        self._found.clear()


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

    async def consume(self, wait: Wait, max_messages: int, timeout_ms: int) -> list[StoredMessage]:
        """The next messages. Raises UNKNOWN_TOPIC_OR_PARTITION, and NON_EMPTY_GROUP for a group with members."""
        self._host.call(self._add_partitions)
        found = await self.poll(wait, max_messages, timeout_ms)
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
            commit, committer = self._host.broker.offsets.commit, Committer.of(self.name)
            self._host.call(lambda now_ns: commit(now_ns, self.name, committer, commits))

    def set_auto_commit(self, auto_commit: bool) -> None:
        """Called under the host's lock. What is committed gets the new mark, also while the group has members."""
        self.auto_commit = auto_commit
        offsets, mark = self._host.broker.offsets, MARK if auto_commit else MANUAL_MARK
        for (topic, number), at in offsets.state(self.name).items():
            if topic == self.topic:
                offsets.store.commit(self.name, topic, number, OffsetAndMetadata(at.offset, mark, at.leader_epoch))

    @property
    def offsets(self) -> dict[int, int]:
        """The next offset of each partition."""
        return {number: offset for (_topic, number), offset in sorted(self.positions.items())}


class Consumers:
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
            if known.auto_commit != auto_commit:
                self._host.call(lambda _now: known.set_auto_commit(auto_commit))
            return known
        if known is None and len(self._found) >= self._most:
            raise BrokerError(ErrorCode.THROTTLED, f"{self._most} consumers are registered, which is the maximum")
        if known is not None:
            self.forget(name)
        elif reset:
            self._delete(name)
        made = self._host.call(lambda _now: Registered(self._host, name, topic, auto_commit))
        made.commit_offsets(made.offsets)  # by which it is known again after a restart
        self._found[name] = made
        return made

    def forget(self, name: str) -> None:
        """Remove a consumer and its offsets. Raises UNKNOWN_CONSUMER, NON_EMPTY_GROUP."""
        found = self.find(name)
        self._delete(name)
        found.close()
        del self._found[name]

    def _delete(self, name: str) -> None:
        def delete(now_ns: int) -> None:
            if name in self._host.broker.groups.groups():
                self._host.broker.handle(now_ns, DeleteGroup(group=name))

        self._host.call(delete)

    def close(self) -> None:
        for each in self._found.values():
            each.close()
