"""Publishing by the batch: messages are grouped by partition, and each has its own outcome."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from broker_core.broker.publishing import Published
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import SPARE_S, ByHand, HttpCall
from broker_core.messages import Message
from broker_core.operations.messages import BatchPublished, Placed, PublishBatch, PublishMessages, Record, SendMessages
from broker_core.replies import Reply


async def _send(call: HttpCall, request: SendMessages) -> BatchPublished:
    call.host.call(lambda _now: call.broker.queues.queue(request.queue))
    return await _publish_batch(call, request.queue, request.batch)


async def _publish_batch(call: HttpCall, name: str, batch: PublishBatch) -> BatchPublished:
    client = call.named(batch.producer_id)
    return await publish(call, name, batch.messages, client, call.wait_ms(batch.timeout_ms))


async def publish(call: HttpCall, name: str, records: Sequence[Record], client: str, timeout_ms: int) -> BatchPublished:
    """Publish `records` to a topic or queue, in their order; the outcome of each.

    Where all had the same error, raises it. Raises UNKNOWN_TOPIC_OR_PARTITION, MALFORMED_REQUEST, CLOSED.
    """
    messages = [record.message() for record in records]
    call.connection.messages_in += len(messages)
    created = await auto_create(call, name)
    broker, count = call.broker, len(messages)
    rows: list[Placed | None] = [None] * count
    errors: list[BrokerError] = []
    replies: list[tuple[list[int], Reply[Published | None]]] = []

    def offer(now_ns: int, partition: int | None, indexes: list[int]) -> None:
        batch = messages if len(indexes) == count else [messages[index] for index in indexes]
        deadline_ns = now_ns + timeout_ms * NS_PER_MS
        try:
            reply = broker.publishing.publish_batch(
                now_ns, name, partition, batch, client=client, deadline_ns=deadline_ns
            )
        except BrokerError as error:
            if len(indexes) > 1:
                # None is stored, and the error is about one message: the others are tried by themselves.
                for index in indexes:
                    offer(now_ns, partition, [index])
                return
            reply = Reply()
            reply.fail(_blamed(error, call, name, partition))
        replies.append((indexes, reply))

    def offer_all(now_ns: int) -> None:
        for partition, indexes in _grouped(call, name, records, messages):
            offer(now_ns, partition, indexes)

    call.host.call(offer_all)
    for indexes, reply in replies:
        try:
            published = await _outcome(call, name, reply, timeout_ms)
        except BrokerError as error:
            errors.append(error)
            for index in indexes:
                rows[index] = Placed(
                    status=error.code.name, partition=None, offset=None, possibly_stored=error.possibly_stored or UNSET
                )
            continue
        for nth, index in enumerate(indexes):
            rows[index] = _row(name, published, nth)
    failed = sum(len(indexes) for indexes, reply in replies if reply.error is not None)
    if failed == count and len({error.code for error in errors}) == 1:
        raise errors[0]
    return BatchPublished(
        count=count,
        failed=failed,
        messages=[each for each in rows if each is not None],
        created_partitions=call.host.config.auto_create_partitions if created else UNSET,
    )


async def auto_create(call: HttpCall, name: str) -> bool:
    """Create a missing topic where the host is configured to. Whether it did. Raises INVALID_TOPIC."""
    if call.host.config.auto_create_partitions and name not in call.broker.topics:
        return await call.slow(lambda: call.host.ensure_topic(name))
    return False


def _grouped(
    call: HttpCall, name: str, records: Sequence[Record], messages: Sequence[Message]
) -> list[tuple[int | None, list[int]]]:
    """(partition, indexes in the request) of what may be published together: by partition, or one by one."""
    broker = call.broker
    if len(messages) == 1:
        return [(records[0].partition, [0])]
    if not broker.publishing.takes_batches(name):
        return [(record.partition, [index]) for index, record in enumerate(records)]
    if broker.logs.partition_count(name) == 1 and all(record.partition is None for record in records):
        return [(0, list(range(len(messages))))]
    topic = broker.logs.topic(name)
    found: dict[int, list[int]] = {}
    for index, (record, message) in enumerate(zip(records, messages, strict=True)):
        number = topic.partition_for(message) if record.partition is None else record.partition
        found.setdefault(number, []).append(index)
    return list(found.items())


async def _outcome(call: HttpCall, name: str, reply: Reply[Published | None], timeout_ms: int) -> Published | None:
    def withdraw(waiting: Reply[Published | None]) -> None:
        # The client has disconnected.
        call.broker.publishing.withdraw(call.host.now_ns, name, waiting)

    try:
        return await call.wait(reply, withdraw, timeout_ms / 1_000 + SPARE_S)
    except TimeoutError:
        # The session is paused, or the disk does not answer.
        return call.host.call(lambda now_ns: _withdraw_late(call, now_ns, name, reply, timeout_ms))


def _withdraw_late(
    call: HttpCall, now_ns: int, name: str, reply: Reply[Published | None], timeout_ms: int
) -> Published | None:
    """The outcome of a late message. Raises REQUEST_TIMED_OUT, which says whether it may still be stored."""
    withdrawn = call.broker.publishing.withdraw(now_ns, name, reply)
    if reply.done and not withdrawn:
        return reply.result()
    fate = "it is withdrawn, and not stored" if withdrawn else "it may have been stored all the same"
    about = f"a message for {name}, after {timeout_ms} ms; {fate}"
    error = BrokerError(ErrorCode.REQUEST_TIMED_OUT, about, possibly_stored=not withdrawn)
    reply.fail(error)
    raise error


def _blamed(error: BrokerError, call: HttpCall, name: str, partition: int | None) -> BrokerError:
    """The error for a partition that does not exist: the body names it, not the path, so 404 would mislead."""
    if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and partition is not None:
        count = call.broker.logs.partition_count(name)
        return BrokerError(
            ErrorCode.INVALID_REQUEST, f"{name} has no partition {partition}; it has {count}, numbered from 0"
        )
    return error


def _row(name: str, published: Published | None, nth: int) -> Placed:
    if published is None:
        return Placed(status="dropped", partition=None, offset=None)
    status = "stored" if published.topic == name else "dead-lettered"
    return Placed(status=status, partition=published.partition, offset=published.offset + nth)


HANDLERS: ByHand = {
    PublishMessages: lambda call, request: _publish_batch(call, request.topic, request.batch),
    SendMessages: _send,
}
