"""Messages between JSON and the broker: what is published, and what is shown."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from msgspec import UNSET

from broker_core.broker.broker import Published
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import SPARE_S, Call
from broker_core.listeners.http.models.basics import Encoding
from broker_core.listeners.http.models.topics import BatchPublished, MessageAnswer, Placed, Record
from broker_core.listeners.http.values import bytes_of, shown_value, stored_value, text_of
from broker_core.log.reserved_headers import OWN_PREFIX
from broker_core.messages import Headers, Message, StoredMessage
from broker_core.replies import Reply


def message_of(record: Record) -> Message:
    """What is to be stored. Raises MALFORMED_REQUEST."""
    headers: Headers = ()
    if record.headers:
        headers = tuple((name, value.encode()) for name, value in record.headers.items())
    value, headers = stored_value(record.value, record.encoding, headers)
    key = bytes_of(record.key, record.encoding)
    return Message(value, key, headers, record.ttl_ms, record.priority)


def shown(stored: StoredMessage, wanted: Encoding = "text") -> MessageAnswer:
    """A message as it is answered."""
    value, key, encoding = shown_pair(stored, wanted)
    return MessageAnswer(
        topic=stored.topic,
        partition=stored.partition,
        offset=stored.offset,
        timestamp_ms=stored.timestamp_ms,
        key=key,
        value=value,
        headers=shown_headers(stored.headers) if stored.headers else {},
        encoding=encoding,
    )


def shown_pair(stored: StoredMessage, wanted: Encoding = "text") -> tuple[object, str | None, Encoding]:
    """(value, key, encoding): both as text or JSON, or both as Base64 where one of them is no text."""
    value, encoding = shown_value(stored.value, stored.headers, wanted)
    key, key_encoding = text_of(stored.key)
    if encoding == key_encoding == wanted:
        return value, key, encoding
    return _base64(stored.value), _base64(stored.key), "base64"


def shown_headers(headers: Headers) -> dict[str, str]:
    """Headers as texts; the broker's own are not shown."""
    found = {}
    for name, value in headers:
        if name.startswith(OWN_PREFIX):
            continue
        text, encoding = text_of(value)
        found[name] = f"base64:{text}" if encoding == "base64" else text or ""
    return found


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


async def publish(call: Call, name: str, records: Sequence[Record], client: str, timeout_ms: int) -> BatchPublished:
    """Publish `records` to a topic or queue, in their order; what became of each.

    Where all had the same error, raises it. Raises UNKNOWN_TOPIC_OR_PARTITION, MALFORMED_REQUEST, CLOSED.
    """
    messages = [message_of(record) for record in records]
    call.took(len(messages))
    await auto_create(call, name)
    broker, count = call.broker, len(messages)
    placed: list[Placed | None] = [None] * count
    errors: list[BrokerError] = []
    replies: list[tuple[list[int], Reply[Published | None]]] = []

    def offer(now_ns: int, partition: int | None, places: list[int]) -> None:
        batch = messages if len(places) == count else [messages[place] for place in places]
        deadline_ns = now_ns + timeout_ms * NS_PER_MS
        try:
            reply = broker.publish_batch(now_ns, name, partition, batch, client=client, deadline_ns=deadline_ns)
        except BrokerError as error:
            if len(places) > 1:
                # None of them is stored, and what is wrong with one of them says nothing of the others.
                for place in places:
                    offer(now_ns, partition, [place])
                return
            reply = Reply()
            reply.fail(_blamed(error, call, name, partition))
        replies.append((places, reply))

    def offer_all(now_ns: int) -> None:
        for partition, places in _grouped(call, name, records, messages):
            offer(now_ns, partition, places)

    call.host.call(offer_all)
    for places, reply in replies:
        try:
            published = await _published(call, name, reply, timeout_ms)
        except BrokerError as error:
            errors.append(error)
            for place in places:
                placed[place] = Placed(
                    status=error.code.name, partition=None, offset=None, possibly_stored=error.possibly_stored or UNSET
                )
            continue
        for index, place in enumerate(places):
            placed[place] = _placed(name, published, index)
    failed = sum(len(places) for places, reply in replies if reply.error is not None)
    if failed == count and len({error.code for error in errors}) == 1:
        raise errors[0]
    return BatchPublished(count=count, failed=failed, messages=[each for each in placed if each is not None])


async def auto_create(call: Call, name: str) -> None:
    """Create a missing topic where the host does that by itself. Raises INVALID_TOPIC."""
    if call.host.config.auto_create_partitions and name not in call.broker.topic_names():
        await call.slow(lambda: call.host.ensure_topic(name))


def _grouped(
    call: Call, name: str, records: Sequence[Record], messages: Sequence[Message]
) -> list[tuple[int | None, list[int]]]:
    """(partition, places in the request) of what may be published together: by partition, or one by one."""
    broker = call.broker
    if len(messages) == 1:
        return [(records[0].partition, [0])]
    if not broker.takes_batches(name):
        return [(record.partition, [place]) for place, record in enumerate(records)]
    if broker.partition_count(name) == 1 and all(record.partition is None for record in records):
        return [(0, list(range(len(messages))))]
    partitioner, partitions = broker.partitions_by_key(name), broker.partition_count(name)
    found: dict[int, list[int]] = {}
    for place, (record, message) in enumerate(zip(records, messages, strict=True)):
        number = record.partition
        if number is None:
            number = (
                broker.partition_for(name, message)
                if partitioner is None
                else partitioner.choose(message.key, partitions)
            )
        found.setdefault(number, []).append(place)
    return list(found.items())


async def _published(call: Call, name: str, reply: Reply[Published | None], timeout_ms: int) -> Published | None:
    def withdraw(waiting: Reply[Published | None]) -> None:
        # Nobody waits for the answer any more.
        call.broker.withdraw(call.host.now_ns, name, waiting)

    try:
        return await call.wait(reply, withdraw, timeout_ms / 1_000 + SPARE_S)
    except TimeoutError:
        # The broker's time stands still, or its disk does.
        return call.host.call(lambda now_ns: _withdrawn(call, now_ns, name, reply, timeout_ms))


def _withdrawn(call: Call, now_ns: int, name: str, reply: Reply[Published | None], timeout_ms: int) -> Published | None:
    """What came of a message after all. Raises REQUEST_TIMED_OUT, which says whether it may still be stored."""
    withdrawn = call.broker.withdraw(now_ns, name, reply)
    if reply.done and not withdrawn:
        return reply.result()
    fate = "it is withdrawn, and not stored" if withdrawn else "it may be stored all the same"
    about = f"a message for {name}, after {timeout_ms} ms; {fate}"
    error = BrokerError(ErrorCode.REQUEST_TIMED_OUT, about, possibly_stored=not withdrawn)
    reply.fail(error)
    raise error


def _blamed(error: BrokerError, call: Call, name: str, partition: int | None) -> BrokerError:
    """The topic is there: what is not is the partition, which the body names and not the path."""
    if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and partition is not None:
        count = call.broker.partition_count(name)
        return BrokerError(ErrorCode.INVALID_REQUEST, f"{name} has no partition {partition}, but {count}, from 0 on")
    return error


def _placed(name: str, published: Published | None, index: int) -> Placed:
    if published is None:
        return Placed(status="dropped", partition=None, offset=None)
    status = "stored" if published.topic == name else "dead-lettered"
    return Placed(status=status, partition=published.partition, offset=published.offset + index)
