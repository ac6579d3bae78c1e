"""A place in a consumer group: join, lead, sync, heartbeat, leave, after Kafka's classic protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from broker_core.broker.broker import Broker
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.groups.assignors import AssignorName, lead
from broker_core.groups.members import CONSUMER, JoinResult
from broker_core.groups.protocol import (
    Subscription,
    TopicPartition,
    decode_assignment,
    encode_subscription,
)
from broker_core.replies import Reply
from broker_core.settings import Positive, Settings, TimeMsNumber, TimeMsOrZero, WaitMs
from broker_core.timers import Timer

COOPERATIVE = "cooperative-sticky"
# What a member hears that is no longer in step with its group.
MOVED_ON = frozenset(
    {
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
    }
)


class ConsumerConfig(Settings, frozen=True, kw_only=True):
    """Names and defaults are those of Kafka's consumer; times in milliseconds.

    `guarantee`: at_least_once commits what was processed, at_most_once commits what it is about to hand out.
    `auto_commit_interval_ms` is how often a poll commits by itself what earlier polls gave; None is never. With
    `commit_on_revoke` it does so for what it gives up, too. A `max_poll_interval_ms` of 0 is no limit.
    """

    assignor: AssignorName = "range"
    session_timeout_ms: WaitMs = 10_000
    heartbeat_interval_ms: WaitMs = 3_000
    rebalance_timeout_ms: WaitMs = 60_000
    max_poll_interval_ms: TimeMsOrZero = 0
    max_poll_messages: Positive = 500
    auto_offset_reset: Literal["earliest", "latest", "none"] = "earliest"
    instance_id: str = ""
    guarantee: Literal["at_least_once", "at_most_once"] = "at_least_once"
    auto_commit_interval_ms: TimeMsNumber | None = None
    commit_on_revoke: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            interval, session = self.heartbeat_interval_ms, self.session_timeout_ms
            raise ConfigError(f"heartbeat_interval_ms {interval} must be less than session_timeout_ms, {session}")


class Membership:
    """One member of `group`. `moved_on(error)` is called when a heartbeat hears that the group went on without it."""

    def __init__(
        self,
        broker: Broker,
        loop: Loop,
        client_id: str,
        group: str,
        config: ConsumerConfig,
        moved_on: Callable[[BrokerError], object],
    ) -> None:
        self._broker = broker
        self._loop = loop
        self._client_id = client_id
        self._group = group
        self._config = config
        self._moved_on = moved_on
        self._heartbeat: Timer | None = None
        self._joining: Reply[JoinResult] | None = None
        self.member_id = ""
        self.generation = -1
        self.muted = False  # while True, its heartbeats get lost on their way

    async def join(self, topics: tuple[str, ...], owned: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
        """Take part in one generation; what it is assigned there. Raises what join and sync fail with."""
        config, broker, loop = self._config, self._broker, self._loop
        subscription = Subscription(topics, owned=owned, generation=self.generation)
        self._joining = broker.join(
            loop.now_ns,
            self._group,
            client_id=self._client_id,
            member_id=self.member_id,
            instance_id=config.instance_id,
            session_timeout_ms=config.session_timeout_ms,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
            max_poll_interval_ms=config.max_poll_interval_ms,
            protocol_type=CONSUMER,
            protocols=[(config.assignor, encode_subscription(subscription))],
        )
        joined = await self._joining
        self._joining = None
        self.member_id, self.generation = joined.member_id, joined.generation
        assignments: dict[str, bytes] = {}
        if joined.leader == joined.member_id:
            assignments = lead(joined.protocol, joined.members, self._partition_count)
        synced = await broker.sync(loop.now_ns, self._group, self.member_id, self.generation, assignments)
        return decode_assignment(synced.assignment).partitions

    def _partition_count(self, topic: str) -> int:
        """A topic that is not there yet has nothing to give."""
        try:
            return self._broker.partition_count(topic)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            return 0

    def polled(self) -> None:
        """The application asks for messages: it is not stuck."""
        if self._config.max_poll_interval_ms and self.member_id:
            self._broker.groups.polled(self._loop.now_ns, self._group, self.member_id)

    def forget(self, *, keep_id: bool = False) -> None:
        """The group went on without it: the next join is a newcomer's, or, with `keep_id`, that of one left behind."""
        if not keep_id:
            self.member_id = ""

    def leave(self, cause: str) -> None:
        """Leave the group, for good; a join that is under way is left as soon as it is answered."""
        self.stop_heartbeat()
        if self.member_id:
            self._leave(self.member_id, cause)
            self.forget()
        elif self._joining is not None:
            # Its member id comes with the reply that it waits for.
            self._joining.then(lambda joined: self._leave_late(joined, cause))

    def _leave_late(self, joined: Reply[JoinResult], cause: str) -> None:
        if joined.error is None:
            self._leave(joined.result().member_id, cause)

    def _leave(self, member_id: str, cause: str) -> None:
        try:
            self._broker.leave(self._loop.now_ns, self._group, member_id, cause)
        except BrokerError as error:
            # The group has dropped it already: gone is gone.
            if error.code not in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}:
                raise

    # -- heartbeats: none while joining, for the broker knows who waits for it

    def start_heartbeat(self) -> None:
        """Give a sign of life every interval."""
        due_ns = self._loop.now_ns + ns_from_ms(self._config.heartbeat_interval_ms)
        self._heartbeat = self._loop.timers.at(due_ns, self._beat)

    def stop_heartbeat(self) -> None:
        """Give no more signs of life."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None

    def _beat(self, now_ns: int) -> None:
        self.start_heartbeat()
        if not self.muted:
            place = (self.member_id, self.generation)
            self._broker.beat(now_ns, self._group, *place).then(lambda answer: self._heard(place, answer))

    def _heard(self, place: tuple[str, int], answer: Reply[None]) -> None:
        """Where the broker is far away, the answer may speak of a place that it has left since."""
        if isinstance(answer.error, BrokerError) and place == (self.member_id, self.generation):
            self._moved_on(answer.error)
