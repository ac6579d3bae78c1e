from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, KafkaOnlyError, Later, api, outcome, outcomes, paced
from broker_core.listeners.kafka.configs import SOURCE_TOPIC, setting_rows, topic_defaults
from broker_core.listeners.kafka.one_broker import check_replicas
from broker_core.listeners.kafka.setting_table import TOPIC_SETTINGS
from broker_core.operations.topics import AddPartitions, CreateTopic, DeleteRecords, DeleteTopic, LogSettings

if TYPE_CHECKING:
    from kio.schema.create_partitions.v3.request import CreatePartitionsRequest
    from kio.schema.create_topics.v7.request import CreateTopicsRequest
    from kio.schema.delete_records.v2.request import DeleteRecordsRequest
    from kio.schema.delete_topics.v6.request import DeleteTopicsRequest

_SAID_OF_SETTINGS = ("name", "value", "read_only", "config_source")
_END = -1  # of a partition
_FIRST_WITH_IDS = 6


@api("CreateTopics", 19, 2, 7)
def _create_topics(call: Call, request: CreateTopicsRequest) -> Answer:
    """Topics with partitions and settings by Kafka's names.

    There is one broker, so the replication factor is 1 (or -1), and every replica is assigned to it.
    """
    return _changed(call, "topics", _create, request, configs=())


def _changed(
    call: Call, field: str, change: Callable[[Call, Any, bool], object], request: Any, **more: object
) -> Later:
    def row(asked: Any) -> Body:
        return outcome(change, call, asked, request.validate_only, name=asked.name, **more)

    return call.later(field, row, request.topics)


def _create(call: Call, asked: Any, validate_only: bool) -> dict[str, Any]:
    name, host = asked.name, call.context.host
    call.must(ADMIN, "topic", name)
    call.broker.logs.check_new(name)
    _check_collision(call, name)
    settings = [(each.name, each.value) for each in asked.configs]
    usual, chosen = topic_defaults(call), TOPIC_SETTINGS.chosen({}, settings)
    log = TOPIC_SETTINGS.on(usual, usual, chosen, settings)
    partitions = max(1, call.context.create_topics) if asked.num_partitions == -1 else asked.num_partitions
    if asked.assignments:
        if (asked.num_partitions, asked.replication_factor) != (-1, -1):
            why = "replicas are assigned, so the numbers of partitions and replicas must be -1"
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
        partitions = len(asked.assignments)
        if sorted(each.partition_index for each in asked.assignments) != [*range(partitions)]:
            raise KafkaOnlyError(KafkaError.invalid_replica_assignment, "the partitions are not numbered from 0")
        for each in asked.assignments:
            check_replicas(each.broker_ids)
    if asked.replication_factor not in {-1, 1}:
        why = f"{asked.replication_factor}, but there is only one broker; use 1"
        raise BrokerError(ErrorCode.INVALID_REPLICATION_FACTOR, why)

    def create(now_ns: int) -> None:
        if not validate_only:
            call.handle(now_ns, CreateTopic(name=name, partitions=partitions, log=LogSettings.of(log)))
            call.broker.logs.topic(name).kafka_settings = chosen
        else:
            call.broker.logs.check_new(name, partitions)

    host.admin(create)
    rows = setting_rows(TOPIC_SETTINGS, chosen, log, usual, SOURCE_TOPIC)
    return {
        "topic_id": call.topic_id(name),
        "num_partitions": partitions,
        "replication_factor": 1,
        "configs": [{field: row[field] for field in _SAID_OF_SETTINGS} for row in rows],
    }


def _check_collision(call: Call, name: str) -> None:
    """Raises INVALID_TOPIC_EXCEPTION where only "." and "_" differ, which metrics of Kafka cannot tell apart."""
    alike = name.replace(".", "_")
    if "_" not in alike:
        return
    for other in call.broker.topics.names():
        if other != name and other.replace(".", "_") == alike:
            raise KafkaOnlyError(KafkaError.invalid_topic_exception, f"topic {name} collides with {other}")


@api("CreatePartitions", 37, 0, 3)
def _create_partitions(call: Call, request: CreatePartitionsRequest) -> Answer:
    """More partitions for topics; keys may land elsewhere from then on."""
    return _changed(call, "results", _add, request)


def _add(call: Call, asked: Any, validate_only: bool) -> None:
    def add(now_ns: int) -> None:
        present = call.broker.logs.partition_count(asked.name)
        if asked.count <= present:
            raise BrokerError(ErrorCode.INVALID_PARTITIONS, f"{asked.name} has {present} already")
        if asked.assignments is not None:
            if len(asked.assignments) != asked.count - present:
                why = f"{asked.count - present} partitions are added, and {len(asked.assignments)} are assigned"
                raise KafkaOnlyError(KafkaError.invalid_replica_assignment, why)
            for each in asked.assignments:
                check_replicas(each.broker_ids)
        if not validate_only:
            call.handle(now_ns, AddPartitions(topic=asked.name, total=asked.count))

    call.must(ADMIN, "topic", asked.name)
    call.context.host.admin(add)


@api("DeleteTopics", 20, 1, 6)
def _delete_topics(call: Call, request: DeleteTopicsRequest) -> Answer:
    """Topics go with their messages and with what groups have committed or acquired of them."""

    def delete(name: str | None, topic_id: Any) -> Body:
        name = call.topic_with(topic_id) if name is None else name
        return outcome(_delete_topic, call, name, name=name, topic_id=topic_id)

    if call.version < _FIRST_WITH_IDS:
        older: Any = request
        return call.later("responses", lambda name: delete(name, None), older.topic_names)
    return call.later("responses", lambda each: delete(each.name, each.topic_id), request.topics)


def _delete_topic(call: Call, name: str | None) -> dict[str, Any]:
    if name is None:
        raise KafkaOnlyError(KafkaError.unknown_topic_id, "the topic id is not known")
    call.must(ADMIN, "topic", name)
    topic_id = call.topic_id(name)
    call.ask(DeleteTopic(topic=name))
    return {"topic_id": topic_id}


@api("DeleteRecords", 21, 0, 2)
def _delete_records(call: Call, request: DeleteRecordsRequest) -> Answer:
    """The oldest messages of partitions go; -1 is the end."""
    rows = outcomes(request.topics, partial(_delete_before, call), low_watermark=-1)
    return Later(lambda: {"topics": [*paced(rows)]})


def _delete_before(call: Call, name: str, asked: Any) -> dict[str, Any]:
    def delete(now_ns: int) -> int:
        call.must_topic(ADMIN, name)
        number = asked.partition_index
        log = call.broker.logs.partition(name, number)
        if asked.offset < _END:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{asked.offset} in {log.name}")
        if "delete" not in log.config.cleanup:
            raise KafkaOnlyError(KafkaError.policy_violation, f"cleanup.policy of {name} does not name delete")
        before = log.high_watermark if asked.offset == _END else asked.offset
        return call.handle(now_ns, DeleteRecords(topic=name, before={str(number): before}))[str(number)]

    return {"low_watermark": call.context.host.admin(delete)}
