"""The mini broker's endpoints: the same paths, bodies and codes, on this broker."""

from __future__ import annotations

import secrets

from msgspec import UNSET
from starlette.responses import Response

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import HttpCall, Routes
from broker_core.listeners.http.routes import mini_broker_models as models
from broker_core.listeners.http.routes.publishing import publish
from broker_core.messages import StoredMessage
from broker_core.operations.entry import READ, WRITE, Right
from broker_core.operations.fields import Encoding
from broker_core.operations.messages import Record
from broker_core.operations.topics import CreateTopic
from broker_core.operations.values import shown_pair

routes = Routes("Mini broker")

CONSUMED = (models.Consumed, models.ConsumedMany)


@routes("GET", "/", models.Welcome, open=True)
async def welcome(_call: HttpCall) -> models.Welcome:
    """The name of the broker."""
    return models.Welcome(message="Brokerscope is running; see /docs for what it can do")


@routes("GET", "/health", models.Health, open=True)
async def health(_call: HttpCall) -> models.Health:
    """Say that the broker is there."""
    return models.Health()


@routes("POST", "/topics/register", models.TopicRegistered, body=models.RegisterTopic, errors=(409,))
async def register_topic(call: HttpCall) -> models.TopicRegistered:
    """Create a topic if it is not there yet.

    Registering it again changes nothing.
    """
    body = await call.body(models.RegisterTopic)
    call.must(WRITE, "topic", body.topic)
    created = await ensure(call, body.topic, body.partitions)
    return models.TopicRegistered(status="created" if created else "exists", topic=body.topic)


@routes("POST", "/producers/register", models.ProducerRegistered, body=models.RegisterProducer, errors=(409,))
async def register_producer(call: HttpCall) -> models.ProducerRegistered:
    """Name a producer, and create its topic if it is not there yet."""
    body = await call.body(models.RegisterProducer)
    call.must(WRITE, "topic", body.topic)
    await ensure(call, body.topic)
    producer_id = body.producer_id or f"producer-{secrets.token_hex(6)}"
    call.named(producer_id)
    return models.ProducerRegistered(status="registered", topic=body.topic, producer_id=producer_id)


@routes("POST", "/consumers/register", models.ConsumerRegistered, body=models.RegisterConsumer, errors=(409,))
async def register_consumer(call: HttpCall) -> models.ConsumerRegistered:
    """Name a consumer of a topic, which is created if it is not there yet.

    A new consumer starts at the beginning; one that is registered again keeps its place, unless it asks for `reset`.
    """
    body = await call.body(models.RegisterConsumer)
    name = body.consumer_id or f"consumer-{secrets.token_hex(6)}"
    call.must(READ, "topic", body.topic)
    call.must(READ, "group", name)
    if body.topic not in call.host.call(lambda _now: call.broker.topics.names()):
        call.must(WRITE, "topic", body.topic)
        await ensure(call, body.topic)
    call.context.consumers.register(name, body.topic, reset=body.reset, auto_commit=body.auto_commit)
    await call.wait(call.host.kept())
    call.named(name)
    return models.ConsumerRegistered(status="registered", topic=body.topic, consumer_id=name)


@routes("POST", "/produce", models.Produced, body=models.Produce, errors=(404, 409))
async def produce(call: HttpCall) -> models.Produced:
    """Publish one message.

    It is answered when the message is as durable as the broker promises. Under backpressure, if no room comes in
    `timeout_ms`, the answer is 429, with the time to wait in Retry-After.
    """
    body = await call.body(models.Produce)
    call.must_have(Right(WRITE, "topic or queue", "topic"), {"topic": body.topic})
    record = Record(value=body.value, key=body.key, encoding=body.encoding, partition=body.partition)
    done = await publish(call, body.topic, [record], call.named(body.producer_id), call.wait_ms(body.timeout_ms))
    placed = done.messages[0]
    status = "ok" if placed.status == "stored" else "dropped" if placed.status == "dropped" else "dead-lettered"
    return models.Produced(status=status, offset=placed.offset, partition=placed.partition)  # type: ignore[arg-type]


@routes("POST", "/consume", CONSUMED, body=models.Consume, empty=True, errors=(404, 409))
async def consume(call: HttpCall) -> models.Consumed | models.ConsumedMany | Response:
    """Get the next message of a consumer, or, with `max_messages`, the next ones.

    If nothing is there, and nothing comes in `timeout_ms`, the answer is 204 without a body.
    """
    body = await call.body(models.Consume)
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
    return messages[0] if body.max_messages is None else models.ConsumedMany(messages=messages)


@routes("POST", "/commit", models.Committed, body=models.Commit, errors=(404, 409))
async def commit(call: HttpCall) -> models.Committed:
    """Commit what a consumer has done; answered when that is kept."""
    body = await call.body(models.Commit)
    call.must(READ, "group", body.consumer_id)
    consumer = call.context.consumers.find(body.consumer_id)
    if body.offset is None:
        consumer.commit()
    else:
        consumer.commit_offsets({body.partition: body.offset})
    await call.wait(call.host.kept())

    def look(_now: int) -> dict[str, int]:
        places = range(call.broker.logs.partition_count(consumer.topic))
        found = {number: call.broker.groups.committed(consumer.name, consumer.topic, number) for number in places}
        return {str(number): offset for number, offset in found.items() if offset is not None}

    return models.Committed(consumer_id=body.consumer_id, offsets=call.host.call(look))


@routes("GET", "/stats", models.Stats)
async def stats(call: HttpCall) -> models.Stats:
    """How many messages each topic holds, and where each consumer is."""

    def look(now_ns: int) -> dict[str, int]:
        views = [call.broker.views.topic(now_ns, name) for name in call.broker.topics.names()]
        return {view.name: sum(each.messages_count for each in view.partitions) for view in views}

    topics = call.host.call(look)
    consumers = {
        each.name: models.ConsumerStats(topic=each.topic, offset=sum(each.offsets.values()))
        for each in call.context.consumers.all()
        if call.may(READ, "group", each.name)
    }
    return models.Stats(
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


def consumed(message: StoredMessage, wanted: Encoding, several: bool) -> models.Consumed:
    value, key, encoding = shown_pair(message, wanted)
    return models.Consumed(
        topic=message.topic,
        offset=message.offset,
        value=value,
        key=key,
        encoding=UNSET if encoding == "text" else encoding,
        partition=message.partition if several else UNSET,
    )
