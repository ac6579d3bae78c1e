"""Topics: metadata, administration, offsets."""

from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Need, Row, kind_of, nothing, of_log
from broker_core.wire import topics as api
from broker_core.wire.body import Done


def metadata(caller: Caller, request: api.Metadata) -> api.MetadataReply:
    """Creates missing ones, where the host is set to; what the caller may do nothing with is refused, not hidden."""
    if len(request.names) > MOST_PLACES:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{len(request.names)} names; ask for {MOST_PLACES} at a time")
    for name in request.names:
        kind = kind_of(caller.broker, name)
        if not any(caller.access.allows(caller.principal, operation, kind, name) for operation in Operation):
            caller.access.check(caller.principal, Operation.READ, kind, name)
        if request.create and caller.access.allows(caller.principal, Operation.WRITE, kind, name):
            caller.host.ensure_topic(name)

    def look(_now: int) -> api.MetadataReply:
        found = [_info(caller.broker, name) for name in request.names]
        return api.MetadataReply(caller.broker.revision, tuple(info for info in found if info is not None))

    return caller.host.call(look)


def _info(broker: Broker, name: str) -> api.TopicInfo | None:
    try:
        count = broker.partition_count(name)
    except BrokerError:
        return None
    priorities = 0
    if broker.partitions_by_key(name) is None:
        priorities = broker.queue(name).config.priorities
    return api.TopicInfo(
        name, count, broker.partitioner_kind(name), priorities, broker.takes_batches(name), broker.topic_config(name)
    )


def list_topics(caller: Caller, _request: api.ListTopics, _now_ns: int) -> api.Names:
    """Those that the caller may read."""
    return api.Names(caller.allowed("topic", caller.broker.topic_names()))


def create(caller: Caller, request: api.CreateTopic) -> Done:
    """See `Broker.create_topic`."""
    caller.host.admin(
        lambda now_ns: caller.broker.create_topic(
            now_ns,
            request.name,
            request.partitions,
            partitioner=request.partitioner,
            flow=request.flow,
            log=request.log,
            schema=request.schema,
        )
    )
    return Done()


def delete(caller: Caller, request: api.DeleteTopic) -> Done:
    """See `Broker.delete_topic`."""
    caller.host.admin(lambda now_ns: caller.broker.delete_topic(now_ns, request.name))
    return Done()


def add_partitions(caller: Caller, request: api.AddPartitions) -> Done:
    """See `Broker.add_partitions`."""
    caller.host.admin(lambda now_ns: caller.broker.add_partitions(now_ns, request.name, request.total))
    return Done()


def configure(caller: Caller, request: api.ConfigureTopic) -> Done:
    """See `Broker.configure_topic`."""
    caller.host.admin(
        lambda now_ns: caller.broker.configure_topic(now_ns, request.name, log=request.log, flow=request.flow)
    )
    return Done()


def describe(caller: Caller, request: api.DescribeTopic, now_ns: int) -> api.TopicDescription:
    """Partitions, counters, gate, and all settings."""
    broker, name = caller.broker, request.name
    return api.TopicDescription(
        broker.topic_view(now_ns, name),
        broker.topic_config(name),
        broker.flow_config(name),
        broker.schema_rule(name),
        broker.partitioner_kind(name),
    )


def delete_records(caller: Caller, request: api.DeleteRecords) -> api.StartOffsets:
    """See `Broker.delete_records`."""
    return api.StartOffsets(
        caller.host.admin(
            lambda now_ns: {
                partition: caller.broker.delete_records(now_ns, request.name, partition, offset)
                for partition, offset in request.before.items()
            }
        )
    )


def list_offsets(caller: Caller, request: api.ListOffsets, _now_ns: int) -> api.Offsets:
    """Of each place, in order."""
    broker = caller.broker
    match request.what:
        case "start":
            return api.Offsets(tuple(broker.start_offset(*place) for place in request.places))
        case "end":
            return api.Offsets(tuple(broker.end_offset(*place) for place in request.places))
        case "time":
            return api.Offsets(tuple(broker.offset_at(*place, request.timestamp_ms) for place in request.places))


def _places(broker: Broker, request: api.ListOffsets) -> list[Need]:
    if len(request.places) > MOST_PLACES:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{len(request.places)} places; ask for {MOST_PLACES} at a time")
    return [(Operation.READ, kind_of(broker, name), name) for name in {name for name, _ in request.places}]


MOST_PLACES = 10_000  # as many as a topic has partitions

ROWS = (
    Row(api.Metadata, How.SLOW, nothing, metadata),
    Row(api.ListTopics, How.AT_ONCE, nothing, list_topics),
    Row(api.CreateTopic, How.SLOW, of_log(Operation.ADMIN), create),
    Row(api.DeleteTopic, How.SLOW, of_log(Operation.ADMIN), delete),
    Row(api.AddPartitions, How.SLOW, of_log(Operation.ADMIN), add_partitions),
    Row(api.ConfigureTopic, How.SLOW, of_log(Operation.ADMIN), configure),
    Row(api.DescribeTopic, How.AT_ONCE, of_log(Operation.READ), describe),
    Row(api.DeleteRecords, How.SLOW, of_log(Operation.ADMIN), delete_records),
    Row(api.ListOffsets, How.AT_ONCE, _places, list_offsets),
)
