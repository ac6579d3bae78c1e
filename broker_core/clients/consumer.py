"""A member of a consumer group: subscribes, takes part in rebalances, polls, commits.

The protocol is the one of Kafka's classic groups: join, the leader assigns, sync, heartbeat, leave. Heartbeats go on by a timer
while the application works; a rebalance that they report is joined at the next poll, as Kafka's consumer does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from broker_core.broker import Broker
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.assignors import assign
from broker_core.groups.members import CONSUMER, JoinResult
from broker_core.groups.protocol import (
    Subscription,
    TopicPartition,
    decode_assignment,
    decode_members,
    encode_assignment,
    encode_subscription,
)
from broker_core.messages import StoredMessage
from broker_core.replies import Reply
from broker_core.timers import Timer

COOPERATIVE = "cooperative-sticky"


class ConsumerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Names and defaults are those of Kafka's consumer; times in milliseconds."""

    assignor: str = "range"
    session_timeout_ms: int = 10_000
    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 60_000
    max_poll_messages: int = 500
    auto_offset_reset: Literal["earliest", "latest"] = "earliest"
    instance_id: str = ""


def _ignore(_partitions: Sequence[TopicPartition]) -> None:
    """The listener of who does not listen."""


class Consumer:
    """One member. Not for use by several tasks at once."""

    def __init__(
        self,
        broker: Broker,
        loop: Loop,
        client_id: str,
        group: str,
        topics: Sequence[str],
        config: ConsumerConfig,
        *,
        on_assigned: Callable[[Sequence[TopicPartition]], object] = _ignore,
        on_revoked: Callable[[Sequence[TopicPartition]], object] = _ignore,
        on_lost: Callable[[Sequence[TopicPartition]], object] = _ignore,
    ) -> None:
        self._broker = broker
        self._loop = loop
        self.client_id = client_id
        self.group = group
        self.topics = tuple(topics)
        self._config = config
        self._on_assigned, self._on_revoked, self._on_lost = on_assigned, on_revoked, on_lost
        self.positions: dict[TopicPartition, int] = {}
        self._processed: dict[TopicPartition, int] = {}
        self._member_id = ""
        self._generation = -1
        self._must_join = True
        self._heartbeat: Timer | None = None
        self._fetch: Reply[list[StoredMessage]] | None = None
        self._joining: Reply[JoinResult] | None = None
        self.closed = False
        self.muted = False  # while True, its heartbeats get lost on their way

    @property
    def assignment(self) -> tuple[TopicPartition, ...]:
        """What it owns now."""
        return tuple(self.positions)

    @property
    def joined(self) -> bool:
        """True while it is a member in good standing."""
        return not self._must_join and not self.closed

    async def poll(self, timeout_ms: int = 500, max_messages: int | None = None) -> list[StoredMessage]:
        """The next messages of what it owns; [] where nothing came in time, or the group began to rebalance.

        Everything that an earlier poll returned counts as processed.
        """
        self._check_open()
        self._processed.update(self.positions)
        if self._must_join:
            await self._join()
        deadline_ns = self._loop.now_ns + ns_from_ms(timeout_ms)
        self._fetch = self._broker.fetch(
            self._loop.now_ns,
            self.group,
            self.client_id,
            self.positions,
            max_messages=max_messages or self._config.max_poll_messages,
            deadline_ns=deadline_ns,
        )
        try:
            messages = await self._fetch
        finally:
            self._broker.cancel_fetch(self._fetch)
            self._fetch = None
        for message in messages:
            self.positions[message.topic, message.partition] = message.offset + 1
        return messages

    def done(self, message: StoredMessage) -> None:
        """Count `message`, and what lies before it in its partition, as processed; what is not owned any more is passed over."""
        if (message.topic, message.partition) in self.positions:
            self._processed[message.topic, message.partition] = message.offset + 1

    def commit(self) -> None:
        """Commit what was processed. Raises `BrokerError` where the group has moved on; the next poll joins it again."""
        try:
            self._commit(self._processed)
        except BrokerError as error:
            self._moved_on(error)
            raise

    def _commit(self, offsets: dict[TopicPartition, int]) -> None:
        if offsets:
            self._broker.commit(
                self._loop.now_ns, self.group, self.client_id, self._member_id, self._generation, offsets
            )

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """The next poll reads `partition` from `offset` on."""
        if (topic, partition) not in self.positions:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{self.client_id} does not own {topic}/{partition}")
        self.positions[topic, partition] = offset

    def close(self, cause: str = "") -> None:
        """Commit what was processed, leave the group, and stop the heartbeats."""
        if self.closed:
            return
        self.closed = True
        self._stop_heartbeat()
        self._give_up(self.assignment)
        cause = cause or f"{self.client_id} left"
        if self._member_id:
            self._leave(self._member_id, cause)
        elif self._joining is not None:
            # Its member id comes with the reply that it waits for.
            self._joining.then(lambda joined: self._leave_late(joined, cause))

    def abandon(self) -> None:
        """Stop as a killed process does: nothing is committed, nobody is told; the group waits for its heartbeats."""
        self.closed = True
        self._stop_heartbeat()

    def _leave_late(self, joined: Reply[JoinResult], cause: str) -> None:
        if joined.error is None:
            self._leave(joined.result().member_id, cause)

    def _leave(self, member_id: str, cause: str) -> None:
        try:
            self._broker.leave(self._loop.now_ns, self.group, member_id, cause)
        except BrokerError as error:
            # The group has dropped it already: gone is gone.
            if error.code is not ErrorCode.UNKNOWN_MEMBER_ID:
                raise

    # -- taking part in rebalances

    async def _join(self) -> None:
        """Join and sync until the group agrees. An eager member first gives up all it owns, a cooperative one keeps it."""
        self._stop_heartbeat()
        owned = self.assignment
        if self._config.assignor != COOPERATIVE:
            self._give_up(owned)
        while self._must_join:
            self._check_open()
            try:
                await self._join_once(owned)
                owned = self.assignment
            except BrokerError as error:
                if error.code in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}:
                    self._lose()
                    owned = ()
                elif not error.retriable and error.code is not ErrorCode.ILLEGAL_GENERATION:
                    raise
        self._arm_heartbeat()

    def _give_up(self, partitions: Sequence[TopicPartition]) -> None:
        """Commit what was processed of `partitions`, and own them no longer."""
        if not partitions:
            return
        try:
            self._commit({place: self._processed[place] for place in partitions if place in self._processed})
        except BrokerError:
            self._on_lost(partitions)
        else:
            self._on_revoked(partitions)
        for place in partitions:
            self.positions.pop(place, None)
            self._processed.pop(place, None)

    async def _join_once(self, owned: tuple[TopicPartition, ...]) -> None:
        config, broker, loop = self._config, self._broker, self._loop
        subscription = Subscription(self.topics, owned=owned, generation=self._generation)
        self._joining = broker.join(
            loop.now_ns,
            self.group,
            client_id=self.client_id,
            member_id=self._member_id,
            instance_id=config.instance_id,
            session_timeout_ms=config.session_timeout_ms,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
            protocol_type=CONSUMER,
            protocols=[(config.assignor, encode_subscription(subscription))],
        )
        joined = await self._joining
        self._joining = None
        self._member_id, self._generation = joined.member_id, joined.generation
        assignments: dict[str, bytes] = {}
        if joined.leader == joined.member_id:
            assignments = self._assign(joined)
        synced = await broker.sync(loop.now_ns, self.group, self._member_id, self._generation, assignments)
        self._take_over(decode_assignment(synced.assignment).partitions)

    def _assign(self, joined: JoinResult) -> dict[str, bytes]:
        """What the leader gives to each member."""
        subscriptions = decode_members(joined.members)
        topics = {topic for subscription in subscriptions.values() for topic in subscription.topics}
        partitions = {topic: self._broker.partition_count(topic) for topic in sorted(topics)}
        plan = assign(joined.protocol, subscriptions, partitions)
        return {member_id: encode_assignment(plan.get(member_id, [])) for member_id in subscriptions}

    def _take_over(self, assigned: Sequence[TopicPartition]) -> None:
        """Own what was assigned. What a cooperative member must give up for another it gives up now, and joins again."""
        lost = tuple(place for place in self.positions if place not in assigned)
        self._give_up(lost)
        self._must_join = bool(lost)
        added = tuple(place for place in assigned if place not in self.positions)
        for topic, partition in added:
            reset = self._config.auto_offset_reset
            self.positions[topic, partition] = self._broker.starting_offset(self.group, topic, partition, reset)
        self._on_assigned(added)

    # -- heartbeats: none while joining, for the broker knows who waits for it

    def _arm_heartbeat(self) -> None:
        due_ns = self._loop.now_ns + ns_from_ms(self._config.heartbeat_interval_ms)
        self._heartbeat = self._loop.timers.at(due_ns, self._beat)

    def _stop_heartbeat(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None

    def _beat(self, now_ns: int) -> None:
        if self.muted:
            self._arm_heartbeat()
            return
        try:
            self._broker.heartbeat(now_ns, self.group, self._member_id, self._generation)
        except BrokerError as error:
            self._moved_on(error)
            if self._fetch is not None:
                self._fetch.resolve([])
        self._arm_heartbeat()

    def _moved_on(self, error: BrokerError) -> None:
        """The group said `error`: join at the next poll, with what it owns only where that is still its own."""
        if error.code is not ErrorCode.REBALANCE_IN_PROGRESS:
            self._lose()
        self._must_join = True

    def _lose(self) -> None:
        """The group went on without it: what it owned belongs to others now, so nothing may be committed."""
        owned = self.assignment
        self.positions, self._processed = {}, {}
        self._member_id = ""
        if owned:
            self._on_lost(owned)

    def _check_open(self) -> None:
        if self.closed:
            raise BrokerError(ErrorCode.CLOSED, f"consumer {self.client_id}")
