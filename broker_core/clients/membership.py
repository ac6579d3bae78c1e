"""The membership of a consumer in a group: join, lead, sync, heartbeat, leave, as in Kafka's classic protocol."""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Literal

import msgspec

from broker_core.broker.broker import Broker
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ConfigError, ErrorCode, Suppress
from broker_core.groups.assignors import AssignorName, lead
from broker_core.groups.joining import JoinRequest
from broker_core.groups.members import CONSUMER, JOINING, LEAVING, LEAVING_FOR_A_WHILE, ConsumerHeartbeat, JoinResult
from broker_core.groups.protocol import MemberSubscription, decode_assignment, encode_subscription
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.replies import Reply
from broker_core.settings import Positive, Settings, TimeMsNumber, TimeMsOrZero, WaitMs
from broker_core.timers import Timer

_FEW = 8  # up to here a plain loop is faster


def partition_runs(messages: Sequence[StoredMessage]) -> Iterator[tuple[TopicPartition, int, int]]:
    """(partition, begin, end) of each partition's messages in the list, where a fetch puts them side by side."""
    first = 0
    while first < len(messages):
        topic, partition = messages[first].topic, messages[first].partition

        def elsewhere(message: StoredMessage, topic: str = topic, partition: int = partition) -> bool:
            return message.partition != partition or message.topic != topic

        end = bisect_left(messages, True, lo=first + 1, key=elsewhere)
        yield (topic, partition), first, end
        first = end


def next_offsets(messages: Sequence[StoredMessage]) -> dict[TopicPartition, int]:
    if len(messages) < _FEW:
        return {(message.topic, message.partition): message.offset + 1 for message in messages}
    return {place: messages[end - 1].offset + 1 for place, _, end in partition_runs(messages)}


def within(messages: Sequence[StoredMessage], places: Container[TopicPartition]) -> list[StoredMessage]:
    if len(messages) < _FEW:
        return [message for message in messages if (message.topic, message.partition) in places]
    found: list[StoredMessage] = []
    for place, first, end in partition_runs(messages):
        if place in places:
            found += messages[first:end]
    return found


class Membership(msgspec.Struct, eq=False):
    """A member of `group`. `moved_on(error)` is called when a heartbeat is answered with an error."""

    _broker: Broker
    _loop: Loop
    _client_id: str
    _group: str
    _config: ConsumerConfig
    _moved_on: Callable[[BrokerError], object]
    _heartbeat: Timer | None = None
    _joining: Reply[JoinResult] | None = None
    member_id: str = ""
    generation: int = -1
    muted: bool = False  # while True, its heartbeats are lost (a simulated fault)
    _interval_ms: float = 0  # the broker's; 0 means the configuration's

    async def join(self, topics: tuple[str, ...], owned: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
        """Join one generation. Returns its assignment. Raises the errors of join and sync."""
        config, broker, loop = self._config, self._broker, self._loop
        subscription = MemberSubscription(topics, owned=owned, generation=self.generation)
        self._joining = broker.groups.join(
            loop.now_ns,
            self._group,
            JoinRequest(
                client_id=self._client_id,
                member_id=self.member_id,
                instance_id=config.instance_id,
                session_timeout_ms=config.session_timeout_ms,
                rebalance_timeout_ms=config.rebalance_timeout_ms,
                max_poll_interval_ms=config.max_poll_interval_ms,
                protocol_type=CONSUMER,
                protocols={config.assignor: encode_subscription(subscription)},
            ),
        )
        joined = await self._joining
        self._joining = None
        self.member_id, self.generation = joined.member_id, joined.generation
        assignments: dict[str, bytes] = {}
        if joined.leader == joined.member_id:
            assignments = lead(joined.protocol, joined.members, self._partition_count)
        synced = await broker.groups.sync(loop.now_ns, self._group, self.member_id, self.generation, assignments)
        return decode_assignment(synced.assignment).partitions

    def _partition_count(self, topic: str) -> int:
        with Suppress(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
            return self._broker.logs.partition_count(topic)
        return 0

    def polled(self) -> None:
        """The application polled: restart `max_poll_interval_ms`."""
        if self._config.max_poll_interval_ms and self.member_id:
            self._broker.groups.polled(self._loop.now_ns, self._group, self.member_id)

    def forget(self, *, keep_id: bool = False) -> None:
        """Drop the member id, so that the next join is a new member's. With `keep_id` it stays."""
        if not keep_id:
            self.member_id = ""

    def leave(self, cause: str) -> None:
        """Leave the group. If a join is pending, leave as soon as it is answered."""
        self.stop_heartbeat()
        if self.member_id:
            self._leave(self.member_id, cause)
            self.forget()
        elif self._joining is not None:
            # The member id comes with the reply to the join.
            self._joining.then(lambda joined: self._leave_late(joined, cause))

    def _leave_late(self, joined: Reply[JoinResult], cause: str) -> None:
        if joined.error is None:
            self._leave(joined.result().member_id, cause)

    def _leave(self, member_id: str, cause: str) -> None:
        # The group may have removed it already.
        with Suppress(ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self._broker.groups.leave(self._loop.now_ns, self._group, member_id, cause)

    # -- heartbeats; a pending join or sync needs none

    def start_heartbeat(self) -> None:
        due_ns = self._loop.now_ns + ns_from_ms(self._interval_ms or self._config.heartbeat_interval_ms)
        self._heartbeat = self._loop.timers.at(due_ns, self._beat)

    def stop_heartbeat(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None

    def _beat(self, now_ns: int) -> None:
        self.start_heartbeat()
        if not self.muted:
            try:
                self._broker.groups.heartbeat(now_ns, self._group, self.member_id, self.generation)
            except BrokerError as error:
                self._moved_on(error)


class ReconcilingMembership(Membership, eq=False):
    """A member to which the broker assigns. `generation` is its member epoch; the broker sets the heartbeat interval.

    A static member has its instance id as member id, so that it comes back as itself.
    """

    async def join(self, topics: tuple[str, ...], owned: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
        """Join, or say what it reads now. Returns its assignment, without what it is to give up."""
        joins = not self.member_id or self.generation <= JOINING
        if not self.member_id:
            self.member_id = self._config.instance_id or f"{self._client_id}-{self._loop.now_ns}"
        result = self._broker.groups.consumer_heartbeat(
            self._loop.now_ns,
            self._group,
            ConsumerHeartbeat(
                client_id=self._client_id,
                member_id=self.member_id,
                member_epoch=JOINING if joins else self.generation,
                instance_id=self._config.instance_id,
                rebalance_timeout_ms=round(self._config.rebalance_timeout_ms),
                topics=topics,
                owned=() if joins else owned,
            ),
        )
        self.generation, self._interval_ms = result.member_epoch, result.heartbeat_interval_ms
        assert result.assignment is not None  # it has named its topics
        return result.assignment

    def polled(self) -> None:
        """The broker knows no limit between two polls in this protocol."""

    def forget(self, *, keep_id: bool = False) -> None:
        """Join anew with the next heartbeat, under the same id with `keep_id`."""
        super().forget(keep_id=keep_id)
        self.generation = JOINING

    def _beat(self, now_ns: int) -> None:
        self.start_heartbeat()
        if self.muted:
            return
        try:
            result = self._broker.groups.consumer_heartbeat(
                now_ns,
                self._group,
                ConsumerHeartbeat(client_id=self._client_id, member_id=self.member_id, member_epoch=self.generation),
            )
        except BrokerError as error:
            self._moved_on(error)
            return
        self.generation = result.member_epoch
        if result.assignment is not None:
            self._moved_on(BrokerError(ErrorCode.REBALANCE_IN_PROGRESS, f"{self._client_id} has a new assignment"))

    def _leave(self, member_id: str, cause: str) -> None:
        epoch = LEAVING_FOR_A_WHILE if self._config.instance_id else LEAVING
        said = ConsumerHeartbeat(
            client_id=self._client_id, member_id=member_id, member_epoch=epoch, instance_id=self._config.instance_id
        )
        # The group may have removed it already.
        with contextlib.suppress(BrokerError):
            self._broker.groups.consumer_heartbeat(self._loop.now_ns, self._group, said)


# Errors of a member that has to rejoin.
MOVED_ON = frozenset(
    {
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.FENCED_MEMBER_EPOCH,
        ErrorCode.STALE_MEMBER_EPOCH,
    }
)


GroupProtocol = Literal["classic", "consumer"]
IsolationLevel = Literal["read_uncommitted", "read_committed"]


class ConsumerConfig(Settings, frozen=True, kw_only=True):
    """Settings with the names and defaults of Kafka's consumer. Times are in milliseconds.

    `guarantee`: at_least_once commits after processing, at_most_once before delivery. A poll commits the messages of
    earlier polls every `auto_commit_interval_ms`; None disables that. `commit_on_revoke` also commits the partitions
    that are revoked. A `max_poll_interval_ms` of 0 is no limit. With the `group_protocol` consumer (KIP-848) the broker
    assigns, and sets session timeout and heartbeat interval; `assignor` and `max_poll_interval_ms` are not used then.
    With the `isolation_level` read_committed it reads up to the last stable offset, where the first open transaction
    begins, and passes over aborted messages.
    """

    assignor: AssignorName = "range"
    session_timeout_ms: WaitMs = 10_000
    heartbeat_interval_ms: WaitMs = 3_000
    rebalance_timeout_ms: WaitMs = 60_000
    max_poll_interval_ms: TimeMsOrZero = 0
    max_poll_messages: Positive = 500
    auto_offset_reset: Literal["earliest", "latest", "none"] = "earliest"
    instance_id: str = ""
    group_protocol: GroupProtocol = "classic"
    isolation_level: IsolationLevel = "read_uncommitted"
    guarantee: Literal["at_least_once", "at_most_once"] = "at_least_once"
    auto_commit_interval_ms: TimeMsNumber | None = None
    commit_on_revoke: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            interval, session = self.heartbeat_interval_ms, self.session_timeout_ms
            raise ConfigError(f"heartbeat_interval_ms {interval} must be less than session_timeout_ms, {session}")
