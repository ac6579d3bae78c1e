"""The consumer coroutine: subscribes, takes part in rebalances, polls, commits. Time is the loop's.

Heartbeats are sent by a timer while the application works. A rebalance that they report is joined at the next poll, as
in Kafka's consumer. `GroupConsumer` wraps it for threads.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from broker_core.broker.broker import Broker
from broker_core.broker.group_offsets import Committer
from broker_core.broker.logs import Logs
from broker_core.clients import membership
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode, Suppress
from broker_core.events import reader_by_hand
from broker_core.groups.assignors import COOPERATIVE
from broker_core.log.reserved_headers import expires_ns
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.replies import Reply
from broker_core.schemas.pattern import InvalidPatternError, Pattern

Reset = Literal["earliest", "latest", "none"]


class CommittedMessages:
    """Drops aborted messages, and says how far a commit may pass over them."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        # Of each partition, the end of the last committed message, and of what was fetched.
        self._ends: dict[TopicPartition, tuple[int, int]] = {}

    def only(self, messages: Sequence[StoredMessage]) -> list[StoredMessage]:
        found: list[StoredMessage] = []
        for place, first, end in membership.partition_runs(messages):
            start, stop = messages[first].offset, messages[end - 1].offset + 1
            aborted = self._logs.partition(*place).segments.aborted_ranges(start, stop)
            live = [each for each in messages[first:end] if not any(each.offset in span for span in aborted)]
            known_end, known_stop = self._ends.get(place, (start, start))
            before = known_end if known_stop <= start else start
            self._ends[place] = (live[-1].offset + 1 if live else before, stop)
            found += live
        return found

    def offset_to_commit(self, place: TopicPartition, offset: int) -> int:
        """The offset to commit for `offset`: if only aborted messages follow, the end of the fetched range."""
        live_end, stop = self._ends.get(place, (offset, offset))
        return max(offset, stop) if live_end <= offset else offset


def reset_strays(broker: Broker, positions: dict[TopicPartition, int], reset: Reset) -> bool:
    """Reset positions beyond the end of a truncated log, in place. False if there was nothing to reset."""
    strays = [place for place, at in positions.items() if at > broker.logs.end_offset(*place)]
    if reset == "none" or not strays:
        return False
    for place in strays:
        bound = broker.logs.start_offset if reset == "earliest" else broker.logs.end_offset
        positions[place] = bound(*place)
    return True


def check_offsets(offsets: Mapping[Any, Any]) -> None:
    """Raises INVALID_REQUEST unless `offsets` maps (topic, partition) to whole numbers."""
    for place, offset in offsets.items():
        if not isinstance(place, tuple) or len(place) != 2:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{place!r} is not (topic, partition)")
        if not isinstance(offset, int):
            about = f"the offset {offset!r} of {place[0]}/{place[1]} is not a whole number"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about)


# Called with partitions; if it returns something that can be awaited, the consumer waits for that.
Listener = Callable[[Sequence[TopicPartition]], object]


# The member is known, and what it says is old.
_KEEPS_ID = frozenset({ErrorCode.ILLEGAL_GENERATION, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.STALE_MEMBER_EPOCH})


def ignore(_partitions: Sequence[TopicPartition]) -> None:
    """The default listener."""


class Consumer:
    """A member of a consumer group. One task at a time may use it."""

    def __init__(
        self,
        broker: Broker,
        loop: Loop,
        client_id: str,
        group: str,
        topics: Sequence[str],
        config: membership.ConsumerConfig,
        *,
        on_assigned: Listener = ignore,
        on_revoked: Listener = ignore,
        on_lost: Listener = ignore,
    ) -> None:
        self._broker = broker
        self._loop = loop
        self.client_id = client_id
        self.group = group
        self.topics = tuple(topics)
        self._config = config
        self._on_assigned, self._on_revoked, self._on_lost = on_assigned, on_revoked, on_lost
        member_type = membership.ReconcilingMembership if config.group_protocol == "consumer" else membership.Membership
        self.member = member_type(broker, loop, client_id, group, config, self._heard)
        self._pattern: Pattern | None = None
        self._allowed: Callable[[str], bool] = bool
        self._manual = False
        self.positions: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self._fetches_anew = False  # what a poll waited for was paused
        self._committed = CommittedMessages(broker.logs) if config.isolation_level == "read_committed" else None
        self.passed_over = False  # aborted messages, which the next commit includes
        self._handed: dict[TopicPartition, int] = {}
        self._processed: dict[TopicPartition, int] = {}
        self.lost: tuple[TopicPartition, ...] = ()  # the listener is told with the next poll
        self.cut_off: BrokerError | None = None  # why delivered messages can no longer be committed
        self._must_join = True
        self._replaced: BrokerError | None = None
        self._committed_ns = loop.now_ns
        self._fetch: Reply[list[StoredMessage]] | None = None
        self.closed = False

    # -- subscriptions

    @property
    def assignment(self) -> tuple[TopicPartition, ...]:
        return tuple(self.positions)

    @property
    def reads(self) -> bool:
        """Whether it has subscribed to anything, or has partitions of its own."""
        return bool(self.topics) or self._manual or self._pattern is not None

    @property
    def joined(self) -> bool:
        return not self._must_join and not self.closed

    def subscribe(self, topics: Sequence[str] = (), pattern: str = "", allowed: Callable[[str], bool] = bool) -> None:
        """Subscribe to `topics`, or to all present and future topics whose full name matches `pattern` and that
        `allowed(name)` is true for.

        Takes effect at the next poll. The syntax is RE2's. Raises INVALID_REQUEST for an invalid pattern, such as one
        with look-around or back references.
        """
        try:
            self._pattern = Pattern(pattern) if pattern else None
            self._allowed = allowed
        except InvalidPatternError as error:
            about = f"{pattern!r}: {error}; RE2 supports neither look-around nor backreferences"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about) from error
        if self._manual:
            self._manual = False
            self.positions, self._handed, self._processed = {}, {}, {}
        self._want(self._matching() if self._pattern is not None else tuple(dict.fromkeys(topics)))

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Read just these partitions, as no member; commits need an empty group. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        starts = {place: self._start_offset(place) for place in partitions}
        self.member.leave(f"{self.client_id} reads on its own")
        self._manual, self._must_join, self._pattern, self.topics = True, False, None, ()
        self.positions, self._handed, self._processed, self.cut_off = starts, {}, {}, None
        self.paused &= set(starts)

    async def unsubscribe(self) -> None:
        """Revoke all partitions and leave the group, until the next `subscribe`."""
        self.member.stop_heartbeat()
        await self._revoke(self.assignment)
        self.member.leave(f"{self.client_id} unsubscribed")
        self._pattern, self.topics, self._must_join = None, (), True

    def _want(self, topics: tuple[str, ...]) -> None:
        if topics != self.topics:
            self.topics = topics
            self._must_join = True

    def _matching(self) -> tuple[str, ...]:
        pattern = self._pattern
        names = (name for name in self._broker.topics.names() if pattern and pattern.matches(name))
        return tuple(sorted(filter(self._allowed, names)))

    # -- reading

    async def poll(
        self, timeout_ms: float = 500, max_messages: int | None = None, *, hand_out: bool = True
    ) -> list[StoredMessage]:
        """The next messages of its partitions; [] after `timeout_ms`, or where the group began to rebalance.

        Messages of earlier polls count as processed. Without `hand_out` the caller reports by `hand` which messages
        the application gets. A partition that cannot be read does not block the others; its error is raised when they
        have no messages. FENCED_INSTANCE_ID is final: a newer member has its instance id.
        """
        self._check_open()
        self._processed.update(self._handed)
        self._auto_commit()
        if self._pattern is not None:
            self._want(self._matching())
        await self._tell_lost()
        self._check_not_replaced()
        if self._must_join and self.topics:
            await self._join()
        elif not self.reads:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{self.client_id} reads nothing; subscribe or assign first")
        self._polled()
        deadline_ns = self._loop.now_ns + ns_from_ms(timeout_ms)
        messages = await self._fetch_next(deadline_ns, max_messages or self._config.max_poll_messages)
        while self._fetches_anew and not messages:
            self._fetches_anew = False
            messages = await self._fetch_next(deadline_ns, max_messages or self._config.max_poll_messages)
        before = dict(self.positions)
        self.positions.update(membership.next_offsets(messages))
        if messages and self._config.guarantee == "at_most_once" and not self._commit_ahead(messages, before):
            return []
        live = messages
        if [True for message in messages if message.headers]:
            live = [message for message in messages if not self._expired(message)]
        if self._committed is not None:
            live = self._without_aborted(self._committed, messages, live, before if hand_out else {})
        return self.hand(live) if hand_out else live

    def _without_aborted(
        self,
        committed: CommittedMessages,
        fetched: Sequence[StoredMessage],
        live: list[StoredMessage],
        before: dict[TopicPartition, int],
    ) -> list[StoredMessage]:
        kept = committed.only(fetched)
        if len(kept) == len(fetched):
            return live
        self.passed_over = True
        # What came before was handed out: where every message was aborted, there may be no other offset to commit.
        for place in membership.next_offsets(fetched):
            if place in before:
                self._processed.setdefault(place, before[place])
        offsets = {(message.topic, message.partition, message.offset) for message in kept}
        return [each for each in live if (each.topic, each.partition, each.offset) in offsets]

    def _expired(self, message: StoredMessage) -> bool:
        expiry_ns = expires_ns(message)
        return expiry_ns is not None and expiry_ns <= self._loop.now_ns

    async def _fetch_next(self, deadline_ns: int, max_messages: int) -> list[StoredMessage]:
        wanted = {place: offset for place, offset in self.positions.items() if place not in self.paused}
        try:
            self._fetch = self._broker.fetches.fetch(
                self._loop.now_ns,
                self.group,
                self.client_id,
                wanted,
                max_messages=max_messages,
                deadline_ns=deadline_ns,
                stable=self._committed is not None,
                member=reader_by_hand(self.client_id) if self._manual else self.member.member_id,
            )
            messages = await self._fetch
        except BrokerError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not self._manual:
                self._must_join = True  # a topic was deleted: the group reassigns the rest
            elif error.code is not ErrorCode.OFFSET_OUT_OF_RANGE or not reset_strays(
                self._broker, self.positions, self._config.auto_offset_reset
            ):
                raise
            return []
        finally:
            if self._fetch is not None:
                self._broker.fetches.cancel(self._fetch)
                self._fetch = None
        # A seek or a loss may have come while it waited.
        return membership.within(messages, self.positions)

    def hand(self, messages: Sequence[StoredMessage]) -> list[StoredMessage]:
        """The application gets `messages` now; what it had counts as processed. Returns those still owned."""
        self._processed.update(self._handed)
        owned = membership.within(messages, self.positions)
        self._handed.update(membership.next_offsets(owned))
        return owned

    def take_back(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Undo the fetch from these offsets on: the next poll reads them again."""
        for place, offset in offsets.items():
            # A seek may have come since it was fetched.
            if self._handed.get(place, 0) <= offset < self.positions.get(place, 0):
                self.positions[place] = offset
                self._broker.delivery_record.begin(self.group, *place, offset)

    def done(self, message: StoredMessage) -> None:
        """Count `message` and those before it in its partition as processed, if the partition is still owned."""
        if (message.topic, message.partition) in self.positions:
            self._processed[message.topic, message.partition] = message.offset + 1

    def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Read none of these partitions until they are in `paused` no longer, not even by a poll that waits."""
        self.paused.update(partitions)
        if self._fetch is not None:
            self._fetches_anew = True
            self._broker.fetches.cancel(self._fetch)

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Read `partition` from `offset` on with the next poll. Raises INVALID_REQUEST for one that it does not own."""
        place = (topic, partition)
        check_offsets({place: offset})
        if place not in self.positions:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{self.client_id} does not own {topic}/{partition}")
        self.positions[place] = self._handed[place] = self._processed[place] = offset
        self._broker.delivery_record.begin(self.group, topic, partition, offset)
        if self._fetch is not None:
            self._broker.fetches.cancel(self._fetch)

    # -- committing

    def commit(self) -> None:
        """Commit what was processed. Raises the errors in `MOVED_ON`; the next poll rejoins."""
        self._commit_or_move_on(self._processed)

    def commit_handed(self) -> None:
        """Commit everything that was delivered to the application.

        Raises the error that removed it from the group, until it has rejoined: the messages go to other members.
        """
        if self.cut_off is not None:
            raise BrokerError(self.cut_off.code, self.cut_off.about)
        self._processed.update(self._handed)
        self.commit()

    def commit_offsets(self, offsets: dict[TopicPartition, int], *, backwards: bool = False) -> None:
        """Commit `offsets`, the next to read; lower ones than before only with `backwards`. Raises INVALID_REQUEST."""
        check_offsets(offsets)
        self._commit_or_move_on(offsets, backwards=backwards)

    def _commit_or_move_on(self, offsets: dict[TopicPartition, int], *, backwards: bool = False) -> None:
        self._check_not_replaced()
        try:
            self._commit(offsets, backwards=backwards)
        except BrokerError as error:
            if error.code in membership.MOVED_ON:
                self._moved_on(error)
            raise

    def _commit(self, offsets: dict[TopicPartition, int], *, backwards: bool = False) -> None:
        if self._committed is not None:
            offsets = {place: self._committed.offset_to_commit(place, offset) for place, offset in offsets.items()}
            self.passed_over = False
        if offsets:
            member = () if self._manual else (self.member.member_id, self.member.generation)
            committer = Committer.of(self.client_id, *member)
            self._broker.offsets.commit(self._loop.now_ns, self.group, committer, offsets, backwards=backwards)

    def _commit_ahead(self, messages: Sequence[StoredMessage], before: dict[TopicPartition, int]) -> bool:
        """At most once: commit before delivery. False, with positions reset to `before`, if the group has moved on."""
        try:
            self.commit_offsets(membership.next_offsets(messages))
        except BrokerError as error:
            if error.code not in membership.MOVED_ON:
                raise
            self.positions.update({place: at for place, at in before.items() if place in self.positions})
            return False
        return True

    def _auto_commit(self) -> None:
        interval_ms = self._config.auto_commit_interval_ms
        if interval_ms is None or self._must_join or self._loop.now_ns - self._committed_ns < ns_from_ms(interval_ms):
            return
        self._committed_ns = self._loop.now_ns
        with Suppress(*membership.MOVED_ON):
            self.commit()

    # -- closing

    def close(self, cause: str = "", *, tell: bool = True) -> None:
        """Commit what was processed, leave the group, stop the heartbeats. Without `tell`, no listener is called."""
        if self.closed:
            return
        self.closed = True
        self.member.stop_heartbeat()
        owned = self.assignment
        listener = self._commit_revoked(owned)
        if tell and owned:
            listener(owned)
        self._drop(owned)
        self.member.leave(cause or f"{self.client_id} left")
        if self._fetch is not None:
            self._fetch.resolve([])

    def abandon(self) -> None:
        """Stop like a killed process: without a commit, without leaving; the session times out."""
        self.closed = True
        self.member.stop_heartbeat()

    # -- rebalances

    async def _join(self) -> None:
        self.member.stop_heartbeat()
        owned = self.assignment
        if self._config.group_protocol == "classic" and self._config.assignor not in COOPERATIVE:
            await self._revoke(owned)
        while self._must_join:
            self._check_open()
            self._check_not_replaced()
            if (released := self._broker.held.until_released(self.client_id, self.group)) is not None:
                await released
                continue
            try:
                await self._take_over(await self.member.join(self.topics, owned))
                owned = self.assignment
            except BrokerError as error:
                if error.code not in membership.MOVED_ON:
                    raise
                self._moved_on(error)
                await self._tell_lost()
                owned = self.assignment
        self.member.start_heartbeat()

    async def _revoke(self, partitions: Sequence[TopicPartition]) -> None:
        """Commit what was processed of `partitions`, and drop them once the listener, which may commit, has ended."""
        if partitions:
            try:
                await self._tell(self._commit_revoked(partitions), partitions)
            finally:
                self._drop(partitions)

    def _commit_revoked(self, partitions: Sequence[TopicPartition]) -> Listener:
        if self._config.commit_on_revoke:
            try:
                self._commit({place: self._processed[place] for place in partitions if place in self._processed})
            except BrokerError:
                return self._on_lost
        return self._on_revoked

    def _drop(self, partitions: Sequence[TopicPartition]) -> None:
        for place in partitions:
            for known in (self.positions, self._processed, self._handed):
                known.pop(place, None)
            self.paused.discard(place)
        self.lost = tuple(place for place in self.lost if place not in partitions)

    @staticmethod
    async def _tell(listener: Listener, partitions: Sequence[TopicPartition]) -> None:
        waited = listener(partitions)
        if isinstance(waited, Awaitable):
            await waited

    async def _tell_lost(self) -> None:
        if lost := self.lost:
            try:
                await self._tell(self._on_lost, lost)
            finally:
                self.lost = self.lost[len(lost) :]

    async def _take_over(self, assigned: Sequence[TopicPartition]) -> None:
        """Adopt the assignment. A cooperative member revokes what it lost, and joins again."""
        lost = tuple(place for place in self.positions if place not in assigned)
        added = tuple(place for place in assigned if place not in self.positions)
        self._must_join, self.cut_off = bool(lost), None
        await self._revoke(lost)
        for place in added:
            self.positions[place] = self._start_offset(place)
        await self._tell(self._on_assigned, added)

    def _start_offset(self, place: TopicPartition) -> int:
        """The committed offset of the group, otherwise as configured. Raises OFFSET_OUT_OF_RANGE if that is `none`."""
        broker, reset = self._broker, self._config.auto_offset_reset
        if reset == "none":
            if broker.groups.committed(self.group, *place) is None:
                about = f"{self.group} has committed nothing for {place[0]}/{place[1]}"
                raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, about)
            reset = "earliest"
        return broker.offsets.starting(self._loop.now_ns, self.group, self.client_id, *place, reset)

    def _polled(self) -> None:
        try:
            self.member.polled()
        except BrokerError as error:
            self._moved_on(error)

    def _heard(self, error: BrokerError) -> None:
        self._moved_on(error)
        if self._fetch is not None:
            self._fetch.resolve([])

    def _moved_on(self, error: BrokerError) -> None:
        """The group replied `error`: rejoin at the next poll, and drop the partitions unless they are still owned.

        Of two members with one instance id the newer one stays (KIP-345). The older one stops here, because otherwise
        they would fence each other forever.
        """
        if error.code is ErrorCode.FENCED_INSTANCE_ID:
            self._replaced = error
            self.member.stop_heartbeat()
        if error.code is not ErrorCode.REBALANCE_IN_PROGRESS:
            # Its partitions belong to others now: nothing may be committed.
            if self._handed or self._processed:
                self.cut_off = error
            self.lost += self.assignment
            self.positions, self._processed, self._handed = {}, {}, {}
            self.member.forget(keep_id=error.code in _KEEPS_ID)
        self._must_join = True

    def _check_open(self) -> None:
        if self.closed:
            raise BrokerError(ErrorCode.CLOSED, f"consumer {self.client_id}")

    def _check_not_replaced(self) -> None:
        if self._replaced is not None:
            raise BrokerError(self._replaced.code, f"{self._replaced.about}; close {self.client_id}")
