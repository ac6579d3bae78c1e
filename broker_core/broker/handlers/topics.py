from __future__ import annotations

from broker_core.broker.broker import Broker, Handlers
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import messages, schemas, topics
from broker_core.schemas.compatibility import Compatibility, SchemaKind
from broker_core.schemas.registry import SchemaVersion
from broker_core.snapshots import QueueView, TopicView


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
    view: QueueView | TopicView = (
        views.queue(now_ns, name, 0, 0) if name in broker.queues else views.topic(now_ns, name)
    )
    return topics.TopicSettings(
        log=broker.topics.config(name),
        partitioner=broker.topics.partitioner_kind(name),
        rule=broker.schemas.rule(name),
        flow=broker.backpressure.config(name),
        gate=view.gate,
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
        next_offset=found[-1].offset + 1 if found else request.offset,
        end_offset=log.high_watermark,
    )


def _list_subjects(
    broker: Broker, _now_ns: int, _request: schemas.ListSubjects, _client: str
) -> schemas.SubjectsAnswer:
    registry = broker.schemas.registry
    return schemas.SubjectsAnswer(
        compatibility=registry.compatibility.value,
        subjects=[schemas.SubjectAnswer.of(registry, name) for name in registry.subjects()],
    )


def _set_default_compatibility(
    broker: Broker, now_ns: int, request: schemas.SetDefaultCompatibility, client: str
) -> None:
    broker.schemas.set_compatibility(now_ns, Compatibility[request.mode], client=client)


def _delete_subject(broker: Broker, now_ns: int, request: schemas.DeleteSubject, client: str) -> list[int]:
    permanent = request.permanent
    return list(broker.schemas.delete_subject(now_ns, request.subject, permanent=permanent, client=client))


def _set_compatibility(broker: Broker, now_ns: int, request: schemas.SetCompatibility, client: str) -> None:
    mode = None if request.mode is None else Compatibility[request.mode]
    broker.schemas.set_compatibility(now_ns, mode, request.subject, client=client)


def _register_schema(broker: Broker, now_ns: int, request: schemas.RegisterSchema, client: str) -> SchemaVersion:
    text = request.text
    return broker.schemas.register(
        now_ns, request.subject, text.text, SchemaKind(text.kind), text.references, text.metadata, client=client
    )


def _delete_version(broker: Broker, now_ns: int, request: schemas.DeleteVersion, client: str) -> None:
    broker.schemas.delete_version(now_ns, request.subject, request.version, permanent=request.permanent, client=client)


def _check_schema(broker: Broker, _now_ns: int, request: schemas.CheckSchema, _client: str) -> schemas.CheckAnswer:
    try:
        text = request.text
        found = broker.schemas.registry.check(request.subject, text.text, SchemaKind(text.kind), text.references)
        problems = [str(problem) for problem in found]
    except BrokerError as error:
        if error.code is not ErrorCode.INVALID_SCHEMA:
            raise
        problems = [str(error)]
    return schemas.CheckAnswer(compatible=not problems, problems=problems)


HANDLERS: Handlers = {
    topics.ListTopics: lambda b, now_ns, r, _client: [b.views.topic(now_ns, name) for name in b.topics.names()],
    topics.CreateTopic: _create_topic,
    topics.DescribeTopic: lambda b, now_ns, r, _client: b.views.topic(now_ns, r.topic),
    topics.DeleteTopic: _delete_topic,
    topics.TopicConfig: lambda b, now_ns, r, _client: _settings(b, now_ns, r.topic),
    topics.ConfigureTopic: _configure_topic,
    topics.AddPartitions: _add_partitions,
    topics.DeleteRecords: _delete_records,
    topics.SetSchemaRule: lambda b, now_ns, r, client: b.schemas.set_rule(now_ns, r.topic, r.rule, client=client),
    topics.RemoveSchemaRule: lambda b, now_ns, r, client: b.schemas.set_rule(now_ns, r.topic, None, client=client),
    messages.ReadMessages: _read_messages,
    schemas.ListSubjects: _list_subjects,
    schemas.SetDefaultCompatibility: _set_default_compatibility,
    schemas.DescribeSubject: lambda b, now_ns, r, _client: schemas.SubjectAnswer.of(b.schemas.registry, r.subject),
    schemas.DeleteSubject: _delete_subject,
    schemas.SetCompatibility: _set_compatibility,
    schemas.RegisterSchema: _register_schema,
    schemas.DescribeVersion: lambda b, now_ns, r, _client: b.schemas.registry.version(r.subject, r.version),
    schemas.DeleteVersion: _delete_version,
    schemas.CheckSchema: _check_schema,
    schemas.DiffSchemas: lambda b, now_ns, r, _client: list(
        b.schemas.registry.diff(r.subject, r.before, r.after or "latest")
    ),
}
