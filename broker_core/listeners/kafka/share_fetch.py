from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from kio.schema.errors import ErrorCode as KafkaError

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import READ, Answer, Call, Waiting, api, kafka_code, ms
from broker_core.listeners.kafka.share_sessions import CLOSING, OPENING, ShareSession, check_acknowledgements
from broker_core.log.segment_list import NO_BATCHES
from broker_core.messages import TopicPartition
from broker_core.queues.lease import Lease, lease_runs
from broker_core.replies import Reply

if TYPE_CHECKING:
    from kio.schema.share_acknowledge.v2.request import ShareAcknowledgeRequest
    from kio.schema.share_fetch.v2.request import ShareFetchRequest

_MOST_RECORDS = 500
_RECORD_LIMIT = 1  # of the modes to acquire
_MOST_BYTES = 64 * 1_048_576


class _Acquisition(msgspec.Struct, frozen=True):
    """A waiting request; `errors` are those of its acknowledgements, by place."""

    group: str
    holder: str
    session: ShareSession
    errors: dict[TopicPartition, BrokerError | None]
    most: int = 0
    deadline_ns: int = 0
    whole_batches: bool = True


@api("ShareFetch", 78, 1, 2)
def _share_fetch(call: Call, request: ShareFetchRequest) -> Answer:
    """A member acknowledges what it has, and acquires more, from whichever partition has some.

    Stored batches are handed out as they are; which of their records are acquired stands beside them, so that there is
    no need to tell of markers and aborted transactions. A batch is acquired whole if more than the wanted number of
    records is in it, unless the request sets a limit of records (KIP-1206).
    """
    group, member_id = request.group_id or "", request.member_id or ""
    call.must(READ, "group", group)
    check_acknowledgements(request.topics)
    closing = request.share_session_epoch == CLOSING  # which may come behind the member's departure
    sessions = call.context.share_sessions
    if request.share_session_epoch != OPENING:  # before what is said of who is no member: by it Java opens another
        sessions.must_be_open(group, member_id)
    holder = "" if closing else call.broker.share_groups.member(group, member_id).holder
    session = sessions.advance(group, member_id, request.share_session_epoch, call.connection.id)
    errors: dict[TopicPartition, BrokerError | None] = {}
    news: set[str] = set()
    for topic in request.topics:
        for each in topic.partitions:
            place: TopicPartition = (call.topic_with(topic.topic_id, queues=True) or "", each.partition_index)
            if not place[0]:
                session.missing.add((topic.topic_id, each.partition_index))
            elif session.places.get(place) != topic.topic_id:
                session.places[place] = topic.topic_id
                news.add(place[0])
            if each.acknowledgement_batches:
                errors[place] = acknowledged(call, session, place, each.acknowledgement_batches)
    for forgotten in request.forgotten_topics_data:
        session.missing -= {(forgotten.topic_id, number) for number in forgotten.partitions}
        gone = {place for place, known in session.places.items() if known == forgotten.topic_id}
        for place in gone & {(name, partition) for name, _ in gone for partition in forgotten.partitions}:
            del session.places[place]
    members = [each.member_id for each in call.broker.share_groups.members(group)] if news else []
    for name in news:
        count = sessions.partitions_read_by_all(group, members, name)
        call.broker.share_groups.take_up(call.now_ns, group, name, count)
    renews = request.is_renew_ack
    if closing and not renews:
        session.release_all(call.broker, call.now_ns)
    if closing or renews:
        return kept(call, _body(call, _Acquisition(group, holder, session, errors), []))
    wait_ms = min(max(0, ms(request.max_wait)), call.context.limits.max_wait_ms)
    most = min(request.max_records or _MOST_RECORDS, _MOST_RECORDS)
    whole_batches = request.share_acquire_mode != _RECORD_LIMIT
    deadline_ns = call.now_ns + wait_ms * NS_PER_MS
    return _acquire(call, _Acquisition(group, holder, session, errors, most, deadline_ns, whole_batches))


def kept(call: Call, body: Body) -> Waiting:
    """`body`, when what was acknowledged is as durable as the broker; where it cannot be, that is reported apart."""
    return Waiting(call.broker.durability.journal.kept(), lambda _kept, _now_ns: body)


def acknowledged(
    call: Call, session: ShareSession, place: TopicPartition, batches: Iterable[Any]
) -> BrokerError | None:
    """Apply acknowledgements of one partition; what was wrong with one of them."""
    error = session.acknowledge(call.broker, call.now_ns, place, batches)
    if error is not None:
        call.connection.failed(str(error))
    return error


def _acquire(call: Call, wanted: _Acquisition) -> Answer:
    broker, now_ns = call.broker, call.now_ns
    queues = {
        broker.share_groups.queue_name(wanted.group, topic): None
        for (topic, _), known in wanted.session.places.items()
        if known == call.topic_id(topic) and call.may(READ, "topic", topic)
    }
    names = [name for name in queues if name in broker.queues]
    take = partial(
        broker.queues.take, now_ns, holder=wanted.holder, max_messages=wanted.most, whole_batches=wanted.whole_batches
    )
    for name in names:
        taken = take(name)
        if not taken.done or taken.result():
            return Waiting(taken, lambda reply, _now_ns: _body(call, wanted, reply.result()))
    if not names or wanted.deadline_ns <= now_ns:
        return kept(call, _body(call, wanted, []))
    waits = {name: take(name, deadline_ns=wanted.deadline_ns) for name in names}

    def cancel() -> None:
        for name, wait in waits.items():
            broker.queues.abandon_take(name, wait, lambda: call.context.host.now_ns)

    def first(_reply: object, _now_ns: int) -> Answer:
        for name, wait in waits.items():
            if not wait.done:
                broker.queues.cancel_take(name, wait)
        return _body(call, wanted, [lease for wait in waits.values() if wait.error is None for lease in wait.result()])

    return Waiting(_any_of(waits.values()), first, cancel)


def _any_of(replies: Iterable[Reply[list[Lease]]]) -> Reply[None]:
    """Settled by the first that has messages, or by the last."""
    found: Reply[None] = Reply()
    waiting = list(replies)
    left = len(waiting)

    def settled(reply: Reply[list[Lease]]) -> None:
        nonlocal left
        left -= 1
        if not left or (reply.error is None and reply.result()):
            found.resolve(None)

    for reply in waiting:
        reply.then(settled)
    return found


def _body(call: Call, wanted: _Acquisition, leases: list[Lease]) -> Body:
    by_place: dict[TopicPartition, list[Lease]] = {}
    for lease in leases:
        place = (lease.message.topic, lease.partition)
        by_place.setdefault(place, []).append(lease)
        wanted.session.acquired[*place, lease.offset] = lease
    call.connection.messages_out += len(leases)
    topics: dict[Any, list[dict[str, Any]]] = {}
    for place in {**wanted.errors, **by_place}:
        row = _partition(call, place, by_place.get(place, []), wanted.errors)
        topics.setdefault(call.topic_id(place[0]), []).append(row)
    for (topic_id, number), error in _not_there(call, wanted.session):
        row = _partition(call, ("", number), [], {})
        topics.setdefault(topic_id, []).append({**row, "error_code": error.value})
    config = call.broker.groups.configs.of(wanted.group)
    return {
        "acquisition_lock_timeout": config.record_lock_duration_ms,
        "responses": [{"topic_id": topic_id, "partitions": rows} for topic_id, rows in topics.items()],
    }


def _not_there(call: Call, session: ShareSession) -> Iterator[tuple[tuple[Any, int], KafkaError]]:
    """The session's partitions that do not exist, told at each fetch: so a client learns the ids of new topics."""
    yield from ((each, KafkaError.unknown_topic_id) for each in session.missing)
    for (topic, number), topic_id in session.places.items():
        if call.topic_id(topic) != topic_id:
            yield (topic_id, number), KafkaError.unknown_topic_id
        elif number >= call.broker.logs.partition_count(topic):
            yield (topic_id, number), KafkaError.unknown_topic_or_partition


def _partition(
    call: Call, place: TopicPartition, leases: list[Lease], errors: dict[TopicPartition, BrokerError | None]
) -> dict[str, Any]:
    leases.sort(key=lambda lease: lease.offset)
    records = NO_BATCHES
    if leases:
        log = call.broker.logs.partition(*place)
        records = log.read_bytes(leases[0].offset, _MOST_BYTES, leases[-1].offset + 1)
    error = errors.get(place)
    return {
        "partition_index": place[1],
        "acknowledge_error_code": kafka_code(error),
        "acknowledge_error_message": None if error is None else str(error),
        "current_leader": {"leader_id": 0, "leader_epoch": 0},
        "records": records,
        "acquired_records": [
            {"first_offset": run.offset, "last_offset": run.offset + count - 1, "delivery_count": run.attempt}
            for run, count in lease_runs(leases)
        ],
    }


@api("ShareAcknowledge", 79, 1, 2)
def _share_acknowledge(call: Call, request: ShareAcknowledgeRequest) -> Answer:
    """Records are accepted, released, rejected, or held longer.

    A release counts as an attempt, as in Kafka; what is rejected, or released too often, becomes a dead letter
    (KIP-1191).
    """
    group, member_id = request.group_id or "", request.member_id or ""
    call.must(READ, "group", group)
    check_acknowledgements(request.topics)
    session = call.context.share_sessions.advance(group, member_id, request.share_session_epoch)
    responses = []
    for topic in request.topics:
        rows, name = [], call.topic_with(topic.topic_id, queues=True) or ""
        for each in topic.partitions:
            place = (name, each.partition_index)
            error = acknowledged(call, session, place, each.acknowledgement_batches)
            rows.append(
                {
                    "partition_index": each.partition_index,
                    "error_code": kafka_code(error),
                    "error_message": None if error is None else str(error),
                    "current_leader": {"leader_id": 0, "leader_epoch": 0},
                }
            )
        responses.append({"topic_id": topic.topic_id, "partitions": rows})
    if request.share_session_epoch == CLOSING:
        session.release_all(call.broker, call.now_ns)
    lock_ms = call.broker.groups.configs.of(group).record_lock_duration_ms
    return kept(call, {"acquisition_lock_timeout": lock_ms, "responses": responses})
