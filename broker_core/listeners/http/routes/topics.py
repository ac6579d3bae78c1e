"""Topics: what there is, their settings, and messages by the batch."""

from __future__ import annotations

from broker_core.listeners.http.context import ADMIN, READ, WRITE, Call
from broker_core.listeners.http.messages import publish, shown
from broker_core.listeners.http.models import topics as shapes
from broker_core.listeners.http.models.basics import Name, Partition
from broker_core.listeners.http.routing import Operations
from broker_core.log.config import LogConfig
from broker_core.messages import StoredMessage
from broker_core.schemas.rule import SchemaRule

operation = Operations("Topics")


@operation("GET", "/v1/topics", shapes.TopicsAnswer)
async def list_topics(call: Call) -> shapes.TopicsAnswer:
    """All topics that the caller may read."""

    def look(now_ns: int) -> list[shapes.TopicAnswer]:
        names = [name for name in call.broker.topic_names() if call.may(READ, "topic", name)]
        return [shapes.TopicAnswer.of(call.broker.topic_view(now_ns, name)) for name in names]

    return shapes.TopicsAnswer(topics=call.host.call(look))


@operation("POST", "/v1/topics", shapes.TopicAnswer, status=201, body=shapes.CreateTopic, errors=(404, 409))
async def create_topic(call: Call) -> shapes.TopicAnswer:
    """Create a topic."""
    body = await call.body(shapes.CreateTopic)
    call.must(ADMIN, "topic", body.name)
    await call.slow(
        lambda: call.context.admin.create_topic(
            body.name,
            body.partitions,
            partitioner=body.partitioner,
            log=body.log.on(call.host.config.log),
            flow=None if body.flow is None else body.flow.config(),
            schema=None if body.rule is None else body.rule.rule(),
        )
    )
    return _described(call, body.name)


@operation("GET", "/v1/topics/{topic}", shapes.TopicAnswer)
async def describe_topic(call: Call) -> shapes.TopicAnswer:
    """A topic's partitions, counters and backpressure."""
    name = call.name_of("topic", READ)
    return _described(call, name)


@operation("DELETE", "/v1/topics/{topic}", status=204, errors=(409,))
async def delete_topic(call: Call) -> None:
    """Delete a topic, its messages, and what groups have committed for it."""
    name = call.name_of("topic", ADMIN)
    await call.slow(lambda: call.context.admin.delete_topic(name))


@operation("GET", "/v1/topics/{topic}/config", shapes.TopicConfigAnswer)
async def topic_config(call: Call) -> shapes.TopicConfigAnswer:
    """How a topic's log is kept."""
    name = call.name_of("topic", READ)
    return shapes.TopicConfigAnswer.of(call.context.admin.topic_config(name))


@operation("PATCH", "/v1/topics/{topic}/config", shapes.TopicConfigAnswer, body=shapes.ConfigureTopic, errors=(409,))
async def configure_topic(call: Call) -> shapes.TopicConfigAnswer:
    """Change how a topic is kept, and how much it takes.

    Retention (`retention_ms`, `retention_bytes`) is applied about once a second.
    """
    name = call.name_of("topic", ADMIN)
    body = await call.body(shapes.ConfigureTopic)

    def configure() -> LogConfig:
        admin = call.context.admin
        flow = None if body.flow is None else body.flow.config()
        admin.configure_topic(name, log=body.log.on(admin.topic_config(name)), flow=flow)
        return admin.topic_config(name)

    return shapes.TopicConfigAnswer.of(await call.slow(configure))


@operation("POST", "/v1/topics/{topic}/partitions", shapes.TopicAnswer, body=shapes.AddPartitions, errors=(409,))
async def add_partitions(call: Call) -> shapes.TopicAnswer:
    """Give a topic more partitions; keys may land elsewhere from then on."""
    name = call.name_of("topic", ADMIN)
    body = await call.body(shapes.AddPartitions)
    await call.slow(lambda: call.context.admin.create_partitions(name, body.total))
    return _described(call, name)


@operation("POST", "/v1/topics/{topic}/delete-records", shapes.RecordsDeleted, body=shapes.DeleteRecords, errors=(409,))
async def delete_records(call: Call) -> shapes.RecordsDeleted:
    """Delete the oldest messages of a topic, up to an offset."""
    name = call.name_of("topic", ADMIN)
    body = await call.body(shapes.DeleteRecords)
    before = {int(number): offset for number, offset in body.before.items()}
    call.context.admin.describe_topic(name)
    starts = await call.slow(lambda: call.context.admin.delete_records(name, before))
    return shapes.RecordsDeleted(start_offsets={str(number): offset for number, offset in starts.items()})


@operation("PUT", "/v1/topics/{topic}/schema-rule", status=204, body=shapes.Rule, errors=(409,))
async def set_schema_rule(call: Call) -> None:
    """Let a topic take only values that a subject's schema accepts."""
    name = call.name_of("topic", ADMIN)
    await _set_rule(call, name, (await call.body(shapes.Rule)).rule())


@operation("DELETE", "/v1/topics/{topic}/schema-rule", status=204, errors=(409,))
async def remove_schema_rule(call: Call) -> None:
    """Let a topic take any value."""
    name = call.name_of("topic", ADMIN)
    await _set_rule(call, name, None)


@operation("POST", "/v1/topics/{topic}/messages", shapes.BatchPublished, body=shapes.PublishBatch, errors=(409,))
async def publish_batch(call: Call) -> shapes.BatchPublished:
    """Publish many messages in one request, to a topic or a queue.

    They are answered together, when all are as durable as the broker promises. What has an error says so in its status;
    where all have the same one, that is the answer.
    """
    name = call.path("topic", Name)
    call.must_log(WRITE, name)
    body = await call.body(shapes.PublishBatch)
    client = call.named(body.producer_id)
    return await publish(call, name, body.messages, client, call.wait_ms(body.timeout_ms))


@operation(
    "GET",
    "/v1/topics/{topic}/partitions/{partition}/messages",
    shapes.MessagesAnswer,
    query=shapes.ReadQuery,
    errors=(409,),
)
async def read_messages(call: Call) -> shapes.MessagesAnswer:
    """Look at messages of a partition from an offset on, without being a consumer: nothing is committed or counted.

    An offset that retention has passed begins with the first one that is still there.
    """
    name, partition = call.path("topic", Name), call.path("partition", Partition)
    call.must_log(READ, name)
    query = call.query(shapes.ReadQuery)

    def read(_now: int) -> tuple[list[StoredMessage], int]:
        log = call.broker.partition(name, partition)
        start = max(query.offset, log.start_offset)
        return log.read(start, max_messages=query.max_messages, max_bytes=query.max_bytes), log.high_watermark

    found, end_offset = call.host.call(read)
    call.gave(len(found))
    return shapes.MessagesAnswer(
        messages=[shown(message, query.encoding) for message in found],
        next_offset=found[-1].offset + 1 if found else query.offset,
        end_offset=end_offset,
    )


def _described(call: Call, name: str) -> shapes.TopicAnswer:
    return shapes.TopicAnswer.of(call.context.admin.describe_topic(name))


async def _set_rule(call: Call, name: str, rule: SchemaRule | None) -> None:
    await call.slow(lambda: call.context.schemas.set_rule(name, rule))
