"""Topics: described, created, extended and deleted, also in part."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import (
    ADMIN,
    LEADER_EPOCH,
    NO_TOPIC_ID,
    NODE_ID,
    Answer,
    Call,
    KafkaOnlyError,
    Later,
    api,
    kafka_code,
    outcome,
    outcomes,
    paced,
)
from broker_core.listeners.kafka.configs import SOURCE_TOPIC, setting_rows, topic_defaults
from broker_core.listeners.kafka.one_broker import check_replicas
from broker_core.listeners.kafka.setting_table import TOPIC_SETTINGS
from broker_core.names import CLUSTER_ID, check_name
from broker_core.operations.topics import AddPartitions, CreateTopic, DeleteRecords, DeleteTopic, LogSettings

if TYPE_CHECKING:
    from kio.schema.create_partitions.v3.request import CreatePartitionsRequest
    from kio.schema.create_topics.v7.request import CreateTopicsRequest
    from kio.schema.delete_records.v2.request import DeleteRecordsRequest
    from kio.schema.delete_topics.v6.request import DeleteTopicsRequest
    from kio.schema.describe_topic_partitions.v0.request import DescribeTopicPartitionsRequest
    from kio.schema.metadata.v13.request import MetadataRequest

Wanted = tuple[str | None, UUID | None]  # a topic by name or by id


@api("Metadata", 3, 0, 13)
def _metadata(call: Call, request: MetadataRequest) -> Answer:
    """The cluster of one broker, its topics and their partitions.

    Topics that do not exist are created if the listener is told to, and the client asks for it. A work queue is
    described where it is asked for by name, since share groups take from it; dead letters are no topics here. Where
    there are topic ids, names are not looked at: Java sends an empty one beside each id.
    """
    if request.topics is None or (call.version == 0 and not request.topics):
        there = call.broker.topics
        rows = (topic_body(call, name, request) for name in there.names() if call.sees(name) and name in there)
        return call.sliced("topics", rows, **_cluster(call, request))
    # One of each, as in Kafka.
    ids = dict.fromkeys(each.topic_id for each in request.topics if each.topic_id not in {None, NO_TOPIC_ID})
    names = () if ids else dict.fromkeys(each.name for each in request.topics)
    wanted: list[Wanted] = [*((None, each) for each in ids), *((each, None) for each in names)]
    missing = [name for name in names if name and name not in call.broker.topics]
    may_create = call.context.create_topics and request.allow_auto_topic_creation
    if missing and may_create:
        return Later(lambda: _create_missing(call, request, wanted, missing))
    return call.sliced("topics", _described(call, request, wanted), **_cluster(call, request))


def _create_missing(call: Call, request: MetadataRequest, wanted: Sequence[Wanted], missing: Sequence[str]) -> Body:
    """Create missing topics, as far as that is allowed; the response calls the others unknown."""
    with call.context.host.saved_at_end():
        for name in paced(missing):
            if call.may(ADMIN, "topic", name):
                # Another client may have created it, and a name may not be allowed: the response shows both.
                with contextlib.suppress(BrokerError):
                    call.ask(CreateTopic(name=name, partitions=call.context.create_topics))
    return {"topics": call.gathered(_described(call, request, wanted)), **_cluster(call, request)}


def _cluster(call: Call, request: Any) -> Body:
    cluster = {"brokers": [call.this_node], "cluster_id": CLUSTER_ID, "controller_id": NODE_ID}
    if getattr(request, "include_cluster_authorized_operations", False):  # v8 to v10; DescribeCluster since
        cluster["cluster_authorized_operations"] = call.operations("broker")
    return cluster


def _described(call: Call, request: MetadataRequest, wanted: Sequence[Wanted]) -> Iterator[dict[str, Any]]:
    topics, logs = call.broker.topics, call.broker.logs
    for given, topic_id in wanted:
        name = call.topic_with(topic_id, queues=True) if given is None else given
        if name is None:
            yield {"error_code": KafkaError.unknown_topic_id.value, "name": None, "topic_id": topic_id}
            continue
        try:
            call.must_see(name)
            if name not in topics and ((log := logs.get(name)) is None or log.queue is None):
                check_name(name, "topic")
                raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
            yield topic_body(call, name, request)
        except BrokerError as error:
            yield {"error_code": kafka_code(error), "name": name}


# Java reads them without a look whether they are null.
_NOT_ELIGIBLE: Body = {"eligible_leader_replicas": (), "last_known_elr": ()}


def topic_body(call: Call, name: str, request: MetadataRequest | None = None) -> dict[str, Any]:
    """One topic, as this API and DescribeTopicPartitions describe it; what the client may do if the request asks."""
    asks = request is None or request.include_topic_authorized_operations
    more = _NOT_ELIGIBLE if request is None else {}
    return {
        **({"topic_authorized_operations": call.operations("topic", name)} if asks else {}),
        "name": name,
        "topic_id": call.topic_id(name),
        "partitions": [
            {
                "partition_index": number,
                "leader_id": NODE_ID,
                "leader_epoch": LEADER_EPOCH,
                "replica_nodes": (NODE_ID,),
                "isr_nodes": (NODE_ID,),
                **more,
            }
            for number in range(call.broker.logs.partition_count(name))
        ],
    }


_MOST_PARTITIONS = 2_000


@api("DescribeTopicPartitions", 75, 0, 0)
def _describe_topic_partitions(call: Call, request: DescribeTopicPartitionsRequest) -> Answer:
    """Topics page by page, at most so many partitions a page, and the cursor at which the next page begins."""
    names = sorted({each.name for each in request.topics} or call.broker.topics.names())
    first_name, first_partition = "", 0
    if request.cursor is not None:
        first_name, first_partition = request.cursor.topic_name, request.cursor.partition_index
    room = max(1, min(request.response_partition_limit, _MOST_PARTITIONS))
    topics: list[dict[str, Any]] = []
    for name in names:
        if name < first_name or not (request.topics or call.sees(name)):
            continue
        try:
            call.must_see(name)
            found = topic_body(call, name)
        except BrokerError as error:
            may = call.operations("topic", name)
            topics.append({"error_code": kafka_code(error), "name": name, "topic_authorized_operations": may})
            continue
        start = first_partition if name == first_name else 0
        left = found["partitions"][start:]
        if room <= 0 or len(left) > room:
            if room > 0:
                topics.append({**found, "partitions": left[:room]})
            cursor = {"topic_name": name, "partition_index": start + max(room, 0)}
            return {"topics": topics, "next_cursor": cursor}
        room -= len(left)
        topics.append({**found, "partitions": left})
    return {"topics": topics}


# -- changes

_SAID_OF_SETTINGS = ("name", "value", "read_only", "config_source")
_END = -1  # of a partition
_FIRST_WITH_IDS = 6  # of DeleteTopics


@api("CreateTopics", 19, 2, 7)
def _create_topics(call: Call, request: CreateTopicsRequest) -> Answer:
    """Topics with partitions and settings by Kafka's names.

    There is one broker, so the replication factor is 1 (or -1), and every replica is assigned to it.
    """
    return _changed(call, "topics", _create_topic, request, configs=())


def _changed(
    call: Call, field: str, change: Callable[[Call, Any, bool], object], request: Any, **more: object
) -> Later:
    """The answer, whose rows in `field` say what came of `change` for each topic."""

    def row(asked: Any) -> Body:
        return outcome(change, call, asked, request.validate_only, name=asked.name, **more)

    return call.later(field, row, request.topics)


def _create_topic(call: Call, asked: Any, validate_only: bool) -> dict[str, Any]:
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
    return _changed(call, "results", _add_partitions, request)


def _add_partitions(call: Call, asked: Any, validate_only: bool) -> None:
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
