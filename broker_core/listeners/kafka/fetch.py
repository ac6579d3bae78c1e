"""Fetch: stored batches are handed out as they are, from the one on that holds the offset.

A fetch that finds less than min bytes is parked until a partition grows or max wait is over. Who reads is found out in
`readers.py`. Left out: rack awareness.

Who reads committed messages gets what is below the last stable offset, and the list of aborted transactions, by which
the client passes over what was aborted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import (
    LEADER_EPOCH,
    READ,
    READ_COMMITTED,
    Answer,
    Call,
    Waiting,
    api,
    check_leader_epoch,
    kafka_code,
    ms,
)
from broker_core.listeners.kafka.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH, FetchSession, Key
from broker_core.listeners.kafka.readers import Fetched
from broker_core.log.segment_list import NO_BATCHES, StoredBatches
from broker_core.log.segment_transactions import AbortedTransaction

if TYPE_CHECKING:
    from kio.schema.fetch.v18.request import FetchRequest

_MOST_BYTES = 64 * 1_048_576


class _FetchedPartition(msgspec.Struct, frozen=True):
    """A partition in a Fetch request; `topic` is the row of the request that names it."""

    topic: Any
    partition: int
    offset: int
    max_bytes: int
    committed: bool  # only what no open transaction holds back
    leader_epoch: int
    last_epoch: int  # of what was fetched last

    @property
    def key(self) -> Key:
        """Which partition, as a session knows it."""
        return _topic_key(self.topic), self.partition


class _Wanted(msgspec.Struct, frozen=True):
    places: list[_FetchedPartition]
    session: FetchSession | None
    min_bytes: int
    limit_bytes: int
    deadline_ns: int


class _Read(msgspec.Struct, frozen=True):
    """The readable partitions of the topic `name`, which is None if its id is unknown or no longer valid."""

    name: str | None
    error: int
    high_watermark: int = -1
    start_offset: int = -1
    records: StoredBatches = NO_BATCHES
    last_stable_offset: int = -1
    aborted: list[AbortedTransaction] | None = None  # for who reads committed messages


@api("Fetch", 1, 4, 18)
def _fetch(call: Call, request: FetchRequest) -> Answer:
    """Answer at once if there is enough, where something is wrong, or if nothing is waited for."""
    wait_ms = min(max(0, ms(request.max_wait)), call.context.limits.max_wait_ms)
    # At least one batch, or its reader would never go on.
    limit_bytes = max(1, min(request.max_bytes, _MOST_BYTES, call.context.budget.answer_bytes))
    call.context.readers.asks(call.connection.id, call.client)
    session, places = _session(call, request)
    wanted = _Wanted(places, session, request.min_bytes, limit_bytes, call.now_ns + wait_ms * NS_PER_MS)
    return _answer(call, wanted)


def _session(call: Call, request: FetchRequest) -> tuple[FetchSession | None, list[_FetchedPartition]]:
    """The session of the request, if any, and the partitions that are fetched."""
    given = [
        _FetchedPartition(
            topic,
            each.partition,
            each.fetch_offset,
            each.partition_max_bytes,
            request.isolation_level == READ_COMMITTED,
            each.current_leader_epoch,
            each.last_fetched_epoch,
        )
        for topic in request.topics
        for each in topic.partitions
    ]
    sessions, principal = call.context.fetch_sessions, call.principal.name
    number, epoch = request.session_id, request.session_epoch
    if epoch in {INITIAL_EPOCH, FINAL_EPOCH}:
        sessions.end(number, principal)
        if epoch == FINAL_EPOCH:
            return None, given
        return sessions.begin(principal, OrderedDict((place.key, place) for place in given)), given
    session = sessions.find(number, epoch, principal)
    forgotten = [
        (_topic_key(topic), partition) for topic in request.forgotten_topics_data for partition in topic.partitions
    ]
    session.take(((place.key, place) for place in given), forgotten)
    if given:
        sessions.make_room()
    return session, list(session.places.values())


def _answer(call: Call, wanted: _Wanted) -> Answer:
    places = wanted.places
    found = _read_all(call, places, wanted.limit_bytes)
    size_bytes = sum(len(each.records) for each in found)
    enough = size_bytes >= wanted.min_bytes or any(each.error for each in found) or not places
    if enough or call.now_ns >= wanted.deadline_ns:
        _tell(call, places, found)
        return _body(wanted.session, places, found)
    keys = []
    for place, read in zip(places, found, strict=True):
        if read.name is not None:
            keys.append((read.name, place.partition))
            call.context.readers.waits(
                call.now_ns, call.broker, call.connection.id, call.client, keys[-1], place.offset
            )
    reply = call.broker.growth.wait(keys, wanted.deadline_ns)

    def again(_reply: object, now_ns: int) -> Answer:
        return _answer(msgspec.structs.replace(call, now_ns=now_ns), wanted)

    return Waiting(reply, again, lambda: reply.resolve(None))


def _read_all(call: Call, places: list[_FetchedPartition], limit_bytes: int) -> list[_Read]:
    left_bytes = limit_bytes
    found: list[_Read] = []
    topics: dict[Hashable, str | _Read] = {}
    for place in places:
        topic = topics.get(place.key[0])
        if topic is None:
            topic = topics[place.key[0]] = _readable(call, place.topic)
        read = topic if isinstance(topic, _Read) else _read(call, topic, place, left_bytes)
        left_bytes -= len(read.records)
        found.append(read)
    return found


def _readable(call: Call, topic: Any) -> str | _Read:
    """The name of a topic that the client may read, or what it is told of each of its partitions."""
    try:
        return call.must_name(READ, topic)
    except BrokerError as error:
        call.connection.failed(str(error))
        return _Read(None, kafka_code(error), aborted=[])


def _read(call: Call, name: str, place: _FetchedPartition, left_bytes: int) -> _Read:
    aborted: list[AbortedTransaction] | None = []  # for an unknown partition, and null for other errors, as in Kafka
    try:
        log = call.broker.logs.partition(name, place.partition)
        aborted = None
        check_leader_epoch(place.leader_epoch)
        if place.last_epoch > LEADER_EPOCH or not log.start_offset <= place.offset <= log.high_watermark:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{name}-{place.partition} has none at {place.offset}")
        stable_offset = log.last_stable_offset
        records = NO_BATCHES
        end_offset = stable_offset if place.committed else log.high_watermark
        if left_bytes > 0 and place.offset < end_offset:
            records = log.read_bytes(place.offset, min(place.max_bytes, left_bytes), end_offset)
        if place.committed:
            aborted = log.segments.aborted(place.offset, records.end_offset) if records else []
        return _Read(name, 0, log.high_watermark, log.start_offset, records, stable_offset, aborted)
    except BrokerError as error:
        call.connection.failed(str(error))
        return _Read(name, kafka_code(error), aborted=aborted)


def _tell(call: Call, places: list[_FetchedPartition], found: list[_Read]) -> None:
    """Note what was handed out, and to which groups."""
    for place, read in zip(places, found, strict=True):
        if not read.records or read.name is None:
            continue
        end_offset = min(read.records.end_offset, read.high_watermark)
        if end_offset <= place.offset:
            continue
        log = call.broker.logs.partition(read.name, place.partition)
        call.connection.messages_out += log.messages_between(place.offset, end_offset)
        start = max(place.offset, log.start_offset)
        fetched = Fetched((read.name, place.partition), start, end_offset, place.committed)
        call.context.readers.fetched(call.now_ns, call.broker, call.connection.id, call.client, fetched)


def _body(session: FetchSession | None, places: list[_FetchedPartition], found: list[_Read]) -> Body:
    topics: dict[Hashable, dict[str, Any]] = {}
    for place, read in zip(places, found, strict=True):
        said = (read.error, read.high_watermark, read.last_stable_offset, read.start_offset)
        if session is not None and not session.is_news(place.key, said, has_records=bool(read.records)):
            continue
        topic = topics.setdefault(
            place.key[0],
            {"topic": getattr(place.topic, "topic", ""), "topic_id": place.topic.topic_id, "partitions": []},
        )
        aborted = [{"producer_id": each.producer_id, "first_offset": each.first_offset} for each in read.aborted or ()]
        topic["partitions"].append(
            {
                "partition_index": place.partition,
                "error_code": read.error,
                "high_watermark": read.high_watermark,
                "last_stable_offset": read.last_stable_offset,
                "log_start_offset": read.start_offset,
                "aborted_transactions": None if read.aborted is None else aborted,
                "records": read.records,
            }
        )
    number = 0 if session is None else session.number
    return {"session_id": number, "responses": list(topics.values())}


def _topic_key(topic: Any) -> Hashable:
    found: Hashable = topic.topic_id or getattr(topic, "topic", "")
    return found
