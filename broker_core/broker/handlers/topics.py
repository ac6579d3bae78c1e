from __future__ import annotations

from broker_core.broker.broker import Broker, Handlers
from broker_core.operations import messages, topics
from broker_core.snapshots import TopicView


def _create_topic(broker: Broker, now_ns: int, request: topics.CreateTopic, _client: str) -> TopicView:
    broker.topics.create(
        now_ns,
        request.name,
        request.partitions,
        partitioner=request.partitioner,
        log=request.log.on(broker.logs.config),
        flow=request.flow,
        schema=request.rule,
    )
    return broker.views.topic(now_ns, request.name)


def _delete_topic(broker: Broker, now_ns: int, request: topics.DeleteTopic, _client: str) -> None:
    shared = broker.share_groups.queues_over(request.topic)
    broker.topics.check_plain(request.topic, "deleted", but=shared)
    for queue in shared:
        broker.queues.delete(now_ns, queue)
    broker.topics.delete(now_ns, request.topic)


def _settings(broker: Broker, now_ns: int, name: str) -> topics.TopicSettings:
    views = broker.views
    return topics.TopicSettings(
        log=broker.topics.config(name),
        partitioner=broker.topics.partitioner_kind(name),
        rule=broker.schemas.rule(name),
        flow=broker.backpressure.config(name),
        gate=views.queue(now_ns, name, 0, 0).gate if name in broker.queues else views.topic(now_ns, name).gate,
    )


def _configure_topic(broker: Broker, now_ns: int, request: topics.ConfigureTopic, _client: str) -> topics.TopicSettings:
    before = broker.topics.config(request.topic)
    broker.topics.configure(
        now_ns,
        request.topic,
        log=None if request.log == topics.LogSettings() else request.log.on(before),
        flow=request.flow,
        cause=request.sentence,
    )
    return _settings(broker, now_ns, request.topic)


def _add_partitions(broker: Broker, now_ns: int, request: topics.AddPartitions, _client: str) -> TopicView:
    broker.topics.add_partitions(now_ns, request.topic, request.total)
    return broker.views.topic(now_ns, request.topic)


def _delete_records(broker: Broker, now_ns: int, request: topics.DeleteRecords, _client: str) -> dict[str, int]:
    broker.topics.config(request.topic)  # a topic that is not there has no records, even if none are named
    for number, before in request.before.items():
        broker.logs.partition(request.topic, int(number)).check_delete(before)
    return {
        number: broker.cleaning.delete_records(now_ns, request.topic, int(number), before)
        for number, before in request.before.items()
    }


def _read_messages(
    broker: Broker, _now_ns: int, request: messages.ReadMessages, _client: str
) -> messages.MessagesAnswer:
    log = broker.logs.partition(request.topic, request.partition)
    start = max(request.offset, log.start_offset)
    found = log.read(start, max_messages=request.max_messages, max_bytes=request.max_bytes)
    return messages.MessagesAnswer(
        messages=[messages.MessageAnswer.of(each, request.encoding) for each in found],
        next_offset=found[-1].offset + 1 if found else max(start, log.high_watermark),
        end_offset=log.high_watermark,
    )


HANDLERS: Handlers = {
    topics.ListTopics: lambda b, now_ns, r, _client: [b.views.topic(now_ns, name) for name in b.topics.names()],
    topics.CreateTopic: _create_topic,
    topics.DescribeTopic: lambda b, now_ns, r, _client: b.views.topic(now_ns, r.topic),
    topics.DeleteTopic: _delete_topic,
    topics.TopicConfiguration: lambda b, now_ns, r, _client: _settings(b, now_ns, r.topic),
    topics.ConfigureTopic: _configure_topic,
    topics.AddPartitions: _add_partitions,
    topics.DeleteRecords: _delete_records,
    topics.SetSchemaRule: lambda b, now_ns, r, client: b.schemas.set_rule(now_ns, r.topic, r.rule, client=client),
    topics.RemoveSchemaRule: lambda b, now_ns, r, client: b.schemas.set_rule(now_ns, r.topic, None, client=client),
    messages.ReadMessages: _read_messages,
}
