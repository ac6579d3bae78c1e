"""Messages of a cluster, read when somebody looks at them. No group is joined, and nothing is committed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from broker_core.broker import browsing
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import LENGTH_FIELD_END, MAGIC, PLACE, decode_batch
from broker_core.messages import StoredMessage
from broker_core.observation.kafka.cluster import Call, Cluster
from broker_core.observation.kafka.sweep import EARLIEST, LATEST
from broker_core.operations import browse
from broker_core.schemas.registry import SchemaRegistry

_MAGIC_AT: Final = 16
_OUT_OF_RANGE, _DENIED = 1, 29
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
        found = []
        for log in self._logs(request.topic, wanted, epoch_ms).values():
            start, end = browsing.bounds(log, request.until_ns)
            at = start if request.from_ns is None else log.offset_for_time(request.from_ns)
            found.append(browse.Bounds(partition=log.partition, start=start, end=end, found=at))
        return found

    def page(self, request: browse.BrowsePartition, epoch_ms: int) -> browse.Page:
        log = self._logs(request.topic, (request.partition,), epoch_ms)[request.partition]
        return browsing.page(log, request.first, request.end, _NO_SCHEMAS)

    def step(self, request: browse.BrowseMessages, epoch_ms: int) -> browse.MergeStep:
        test = browsing.asked_test(request.filter)
        return browsing.step(self._logs(request.topic, request.cursors, epoch_ms), request, test, _NO_SCHEMAS)

    def message(self, request: browse.DescribeMessage, epoch_ms: int) -> browse.Present:
        log = self._logs(request.topic, (request.partition,), epoch_ms)[request.partition]
        found = log.read(request.offset, max_messages=1, max_bytes=browsing.READ_BYTES)
        if found and found[0].offset == request.offset:
            return browse.Present(message=found[0])
        return browse.Present(why="The cluster no longer has it.")

    def _logs(self, topic: str, wanted: Iterable[int] | None, epoch_ms: int) -> dict[int, _Log]:
        answer = next(iter(self._cluster.metadata((topic,)).topics), None)
        leaders = {} if answer is None else {part.partition_index: part.leader_id for part in answer.partitions}
        numbers = sorted(leaders) if wanted is None else list(wanted)
        if not numbers or any(number not in leaders for number in numbers):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic)
        logs = {number: _Log(self._cluster, topic, number, leaders[number], epoch_ms) for number in numbers}
        for when in (EARLIEST, LATEST):
            for number, offset in self._offsets(topic, logs, when):
                if when == EARLIEST:
                    logs[number].start_offset = offset
                else:
                    logs[number].end_offset = offset
        return logs

    def _offsets(self, topic: str, logs: dict[int, _Log], when: int) -> Iterator[tuple[int, int]]:
        by_leader: dict[int, list[int]] = {}
        for number, log in logs.items():
            by_leader.setdefault(log.leader, []).append(number)
        calls = [_list_offsets(leader, topic, numbers, when) for leader, numbers in by_leader.items()]
        for answer in _answers(self._cluster, calls):
            for each in answer.topics[0].partitions:
                _check(each.error_code, "ListOffsets", topic)
                yield each.partition_index, each.offset


class _Log:
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
        _check(found.error_code, "ListOffsets", self.topic)
        offset: int = found.offset
        return self.end_offset if offset < 0 else offset

    def read(self, offset: int, *, max_messages: int, max_bytes: int) -> list[StoredMessage]:
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
            "isolation_level": 0,
            "session_id": 0,
            "session_epoch": -1,
            "topics": [{"topic": self.topic, "partitions": [part]}],
            "forgotten_topics_data": (),
            "rack_id": "",
        }
        (answer,) = _answers(self._cluster, [Call(self.leader, "Fetch", body)])
        _check(getattr(answer, "error_code", 0), "Fetch", self.topic)
        found = answer.responses[0].partitions[0]
        if found.error_code == _OUT_OF_RANGE:  # deleted a moment ago
            return []
        _check(found.error_code, "Fetch", self.topic)
        messages = []
        for message in self._decoded(bytes(found.records or b"")):
            if message.offset >= offset:
                messages.append(message)
                if len(messages) == max_messages:
                    break
        return messages

    def _decoded(self, records: bytes) -> Iterator[StoredMessage]:
        at = 0
        while at + _MAGIC_AT < len(records):
            size = PLACE.unpack_from(records, at)[1] + LENGTH_FIELD_END
            if size <= _MAGIC_AT or at + size > len(records):  # a batch that is cut off
                return
            if records[at + _MAGIC_AT] != MAGIC:
                raise BrokerError(ErrorCode.DAMAGED, f"{self.topic} has messages in a format from before Kafka 0.11")
            for message in decode_batch(records[at : at + size], self.topic, self.partition, 0):
                published_ns = (message.timestamp_ms - self._epoch_ms) * NS_PER_MS
                yield msgspec.structs.replace(message, published_ns=published_ns)
            at += size


def _list_offsets(leader: int, topic: str, partitions: Iterable[int], when: int) -> Call:
    parts = [{"partition_index": number, "current_leader_epoch": -1, "timestamp": when} for number in partitions]
    body = {"replica_id": -1, "isolation_level": 0, "topics": [{"name": topic, "partitions": parts}]}
    return Call(leader, "ListOffsets", body)


def _answers(cluster: Cluster, calls: list[Call]) -> Iterator[Any]:
    for _call, answer in cluster.ask(calls):
        if isinstance(answer, BrokerError):
            raise answer
        yield answer


def _check(code: int, api: str, topic: str) -> None:
    if code == _DENIED:
        about = f"{api} of the topic {topic} is denied; the READ permission is missing"
        raise BrokerError(ErrorCode.UNAUTHORIZED, about)
    if code:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{api} of {topic} failed with Kafka's error {code}")


BROWSED: Final[dict[type[Any], Callable[[ClusterLogs, Any, int], Any]]] = {
    browse.FindOffsets: ClusterLogs.find_offsets,
    browse.BrowsePartition: ClusterLogs.page,
    browse.BrowseMessages: ClusterLogs.step,
    browse.DescribeMessage: ClusterLogs.message,
}
