"""Share groups (KIP-932): members that take messages of the same partitions, each message for one of them at a time.

A share group reads a topic by a subscription, and a work queue as it is: leases, delivery counts and dead letters are
those of queues. Every member may take from every partition.
"""

from __future__ import annotations

from functools import partial

import msgspec

from broker_core.broker.catalog import ShareGroupEntry
from broker_core.broker.logs import Logs
from broker_core.broker.publishing import Publishing
from broker_core.broker.queues import Queues
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventStream
from broker_core.groups.config import GroupSettings, GroupSettingsByName
from broker_core.groups.members import Deadline
from broker_core.groups.states import GroupState
from broker_core.messages import Message, StoredMessage
from broker_core.names import check_name
from broker_core.queues.config import QueueConfig
from broker_core.queues.queue import Queue
from broker_core.queues.subscription import subscription_name
from broker_core.replies import Reply
from broker_core.snapshots import ShareGroupView, ShareMemberView, ShareOffsetView
from broker_core.timers import Timers

JOINING, LEAVING = 0, -1
DEAD_LETTERS_PREFIX = "dlq."  # of topics that share groups write dead letters to; Kafka's default
REJECTED = "rejected by its share consumer"


class ShareMember(msgspec.Struct):
    """A member, and the topics that it subscribes to. `holder` is its name on leases.

    `told` are id and number of partitions of each topic that it was told of, by name. `host` is the address of a
    member outside this process.
    """

    member_id: str
    holder: str
    topics: tuple[str, ...]
    epoch: int
    session: Deadline
    told: dict[str, tuple[bytes, int]] = {}
    host: str = ""


class ShareHeartbeat(msgspec.Struct, frozen=True):
    """The answer to a heartbeat; `topics` is None if the member knows its assignment."""

    epoch: int
    topics: tuple[str, ...] | None


class ShareGroups(msgspec.Struct, eq=False):
    """The members of share groups, and the queues that they take from."""

    _logs: Logs
    _queues: Queues
    _publishing: Publishing
    configs: GroupSettingsByName
    _events: EventStream
    _timers: Timers
    _dead_letter_errors: dict[str, str] = {}  # why dead letters are not in the topic of a group's settings: told once
    _groups: dict[str, dict[str, ShareMember]] = {}
    _subscribed: dict[str, dict[str, None]] = {}  # topics that each group has or had a subscription to
    _deleted: set[str] = set()  # groups whose subscriptions may be brought back

    # -- settings

    def configure(self, now_ns: int, group: str, settings: GroupSettings) -> None:
        """Settings of a group of any kind, from now on. Raises INVALID_GROUP_ID, INVALID_CONFIG."""
        check_name(group, "group", ErrorCode.INVALID_GROUP_ID)
        self.configs.check_heartbeats(group, settings)
        self.configs.set(group, settings)
        self._events.emit_action(
            now_ns, group=group, cause=f"configured {group}", detail={"group_settings": msgspec.to_builtins(settings)}
        )
        for topic in self.subscribed(group):
            queue = self._queues.queue(self.queue_name(group, topic))
            queue.configure(self._queue_config(group, queue.config))

    def _queue_config(self, group: str, usual: QueueConfig) -> QueueConfig:
        settings = self.configs.of(group)
        return msgspec.structs.replace(
            usual,
            lease_ms=settings.record_lock_duration_ms,
            max_attempts=settings.delivery_count_limit,
            max_in_flight=settings.max_record_locks,
            durable_acks=True,
        )

    def entries(self) -> tuple[ShareGroupEntry, ...]:
        configured = self.configs.names()
        return tuple(
            ShareGroupEntry(
                group,
                self.configs.of(group) if group in configured else None,
                self.subscribed(group),
                self.configs.kafka_settings.get(group, {}),
                self._is_there(group),
            )
            for group in dict.fromkeys((*configured, *self._subscribed))
            if group in configured or self._is_there(group)
        )

    def restore(self, entry: ShareGroupEntry) -> None:
        if entry.config is not None:
            self.configs.set(entry.name, entry.config)
            self.configs.kafka_settings[entry.name] = entry.kafka_settings
        if entry.is_share:
            self._subscribed[entry.name] = {}
        for topic in entry.topics:
            self._add_subscription(entry.name, topic)

    def resume(self, now_ns: int) -> None:
        """After a restart of the broker: free what members had, without counting an attempt, as in Kafka."""
        for group in self.names():
            for topic in self.subscribed(group):
                queue = self._queues.queue(self.queue_name(group, topic))
                queue.release_holder(now_ns, None, "the broker has restarted")

    # -- members

    def names(self) -> tuple[str, ...]:
        """The share groups that have or had a member or an offset, until they are deleted."""
        return tuple(group for group in self._subscribed if self._is_there(group))

    def _is_there(self, group: str) -> bool:
        return group in self._subscribed and (group not in self._deleted or bool(self.subscribed(group)))

    def state(self, group: str) -> GroupState:
        return GroupState.STABLE if self.members(group) else GroupState.EMPTY

    def members(self, group: str) -> tuple[ShareMember, ...]:
        return tuple(self._groups.get(group, {}).values())

    def member(self, group: str, member_id: str) -> ShareMember:
        """Raises UNKNOWN_MEMBER_ID."""
        about = f"{member_id!r} is not in share group {group}"
        return must(self._groups.get(group, {}).get(member_id), ErrorCode.UNKNOWN_MEMBER_ID, about)

    def heartbeat(
        self,
        now_ns: int,
        group: str,
        member_id: str,
        epoch: int,
        holder: str,
        topics: tuple[str, ...] | None,
        *,
        keeps: bool = False,
        host: str = "",
    ) -> ShareHeartbeat:
        """A member joins, stays or leaves. With `topics` None its subscription is unchanged.

        Who leaves releases what it holds; where it `keeps` that, the caller releases it.

        Raises INVALID_GROUP_ID, INVALID_REQUEST, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH.
        """
        if epoch == LEAVING:
            self._leave(now_ns, group, self.member(group, member_id), "left", keeps=keeps)
            return ShareHeartbeat(LEAVING, None)
        if epoch == JOINING:
            check_name(group, "group", ErrorCode.INVALID_GROUP_ID)
            if topics is None:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"{holder} joins share group {group} without topics")
            return self._join(now_ns, group, member_id, holder, topics, host)
        member = self.member(group, member_id)
        if epoch not in {member.epoch, member.epoch - 1}:  # that of the answer before, if the last one was lost
            raise BrokerError(
                ErrorCode.FENCED_MEMBER_EPOCH, f"{member_id} says epoch {epoch}, but is at {member.epoch} in {group}"
            )
        member.session.heard_ns = now_ns
        if member.session.timeout_ns != self._session_ns(group):
            member.session.cancel()
            member.session = self._new_session(now_ns, group, member_id)
        topics = member.topics if topics is None else topics
        assignment = self._assignment(topics)
        if (topics, assignment) != (member.topics, member.told):
            member.topics, member.told = topics, assignment
            member.epoch += 1
        return ShareHeartbeat(member.epoch, None if epoch == member.epoch else topics)

    def _assignment(self, topics: tuple[str, ...]) -> dict[str, tuple[bytes, int]]:
        there = (topic for name in topics if (topic := self._logs.get(name)) is not None)
        return {topic.name: (topic.id, len(topic.log.partitions)) for topic in there}

    def heard_from_all(self, now_ns: int) -> None:
        for members in self._groups.values():
            for member in members.values():
                member.session.heard_ns = now_ns

    def _join(
        self, now_ns: int, group: str, member_id: str, holder: str, topics: tuple[str, ...], host: str
    ) -> ShareHeartbeat:
        members = self._groups.setdefault(group, {})
        self._begin(group)
        old = members.pop(member_id, None)
        if old is not None:
            old.session.cancel()

        session = self._new_session(now_ns, group, member_id)
        epoch = 1 if old is None else old.epoch + 1
        told = self._assignment(topics)
        made = members[member_id] = ShareMember(member_id, holder, topics, epoch, session, told, host)
        return ShareHeartbeat(made.epoch, topics)

    def _session_ns(self, group: str) -> int:
        return self.configs.of(group).share_session_timeout_ms * NS_PER_MS

    def _new_session(self, now_ns: int, group: str, member_id: str) -> Deadline:
        session_ns = self._session_ns(group)

        def missed(at_ns: int) -> None:
            silent = f"missed its heartbeats for {session_ns / 1e9:.1f} s"
            self._leave(at_ns, group, self._groups[group][member_id], silent)

        return Deadline(self._timers, now_ns, session_ns, bool, missed)

    def _leave(self, now_ns: int, group: str, member: ShareMember, why: str, *, keeps: bool = False) -> None:
        member.session.cancel()
        del self._groups[group][member.member_id]
        for topic in () if keeps else member.topics:
            name = self.queue_name(group, topic)
            if name in self._queues:
                self._queues.queue(name).release_holder(now_ns, member.holder, f"{member.holder} {why}")

    # -- what they take from

    def queue_name(self, group: str, topic: str) -> str:
        """The queue by which `group` reads `topic`: the work queue itself, or a subscription of the group's."""
        if topic in self._queues and topic not in self._queues.subscription_names():
            return topic
        return subscription_name(group, topic)

    def missing(self, group: str, topics: tuple[str, ...]) -> tuple[str, ...]:
        """The existing `topics` that the share group has no subscription to yet."""
        return tuple(
            topic for topic in topics if self._logs.get(topic) and self.queue_name(group, topic) not in self._queues
        )

    def subscribe(self, now_ns: int, group: str, topic: str, *, from_start: bool = False) -> None:
        """Make the subscription by which `group` reads `topic`, all of it where a member waited for the topic.

        One that another member has just made is left as it is. Raises as `Queues.subscribe`.
        """
        self._begin(group)
        if not self.missing(group, (topic,)):
            return
        settings = self.configs.of(group)
        whole = from_start or any(topic in member.topics for member in self.members(group))
        self._queues.subscribe(
            now_ns,
            self.queue_name(group, topic),
            topic,
            self._queue_config(group, QueueConfig(isolation_level=settings.isolation_level)),
            from_end=settings.auto_offset_reset == "latest" and not whole,
        )
        if settings.from_age_ms is not None and not whole:
            for table in self._queues.queue(self.queue_name(group, topic)).levels.tables:
                log = self._logs.partition(topic, table.log.partition)
                table.skip_to(log.offset_for_time(now_ns - settings.from_age_ms * NS_PER_MS))
        self._add_subscription(group, topic)

    def _begin(self, group: str) -> dict[str, None]:
        """The topics of a group that is there from now on."""
        self._deleted.discard(group)
        return self._subscribed.setdefault(group, {})

    def _add_subscription(self, group: str, topic: str) -> None:
        self._begin(group)[topic] = None
        subscription = self._queues.subscription(self.queue_name(group, topic))
        if subscription is not None:
            subscription.is_shared = True
            subscription.queue.dead_letters.on_added = partial(self._write_dead_letter, group)

    def _write_dead_letter(self, group: str, now_ns: int, stored: StoredMessage, cause: str, attempts: int) -> None:
        """Write a dead letter to the topic of the group's settings as Kafka 4.4 does (KIP-1191), without the original
        headers. Where that cannot be done, it is only in the dead-letter queue of the subscription, and is told of.
        """
        settings = self.configs.of(group)
        name = settings.dead_letter_topic
        if not name:
            return
        why = "rejected by client" if cause == REJECTED else "delivery count exceeded the threshold"
        headers = {
            "topic": stored.topic,
            "partition": str(stored.partition),
            "offset": str(stored.offset),
            "group": group,
            "delivery.count": str(attempts),
            "message": f"Offset {why}.",
        }
        key, value = (stored.key, stored.value) if settings.dead_letter_copies else (None, None)
        letter = Message(value, key, tuple((f"__dlq.errors.{field}", text.encode()) for field, text in headers.items()))
        try:
            topic = self._logs.topic(name)
            if not name.startswith(DEAD_LETTERS_PREFIX):
                raise BrokerError(ErrorCode.INVALID_CONFIG, f"{name} does not begin with {DEAD_LETTERS_PREFIX}")
            if not topic.log.config.takes_dead_letters:
                raise BrokerError(ErrorCode.INVALID_CONFIG, f"{name} lacks errors.deadletterqueue.group.enable")
            number = stored.partition % len(topic.log.partitions)
            self._publishing.publish_batch(now_ns, name, number, [letter], client=group)
        except BrokerError as error:
            told = f"dead letters of {group} are not in {name[:249]}: {error}"
            if self._dead_letter_errors.get(group) != told:
                self._dead_letter_errors[group] = told
                self._events.emit_action(now_ns, group=group, cause=told)

    def take_up(self, now_ns: int, group: str, topic: str, count: int) -> None:
        """All members of `group` read the first `count` partitions of `topic`: take from the new ones, too."""
        queue = self.queue(group, topic)
        if queue is not None and count > len(queue.levels.tables) and queue.name != topic:
            queue.levels.grow(self._logs.topic(topic).log.partitions[:count])
            queue.appended(now_ns)

    def queues_over(self, topic: str) -> tuple[str, ...]:
        return tuple(self.queue_name(group, topic) for group in self._subscribed if topic in self.subscribed(group))

    def subscribed(self, group: str) -> tuple[str, ...]:
        topics = self._subscribed.get(group, ())
        return tuple(topic for topic in topics if self._queues.subscription(self.queue_name(group, topic)) is not None)

    def queue(self, group: str, topic: str) -> Queue | None:
        """The queue from which the members of `group` take the messages of `topic`; None if there is none."""
        name = self.queue_name(group, topic)
        return self._queues.queue(name) if name in self._queues else None

    # -- offsets

    def view(self, group: str) -> ShareGroupView:
        """The group, its members, and its position in all that it reads. Raises GROUP_ID_NOT_FOUND."""
        if group not in self.names():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, f"{group!r}")
        members = self.members(group)
        topics = dict.fromkeys((*self.subscribed(group), *(topic for each in members for topic in each.topics)))
        positions = [
            self.position(group, topic, partition)
            for topic in topics
            if self._logs.get(topic) is not None
            for partition in range(self._logs.partition_count(topic))
        ]
        return ShareGroupView(
            group,
            str(self.state(group)),
            max((member.epoch for member in members), default=0),
            tuple(ShareMemberView(each.holder, each.member_id, each.epoch, each.topics) for each in members),
            tuple(at for at in positions if at is not None),
        )

    def position(self, group: str, topic: str, partition: int) -> ShareOffsetView | None:
        """None if the group takes nothing of the topic. Raises UNKNOWN_TOPIC_OR_PARTITION.

        Whether anything was read or set is asked by `was_read`.
        """
        queue = self.queue(group, topic)
        if queue is None:
            return None
        log = self._logs.partition(topic, partition)
        if partition >= len(queue.levels.tables):
            # Added since, and not read yet.
            lag = log.messages_between(0, log.end_offset)
            return ShareOffsetView(topic, partition, log.start_offset, log.end_offset, 0, lag)
        table = queue.levels.table(partition)
        lag = table.ready + table.blocked_by_transactions + table.delayed + table.in_flight
        return ShareOffsetView(topic, partition, table.first_open_offset, log.end_offset, table.in_flight, lag)

    def was_read(self, group: str, topic: str, partition: int) -> bool:
        """Whether a message of the partition was ever delivered to the group, or its offset was set."""
        queue = self.queue(group, topic)
        tables = () if queue is None else queue.levels.tables
        return partition < len(tables) and tables[partition].was_read

    def reset(self, now_ns: int, group: str, topic: str, partition: int, offset: int, client: str) -> Reply[None]:
        """Deliver the messages of a partition again from `offset` on, and no earlier ones.

        The reply is settled when that is as durable as the broker. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP,
        UNKNOWN_TOPIC_OR_PARTITION, and INVALID_REQUEST for a work queue, which has no offsets of a group.
        """
        self.must_be_empty(group)
        name = self.queue_name(group, topic)
        if name == topic:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{topic} is a work queue; purge it or redrive it instead")
        queue = self._queues.queue(name)
        if queue.levels.table(partition).in_flight:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP, f"messages of {topic} {partition} are leased in {name}; wait")
        return queue.reset(now_ns, partition, offset, client)

    def unsubscribe(self, now_ns: int, group: str, topic: str) -> None:
        """Delete a subscription. Raises NON_EMPTY_GROUP, UNKNOWN_TOPIC_OR_PARTITION."""
        self._must_have_no_members(group)
        if topic not in self.subscribed(group):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{group} has no offsets in {topic[:249]}")
        self._queues.delete(now_ns, self.queue_name(group, topic))

    def delete(self, now_ns: int, group: str) -> None:
        """Delete all subscriptions of a group. Its settings stay, as in Kafka. Raises as `must_be_empty`."""
        for topic in self.must_be_empty(group):
            self._queues.delete(now_ns, self.queue_name(group, topic))
        self._deleted.add(group)

    def must_be_empty(self, group: str) -> tuple[str, ...]:
        """The topics that the group has subscribed to. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        self._must_have_no_members(group)
        if not self._is_there(group):
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, group)
        return self.subscribed(group)

    def _must_have_no_members(self, group: str) -> None:
        members = self.members(group)
        if members:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP, f"{group} has {len(members)} members; stop them first")
