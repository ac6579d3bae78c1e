"""The mini broker's endpoints: the same paths, bodies and codes, on this broker. `/v1` has everything else."""

from __future__ import annotations

import secrets
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import HttpCall, Routes
from broker_core.listeners.http.routes.publishing import publish
from broker_core.messages import StoredMessage
from broker_core.operations import fields
from broker_core.operations.entry import READ, WRITE, Right
from broker_core.operations.fields import Encoding
from broker_core.operations.messages import Record
from broker_core.operations.request import Result
from broker_core.operations.topics import CreateTopic
from broker_core.operations.values import shown_pair

# Shorter than the usual timeout of HTTP clients, so that they get an answer: 429, and try again.
PRODUCE_TIMEOUT_MS = 2_000

TimeoutMs = Annotated[int, Meta(ge=0, le=60_000, description="How long to wait if there are no messages, or no room")]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A body. What is not known in it is passed over, as the mini broker does."""


class Welcome(Result, frozen=True, kw_only=True):
    message: str


class Health(Result, frozen=True, kw_only=True):
    status: Literal["ok"] = "ok"


class RegisterTopic(Asked, frozen=True, kw_only=True):
    """A topic that is to be there; `partitions` counts for a new one."""

    topic: fields.NewName
    partitions: fields.PartitionCount = 1


class TopicRegistered(Result, frozen=True, kw_only=True):
    status: str
    topic: str


class RegisterProducer(Asked, frozen=True, kw_only=True):
    topic: fields.NewName
    producer_id: fields.Client | None = None


class ProducerRegistered(TopicRegistered, frozen=True, kw_only=True):
    """The producer's id, made up if none was given."""

    producer_id: str


class RegisterConsumer(Asked, frozen=True, kw_only=True):
    """A consumer of a topic, which is created if it is missing.

    With `reset` it begins again at the start. Without `auto_commit` it says by /commit what it has done, and gets the
    rest again after a restart of the broker.
    """

    topic: fields.NewName
    consumer_id: fields.Name | None = None
    reset: bool = False
    auto_commit: bool = True


class ConsumerRegistered(TopicRegistered, frozen=True, kw_only=True):
    """The consumer's id, made up if none was given."""

    consumer_id: str


class Produce(Asked, frozen=True, kw_only=True):
    """One message. A `value` that is no string is stored as JSON; with `encoding` base64, value and key are bytes.

    It waits `timeout_ms` for room in a topic that blocks.
    """

    topic: fields.Name
    value: fields.JsonValue
    key: str | None = None
    encoding: fields.Encoding = "text"
    partition: fields.Partition | None = None
    producer_id: fields.Client = ""
    timeout_ms: TimeoutMs = PRODUCE_TIMEOUT_MS


class Produced(Result, frozen=True, kw_only=True):
    """Where the message is. `status` is ok; dropped (by the topic's flow policy); or dead-lettered (by its schema)."""

    status: Literal["ok", "dropped", "dead-lettered"]
    offset: int | None
    partition: int | None


class Consume(Asked, frozen=True, kw_only=True):
    """The next message, or, with `max_messages`, a list of them; it waits `timeout_ms` for one to come."""

    consumer_id: fields.Name
    max_messages: fields.MaxMessages | None = None
    timeout_ms: TimeoutMs = 0
    encoding: fields.Encoding = "text"


class Consumed(Result, frozen=True, kw_only=True):
    """A message. `encoding` is there where value and key are Base64; `partition` if the topic has several."""

    topic: str
    offset: int
    value: fields.JsonValue
    key: str | None
    encoding: fields.Encoding | UnsetType = UNSET
    partition: int | UnsetType = UNSET


class ConsumedMany(Result, frozen=True, kw_only=True):
    messages: list[Consumed]


class Commit(Asked, frozen=True, kw_only=True):
    """Everything that the consumer was given is done; or, with `offset`, everything below it in `partition`."""

    consumer_id: fields.Name
    offset: fields.Offset | None = None
    partition: fields.Partition = 0


class Committed(Result, frozen=True, kw_only=True):
    """On the disk, as durable as the broker is: the offset that is read next, by partition."""

    status: Literal["ok"] = "ok"
    consumer_id: str
    offsets: dict[str, int]


class ConsumerStats(Result, frozen=True, kw_only=True):
    """How many messages the consumer has got past: with one partition, the offset that it reads next."""

    topic: str
    offset: int


class Stats(Result, frozen=True, kw_only=True):
    topics: dict[str, fields.Count]
    consumers: dict[str, ConsumerStats]


routes = Routes("Mini broker")

CONSUMED = (Consumed, ConsumedMany)


@routes("GET", "/", Welcome, open=True)
async def welcome(_call: HttpCall) -> Welcome:
    """The name of the broker."""
    return Welcome(message="Brokerscope is running; see /docs for what it can do")


@routes("GET", "/health", Health, open=True)
async def health(_call: HttpCall) -> Health:
    """Say that the broker is there."""
    return Health()


@routes("POST", "/topics/register", TopicRegistered, body=RegisterTopic, errors=(409,))
async def register_topic(call: HttpCall) -> TopicRegistered:
    """Create a topic if it is not there yet.

    Registering it again changes nothing.
    """
    body = await call.body(RegisterTopic)
    call.must(WRITE, "topic", body.topic)
    created = await ensure(call, body.topic, body.partitions)
    return TopicRegistered(status="created" if created else "exists", topic=body.topic)


@routes("POST", "/producers/register", ProducerRegistered, body=RegisterProducer, errors=(409,))
async def register_producer(call: HttpCall) -> ProducerRegistered:
    """Name a producer, and create its topic if it is not there yet."""
    body = await call.body(RegisterProducer)
    call.must(WRITE, "topic", body.topic)
    await ensure(call, body.topic)
    producer_id = body.producer_id or f"producer-{secrets.token_hex(6)}"
    call.named(producer_id)
    return ProducerRegistered(status="registered", topic=body.topic, producer_id=producer_id)


@routes("POST", "/consumers/register", ConsumerRegistered, body=RegisterConsumer, errors=(409,))
async def register_consumer(call: HttpCall) -> ConsumerRegistered:
    """Name a consumer of a topic, which is created if it is not there yet.

    A new consumer starts at the beginning; one that is registered again keeps its place, unless it asks for `reset`.
    """
    body = await call.body(RegisterConsumer)
    name = body.consumer_id or f"consumer-{secrets.token_hex(6)}"
    call.must(READ, "topic", body.topic)
    call.must(READ, "group", name)
    if body.topic not in call.host.call(lambda _now: call.broker.topics.names()):
        call.must(WRITE, "topic", body.topic)
        await ensure(call, body.topic)
    call.context.consumers.register(name, body.topic, reset=body.reset, auto_commit=body.auto_commit)
    await call.wait(call.host.durable())
    call.named(name)
    return ConsumerRegistered(status="registered", topic=body.topic, consumer_id=name)


@routes("POST", "/produce", Produced, body=Produce, errors=(404, 409))
async def produce(call: HttpCall) -> Produced:
    """Publish one message.

    It is answered when the message is as durable as the broker promises. Under backpressure, if no room comes in
    `timeout_ms`, the answer is 429, with the time to wait in Retry-After.
    """
    body = await call.body(Produce)
    call.must_have(Right(WRITE, "topic or queue", "topic"), {"topic": body.topic})
    record = Record(value=body.value, key=body.key, encoding=body.encoding, partition=body.partition)
    done = await publish(call, body.topic, [record], call.named(body.producer_id), call.wait_ms(body.timeout_ms))
    placed = done.messages[0]
    status = "ok" if placed.status == "stored" else "dropped" if placed.status == "dropped" else "dead-lettered"
    return Produced(status=status, offset=placed.offset, partition=placed.partition)  # type: ignore[arg-type]


@routes("POST", "/consume", CONSUMED, body=Consume, empty=True, errors=(404, 409))
async def consume(call: HttpCall) -> Consumed | ConsumedMany | Response:
    """Get the next message of a consumer, or, with `max_messages`, the next ones.

    If nothing is there, and nothing comes in `timeout_ms`, the answer is 204 without a body.
    """
    body = await call.body(Consume)
    call.must(READ, "group", body.consumer_id)
    consumer = call.context.consumers.find(body.consumer_id)
    call.must(READ, "topic", consumer.topic)
    call.named(body.consumer_id)
    found = await consumer.consume(call.wait, body.max_messages or 1, call.wait_ms(body.timeout_ms))
    call.connection.messages_out += len(found)
    if not found:
        return Response(status_code=204)
    several = len(consumer.offsets) > 1
    messages = [consumed(message, body.encoding, several) for message in found]
    return messages[0] if body.max_messages is None else ConsumedMany(messages=messages)


@routes("POST", "/commit", Committed, body=Commit, errors=(404, 409))
async def commit(call: HttpCall) -> Committed:
    """Commit what a consumer has done; answered when that is kept."""
    body = await call.body(Commit)
    call.must(READ, "group", body.consumer_id)
    consumer = call.context.consumers.find(body.consumer_id)
    if body.offset is None:
        consumer.commit()
    else:
        consumer.commit_offsets({body.partition: body.offset})
    await call.wait(call.host.durable())

    def look(_now: int) -> dict[str, int]:
        places = range(call.broker.logs.partition_count(consumer.topic))
        found = {number: call.broker.groups.committed(consumer.name, consumer.topic, number) for number in places}
        return {str(number): offset for number, offset in found.items() if offset is not None}

    return Committed(consumer_id=body.consumer_id, offsets=call.host.call(look))


@routes("GET", "/stats", Stats)
async def stats(call: HttpCall) -> Stats:
    """How many messages each topic holds, and where each consumer is."""

    def look(now_ns: int) -> dict[str, int]:
        views = [call.broker.views.topic(now_ns, name) for name in call.broker.topics.names()]
        return {view.name: sum(each.messages_count for each in view.partitions) for view in views}

    topics = call.host.call(look)
    consumers = {
        each.name: ConsumerStats(topic=each.topic, offset=sum(each.offsets.values()))
        for each in call.context.consumers.all()
        if call.may(READ, "group", each.name)
    }
    return Stats(
        topics={name: count for name, count in topics.items() if call.may(READ, "topic", name)}, consumers=consumers
    )


async def ensure(call: HttpCall, topic: str, partitions: int = 1) -> bool:
    """Create `topic` if it is missing; False if it exists. Raises TOPIC_ALREADY_EXISTS for a queue's name."""
    if topic in call.host.call(lambda _now: call.broker.topics.names()):
        return False
    try:
        await call.ask(CreateTopic(name=topic, partitions=partitions))
    except BrokerError as error:
        if error.code is ErrorCode.TOPIC_ALREADY_EXISTS and topic in call.broker.topics:
            return False  # another request was faster
        raise
    return True


def consumed(message: StoredMessage, wanted: Encoding, several: bool) -> Consumed:
    value, key, encoding = shown_pair(message, wanted)
    return Consumed(
        topic=message.topic,
        offset=message.offset,
        value=value,
        key=key,
        encoding=UNSET if encoding == "text" else encoding,
        partition=message.partition if several else UNSET,
    )
