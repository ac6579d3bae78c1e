"""Kafka's APIs for clusters of several brokers, answered for one broker."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.access import ResourceKind
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.access.access import ANYBODY
from broker_core.listeners.kafka.call import (
    ADMIN,
    DONE,
    FEW_ELEMENTS,
    LEADER_EPOCH,
    NODE_ID,
    READ,
    Answer,
    Call,
    KafkaOnlyError,
    Later,
    api,
    by_partition,
    failed,
    outcome,
    outcomes,
)
from broker_core.names import CLUSTER_ID

if TYPE_CHECKING:
    from kio.schema.alter_partition_reassignments.v1.request import AlterPartitionReassignmentsRequest
    from kio.schema.alter_replica_log_dirs.v2.request import AlterReplicaLogDirsRequest
    from kio.schema.describe_cluster.v2.request import DescribeClusterRequest
    from kio.schema.describe_log_dirs.v5.request import DescribeLogDirsRequest
    from kio.schema.describe_quorum.v2.request import DescribeQuorumRequest
    from kio.schema.elect_leaders.v2.request import ElectLeadersRequest
    from kio.schema.find_coordinator.v6.request import FindCoordinatorRequest
    from kio.schema.unregister_broker.v0.request import UnregisterBrokerRequest
    from kio.schema.update_features.v2.request import UpdateFeaturesRequest


@api("DescribeCluster", 60, 0, 2)
def _describe_cluster(call: Call, request: DescribeClusterRequest) -> Answer:
    asks = request.include_cluster_authorized_operations
    return {
        **({"cluster_authorized_operations": call.operations("broker")} if asks else {}),
        "cluster_id": CLUSTER_ID,
        "controller_id": NODE_ID,
        "brokers": [call.this_node],
    }


_COORDINATED: dict[int, ResourceKind] = {0: "group", 1: "transactional_id"}
_SHARE = 2
_NOBODY: dict[str, Any] = {"node_id": -1, "port": -1, "error_message": ""}
_FIRST_WITH_KEYS, _FIRST_WITH_SHARES = 4, 6


@api("FindCoordinator", 10, 0, 6)
def _find_coordinator(call: Call, request: FindCoordinatorRequest) -> Answer:
    """This broker coordinates every group, every transaction and, from v6 on, every share partition.

    The key of a share partition is "group:topic id:partition" (KIP-932), and who may read the group may ask for it.
    """
    if call.version < _FIRST_WITH_KEYS:
        older: Any = request
        return outcome(_coordinator, call, request.key_type, older.key, **_NOBODY)
    keys = dict.fromkeys(request.coordinator_keys)
    rows = (outcome(_coordinator, call, request.key_type, key, key=key, **_NOBODY) for key in keys)
    return call.sliced("coordinators", rows)


def _coordinator(call: Call, kind: int, key: str) -> dict[str, Any]:
    if kind == _SHARE and call.version >= _FIRST_WITH_SHARES:
        call.must(READ, "group", _group_of_share_key(key))
    elif kind in _COORDINATED:
        call.must(READ, _COORDINATED[kind], key)
    else:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no key type {kind}")
    if _COORDINATED.get(kind) == "group":
        call.context.readers.asks_for(call.connection.id, call.client, key)
    return {**call.this_node, "error_message": "" if call.version >= _FIRST_WITH_KEYS else "NONE"}  # as in Kafka


def _group_of_share_key(key: str) -> str:
    group, *place = key.rsplit(":", 2)
    if not group or len(place) != len(("topic id", "partition")):
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{key[:249]!r} is not group:topic id:partition")
    return group


_METADATA = ("__cluster_metadata", 0)


@api("DescribeQuorum", 55, 0, 2, most_elements=FEW_ELEMENTS)
def _describe_quorum(call: Call, request: DescribeQuorumRequest) -> Answer:
    """The quorum is the one broker. There is no log of metadata: its offsets count the changes of the catalog."""
    call.must(READ, "broker")
    rows = by_partition(request.topics, lambda name, each: _partition(call, name, each.partition_index))
    nodes = [{"node_id": NODE_ID, "listeners": [{"name": "CONTROLLER", "host": call.host, "port": call.port}]}]
    return {"topics": [*rows], "nodes": nodes, "error_message": ""}


def _partition(call: Call, topic: str, partition: int) -> dict[str, Any]:
    if (topic, partition) != _METADATA:
        error = BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic}-{partition} is not a log of metadata")
        return {"partition_index": partition, **failed(error)}
    logs = call.broker.logs
    now_ms = logs.epoch_ms + call.now_ns // NS_PER_MS
    return {
        "partition_index": partition,
        "error_message": "",
        "leader_id": NODE_ID,
        "leader_epoch": LEADER_EPOCH,
        "high_watermark": logs.revision,
        "current_voters": [
            {
                "replica_id": NODE_ID,
                "log_end_offset": logs.revision,
                "last_fetch_timestamp": now_ms,
                "last_caught_up_timestamp": now_ms,
            }
        ],
    }


# The levels of Kafka 4 that are served. Clients that know transaction.version 2 end transactions as KIP-890 has it.
FEATURES = {"group.version": 1, "share.version": 2, "transaction.version": 2}


@api("UpdateFeatures", 57, 0, 2, most_elements=FEW_ELEMENTS)
def _update_features(call: Call, request: UpdateFeaturesRequest) -> Answer:
    """The levels that ApiVersions names are the only ones; asking for one of these is no error."""
    call.must(ADMIN, "broker")
    results = [
        {"feature": each.feature, **outcome(_update, each.feature, each.max_version_level)}
        for each in request.feature_updates
    ]
    first = next((each for each in results if each["error_code"]), DONE)
    shown = [] if first["error_code"] else results  # of these versions one error is that of all
    return {"error_code": first["error_code"], "error_message": first["error_message"], "results": shown}


def _update(feature: str, level: int) -> None:
    if FEATURES.get(feature) != level:
        there = f"it is at {FEATURES[feature]}" if feature in FEATURES else f"there are {', '.join(FEATURES)}"
        raise KafkaOnlyError(KafkaError.invalid_update_version, f"{feature[:249]} at level {level}; {there}")


@api("UnregisterBroker", 64, 0, 0)
def _unregister_broker(call: Call, request: UnregisterBrokerRequest) -> Answer:
    """The one broker stays, and there is no other."""
    call.must(ADMIN, "broker")
    if request.broker_id == NODE_ID:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"broker {NODE_ID} is this one, which runs")
    raise KafkaOnlyError(KafkaError.broker_id_not_registered, f"there is no broker {request.broker_id}")


_PREFERRED, _UNCLEAN = 0, 1


@api("ElectLeaders", 43, 0, 2)
def _elect_leaders(call: Call, request: ElectLeadersRequest) -> Answer:
    """The one broker leads every partition: ELECTION_NOT_NEEDED for each that is named, nothing if all are meant."""
    call.must(ADMIN, "broker")
    if request.election_type not in {_PREFERRED, _UNCLEAN}:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no election type {request.election_type}")
    rows = outcomes(request.topic_partitions or (), partial(_elect, call), "partition_id", "partition_result")
    return call.sliced("replica_election_results", rows)


def _elect(call: Call, topic: str, partition: int) -> None:
    call.broker.logs.partition(topic, partition)
    raise KafkaOnlyError(KafkaError.election_not_needed, f"broker 0 leads {topic}-{partition}")


@api("AlterPartitionReassignments", 45, 0, 1)
def _alter_partition_reassignments(call: Call, request: AlterPartitionReassignmentsRequest) -> Answer:
    """A reassignment to this broker is done already; another one is refused, and there is none to cancel."""
    call.must(ADMIN, "broker")
    may_change = request.allow_replication_factor_change
    rows = outcomes(request.topics, partial(_reassign, call))
    return call.sliced("responses", rows, allow_replication_factor_change=may_change)


def _reassign(call: Call, topic: str, asked: Any) -> None:
    call.broker.logs.partition(topic, asked.partition_index)
    if asked.replicas is None:
        raise KafkaOnlyError(KafkaError.no_reassignment_in_progress, f"{topic}-{asked.partition_index} does not move")
    check_replicas(asked.replicas)


def check_replicas(brokers: Iterable[int]) -> None:
    """Raises INVALID_REPLICA_ASSIGNMENT for others than the one broker."""
    if tuple(brokers) != (NODE_ID,):
        why = f"replicas {list(brokers)}, but there is only broker {NODE_ID}"
        raise KafkaOnlyError(KafkaError.invalid_replica_assignment, why)


@api("ListPartitionReassignments", 46, 0, 0)
def _list_partition_reassignments(call: Call, _request: Any) -> Answer:
    """None is ever under way."""
    call.must(READ, "broker")
    return {}


@api("AlterReplicaLogDirs", 34, 1, 2)
def _alter_replica_log_dirs(call: Call, request: AlterReplicaLogDirsRequest) -> Answer:
    """There is one log directory, in which every partition is already; another one is LOG_DIR_NOT_FOUND."""
    rows = (row for each in request.dirs for row in outcomes(each.topics, partial(_move, call, each.path)))
    return call.sliced("results", rows)


def _move(call: Call, path: str, topic: str, partition: int) -> None:
    call.must(ADMIN, "broker")
    if path != directory(call):
        raise KafkaOnlyError(KafkaError.log_dir_not_found, f"{path[:249]}; there is {directory(call)}")
    call.broker.logs.partition(topic, partition)


_IN_MEMORY = "memory"
_UNKNOWN_BYTES = -1


@api("DescribeLogDirs", 35, 1, 5)
def _describe_log_dirs(call: Call, request: DescribeLogDirsRequest) -> Answer:
    """The data directory, its disk, and the size of each partition that is asked for, of all if none are.

    A broker in memory has one directory, `memory`, and no disk. Left out: several directories.
    """
    call.must(READ, "broker")
    asked = request.topics
    wanted = None if asked is None else {str(each.topic): set[int](each.partitions) for each in asked}
    names = call.broker.topics.names() if wanted is None else tuple(wanted)

    def work() -> Body:
        path = call.context.host.path
        usage = None if path is None else shutil.disk_usage(path)
        row = {
            "log_dir": directory(call),
            "total_bytes": _UNKNOWN_BYTES if usage is None else usage.total,
            "usable_bytes": _UNKNOWN_BYTES if usage is None else usage.free,
            "topics": call.gathered(_topics(call, names, wanted)),
        }
        return {"results": [row]}

    return Later(work)


def _topics(call: Call, names: tuple[str, ...], wanted: dict[str, set[int]] | None) -> Iterator[dict[str, Any]]:
    for name in names:
        if name not in call.broker.topics or not call.may(READ, "topic", name):
            continue
        rows = [
            {"partition_index": number, "partition_size": log.size_bytes}
            for number, log in enumerate(call.broker.logs.topic(name).log.partitions)
            if wanted is None or number in wanted[name]
        ]
        yield {"name": name, "partitions": rows}


def directory(call: Call) -> str:
    return str(call.context.host.path or _IN_MEMORY)


@api("CreateDelegationToken", 38, 1, 3)
@api("RenewDelegationToken", 39, 1, 2)
@api("ExpireDelegationToken", 40, 1, 2)
@api("DescribeDelegationToken", 41, 1, 3)
def _refuse_tokens(call: Call, _request: Any) -> Answer:
    """Delegation tokens (KIP-48) are refused, as by a cluster without a secret key for them, and first of all to who
    has not shown who it is.
    """
    if call.principal is ANYBODY:
        return {"error_code": KafkaError.delegation_token_request_not_allowed.value}
    return {"error_code": KafkaError.delegation_token_auth_disabled.value}
