"""Every field of an answer that may be null, and what stands there in answers of Apache Kafka 4.4.

Its Java client reads some of them without a look whether they are null, and nobody can see which. The table was
taken from a real broker's answers to the conversation below and its like; `-` are fields that it never had a row for.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields, is_dataclass
from typing import Any

from kio.index import load_response_schema

from broker_core import Admin
from broker_core.kafka_messages.reading import types_in
from broker_core.listeners.kafka.apis import APIS
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import KEYS, Raw
from tests.broker_core.listeners.kafka.test_java_client import BATCH

# API, field, versions (up to the newest that is served, or to the last that has it), and what Kafka has there.
TABLE = """
Produce responses.partition_responses.record_errors.batch_index_error_message 8+ value
Produce responses.partition_responses.error_message 8+ null value
Produce node_endpoints.rack 10+ -
Fetch responses.partitions.aborted_transactions 4+ empty null
Fetch responses.partitions.records 4+ empty value
Fetch node_endpoints.rack 16+ -
Metadata brokers.rack 1+ null
Metadata cluster_id 2+ value
Metadata topics.name 12+ null value
OffsetFetch topics.partitions.metadata 1-7 empty value
OffsetFetch groups.topics.partitions.metadata 8+ empty value
FindCoordinator error_message 1-3 value
FindCoordinator coordinators.error_message 4+ empty value
JoinGroup members.group_instance_id 5+ null
JoinGroup protocol_type 7+ null value
JoinGroup protocol_name 7+ empty null value
LeaveGroup members.group_instance_id 3+ null value
SyncGroup protocol_type 5+ null value
SyncGroup protocol_name 5+ null value
DescribeGroups groups.members.group_instance_id 4+ null
DescribeGroups groups.error_message 6+ null value
CreateTopics topics.error_message 2+ null value
CreateTopics topics.configs 5+ empty value
CreateTopics topics.configs.value 5+ empty value
DeleteTopics responses.error_message 5+ null value
DeleteTopics responses.name 6+ null value
DescribeAcls error_message 1+ value
CreateAcls results.error_message 1+ -
DeleteAcls filter_results.error_message 1+ -
DeleteAcls filter_results.matching_acls.error_message 1+ -
DescribeConfigs results.error_message 1+ empty value
DescribeConfigs results.configs.value 1+ empty value
DescribeConfigs results.configs.synonyms.value 1+ empty value
DescribeConfigs results.configs.documentation 3+ null
AlterConfigs responses.error_message 0+ null value
SaslAuthenticate error_message 0+ -
CreatePartitions results.error_message 0+ null value
ElectLeaders replica_election_results.partition_result.error_message 0+ value
IncrementalAlterConfigs responses.error_message 0+ null value
AlterPartitionReassignments error_message 0+ null
AlterPartitionReassignments responses.partitions.error_message 0+ null value
ListPartitionReassignments error_message 0+ null
DescribeClientQuotas error_message 0+ empty
DescribeClientQuotas entries 0+ value
DescribeClientQuotas entries.entity.entity_name 0+ null value
AlterClientQuotas entries.error_message 0+ null
AlterClientQuotas entries.entity.entity_name 0+ null
DescribeUserScramCredentials error_message 0+ empty
DescribeUserScramCredentials results.error_message 0+ value
AlterUserScramCredentials results.error_message 0+ value
DescribeQuorum error_message 2+ empty
DescribeQuorum topics.partitions.error_message 2+ empty value
UpdateFeatures error_message 0+ value
UpdateFeatures results.error_message 0-1 -
DescribeCluster error_message 0+ null
DescribeCluster brokers.rack 0+ null
DescribeProducers topics.partitions.error_message 0+ null value
UnregisterBroker error_message 0+ value
ConsumerGroupHeartbeat error_message 0+ null value
ConsumerGroupHeartbeat member_id 0+ null value
ConsumerGroupHeartbeat assignment 0+ null value
ConsumerGroupDescribe groups.error_message 0+ null value
ConsumerGroupDescribe groups.members.instance_id 0+ null value
ConsumerGroupDescribe groups.members.rack_id 0+ null
ConsumerGroupDescribe groups.members.subscribed_topic_regex 0+ empty
DescribeTopicPartitions topics.name 0+ value
DescribeTopicPartitions topics.partitions.eligible_leader_replicas 0+ empty
DescribeTopicPartitions topics.partitions.last_known_elr 0+ empty
DescribeTopicPartitions next_cursor 0+ null value
ShareGroupHeartbeat error_message 1+ null value
ShareGroupHeartbeat member_id 1+ null value
ShareGroupHeartbeat assignment 1+ null value
ShareGroupDescribe groups.error_message 1+ null value
ShareGroupDescribe groups.members.rack_id 1+ null
ShareFetch error_message 1+ null
ShareFetch responses.partitions.error_message 1+ null
ShareFetch responses.partitions.acknowledge_error_message 1+ null
ShareFetch node_endpoints.rack 1+ -
ShareAcknowledge error_message 1+ null
ShareAcknowledge responses.partitions.error_message 1+ value
ShareAcknowledge node_endpoints.rack 1+ -
DescribeShareGroupOffsets groups.topics.partitions.error_message 0+ null
DescribeShareGroupOffsets groups.error_message 0+ null
AlterShareGroupOffsets error_message 0+ null value
AlterShareGroupOffsets responses.partitions.error_message 0+ null value
DeleteShareGroupOffsets error_message 0+ null value
DeleteShareGroupOffsets responses.error_message 0+ null value
"""
ROWS = {
    (api, path): (versions, set(kinds)) for api, path, versions, *kinds in map(str.split, TABLE.strip().split("\n"))
}
NOT_NULL_ON_THE_WIRE = {"uuid", "datetime_i64"}


def nullable(schema: Any, path: str = "") -> Iterator[str]:
    for each in fields(schema):
        here = f"{path}{each.name}"
        on_the_wire = each.metadata.get("kafka_type") not in NOT_NULL_ON_THE_WIRE
        if on_the_wire and types.NoneType in typing.get_args(each.type):
            yield here
        nested = next(filter(is_dataclass, types_in(each.type)), None)
        if nested is not None:
            yield from nullable(nested, f"{here}.")


def test_every_nullable_field_stands_in_the_table():
    found: dict[tuple[str, str], str] = {}
    for api in APIS:
        first: dict[str, int] = {}
        for version in range(api.oldest, api.newest + 1):
            for path in nullable(load_response_schema(api.key, version)):
                since = first.setdefault(path, version)
                found[api.name, path] = f"{since}+" if version == api.newest else f"{since}-{version}"
    assert found == {key: versions for key, (versions, _) in ROWS.items()}


def kinds_at(found: Any, path: list[str]) -> Iterator[str]:
    for row in found if isinstance(found, tuple) else (found,):
        if row is None or not hasattr(row, path[0]):
            continue
        value = getattr(row, path[0])
        if path[1:]:
            yield from kinds_at(value, path[1:])
        else:
            yield "null" if value is None else "empty" if value in ("", (), b"") else "value"


Asks = Callable[..., Any]


def topics_and_data(ask: Asks) -> None:
    made = {"name": "orders", "num_partitions": 1, "replication_factor": 1}
    (row,) = ask("CreateTopics", 7, topics=[made]).topics
    ask("CreateTopics", 7, topics=[made])
    for topic in ({"name": "orders"}, {"name": "nope"}, {"topic_id": row.topic_id}):
        ask("Metadata", 13, topics=[topic])
    for name in ("orders", "nope"):
        ask("DescribeTopicPartitions", 0, topics=[{"name": name}], response_partition_limit=1)
        ask("CreatePartitions", 3, topics=[{"name": name, "count": 2, "assignments": None}])
        wanted = {"resource_type": 2, "resource_name": name, "configuration_keys": None}
        ask("DescribeConfigs", 4, resources=[wanted], include_synonyms=True)
        change: dict[str, object] = {"resource_type": 2, "resource_name": name, "configs": []}
        ask("IncrementalAlterConfigs", 1, resources=[change])
        ask("AlterConfigs", 2, resources=[change])
        ask("AlterPartitionReassignments", 1, topics=[{"name": name, "partitions": [{"replicas": None}]}])
        ask("DescribeProducers", 0, topics=[{"name": name, "partition_indexes": [0]}])
        data = {"name": name, "partition_data": [{"index": 0, "records": BATCH}]}
        ask("Produce", 12, acks=-1, topic_data=[data])
        for isolation in (0, 1):
            place = {"partition": 0, "partition_max_bytes": 1_000}
            ask("Fetch", 12, isolation_level=isolation, topics=[{"topic": name, "partitions": [place]}])
    ask("ElectLeaders", 2, topic_partitions=[{"topic": "orders", "partitions": [0]}])
    ask("DeleteTopics", 6, topics=[{"name": "nope"}])


def members_of_groups(ask: Asks) -> None:
    for version, keys in ((3, {"key": "g"}), (6, {"coordinator_keys": ["g"]})):
        ask("FindCoordinator", version, **keys)
    mine = {"group_id": "g", "session_timeout": 6_000, "protocol_type": "consumer"}
    mine["protocols"] = [{"name": "range", "metadata": b"\0\0\0\0\0\0\0\0\0\0"}]
    asked = ask("JoinGroup", 9, **mine)
    joined = ask("JoinGroup", 9, **mine, member_id=asked.member_id)
    at = {"group_id": "g", "member_id": joined.member_id, "generation_id": joined.generation_id}
    ask("SyncGroup", 5, **at, protocol_type="consumer", protocol_name="range")
    ask("SyncGroup", 5, **{**at, "generation_id": 9}, protocol_type="consumer", protocol_name="range")
    ask("DescribeGroups", 6, groups=["g", "nope"])
    row = {"name": "orders", "partition_indexes": [0]}
    ask("OffsetFetch", 7, group_id="g", topics=[row])
    ask("OffsetFetch", 9, groups=[{"group_id": "g", "topics": [row]}])
    ask("LeaveGroup", 5, group_id="g", members=[{"member_id": joined.member_id}])
    for api, group in (("ConsumerGroupHeartbeat", "k"), ("ShareGroupHeartbeat", "s")):
        extra = {"rebalance_timeout": 1_000, "topic_partitions": ()} if group == "k" else {}
        ask(api, 1, group_id=group, member_id="m", subscribed_topic_names=["orders"], **extra)
        ask(api, 1, group_id=group, member_id="m", member_epoch=9, subscribed_topic_names=None)
    ask("ConsumerGroupDescribe", 1, group_ids=["k", "nope"])
    ask("ShareGroupDescribe", 1, group_ids=["s", "nope"])
    ask("DescribeShareGroupOffsets", 1, groups=[{"group_id": "s", "topics": None}])
    ask("DeleteShareGroupOffsets", 0, group_id="s", topics=[{"topic_name": "orders"}])
    ask("AlterShareGroupOffsets", 0, group_id="s", topics=[])


def the_cluster(ask: Asks) -> None:
    ask("DescribeCluster", 2)
    ask("ListPartitionReassignments", 0, topics=None)
    ask("UnregisterBroker", 0, broker_id=9)
    ask("UpdateFeatures", 2, feature_updates=[{"feature": "nope", "max_version_level": 1}])
    ask("DescribeQuorum", 2, topics=[{"topic_name": "__cluster_metadata", "partitions": [{}]}])
    ask("DescribeUserScramCredentials", 0, users=[{"name": "bob"}])
    ask("AlterUserScramCredentials", 0, deletions=[{"name": "bob", "mechanism": 1}])
    entity = [{"entity_type": "client-id", "entity_name": None}]
    ops = [{"key": "producer_byte_rate", "value": 1e9}]
    ask("AlterClientQuotas", 1, entries=[{"entity": entity, "ops": ops}])
    ask("DescribeClientQuotas", 1)


def test_what_stands_in_nullable_fields_is_what_kafka_has_there(admin: Admin, listener: KafkaListener):
    seen: dict[tuple[str, str], set[str]] = {}
    with closing(Raw(listener.port)) as connection:

        def ask(name: str, version: int, **body: Any) -> Any:
            found = connection.asked(KEYS[name], version, body)
            for api, path in ROWS:
                if api == name:
                    seen.setdefault((api, path), set()).update(kinds_at(found, path.split(".")))
            return found

        for part in (topics_and_data, members_of_groups, the_cluster):
            part(ask)
    told = {key: kinds for key, kinds in seen.items() if kinds}
    assert len(told) > 50, "a conversation that says too little"
    for key, kinds in told.items():
        # A sentence of ours may stand where Kafka has none.
        allowed = ROWS[key][1] | ({"value"} if key[1].endswith("message") else set())
        assert kinds <= allowed or allowed == {"-"}, (key, kinds)
