from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from broker_core.broker.durability import Durability
from broker_core.broker.fetches import Fetches
from broker_core.broker.group_offsets import Committer, GroupOffsets
from broker_core.broker.logs import Logs
from broker_core.errors import ErrorCode, Suppress
from broker_core.log.growth import Growth
from broker_core.log.partition_log import PartitionLog
from broker_core.log.producers import ProducerIds
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.replies import Reply
from broker_core.transactions.transaction import Identity, PendingOffset

_GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OFFSET_OUT_OF_RANGE})


class TransactionPorts(msgspec.Struct, eq=False, dict=True):
    """`Ports` of the transaction coordinator, over parts of a broker. `growth` knows the readers without a group."""

    _logs: Logs
    _durability: Durability
    _offsets: GroupOffsets
    _fetches: Fetches
    _growth: Growth
    _producer_ids: ProducerIds

    def new_identity(self, above: int) -> Identity:
        return Identity(self._producer_ids.register_above(above), 0)

    def open_parts(self) -> Iterator[tuple[TopicPartition, Identity]]:
        for log in self._logs.partitions():
            epochs = {producer_id: epoch for producer_id, epoch, _ in log.producers}
            for producer_id in log.segments.open_transactions:
                yield (log.topic, log.partition), Identity(producer_id, epochs.get(producer_id, 0))

    def write_marker(self, now_ns: int, place: TopicPartition, identity: Identity, *, commits: bool) -> int | None:
        log = self._log(place)
        if log is None or identity.producer_id not in log.segments.open_transactions:
            return None
        return log.append_marker(now_ns, *identity, commits=commits)

    def aborted(self, place: TopicPartition, producer_id: int, marker_offset: int) -> Iterable[range]:
        log = self._log(place)
        return () if log is None else log.segments.aborted_with(producer_id, marker_offset)

    def durable(self, place: TopicPartition, end_offset: int) -> Reply[None]:
        log = self._log(place)
        if log is None:
            return Reply.of(None)
        reply = self._durability.syncs.durable(log, end_offset)
        reply.then(lambda _done: self._growth.appended(*place))
        return reply

    def ended(self, now_ns: int, places: Iterable[TopicPartition]) -> None:
        for place in places:
            self._fetches.appended(now_ns, *place)
            topic = self._logs.get(place[0])
            for subscription in () if topic is None else topic.subscriptions.values():
                subscription.queue.appended(now_ns)

    def committed_offset(self, group: str, topic: str, partition: int) -> int:
        committed = self._offsets.groups.committed(group, topic, partition)
        return -1 if committed is None else committed

    def commit_offsets(self, now_ns: int, client: str, offsets: Sequence[PendingOffset]) -> Reply[None]:
        for each in offsets:
            value = OffsetAndMetadata(each.offset, each.metadata, each.leader_epoch)
            wanted = {(each.topic, each.partition): value}
            with Suppress(*_GONE):
                self._offsets.commit(now_ns, each.group, Committer.checked(client, each.member), wanted, backwards=True)
        return self._offsets.store.flushed()

    def _log(self, place: TopicPartition) -> PartitionLog | None:
        topic = self._logs.get(place[0])
        return None if topic is None or place[1] >= len(topic.log.partitions) else topic.log.partitions[place[1]]
