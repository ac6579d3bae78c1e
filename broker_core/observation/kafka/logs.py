"""Messages of a cluster, read when somebody looks at them. No group is joined, and nothing is committed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

import msgspec
from kio.schema.errors import ErrorCode as KafkaError

from broker_core.broker import browsing
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import CONTROL_BIT, HEADER, LENGTH_FIELD_END, MAGIC, PLACE, TRANSACTIONAL_BIT, decode_batch
from broker_core.messages import StoredMessage, grouped
from broker_core.observation.kafka.calls import check
from broker_core.observation.kafka.cluster import Call, Cluster
from broker_core.observation.kafka.sweep import EARLIEST, LATEST, offsets_body
from broker_core.operations import browse
from broker_core.schemas.registry import SchemaRegistry

_MAGIC_AT: Final = 16
_NO_SCHEMAS: Final = SchemaRegistry()


class ClusterLogs:
    """Answers requests of who browses, one at a time, with connections of its own. `epoch_ms` is session time 0."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()

    def answer(self, request: Any, epoch_ms: int) -> Any:
        """Raises UNKNOWN_TOPIC_OR_PARTITION, UNAUTHORIZED, and as a connection does."""
        with self._lock:
            return BROWSED[type(request)](self, request, epoch_ms)

    def close(self) -> None:
        self._cluster.close()

    def find_offsets(self, request: browse.FindOffsets, epoch_ms: int) -> list[browse.Bounds]:
        wanted = None if request.partition is None else (request.partition,)
        return [browsing.offsets_of(log, request) for log in self.partitions(request.topic, wanted, epoch_ms).values()]

    def page(self, request: browse.BrowsePartition, epoch_ms: int) -> browse.Page:
        log = self.partitions(request.topic, (request.partition,), epoch_ms)[request.partition]
        return browsing.page(log, request.first, request.end, _NO_SCHEMAS)

    def step(self, request: browse.BrowseMessages, epoch_ms: int) -> browse.MergeStep:
        test = browsing.asked_test(request.filter)
        return browsing.step(self.partitions(request.topic, request.cursors, epoch_ms), request, test, _NO_SCHEMAS)

    def message(self, request: browse.DescribeMessage, epoch_ms: int) -> browse.Present:
        log = self.partitions(request.topic, (request.partition,), epoch_ms)[request.partition]
        found = log.read(request.offset, max_messages=1, max_bytes=browsing.READ_BYTES)
        if found and found[0].offset == request.offset:
            return browse.Present(message=found[0])
        return browse.Present(why="The cluster no longer has it.")

    def partitions(
        self, topic: str, wanted: Iterable[int] | None, epoch_ms: int, *, committed: bool = False
    ) -> dict[int, ClusterLog]:
        """Partitions of a topic; with `committed` they end where the first open transaction begins."""
        answer = next(iter(self._cluster.metadata((topic,)).topics), None)
        leaders = {} if answer is None else {part.partition_index: part.leader_id for part in answer.partitions}
        numbers = sorted(leaders) if wanted is None else list(wanted)
        if not numbers or any(number not in leaders for number in numbers):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic)
        logs = {number: ClusterLog(self._cluster, topic, number, leaders[number], epoch_ms) for number in numbers}
        for when in (EARLIEST, LATEST):
            for number, offset in self._offsets(topic, logs, when, int(committed)):
                if when == EARLIEST:
                    logs[number].start_offset = offset
                else:
                    logs[number].end_offset = offset
        return logs

    def _offsets(
        self, topic: str, logs: dict[int, ClusterLog], when: int, isolation_level: int
    ) -> Iterator[tuple[int, int]]:
        by_leader = grouped((log.leader, number) for number, log in logs.items())
        calls = [_list_offsets(leader, topic, numbers, when, isolation_level) for leader, numbers in by_leader.items()]
        for answer in _answers(self._cluster, calls):
            for each in answer.topics[0].partitions:
                check(each.error_code, "ListOffsets", topic)
                yield each.partition_index, each.offset


class ClusterLog:
    """One partition, as `browsing` reads it."""

    size_bytes = 0  # is not known
    lost = ()

    def __init__(self, cluster: Cluster, topic: str, partition: int, leader: int, epoch_ms: int) -> None:
        self._cluster = cluster
        self._epoch_ms = epoch_ms
        self.topic, self.partition, self.leader = topic, partition, leader
        self.start_offset = self.end_offset = 0

    @property
    def high_watermark(self) -> int:
        return self.end_offset

    def messages_between(self, start: int, end: int) -> int:
        return end - start

    def runs(self, _start: int, _end: int) -> list[Any]:
        """Times of messages that are not there are not known."""
        return []

    def offset_for_time(self, time_ns: int) -> int:
        at_ms = self._epoch_ms - (-time_ns // NS_PER_MS)
        (answer,) = _answers(self._cluster, [_list_offsets(self.leader, self.topic, (self.partition,), max(0, at_ms))])
        found = answer.topics[0].partitions[0]
        check(found.error_code, "ListOffsets", self.topic)
        offset: int = found.offset
        return self.end_offset if offset < 0 else offset

    def read(self, offset: int, *, max_messages: int, max_bytes: int) -> list[StoredMessage]:
        while True:
            found = self._fetch(offset, max_bytes, isolation_level=0)
            batches = [] if found is None else list(self._batches(bytes(found.records or b"")))
            messages = (each for each in chain.from_iterable(map(self._messages_of, batches)) if each.offset >= offset)
            some = list(islice(messages, max_messages))
            if some or not batches or _header(batches[-1])[1] <= offset:
                return some
            # Behind a transaction's marker, which holds no message, a batch may be cut off.
            offset = _header(batches[-1])[1]

    def read_committed(self, offset: int, end: int, max_bytes: int) -> tuple[list[StoredMessage], int]:
        """Messages from `offset` up to `end` at most, none of an aborted transaction; and where to go on."""
        found = self._fetch(offset, max_bytes, isolation_level=1)
        if found is None or not found.records:
            return [], end
        aborted = sorted((each.first_offset, each.producer_id) for each in found.aborted_transactions or ())
        aborted_producers: set[int] = set()
        messages: list[StoredMessage] = []
        at = offset
        for batch in self._batches(bytes(found.records)):
            base, at, attributes, producer = _header(batch)
            while aborted and aborted[0][0] <= base:
                aborted_producers.add(aborted.pop(0)[1])
            if attributes & CONTROL_BIT:
                aborted_producers.discard(producer)
            elif not (attributes & TRANSACTIONAL_BIT and producer in aborted_producers):
                messages += (each for each in self._messages_of(batch) if offset <= each.offset < end)
        if at <= offset:
            raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE, f"{self.topic}/{self.partition}@{offset}")
        return messages, min(at, end)

    def _fetch(self, offset: int, max_bytes: int, *, isolation_level: int) -> Any:
        """The Fetch response for this partition; None if the offset is out of range."""
        part = {
            "partition": self.partition,
            "current_leader_epoch": -1,
            "fetch_offset": offset,
            "last_fetched_epoch": -1,
            "log_start_offset": -1,
            "partition_max_bytes": max_bytes,
        }
        body = {
            "replica_id": -1,
            "max_wait": 0,
            "min_bytes": 0,
            "max_bytes": max_bytes,
            "isolation_level": isolation_level,
            "session_id": 0,
            "session_epoch": -1,
            "topics": [{"topic": self.topic, "partitions": [part]}],
            "forgotten_topics_data": (),
            "rack_id": "",
        }
        while True:
            (answer,) = _answers(self._cluster, [Call(self.leader, "Fetch", body)])
            check(getattr(answer, "error_code", 0), "Fetch", self.topic)
            if answer.responses or not answer.throttle_time:
                break
            self._cluster.pause(answer.throttle_time / 1_000)  # a quota holds us up
        found = answer.responses[0].partitions[0]
        if found.error_code == KafkaError.offset_out_of_range:  # deleted a moment ago
            return None
        check(found.error_code, "Fetch", self.topic)
        return found

    def _messages_of(self, batch: bytes) -> Iterator[StoredMessage]:
        for message in decode_batch(batch, self.topic, self.partition, 0):
            published_ns = (message.timestamp_ms - self._epoch_ms) * NS_PER_MS
            yield msgspec.structs.replace(message, published_ns=published_ns)

    def _batches(self, records: bytes) -> Iterator[bytes]:
        at = 0
        while at + _MAGIC_AT < len(records):
            size = PLACE.unpack_from(records, at)[1] + LENGTH_FIELD_END
            if size <= _MAGIC_AT or at + size > len(records):  # a batch that is cut off
                return
            if records[at + _MAGIC_AT] != MAGIC:
                raise BrokerError(ErrorCode.DAMAGED, f"{self.topic} has messages in a format from before Kafka 0.11")
            yield records[at : at + size]
            at += size


def _header(batch: bytes) -> tuple[int, int, int, int]:
    """(base offset, end offset, attributes, producer id); `parse_header` only takes the leader epoch of our logs."""
    fields = HEADER.unpack_from(batch)
    return fields[0], fields[0] + fields[6] + 1, fields[5], fields[9]


def _list_offsets(leader: int, topic: str, partitions: Iterable[int], when: int, isolation_level: int = 0) -> Call:
    body = offsets_body((((topic, number), when) for number in partitions), isolation_level)
    return Call(leader, "ListOffsets", body)


def _answers(cluster: Cluster, calls: list[Call]) -> Iterator[Any]:
    for _call, answer in cluster.ask(calls):
        if isinstance(answer, BrokerError):
            raise answer
        yield answer


BROWSED: Final[dict[type[Any], Callable[[ClusterLogs, Any, int], Any]]] = {
    browse.FindOffsets: ClusterLogs.find_offsets,
    browse.BrowsePartition: ClusterLogs.page,
    browse.BrowseMessages: ClusterLogs.step,
    browse.DescribeMessage: ClusterLogs.message,
}
